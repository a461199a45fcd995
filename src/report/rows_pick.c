/* rows_pick: see rows_pick.h. */
#include "report/rows_pick.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "report/find.h"
#include "report/proc_query.h"

bool rows_have_shares(enum by by)
{
	return by != BY_EDGE && by != BY_CALL_SITE;
}

/* its number; r->metrics: there is none */
static unsigned shared_metric(const struct rows *r)
{
	unsigned i = 0;

	while (i < r->metrics && r->metric[i].share == SHARE_NONE)
		i++;
	return i;
}

const struct metric *rows_shared(const struct rows *r)
{
	unsigned i = shared_metric(r);

	return i < r->metrics ? &r->metric[i] : NULL;
}

const struct value *row_shared(const struct rows *r, const struct row *row)
{
	return row_values(r, row) + shared_metric(r);
}

bool rows_want_image(const struct rows *r, uint32_t image)
{
	const char *want = r->query->image, *name;

	if (!want || r->by == BY_PROCESS || r->by == BY_EVENT ||
	    r->by == BY_EPOCH)
		return true; /* those are in no image */
	name = r->data->image.at[image].name;
	return !strcmp(name, want) || !fnmatch(want, name, 0);
}

/* is that the procedure that the user means, one that is in no map? */
static bool is_meant(const struct row *r, const char *word)
{
	struct proc_query w = proc_query_of(word);

	return w.is_address ? w.address == r->addr || w.address == r->start
			    : proc_query_names(&w, r->procedure) ||
				      !strcmp(word, r->symbol);
}

static bool is_of_procedure(const struct rows *all, const struct row *r,
			    const char *word)
{
	bool meant = r->proc == ROW_NONE ? is_meant(r, word) :
		     find_is(row_counts(all, r), r->proc, word);

	return meant || !fnmatch(word, row_procedure(all, r), 0);
}

static bool is_wanted(const struct rows *all, const struct row *r)
{
	const struct rows_query *w = all->query;
	const struct metric *m = rows_shared(all);

	if (!rows_want_image(all, r->image))
		return false;
	if (w->procedure && !is_of_procedure(all, r, w->procedure))
		return false;
	/* what is not known may be more */
	return !w->share || !m || !row_shared(all, r)->known ||
	       (double)row_shared(all, r)->of_all >=
		       w->share * (double)m->total;
}

/* unknown rows of procedures in which perhaps nothing ran are not */
static bool is_sure(const struct rows *all, const struct row *r)
{
	return all->by == BY_IMAGE || all->by == BY_PROCESS ||
	       row_values(all, r)->known || row_has_samples(all, r) ||
	       (all->by == BY_PROCEDURE && r->ran);
}

/* --- the order */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int rows_compare_lines(const struct row *p, const struct row *q)
{
	int sign = compare(p->image, q->image);

	sign = sign ? sign : strcmp(p->file ? p->file : "",
				    q->file ? q->file : "");
	sign = sign ? sign : compare(p->line, q->line);
	return sign || p->file ? sign : compare(p->start, q->start);
}

/* as they lie in the images; 0: it is the same place */
static int by_address(const struct rows *o, const struct row *p,
		      const struct row *q)
{
	int sign = 0;

	if (o->by == BY_LINE)
		return rows_compare_lines(p, q);
	if (o->by == BY_IMAGE)
		sign = strcmp(row_image(o, p), row_image(o, q));
	sign = sign ? sign : compare(p->image, q->image);
	sign = sign ? sign : compare(p->addr, q->addr);
	return sign ? sign : compare(p->item, q->item);
}

static int by_name(const struct rows *o, const struct row *p,
		   const struct row *q)
{
	int sign = 0;

	if (rows_have_procedures(o->by))
		sign = strcmp(row_procedure(o, p), row_procedure(o, q));
	return sign ? sign : by_address(o, p, q);
}

/* the metric that rows are sorted by: calls are the second of procedures */
static const struct value *key(const struct rows *o, const struct row *r)
{
	return row_values(o, r) + (o->query->sort == SORT_CALLS);
}

/* what the rows are sorted by; not the default */
static enum rows_sort sort_of(const struct rows *o)
{
	if (o->query->sort != SORT_DEFAULT)
		return o->query->sort;
	return o->by == BY_PROCESS || o->by == BY_EPOCH ? SORT_ADDRESS :
								SORT_COUNT;
}

