/* rows_pick: see rows_pick.h. */
#include "report/rows_pick.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "report/find.h"

bool rows_have_procedures(enum rows_by by)
{
	return by != BY_IMAGE && by != BY_PROCESS && by != BY_LINE;
}

bool rows_have_shares(enum rows_by by)
{
	return by != BY_EDGE && by != BY_CALL_SITE;
}

uint64_t row_executed(const struct rows *all, const struct row *r)
{
	if (all->by == BY_BLOCK) {
		const struct told_image *m = &all->t->image[r->image];

		told_need(m, r->proc);
		return solved_insns(&m->solved, m->map, r->item);
	}
	if (all->by == BY_LINE)
		return all->lines.v.at[r->item].instructions;
	return r->count;
}

static bool is_of_image(const struct told *t, const struct row *r,
			const char *image)
{
	const char *name = row_image(t, r);

	return !strcmp(name, image) || !fnmatch(image, name, 0);
}

static bool is_of_procedure(const struct told *t, const struct row *r,
			    const char *word)
{
	return find_is(&t->image[r->image], r->proc, word) ||
	       !fnmatch(word, row_procedure(t, r), 0);
}

static bool is_wanted(const struct rows *all, const struct row *r)
{
	const struct rows_wish *w = all->wish;

	if (w->image && !is_of_image(all->t, r, w->image))
		return false;
	if (w->procedure && !is_of_procedure(all->t, r, w->procedure))
		return false;
	/* what is not known may be more */
	return !w->share || !r->known ||
	       (double)row_executed(all, r) >=
		       w->share * (double)all->t->instructions;
}

/* unknown rows of procedures in which perhaps nothing ran are not */
static bool is_sure(enum rows_by by, const struct row *r)
{
	return by == BY_IMAGE || by == BY_PROCESS || r->known ||
	       (by == BY_PROCEDURE && r->ran);
}

/* --- the order */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_address(const struct rows *o, const struct row *p,
		      const struct row *q)
{
	int order = compare(p->image, q->image);

	if (!order && o->by == BY_LINE) {
		const struct line_count *l = &o->lines.v.at[p->item];
		const struct line_count *k = &o->lines.v.at[q->item];
		const char *const *name = o->lines.file.string.at;

		order = strcmp(name[l->file], name[k->file]);
		return order ? order : compare(l->line, k->line);
	}
	order = order ? order : compare(p->addr, q->addr);
	return order ? order : compare(p->item, q->item);
}

static int by_name(const struct rows *o, const struct row *p,
		   const struct row *q)
{
	int order = 0;

	if (rows_have_procedures(o->by))
		order = strcmp(row_procedure(o->t, p),
			       row_procedure(o->t, q));
	return order ? order : by_address(o, p, q);
}

/* most first */
static int by_calls(const struct rows *o, const struct row *p,
		    const struct row *q)
{
	uint64_t a, b;

	row_calls(o->t, p, &a);
	row_calls(o->t, q, &b);
	return compare(b, a);
}

/* what the rows are sorted by; not the default */
static enum rows_sort sort_of(const struct rows *o)
{
	if (o->wish->sort != SORT_DEFAULT)
		return o->wish->sort;
	return o->by == BY_PROCESS ? SORT_ADDRESS : SORT_COUNT;
}

/* what the rows are sorted by is known */
static bool has_key(const struct rows *o, const struct row *r)
{
	uint64_t calls;

	if (sort_of(o) == SORT_CALLS)
		return row_calls(o->t, r, &calls);
	return sort_of(o) != SORT_COUNT || r->known;
}

static int by_sort(const struct rows *o, const struct row *p,
		   const struct row *q)
{
	switch (sort_of(o)) {
	case SORT_CALLS:
		return by_calls(o, p, q);
	case SORT_NAME:
		return by_name(o, p, q);
	case SORT_ADDRESS:
		return by_address(o, p, q);
	default:
		return compare(q->count, p->count);
	}
}

/* as it is wished; 0: it does not matter */
static int by_wish(const struct rows *o, const struct row *p,
		   const struct row *q)
{
	int sign;

	if (has_key(o, p) != has_key(o, q))
		return has_key(o, p) ? -1 : 1;
	sign = by_sort(o, p, q);
	sign = o->wish->reverse ? -sign : sign;
	sign = sign ? sign : by_address(o, p, q);
	sign = sign ? sign : compare(p->to_image, q->to_image);
	return sign ? sign : compare(p->to, q->to);
}

/* known before unknown, many before few, then as they lie in the images */
static int by_count(const struct row *p, const struct row *q)
{
	int sign = q->known - p->known;

	sign = sign ? sign : compare(q->count, p->count);
	sign = sign ? sign : compare(p->image, q->image);
	sign = sign ? sign : compare(p->addr, q->addr);
	sign = sign ? sign : compare(p->item, q->item);
	sign = sign ? sign : compare(p->to_image, q->to_image);
	return sign ? sign : compare(p->to, q->to);
}

/* no two rows are equal */
static int in_order(const void *a, const void *b, void *rows)
{
	const struct rows *o = rows;
	const struct row *p = a, *q = b;
	int sign = 0;

	if (o->wish->sort != SORT_DEFAULT || o->wish->reverse)
		sign = by_wish(o, p, q);
	/* processes stay in the order in which they began */
	if (!sign && o->by != BY_PROCESS)
		sign = by_count(p, q);
	return sign ? sign : compare(p->number, q->number);
}

/* --- the first of many: a heap, whose first row is the last in order */

static bool is_behind(struct rows *r, size_t i, size_t k)
{
	return in_order(&r->v.at[i], &r->v.at[k], r) > 0;
}

/* row i may be before those below it */
static void sink(struct rows *r, size_t i)
{
	for (;;) {
		size_t last = i, left = 2 * i + 1, right = 2 * i + 2;
		struct row row = r->v.at[i];

		if (left < r->v.n && is_behind(r, left, last))
			last = left;
		if (right < r->v.n && is_behind(r, right, last))
			last = right;
		if (last == i)
			return;
		r->v.at[i] = r->v.at[last];
		r->v.at[last] = row;
		i = last;
	}
}

void rows_pick(struct rows *r, const struct row *row)
{
	size_t limit = r->wish->limit;

	if (!is_wanted(r, row))
		return;
	r->wanted++;
	if (!limit || (r->wish->sure && !is_sure(r->by, row)))
		return;
	if (r->v.n < limit) {
		vec_push(&r->v, *row);
		for (size_t i = r->v.n == limit ? limit / 2 : 0; i > 0; i--)
			sink(r, i - 1);
	} else if (in_order(row, &r->v.at[0], r) < 0) {
		r->v.at[0] = *row;
		sink(r, 0);
	}
}

void rows_sort(struct rows *r)
{
	if (r->v.n)
		qsort_r(r->v.at, r->v.n, sizeof *r->v.at, in_order, r);
}
