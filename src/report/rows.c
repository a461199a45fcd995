/* rows: see rows.h. */
#include "report/rows.h"

#include <string.h>

#include "report/rows_pick.h"
#include "report/sites.h"
#include "report/walk.h"

/* --- the row that is being made: its values are the first ones */

/* begins one; what counters tell is unknown, of samples there are none */
static struct value *begin(struct rows *r)
{
	struct value *v = r->values.at;

	memset(v, 0, r->metrics * sizeof *v);
	for (unsigned i = 0; i < r->events; i++)
		v[r->first_event + i].known = true;
	return v;
}

static struct value *event_values(const struct rows *r)
{
	return r->values.at + r->first_event;
}

static void put(struct value *v, bool known, uint64_t n)
{
	*v = (struct value){.n = n, .of_all = n, .known = known};
}

static void add_samples(struct rows *r, const uint64_t *samples)
{
	struct value *v = event_values(r);

	for (unsigned i = 0; i < r->events; i++) {
		v[i].n += samples[i];
		v[i].of_all += samples[i];
	}
}

/* also what did not run */
static bool wants_all(const struct rows *r)
{
	return r->query->all;
}

/* what further sources say of it; whether that is something */
static bool ask_more(struct rows *r, const struct row *row)
{
	struct metric_place p;
	bool some = false;

	if (r->first_more == r->metrics)
		return false;
	p = row_place(r, row);
	metric_sources_values(&r->data->more, &p,
			      r->values.at + r->first_more,
			      r->metrics - r->first_more);
	for (unsigned i = r->first_more; i < r->metrics; i++)
		some |= r->values.at[i].known && r->values.at[i].n;
	return some;
}

/* a trace does not tell all: what it tells are lower bounds */
static void bound_counts(struct rows *r)
{
	const struct counts *t = r->data->counts;

	if (!t || !(t->profile.header.trouble & TROUBLE_OF_TRACES))
		return;
	for (unsigned i = 0; i < r->first_event; i++)
		r->values.at[i].least |= r->values.at[i].known;
}

static void add(struct rows *r, struct row row)
{
	bound_counts(r);
	ask_more(r, &row);
	metric_divide(r->metric, r->metrics, r->values.at);
	row.number = r->found++;
	row.value = 0;
	if (r->sink)
		r->sink->take(r->sink, r, &row);
	else
		rows_pick(r, &row);
}

/* adds it, unless it is known to be nothing */
static void add_some(struct rows *r, struct row row)
{
	const struct value *v = r->values.at;
	bool counted = r->first_event;

	row.value = 0;
	if (wants_all(r) || (counted && (!v->known || v->n)) ||
	    row_has_samples(r, &row) || ask_more(r, &row))
		add(r, row);
}

/* --- images, processes, events and epochs */

static void add_image(struct rows *r, uint32_t image)
{
	const struct dataset_image *m = &r->data->image.at[image];
	const struct counts_image *c = m->counts;
	struct value *v = begin(r);

	if (c) {
		put(&v[0], !counts_unmeasured(c), c->solved.instructions);
		v[0].least = !counts_complete(c);
		put(&v[1], !c->map->counts_edges,
		    r->data->counts->profile.image.at[c->image].ncounter);
		put(&v[2], v[0].known && !c->map->counts_edges,
		    c->solved.increments);
	} else if (m->left) {
		put(&v[1], true, 0);
	}
	if (m->samples)
		add_samples(r, m->samples->total);
	/* all images are listed: they were there */
	add(r, (struct row){.image = image});
}

static int add_counted_processes(struct rows *r, struct counts *t,
				 struct err *e)
{
	for (uint32_t i = 0; i < t->profile.process.n; i++) {
		struct value *v = begin(r);
		uint64_t n;
		bool all;

		if (counts_process(t, t->profile.process.at[i].number, &n, &all,
				   e))
			return -1;
		put(v, true, n);
		v->least = !all;
		add(r, (struct row){.item = i});
	}
	return 0;
}

static int add_processes(struct rows *r, struct err *e)
{
	const struct samples *s = r->data->samples;

	if (r->data->counts && add_counted_processes(r, r->data->counts, e))
		return -1;
	for (uint32_t i = 0; s && i < s->process.n; i++) {
		begin(r);
		add_samples(r, s->process.at[i].samples);
		add(r, (struct row){.item = i, .sampled = true});
	}
	return 0;
}

static void add_events(struct rows *r, const struct samples *s)
{
	for (uint32_t i = 0; i < s->event.n; i++) {
		begin(r);
		add_samples(r, &s->event.at[i].samples);
		add(r, (struct row){.item = i});
	}
}

