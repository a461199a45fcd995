/* diff: see diff.h. */
#include "report/diff/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "report/rows_pick.h"

bool diff_has(const struct diff_query *q)
{
	bool counted = q->by == BY_EDGE || q->by == BY_BLOCK;

	return q->profile[0] || !counted;
}

/* --- which rows of samples are which changes of counts */

struct diff_pairs {
	struct runs_pairs is;
	const struct changes *changes;
	int side;             /* that is read */
	uint32_t *image[2];   /* of a side's counts: in match.v */
	struct intern key;    /* of changes, on both sides */
	VEC(uint32_t) change; /* by key */
	buffer text;
};

/* the key of a place: of an image, what is in it or a line of it */
static const char *key_of(struct diff_pairs *p, int side, uint32_t image,
			  uint64_t item, const char *file)
{
	size_t room = 64 + (file ? strlen(file) : 0);

	vec_reserve(&p->text, room);
	snprintf((char *)p->text.at, room, "%d %" PRIu32 " %" PRIx64 " %s",
		 file ? 0 : side, image, item, file ? file : "");
	return (const char *)p->text.at;
}

/* what it is called by inside of its image */
static uint64_t item_of(const struct changes *c, const struct change *x,
			int side)
{
	switch (c->by) {
	case BY_LINE:
		return x->line;
	case BY_PROCEDURE:
		return side ? x->b : x->a;
	case BY_BLOCK:
		return side ? x->part_b : x->part_a;
	case BY_INSTRUCTION:
		return side ? x->address_b : x->address_a;
	default:
		return 0;
	}
}

static void index_change(struct diff_pairs *p, uint32_t number)
{
	const struct change *x = &p->changes->v.at[number];

	for (int side = 0; side < 2; side++) {
		const struct side_count *c = side ? &x->after : &x->before;
		const char *key = key_of(p, side, x->image,
					 item_of(p->changes, x, side),
					 x->file);

		if (!c->there || intern_has(&p->key, key))
			continue;
		intern(&p->key, key);
		vec_push(&p->change, number);
	}
}

/* of a row of an image that was counted */
static uint64_t item_of_row(const struct rows *r, const struct row *row)
{
	return r->by == BY_LINE ? row->line :
	       r->by == BY_PROCEDURE ? row->proc :
	       r->by == BY_BLOCK ? row->item :
	       r->by == BY_INSTRUCTION ? row->addr : 0;
}

static uint32_t number_of_row(struct runs_pairs *pairs,
			      const struct rows *r, const struct row *row)
{
	struct diff_pairs *p = (struct diff_pairs *)pairs;
	uint32_t image = row->image < r->data->counts->nimage ?
				 p->image[p->side][row->image] : MATCH_NONE;
	const char *key;

	if (image == MATCH_NONE || (r->by == BY_LINE && !row->file))
		return ROW_NONE;
	if (rows_have_procedures(r->by) && row->proc == ROW_NONE)
		return ROW_NONE;
	key = key_of(p, p->side, image, item_of_row(r, row), row->file);
	return intern_has(&p->key, key) ? p->change.at[intern(&p->key, key)] :
					  ROW_NONE;
}

static void pairs_make(struct diff_pairs *p, const struct diff *d)
{
	const struct match *m = &d->match;

	*p = (struct diff_pairs){.is.number = number_of_row,
				 .changes = &d->changes};
	for (int side = 0; side < 2; side++) {
		size_t n = d->counts[side].nimage;

		p->image[side] = NEW_ARRAY(uint32_t, n + 1);
		memset(p->image[side], 0xff, n * sizeof *p->image[side]);
	}
	for (uint32_t i = 0; i < m->v.n; i++) {
		if (m->v.at[i].a != MATCH_NONE)
			p->image[0][m->v.at[i].a] = i;
		if (m->v.at[i].b != MATCH_NONE)
			p->image[1][m->v.at[i].b] = i;
	}
	for (uint32_t i = 0; i < d->changes.v.n; i++)
		index_change(p, i);
}