/* what the rows are sorted by is known */
static bool has_key(const struct rows *o, const struct row *r)
{
	return sort_of(o) > SORT_CALLS || key(o, r)->known;
}

/* most first; of equal ones by metrics that decide that */
static int by_values(const struct rows *o, const struct row *p,
		     const struct row *q)
{
	const struct value *v = row_values(o, p), *w = row_values(o, q);
	int sign = compare(key(o, q)->n, key(o, p)->n);

	for (unsigned i = 1; !sign && i < o->metrics; i++)
		if (o->metric[i].decides)
			sign = compare(w[i].n, v[i].n);
	return sign;
}

static int by_sort(const struct rows *o, const struct row *p,
		   const struct row *q)
{
	switch (sort_of(o)) {
	case SORT_NAME:
		return by_name(o, p, q);
	case SORT_ADDRESS:
		return by_address(o, p, q);
	default:
		return by_values(o, p, q);
	}
}

/* as it is asked for; 0: it does not matter */
static int by_query(const struct rows *o, const struct row *p,
		   const struct row *q)
{
	int sign;

	if (has_key(o, p) != has_key(o, q))
		return has_key(o, p) ? -1 : 1;
	sign = by_sort(o, p, q);
	sign = o->query->reverse ? -sign : sign;
	sign = sign ? sign : by_address(o, p, q);
	sign = sign ? sign : compare(p->to_image, q->to_image);
	return sign ? sign : compare(p->to, q->to);
}

/* lines that were counted lie in the order of their numbers */
static int by_place(const struct rows *o, const struct row *p,
		    const struct row *q)
{
	int sign = compare(p->image, q->image);

	if (!sign && o->by == BY_LINE &&
	    (p->item == ROW_NONE || q->item == ROW_NONE))
		return rows_compare_lines(p, q);
	sign = sign ? sign : compare(p->addr, q->addr);
	sign = sign ? sign : compare(p->item, q->item);
	sign = sign ? sign : compare(p->to_image, q->to_image);
	return sign ? sign : compare(p->to, q->to);
}

/* known before unknown, many before few, then as they lie in the images */
static int by_count(const struct rows *o, const struct row *p,
		    const struct row *q)
{
	int sign = row_values(o, q)->known - row_values(o, p)->known;

	sign = sign ? sign : by_values(o, p, q);
	return sign ? sign : by_place(o, p, q);
}

/* do they stay in the order in which they were found? */
static bool is_in_order(const struct rows *o, const struct row *r)
{
	return o->by == BY_EPOCH || (o->by == BY_PROCESS && !r->sampled);
}

/* no two rows are equal */
static int in_order(const void *a, const void *b, void *rows)
{
	const struct rows *o = rows;
	const struct row *p = a, *q = b;
	int sign = 0;

	if (o->query->sort != SORT_DEFAULT || o->query->reverse)
		sign = by_query(o, p, q);
	if (!sign && !is_in_order(o, p) && !is_in_order(o, q))
		sign = by_count(o, p, q);
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

/* the values of the row that was made are from now on those at `value` */
static struct row keep(struct rows *r, const struct row *row, uint32_t value)
{
	struct row kept = *row;

	kept.value = value;
	memcpy(&r->values.at[value], r->values.at,
	       r->metrics * sizeof *r->values.at);
	return kept;
}

/* room for the values of one more */
static uint32_t new_values(struct rows *r)
{
	uint32_t at = (uint32_t)r->values.n;

	vec_reserve(&r->values, r->metrics);
	r->values.n += r->metrics;
	return at;
}

void rows_pick(struct rows *r, const struct row *row)
{
	size_t limit = r->query->limit;

	if (!is_wanted(r, row))
		return;
	r->wanted++;
	if (!limit || (r->query->sure && !is_sure(r, row)))
		return;
	if (r->v.n < limit) {
		struct row kept = keep(r, row, new_values(r));

		vec_push(&r->v, kept);
		for (size_t i = r->v.n == limit ? limit / 2 : 0; i > 0; i--)
			sink(r, i - 1);
	} else if (in_order(row, &r->v.at[0], r) < 0) {
		r->v.at[0] = keep(r, row, r->v.at[0].value);
		sink(r, 0);
	}
}

void rows_sort(struct rows *r)
{
	if (r->v.n)
		qsort_r(r->v.at, r->v.n, sizeof *r->v.at, in_order, r);
}
