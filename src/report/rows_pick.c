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

uint64_t row_executed(const struct told *t, const struct rows *all,
		      const struct row *r, enum rows_by by)
{
	const struct told_image *m = &t->image[r->image];

	if (by == BY_BLOCK) {
		told_need(m, r->proc);
		return solved_insns(&m->solved, m->map, r->item);
	}
	if (by == BY_LINE)
		return all->lines.v.at[r->item].instructions;
	return r->count;
}

static bool is_of_image(const struct told *t, const struct row *r,
			const char *image)
{
	const char *name = t->image[r->image].name;

	return !strcmp(name, image) || !fnmatch(image, name, 0);
}

static bool is_of_procedure(const struct told *t, const struct row *r,
			    const char *word)
{
	return find_is(&t->image[r->image], r->proc, word) ||
	       !fnmatch(word, row_procedure(t, r), 0);
}

static bool is_wanted(const struct rows *all, const struct told *t,
		      enum rows_by by, const struct row *r,
		      const struct rows_wish *w)
{
	if (w->image && !is_of_image(t, r, w->image))
		return false;
	if (w->procedure && !is_of_procedure(t, r, w->procedure))
		return false;
	/* what is not known may be more */
	return !w->share || !r->known ||
	       (double)row_executed(t, all, r, by) >=
		       w->share * (double)t->instructions;
}

/* what the order depends on */
struct order {
	const struct told *t;
	const struct rows *all;
	enum rows_by by;
	enum rows_sort sort;
	bool reverse;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_address(const struct order *o, const struct row *p,
		      const struct row *q)
{
	int order = compare(p->image, q->image);

	if (!order && o->by == BY_LINE) {
		const struct line_count *l = &o->all->lines.v.at[p->item];
		const struct line_count *k = &o->all->lines.v.at[q->item];
		const char *const *name = o->all->lines.file.string.at;

		order = strcmp(name[l->file], name[k->file]);
		return order ? order : compare(l->line, k->line);
	}
	order = order ? order : compare(p->addr, q->addr);
	return order ? order : compare(p->item, q->item);
}

static int by_name(const struct order *o, const struct row *p,
		   const struct row *q)
{
	int order = 0;

	if (rows_have_procedures(o->by))
		order = strcmp(row_procedure(o->t, p),
			       row_procedure(o->t, q));
	return order ? order : by_address(o, p, q);
}

/* most first */
static int by_calls(const struct order *o, const struct row *p,
		    const struct row *q)
{
	uint64_t a, b;

	row_calls(o->t, p, &a);
	row_calls(o->t, q, &b);
	return compare(b, a);
}

/* what the rows are sorted by is known */
static bool is_sure(const struct order *o, const struct row *r)
{
	uint64_t calls;

	if (o->sort == SORT_CALLS)
		return row_calls(o->t, r, &calls);
	return o->sort != SORT_COUNT || r->known;
}

static int by_wish(const struct order *o, const struct row *p,
		   const struct row *q)
{
	switch (o->sort) {
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

static int in_order(const void *a, const void *b, void *order)
{
	const struct order *o = order;
	const struct row *p = a, *q = b;
	int sign;

	if (is_sure(o, p) != is_sure(o, q))
		return is_sure(o, p) ? -1 : 1;
	sign = by_wish(o, p, q);
	sign = o->reverse ? -sign : sign;
	sign = sign ? sign : by_address(o, p, q);
	sign = sign ? sign : compare(p->to_image, q->to_image);
	return sign ? sign : compare(p->to, q->to);
}

void rows_pick(struct rows *r, const struct told *t, enum rows_by by,
	       const struct rows_wish *w)
{
	struct order o = {t, r, by, w->sort, w->reverse};
	size_t n = 0;

	if (o.sort == SORT_DEFAULT)
		o.sort = by == BY_PROCESS ? SORT_ADDRESS : SORT_COUNT;
	for (size_t i = 0; i < r->v.n; i++)
		if (is_wanted(r, t, by, &r->v.at[i], w))
			r->v.at[n++] = r->v.at[i];
	r->v.n = n;
	if (n && (w->sort != SORT_DEFAULT || w->reverse))
		qsort_r(r->v.at, n, sizeof *r->v.at, in_order, &o);
}
