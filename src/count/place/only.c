/* only: see only.h. Names are looked up, patterns tried one by one. */
#include "count/place/only.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfg/cfg.h"
#include "count/profile/embedded.h"
#include "count/map/map.h"

static int by_name(const void *a, const void *b)
{
	const struct only_item *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* by name, each once */
static void sort_exact(struct only *o)
{
	size_t n = 0;

	if (o->exact.n)
		qsort(o->exact.at, o->exact.n, sizeof *o->exact.at, by_name);
	for (size_t i = 0; i < o->exact.n; i++)
		if (!n || by_name(&o->exact.at[n - 1], &o->exact.at[i]))
			o->exact.at[n++] = o->exact.at[i];
	o->exact.n = n;
}

void only_open(struct only *o, const char *list)
{
	char *word, *rest = NULL;

	*o = (struct only){.text = mem_alloc(strlen(list) + 1)};
	strcpy(o->text, list);
	for (word = strtok_r(o->text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		struct only_item x = {.name = word};

		if (strpbrk(word, "*?["))
			vec_push(&o->pattern, x);
		else
			vec_push(&o->exact, x);
	}
	sort_exact(o);
}

void only_close(struct only *o)
{
	vec_free(&o->exact);
	vec_free(&o->pattern);
	mem_free(o->text);
}

static bool has_exact(struct only *o, const char *name)
{
	struct only_item key = {.name = name};
	struct only_item *x = o->exact.n ?
		bsearch(&key, o->exact.at, o->exact.n, sizeof key, by_name) :
		NULL;

	if (x)
		x->seen = true;
	return x;
}

bool only_has(struct only *o, const char *name, uint64_t entry)
{
	char own[32], addr[32];
	bool found;

	name = cfg_name_of(name, entry, own, sizeof own);
	snprintf(addr, sizeof addr, "0x%llx", (unsigned long long)entry);
	found = has_exact(o, name);
	found |= has_exact(o, addr);
	for (size_t i = 0; i < o->pattern.n; i++)
		if (!fnmatch(o->pattern.at[i].name, name, 0))
			found = o->pattern.at[i].seen = true;
	return found;
}

int only_look(struct only *o, const char *file, struct err *e)
{
	size_t size;
	uint8_t *bytes = NULL;
	struct map m;
	int status;

	if (o->exact.n || o->pattern.n)
		bytes = embedded_read(file, MAP_SECTION, &size, e);
	if (!bytes) /* nothing is asked for, or counted in it */
		return 0;
	status = map_unpack(&m, bytes, size, file, e);
	mem_free(bytes);
	if (status)
		return -1;
	for (size_t i = 0; i < m.proc.n; i++)
		only_has(o, m.proc.at[i].name, m.proc.at[i].entry);
	map_release(&m);
	return 0;
}

const char *only_unseen(const struct only *o)
{
	for (size_t i = 0; i < o->exact.n; i++)
		if (!o->exact.at[i].seen)
			return o->exact.at[i].name;
	for (size_t i = 0; i < o->pattern.n; i++)
		if (!o->pattern.at[i].seen)
			return o->pattern.at[i].name;
	return NULL;
}