static void add_epochs(struct rows *r, const struct samples *s)
{
	for (uint32_t i = 0; i < s->epoch.n; i++) {
		begin(r);
		add_samples(r, s->epoch.at[i].samples);
		add(r, (struct row){.item = i});
	}
}

/* --- procedures, and what is inside of them */

/* the samples of an image, or none */
static const struct points *points_in(struct rows *r, uint32_t image)
{
	static const struct points none;

	return r->events && r->data->image.at[image].samples ?
		       dataset_points(r->data, image, r->by == BY_LINE) :
		       &none;
}

/* a procedure that is being listed */
struct listed {
	const struct counts_image *m;
	struct row row; /* what all rows of it have in common */
	const struct point *point; /* its samples, n of them, by address */
	size_t n;
	bool *taken; /* by point: it has a row */
};

static void list_procedure(struct rows *r, const struct listed *l)
{
	uint32_t p = l->row.proc;
	struct value *v = begin(r);
	uint64_t n;
	bool known = counts_instructions(l->m, p, &n);
	struct row row = l->row;

	put(&v[0], known, n);
	put(&v[1], l->m->solved.calls_known[p], l->m->solved.calls[p]);
	for (size_t i = 0; i < l->n; i++)
		add_samples(r, l->point[i].samples);
	row.ran = !known && row.ran;
	add_some(r, row);
}

/* the samples from `start` on, before `end` */
static void add_range(struct rows *r, const struct listed *l, uint64_t start,
		      uint64_t end)
{
	size_t i;

	bisect(i, l->n, l->point[i].at.address < start);
	for (; i < l->n && l->point[i].at.address < end; i++) {
		add_samples(r, l->point[i].samples);
		l->taken[i] = true;
	}
}

static void list_block(struct rows *r, const struct listed *l, uint32_t block)
{
	const struct map_block *b = &l->m->map->block.at[block];
	const struct solved *s = &l->m->solved;
	struct row row = l->row;
	struct value *v = begin(r);

	row.item = block;
	row.addr = b->start;
	put(v, s->block_known[block], s->block[block]);
	v->of_all = solved_insns(s, l->m->map, block);
	add_range(r, l, b->start, b->start + b->size);
	add_some(r, row);
}

static void list_instructions(struct rows *r, const struct listed *l,
			      uint32_t block)
{
	const struct map_block *b = &l->m->map->block.at[block];
	const struct solved *s = &l->m->solved;
	struct insn_walk w = {0};
	struct row row = l->row;

	row.item = block;
	while (insn_next(l->m->map, b, &w, &row.addr)) {
		struct value *v = begin(r);

		put(v, s->block_known[block],
		    solved_insn(s, block, w.done - 1));
		if (l->n)
			add_range(r, l, row.addr, row.addr + 1);
		add_some(r, row);
	}
}

/* samples of code of the procedure that is not in its blocks */
static void list_others(struct rows *r, const struct listed *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct row row = l->row;

		if (l->taken[i])
			continue;
		begin(r);
		add_samples(r, l->point[i].samples);
		row.addr = l->point[i].at.address;
		row.item = ROW_NONE;
		add_some(r, row);
	}
}

static void list_edges(struct rows *r, const struct listed *l)
{
	const struct map_proc *p = &l->m->map->proc.at[l->row.proc];
	struct row row = l->row;

	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		put(begin(r), l->m->solved.edge_known[i], l->m->solved.edge[i]);
		row.item = i;
		add_some(r, row);
	}
}

static void list_sites(struct rows *r, const struct listed *l)
{
	site_counts sites = {0};
	struct row row = l->row;

	sites_list(&sites, r->data->counts, row.image, row.proc);
	for (size_t i = 0; i < sites.n; i++) {
		const struct site_count *x = &sites.at[i];

		put(begin(r), x->known, x->count);
		row.addr = x->addr;
		row.kind = x->kind;
		row.to_image = x->to_image;
		row.to = x->to;
		row.to_unknown = x->to_unknown;
		add_some(r, row);
	}
	vec_free(&sites);
}

/* blocks, instructions, edges or call sites of a procedure */
static void list_inside(struct rows *r, const struct listed *l)
{
	const struct map_proc *p = &l->m->map->proc.at[l->row.proc];

	/* if all are shown, what these show is needed again */
	if (r->query->limit == SIZE_MAX &&
	    (r->by == BY_EDGE || r->by == BY_BLOCK))
		counts_load(l->m, l->row.proc);
	else
		counts_load_next(l->m, l->row.proc);
	if (r->by == BY_CALL_SITE) {
		list_sites(r, l);
	} else if (r->by == BY_EDGE) {
		list_edges(r, l);
	} else {
		for (uint32_t i = p->block; i < p->block + p->nblock; i++)
			if (r->by == BY_BLOCK)
				list_block(r, l, i);
			else
				list_instructions(r, l, i);
		list_others(r, l);
	}
}

