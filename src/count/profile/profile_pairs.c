/*
 * profile_pairs: pairs of sites and targets, sorted, less earlier ones, and as
 * bytes of a finished profile (profile_int.h).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "count/profile/profile_int.h"

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int profile_compare_pairs(const void *a, const void *b)
{
	const struct profile_pair *p = a, *q = b;
	int order = compare(p->image, q->image);

	order = order ? order : compare(p->site, q->site);
	order = order ? order : compare(p->to_image, q->to_image);
	order = order ? order : compare(p->to, q->to);
	return order ? order : compare(p->process, q->process);
}

int profile_sort_pairs(struct profile *p, struct err *e)
{
	struct profile_pair *v = p->pair.at;
	uint64_t sum = 0;
	size_t n = 0;

	if (p->pair.n)
		qsort(v, p->pair.n, sizeof *v, profile_compare_pairs);
	for (size_t i = 0; i < p->pair.n; i++) {
		if (profile_sum(p, 0, &sum, v[i].count, e))
			return -1;
		if (!n || profile_compare_pairs(&v[n - 1], &v[i]))
			v[n++] = v[i];
		else
			v[n - 1].count += v[i].count;
	}
	p->pair.n = n;
	return 0;
}

size_t profile_pairs(const struct profile *p, uint32_t image, uint32_t site,
		     const struct profile_pair **first)
{
	const struct profile_pair *x = p->pair.at;
	size_t i, end;

	bisect(i, p->pair.n, x[i].image < image ||
		(x[i].image == image && x[i].site < site));
	for (end = i; end < p->pair.n && x[end].image == image &&
		      x[end].site == site;)
		end++;
	*first = p->pair.n ? x + i : NULL;
	return end - i;
}

void profile_pack_pairs(const struct profile_pair *pair, size_t n,
			buffer *out)
{
	struct profile_pair last = {0};

	for (size_t i = 0; i < n; i++) {
		const struct profile_pair *x = &pair[i];

		buffer_uleb(out, x->image - last.image);
		if (x->image != last.image)
			last.site = 0;
		buffer_uleb(out, x->site - last.site);
		buffer_uleb(out, x->to_image == PROFILE_ELSEWHERE ?
					 0 : (uint64_t)x->to_image + 1);
		buffer_sleb(out, (int64_t)(x->to - last.to));
		buffer_uleb(out, x->count);
		last = *x;
	}
}

/* the next pair behind *x, which it becomes; false if there is no such */
static bool unpack_pair(struct profile *p, struct bytes *b,
			struct profile_pair *x)
{
	uint64_t image = bytes_uleb(b), site = bytes_uleb(b);
	uint64_t to_image = bytes_uleb(b);
	const struct profile_image *m;
	struct err e;

	x->to += bytes_sleb(b);
	x->count = bytes_uleb(b);
	if (b->bad || image >= p->image.n - x->image ||
	    to_image > p->image.n)
		return false;
	if (image)
		x->site = 0;
	x->image += (uint32_t)image;
	x->to_image = to_image ? (uint32_t)to_image - 1 : PROFILE_ELSEWHERE;
	m = &p->image.at[x->image];
	if (profile_unpack(p, x->image, &e) || m->missing ||
	    site >= m->map.site.n - x->site)
		return false;
	x->site += (uint32_t)site;
	return m->map.site.at[x->site].pairs;
}

int profile_unpack_pairs(struct profile *p, uint32_t process, uint64_t at,
			 const buffer *all, struct err *e)
{
	struct profile_pair x = {.process = process};
	struct bytes b = bytes_window(all->at, all->n, 0);

	while (bytes_left(&b)) {
		if (!p->image.n || !unpack_pair(p, &b, &x))
			return err_at(e, p->file.name, at, "pairs of sites "
				      "that there are not");
		vec_push(&p->pair, x);
	}
	return 0;
}

/* the image's number in the earlier state; one that there is not if none */
static uint32_t earlier_image(const struct profile *p,
			      const struct profile *minus, uint32_t image)
{
	uint32_t other;

	if (image == PROFILE_ELSEWHERE)
		return image;
	return profile_find_image(minus, p->image.at[image].id, &other) ?
		       other : PROFILE_ELSEWHERE - 1;
}

/* what the earlier state has of the same pair, or NULL */
static const struct profile_pair *earlier(const struct profile *p,
					  const struct profile *minus,
					  const struct profile_pair *x)
{
	const struct profile_pair *v = minus->pair.at;
	struct profile_pair key = *x;
	size_t i;

	key.image = earlier_image(p, minus, x->image);
	key.to_image = earlier_image(p, minus, x->to_image);
	bisect(i, minus->pair.n, profile_compare_pairs(&v[i], &key) < 0);
	return i < minus->pair.n && !profile_compare_pairs(&v[i], &key) ?
		       &v[i] : NULL;
}

static int by_process(const void *a, const void *b)
{
	const struct profile_pair *p = a, *q = b;
	int order = compare(p->process, q->process);

	return order ? order : profile_compare_pairs(p, q);
}

int profile_list_pairs(const struct profile *p, const struct profile *minus,
		       struct pair_list *out, struct err *e)
{
	size_t found = 0;
	bool fits = true;

	for (size_t i = 0; i < p->pair.n; i++) {
		struct profile_pair x = p->pair.at[i];
		const struct profile_pair *less =
			minus ? earlier(p, minus, &x) : NULL;

		found += less != NULL;
		fits &= !less || less->count <= x.count;
		x.count -= less ? less->count : 0;
		if (x.count)
			vec_push(&out->v, x);
	}
	if (minus && (!fits || found != minus->pair.n))
		return err_set(e, ERR_INPUT, "%s: its pairs are not those of "
			       "an earlier state of %s", minus->file.name,
			       p->file.name);
	if (out->v.n)
		qsort(out->v.at, out->v.n, sizeof *out->v.at, by_process);
	return 0;
}

/*
 * profile_left: images that ran uncounted, as a profile lists them. See
 * profile_int.h.
 */

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
