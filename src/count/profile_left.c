/*
 * profile_left: images that ran uncounted, as a profile lists them. See
 * profile_int.h.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "count/profile_int.h"

/* of one path and process, the first in any order of the file */
static int in_order(const void *a, const void *b)
{
	const struct profile_left *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	if (!order && x->process != y->process)
		order = x->process < y->process ? -1 : 1;
	if (!order && x->why != y->why)
		order = x->why < y->why ? -1 : 1;
	return order ? order : strcmp(x->reason, y->reason);
}

void profile_sort_left(struct profile *p)
{
	struct profile_left *v = p->left.at;
	size_t n = 0;

	if (p->left.n)
		qsort(v, p->left.n, sizeof *v, in_order);
	for (size_t i = 0; i < p->left.n; i++)
		if (!n || v[n - 1].process != v[i].process ||
		    strcmp(v[n - 1].path, v[i].path))
			v[n++] = v[i];
	p->left.n = n;
}

void profile_pack_left(const struct profile *p, buffer *out)
{
	for (size_t i = 0; i < p->left.n; i++) {
		const struct profile_left *x = &p->left.at[i];

		buffer_uleb(out, x->process);
		buffer_uleb(out, x->why);
		buffer_bytes(out, x->path, strlen(x->path) + 1);
		buffer_bytes(out, x->reason, strlen(x->reason) + 1);
	}
}

static const char *unpack_string(struct profile *p, struct bytes *b)
{
	const char *s = bytes_string(b, bytes_left(b));

	return s ? arena_string(&p->arena, s, strlen(s)) : "";
}

/* false: it cannot be one */
static bool unpack(struct profile *p, struct bytes *b)
{
	uint64_t process = bytes_uleb(b), why = bytes_uleb(b);
	struct profile_left x = {.process = (uint32_t)process,
				 .why = (uint32_t)why};

	x.path = unpack_string(p, b);
	x.reason = unpack_string(p, b);
	vec_push(&p->left, x);
	return !b->bad && (process | why) <= UINT32_MAX &&
	       (!process || profile_has_process(p, x.process));
}

int profile_unpack_left(struct profile *p, uint64_t at, const buffer *all,
			struct err *e)
{
	struct bytes b = bytes_window(all->at, all->n, 0);

	if (p->left.n)
		return err_at(e, p->file.name, at, "images that were left, for "
			      "a second time");
	while (bytes_left(&b))
		if (!unpack(p, &b))
			return err_at(e, p->file.name, at, "its list of "
				      "images that were left is broken");
	return 0;
}