static void list_counted(struct rows *r, uint32_t image,
			 const struct points *points)
{
	const struct counts_image *m = r->data->image.at[image].counts;

	for (uint32_t p = 0; p < m->map->proc.n; p++) {
		uint64_t entry = m->map->proc.at[p].entry;
		struct listed l = {.m = m,
				   .row = {.image = image,
					   .proc = p,
					   .start = entry,
					   .addr = entry,
					   .ran = counts_ran(m, p),
					   .to_image = ROW_NONE}};
		size_t first = 0;

		if (points->v.n) {
			l.n = points_of(points, p, &first);
			l.point = points->v.at + first;
		}
		if (r->by == BY_PROCEDURE) {
			list_procedure(r, &l);
		} else if (l.n || wants_all(r) || !counts_idle(m, p)) {
			l.taken = NEW_ARRAY(bool, l.n);
			list_inside(r, &l);
			mem_free(l.taken);
		}
	}
}

static struct row row_of_point(uint32_t image, const struct point *p)
{
	return (struct row){
		.image = image, .proc = ROW_NONE, .item = ROW_NONE,
		.start = p->at.start, .addr = p->at.start,
		.procedure = p->at.procedure, .symbol = p->at.symbol,
	};
}

/* samples of code that is in no map */
static void list_sampled(struct rows *r, uint32_t image,
			 const struct points *points)
{
	size_t i, end;

	if (r->by != BY_PROCEDURE && r->by != BY_INSTRUCTION)
		return;
	bisect(i, points->v.n, points->v.at[i].proc != MAP_NONE);
	for (; i < points->v.n; i = end) {
		const struct point *p = &points->v.at[i];
		struct row row = row_of_point(image, p);

		begin(r);
		if (r->by == BY_INSTRUCTION)
			row.addr = p->at.address;
		for (end = i; end < points->v.n; end++) {
			const struct samples_place *at = &points->v.at[end].at;

			if (at->start != row.start ||
			    (r->by == BY_INSTRUCTION &&
			     at->address != row.addr))
				break;
			add_samples(r, points->v.at[end].samples);
		}
		add_some(r, row);
	}
}

static void list_code(struct rows *r, uint32_t image)
{
	const struct points *points = points_in(r, image);

	if (r->data->image.at[image].counts)
		list_counted(r, image, points);
	list_sampled(r, image, points);
	dataset_forget_points(r->data, image);
}

/*
 * Can it be that a row of the image is among those that are shown? None has
 * more than all of it, and to look for its names takes time.
 */
static bool may_be_shown(const struct rows *r, uint32_t image)
{
	const struct samples_image *m = r->data->image.at[image].samples;
	const struct rows_query *w = r->query;

	return r->first_event || !m || w->sort > SORT_COUNT || w->reverse ||
	       !r->v.n || r->v.n < w->limit ||
	       m->total[0] >= row_values(r, &r->v.at[0])->n;
}

static void add_code(struct rows *r, uint32_t image)
{
	if (!rows_want_image(r, image) || !may_be_shown(r, image)) {
		r->found++;
		return;
	}
	if (r->query->image && r->data->image.at[image].samples)
		r->data->image.at[image].samples->few = false;
	list_code(r, image);
}

/* what comes first, of images: of samples alone, those with most */
static uint64_t urgency(const struct rows *r, uint32_t image)
{
	const struct samples_image *m = r->data->image.at[image].samples;

	if (r->sink)
		return r->sink->first == image;
	return m && !r->first_event ? m->total[0] : 0;
}

static void add_all_code(struct rows *r)
{
	size_t n = r->data->image.n;
	struct ranked *o = NEW_ARRAY(struct ranked, n);

	for (uint32_t i = 0; i < n; i++)
		o[i] = (struct ranked){i, urgency(r, i)};
	ranked_sort(o, n);
	for (size_t i = 0; i < n; i++)
		add_code(r, o[i].number);
	mem_free(o);
}

/* --- lines */

/* the rows of lines, before they are added up, with their values */
struct pending {
	VEC(struct row) v; /* value: where in these */
	VEC(struct value) value;
};