static void pairs_free(struct diff_pairs *p)
{
	for (int side = 0; side < 2; side++)
		mem_free(p->image[side]);
	intern_free(&p->key);
	vec_free(&p->change);
	vec_free(&p->text);
}

/* --- samples */

static int read_side(struct diff *d, int side, struct err *e)
{
	const struct diff_query *q = d->query;
	const struct rows_query rows = {.image = q->image,
					.procedure = q->procedure};
	struct samples_epochs l;
	size_t had = d->runs.run.n;
	int result;

	if (samples_epochs_read(&l, &q->database[side], 1, &q->pick[side], e))
		return -1;
	result = runs_read(&d->runs, &d->samples, &l, false, &q->pick[side],
			   &rows, e);
	samples_epochs_free(&l);
	if (result || d->runs.run.n > had)
		return result;
	return err_set(e, ERR_INPUT, "%s: no samples %s%s%sare there",
		       q->database[side], had ? "of " : "",
		       had ? d->runs.metric.name : "", had ? " " : "");
}

/* both sides, one behind the other; *before: how many runs the first has */
static int read_sides(struct diff *d, uint32_t *before, struct err *e)
{
	struct diff_pairs pairs;
	int failed = 0;

	d->runs.by = d->query->by;
	d->runs.same_work = d->query->same_work;
	if (d->counted)
		pairs_make(&pairs, d);
	for (int side = 0; side < 2 && !failed; side++) {
		*before = (uint32_t)d->runs.run.n;
		if (d->counted) {
			pairs.side = side;
			d->runs.pairs = &pairs.is;
			d->runs.counts = &d->counts[side];
		}
		failed = read_side(d, side, e);
	}
	if (d->counted)
		pairs_free(&pairs);
	runs_sort(&d->runs);
	return failed;
}

/*
 * A side's samples are those of all its runs. Relative: a mean instruction
 * takes 1; else the runs are as long as each other.
 */
static struct metric side_ratio(const struct diff *d, int side)
{
	uint32_t before = d->shares.noise.runs[0];
	size_t first = side ? before : 0;
	size_t end = side ? d->runs.run.n : before;
	struct metric m = d->runs.run.at[first].ratio;
	double inverse = 0;

	for (size_t i = first; i < end; i++)
		inverse += 1 / d->runs.run.at[i].ratio.scale;
	m.scale = 1 / inverse;
	if (d->runs.why_relative) {
		m.name = "relative";
		m.scale = (double)d->counts[side].instructions /
			  (double)d->shares.noise.total[side];
	}
	return m;
}

static void make_ratios(struct diff *d)
{
	for (size_t i = 0; i < d->runs.run.n; i++)
		if (!d->runs.run.at[i].ratio.name)
			return;
	for (int side = 0; side < 2; side++)
		d->ratio[side] = side_ratio(d, side);
}

struct value diff_ratio(const struct diff *d, const struct diff_row *row,
			int side)
{
	const struct change *x = diff_change(d, row);
	const struct significance_row *s = diff_share(d, row);
	struct metric m[3] = {[2] = d->ratio[side]};
	struct value v[3] = {{0}};
	const struct side_count *c;

	if (!x || !s)
		return v[2];
	c = d->query->by == BY_PROCEDURE ?
		    (side ? &x->calls_after : &x->calls_before) :
		    (side ? &x->after : &x->before);
	v[0] = (struct value){.n = s->count[side], .known = true};
	v[1] = (struct value){.n = c->n, .known = c->known};
	m[2].numerator = 0;
	m[2].denominator = 1;
	metric_divide(m, 3, v);
	return v[2];
}

/* --- further metrics */

unsigned diff_more(const struct diff *d, struct metric out[METRICS])
{
	return metric_sources_list(&d->query->more[0], d->query->by, out,
				   METRICS);
}

