/* event_list: see event_list.h. */
#include "events/event_list.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/hash.h"
#include "abi/profile_format.h"
#include "base/bisect.h"
#include "base/file.h"

#define AT "at:"

/* --- elements of sets */

static bool is_address(const char *s)
{
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

/* "0x..", and nothing behind it */
static bool read_number(const char *s, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(s, &end, 16);
	return is_address(s) && s[2] && !*end && !errno;
}

/* text stays; false: it names no instruction */
static bool read_place(char *text, struct event_at *x)
{
	char *colon = strchr(text, ':'), *plus;

	*x = (struct event_at){0};
	/* names of C++ have two colons, and are not of an image */
	if (colon && colon[1] != ':') {
		*colon = 0;
		x->image = text;
		text = colon + 1;
	}
	if (x->image && !*x->image)
		return false;
	if (is_address(text))
		return read_number(text, &x->offset);
	plus = strstr(text, "+0x");
	if (plus) {
		*plus = 0;
		if (!read_number(plus + 1, &x->offset))
			return false;
	}
	x->symbol = text;
	return *text;
}

static int add_place(struct event *x, char *text, const char *where,
		     uint64_t line, struct err *e)
{
	struct event_at at;

	if (!read_place(text, &at)) {
		if (line)
			return err_set(e, ERR_INPUT,
				       "%s: line %llu: names no instruction; "
				       "say SYMBOL, SYMBOL+0x1c, 0xADDRESS or "
				       "IMAGE:one of these",
				       where, (unsigned long long)line);
		return err_set(e, ERR_USAGE,
			       "'%s' names no instruction; say at:SYMBOL, "
			       "at:SYMBOL+0x1c, at:0xADDRESS, "
			       "at:IMAGE:one of these or at:@FILE",
			       where);
	}
	vec_push(&x->at, at);
	return 0;
}

/* all of a file with a zero behind it, in the arena; NULL and *e */
static char *read_text(struct arena *a, const char *path, struct err *e)
{
	size_t size;
	char *bytes = file_text(path, &size, e), *text = NULL;

	if (bytes)
		text = arena_string(a, bytes, size);
	mem_free(bytes);
	return text;
}

/* the full name of a file that is there */
static const char *full_name(struct arena *a, const char *path)
{
	char *full = realpath(path, NULL), *copy;

	if (!full)
		return path;
	copy = arena_string(a, full, strlen(full));
	free(full);
	return copy;
}

static int add_file(struct event_list *l, struct event *x, const char *path,
		    struct err *e)
{
	char *text = read_text(&l->arena, path, e), *line, *next;
	uint64_t number = 1;

	x->file = full_name(&l->arena, path);

	for (line = text; line && *line; line = next, number++) {
		size_t n = strcspn(line, "\n");

		next = line[n] ? line + n + 1 : line + n;
		line[n] = 0;
		line += strspn(line, " \t\r");
		line[strcspn(line, " \t\r#")] = 0;
		if (*line && add_place(x, line, path, number, e))
			return -1;
	}
	return text ? 0 : -1;
}

/* --- the list */

static int unknown(const char *name, struct err *e)
{
	return err_set(e, ERR_USAGE, "there is no event '%s'", name);
}

static bool is_listed(const struct event_list *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].name, name))
			return true;
	return false;
}

static int add_event(struct event_list *l, char *word, struct err *e)
{
	struct event *x = &l->at[l->n];
	char *place;

	if (is_listed(l, word))
		return 0;
	if (l->n == EVENTS_MAX)
		return err_set(e, ERR_USAGE, "more than %d events",
			       EVENTS_MAX);
	*x = (struct event){.name = word};
	l->n++;
	x->kind = event_find(word, strlen(word));
	if (x->kind < EVENT_KINDS)
		return 0;
	if (strncmp(word, AT, strlen(AT)))
		return unknown(word, e);
	place = arena_string(&l->arena, word, strlen(word)) + strlen(AT);
	if (*place == '@')
		return add_file(l, x, place + 1, e);
	return add_place(x, place, word, 0, e);
}