static void defer(struct pending *q, const struct rows *r, struct row row)
{
	row.value = (uint32_t)q->value.n;
	for (unsigned i = 0; i < r->metrics; i++)
		vec_push(&q->value, r->values.at[i]);
	vec_push(&q->v, row);
}

static void defer_counts(struct pending *q, struct rows *r)
{
	line_counts_make(&r->lines, r->data->counts);
	for (uint32_t i = 0; i < r->lines.v.n; i++) {
		const struct line_count *l = &r->lines.v.at[i];
		struct value *v = begin(r);
		struct row row = {
			.image = l->image, .proc = ROW_NONE, .item = i,
			.file = r->lines.file.string.at[l->file],
			.line = l->line, .ran = l->instructions};

		put(&v[0], l->known, l->count);
		put(&v[1], l->known, l->instructions);
		/* of equal ones, those that did something come first */
		row.addr = !l->own;
		defer(q, r, row);
	}
}

static void defer_samples(struct pending *q, struct rows *r, uint32_t image)
{
	const struct points *points;

	if (!rows_want_image(r, image))
		return;
	points = points_in(r, image);
	for (size_t i = 0; i < points->v.n; i++) {
		const struct point *p = &points->v.at[i];
		struct row row = row_of_point(image, p);

		begin(r);
		row.file = p->at.file;
		row.line = p->at.file ? p->at.line : 0;
		add_samples(r, p->samples);
		defer(q, r, row);
	}
	dataset_forget_points(r->data, image);
}

/* the line that both are about; counts of it come first */
static int by_line(const void *a, const void *b)
{
	const struct row *p = a, *q = b;
	int sign = rows_compare_lines(p, q);

	return sign ? sign : p->item < q->item ? -1 : p->item > q->item;
}

static void add_value(struct value *v, const struct value *more)
{
	v->n += more->n;
	v->of_all += more->of_all;
	v->known |= more->known;
}

static void add_lines(struct rows *r)
{
	struct pending q = {0};
	size_t end;

	if (r->data->counts)
		defer_counts(&q, r);
	for (uint32_t i = 0; i < r->data->image.n; i++)
		defer_samples(&q, r, i);
	if (r->events)
		mem_sort(q.v.at, q.v.n, sizeof *q.v.at, by_line);
	for (size_t i = 0; i < q.v.n; i = end) {
		begin(r);
		for (unsigned k = 0; k < r->metrics; k++)
			r->values.at[k].known = false;
		for (end = i; end < q.v.n; end++) {
			const struct row *row = &q.v.at[end];

			if (end > i && (!r->events ||
					rows_compare_lines(&q.v.at[i], row)))
				break;
			for (unsigned k = 0; k < r->metrics; k++)
				add_value(&r->values.at[k],
					  &q.value.at[row->value + k]);
		}
		add_some(r, q.v.at[i]);
	}
	vec_free(&q.v);
	vec_free(&q.value);
}

/* --- all */

static int add_all(struct rows *r, struct err *e)
{
	switch (r->by) {
	case BY_PROCESS:
		return add_processes(r, e);
	case BY_EVENT:
		add_events(r, r->data->samples);
		return 0;
	case BY_EPOCH:
		add_epochs(r, r->data->samples);
		return 0;
	case BY_LINE:
		add_lines(r);
		return 0;
	case BY_IMAGE:
		for (uint32_t i = 0; i < r->data->image.n; i++)
			add_image(r, i);
		return 0;
	default:
		add_all_code(r);
		return 0;
	}
}

static int make(struct rows *r, struct dataset *v, enum by by, struct err *e)
{
	r->data = v;
	r->by = by;
	r->metrics = dataset_metrics(v, by, r->metric);
	r->first_event = dataset_first_event(v, by);
	r->events = dataset_events(v, by);
	r->first_more = r->metrics - dataset_more(v, by);
	for (unsigned i = 0; i < r->metrics; i++)
		vec_push(&r->values, (struct value){0});
	if (add_all(r, e)) {
		rows_free(r);
		return -1;
	}
	rows_sort(r);
	return 0;
}

int rows_make(struct rows *r, struct dataset *v, enum by by,
	      const struct rows_query *w, struct err *e)
{
	*r = (struct rows){.query = w};
	return make(r, v, by, e);
}

int rows_each(struct dataset *v, enum by by, struct row_sink *to,
	      struct err *e)
{
	static const struct rows_query all = {0};
	struct rows r = {.query = &all, .sink = to};

	if (make(&r, v, by, e))
		return -1;
	rows_free(&r);
	return 0;
}

void rows_free(struct rows *r)
{
	vec_free(&r->v);
	vec_free(&r->values);
	line_counts_free(&r->lines);
}