/* where a row is on a side, as far as counts tell, or else samples */
static struct metric_place place_of(const struct diff *d,
				    const struct diff_row *row, int side)
{
	const struct change *x = diff_change(d, row);
	const struct run_place *p = diff_place(d, row);
	struct metric_place at = {.kind = d->query->by};

	if (!x) {
		at.image = p->image;
		at.start = p->address;
		at.line = p->line;
		*(p->line ? &at.file : &at.procedure) = p->name;
		return at;
	}
	at.image = change_image(&d->match, x)->name;
	at.file = x->file;
	at.line = x->line;
	if (!x->file && d->query->by != BY_IMAGE)
		at.procedure = change_procedure(&d->match, x);
	if (d->query->by == BY_INSTRUCTION)
		at.start = side ? x->address_b : x->address_a;
	return at;
}

void diff_more_values(const struct diff *d, const struct diff_row *row,
		      int side, struct value out[METRICS])
{
	struct metric_place p = place_of(d, row, side);

	metric_sources_values(&d->query->more[side], &p, out, METRICS);
}

/* --- both */

static int open_counts(struct diff *d, struct err *e)
{
	const struct diff_query *q = d->query;
	struct change_query query = {.by = q->by, .all = q->all,
				     .keep = d->sampled, .share = q->share,
				     .image = q->image,
				     .procedure = q->procedure};

	if (counts_open(&d->counts[0], &q->profile[0], 1, NULL, e))
		return -1;
	if (counts_open(&d->counts[1], &q->profile[1], 1, NULL, e)) {
		counts_close(&d->counts[0]);
		return -1;
	}
	match_make(&d->match, &d->counts[0], &d->counts[1]);
	changes_make(&d->changes, &d->match, &query);
	d->counted = true;
	d->any |= d->changes.any;
	d->found |= d->changes.found;
	return 0;
}

static int open_samples(struct diff *d, struct err *e)
{
	uint32_t before = 0;

	if (read_sides(d, &before, e))
		return -1;
	d->found |= d->runs.place.n > 0;
	share_changes_make(&d->shares, &d->runs, before, d->query->rate);
	share_changes_pick(&d->shares, d->query->all, d->query->share);
	d->any |= share_changes_any(&d->shares);
	make_ratios(d);
	return 0;
}

/* rows of changes, then those of shares that have none */
static void join(struct diff *d)
{
	uint32_t *place = NEW_ARRAY(uint32_t, d->changes.v.n + 1);
	bool *listed = NEW_ARRAY(bool, d->changes.v.n + 1);

	memset(place, 0xff, d->changes.v.n * sizeof *place);
	for (uint32_t i = 0; i < d->runs.place.n; i++)
		if (d->runs.place.at[i].paired != ROW_NONE)
			place[d->runs.place.at[i].paired] = i;
	for (size_t i = 0; i < d->shares.order.n; i++) {
		uint32_t x = d->runs.place.at[d->shares.order.at[i]].paired;

		if (x != ROW_NONE)
			listed[x] = true;
	}
	for (uint32_t i = 0; i < d->changes.v.n; i++) {
		struct diff_row row = {i, place[i]};

		if (d->changes.v.at[i].listed || listed[i])
			vec_push(&d->v, row);
	}
	for (size_t i = 0; i < d->shares.order.n; i++) {
		struct diff_row row = {MATCH_NONE, d->shares.order.at[i]};

		if (d->runs.place.at[row.place].paired == ROW_NONE)
			vec_push(&d->v, row);
	}
	mem_free(place);
	mem_free(listed);
}

int diff_make(struct diff *d, const struct diff_query *q, struct err *e)
{
	*d = (struct diff){.query = q};
	/* edges have no samples */
	d->sampled = q->database[0] && q->by != BY_EDGE;
	if ((q->profile[0] && open_counts(d, e)) ||
	    (d->sampled && open_samples(d, e))) {
		diff_free(d);
		return -1;
	}
	join(d);
	return 0;
}

void diff_free(struct diff *d)
{
	vec_free(&d->v);
	share_changes_free(&d->shares);
	runs_free(&d->runs);
	samples_close(&d->samples);
	if (!d->counted)
		return;
	changes_free(&d->changes);
	match_free(&d->match);
	for (int i = 0; i < 2; i++)
		counts_close(&d->counts[i]);
}