int event_list_read(struct event_list *l, const char *text, struct err *e)
{
	char *copy, *word, *rest = NULL;

	*l = (struct event_list){0};
	copy = arena_string(&l->arena, text, strlen(text));
	for (word = strtok_r(copy, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest))
		if (add_event(l, word, e))
			return -1;
	return l->n ? 0 : err_set(e, ERR_USAGE, "no event is named");
}

unsigned event_list_need(struct event_list *l, enum event_kind kind)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->at[i].kind == kind)
			return i;
	if (l->n == EVENTS_MAX)
		return l->n - 1;
	l->at[l->n] = (struct event){.name = event_words[kind].name,
				     .kind = kind};
	return l->n++;
}

int event_list_of_profile(struct event_list *l, const char *options,
			  struct err *e)
{
	const char *at = strstr(options, PROFILE_ASKED);

	*l = (struct event_list){0};
	if (!at)
		return err_set(e, ERR_INPUT, "no events were asked for when it "
			       "was made");
	return event_list_read(l, at + strlen(PROFILE_ASKED), e);
}

void event_list_free(struct event_list *l)
{
	for (unsigned i = 0; i < l->n; i++)
		vec_free(&l->at[i].at);
	arena_free(&l->arena);
}

char *event_list_text(const struct event_list *l, uint64_t *sum)
{
	size_t room = 1, at = 0;
	char *text;

	for (unsigned i = 0; i < l->n; i++)
		room += strlen(l->at[i].name) + strlen(AT "@,") +
			(l->at[i].file ? strlen(l->at[i].file) : 0);
	text = mem_alloc(room);
	*text = 0;
	*sum = 0;
	for (unsigned i = 0; i < l->n; i++) {
		const struct event *x = &l->at[i];

		at += (size_t)sprintf(text + at, "%s%s%s", i ? "," : "",
				      x->file ? AT "@" : x->name,
				      x->file ? x->file : "");
		for (size_t k = 0; k < x->at.n; k++) {
			const struct event_at *p = &x->at.at[k];
			const char *s = p->symbol ? p->symbol : "";
			const char *im = p->image ? p->image : "";

			*sum = hash_bytes(s, strlen(s) + 1, *sum);
			*sum = hash_bytes(im, strlen(im) + 1, *sum);
			*sum = hash_bytes(&p->offset, sizeof p->offset, *sum);
		}
	}
	*sum = hash_bytes(text, at, *sum);
	return text;
}

/* --- addresses */

/* a file's name, with or without what follows a dot: libz is libz.so.1 */
static bool is_image(const char *name, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(name);

	base = base ? base + 1 : path;
	return !strncmp(name, base, n) && (!base[n] || base[n] == '.');
}

static void add_symbols(struct event_addresses *a, const struct event_at *x,
			const struct image *im)
{
	for (size_t i = 0; i < im->nsymbol; i++) {
		const struct symbol *s = &im->symbol[i];

		if (s->kind <= SYMBOL_LABEL && s->kind != SYMBOL_OBJECT &&
		    !strcmp(s->name, x->symbol))
			vec_push(&a->v, s->addr + x->offset);
	}
}

void event_addresses_find(struct event_addresses *a, const struct event *x,
			  const struct image *im)
{
	bool program = im->type == ET_EXEC || (im->entry && !im->soname);
	size_t n = 0;

	*a = (struct event_addresses){0};
	for (size_t i = 0; i < x->at.n; i++) {
		const struct event_at *p = &x->at.at[i];

		if (p->image && !is_image(p->image, im->path))
			continue;
		if (p->symbol)
			add_symbols(a, p, im);
		else if (p->image || program)
			vec_push(&a->v, p->offset);
	}
	vec_sort(&a->v, order_u64);
	for (size_t i = 0; i < a->v.n; i++)
		if (!n || a->v.at[n - 1] != a->v.at[i])
			a->v.at[n++] = a->v.at[i];
	a->v.n = n;
}

bool event_addresses_have(const struct event_addresses *a, uint64_t address)
{
	size_t i;

	bisect(i, a->v.n, a->v.at[i] < address);
	return i < a->v.n && a->v.at[i] == address;
}
