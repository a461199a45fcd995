/* rows: see rows.h. */
#include "report/rows.h"

#include "report/rows_pick.h"

/* adds one if it is wished for */
static void add(struct rows *r, struct row row)
{
	row.number = r->found++;
	if (r->wish)
		rows_pick(r, &row);
	else
		vec_push(&r->v, row);
}

/* also what did not run */
static bool wants_all(const struct rows *r)
{
	return r->wish && r->wish->all;
}

void rows_add(struct rows *r, struct row row)
{
	if (wants_all(r) || !row.known || row.count)
		add(r, row);
}

static void add_images(struct rows *r, const struct told *t)
{
	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct told_image *m = &t->image[i];
		struct row row = {
			.image = i, .known = !told_unmeasured(m),
			.count = m->solved.instructions,
			.least = m->solved.unknown_procs || m->left,
		};

		/* all images are listed: they were there */
		add(r, row);
	}
	for (uint32_t i = 0; i < t->nleft; i++) {
		struct row row = {.image = t->nimage + i};

		add(r, row);
	}
}

static int add_processes(struct rows *r, struct told *t, struct err *e)
{
	for (uint32_t i = 0; i < t->profile.process.n; i++) {
		struct row row = {.item = i, .known = true};
		bool all;

		if (told_process(t, t->profile.process.at[i].number,
				 &row.count, &all, e))
			return -1;
		row.least = !all;
		add(r, row);
	}
	return 0;
}

static void add_procedures(struct rows *r, const struct told_image *m,
			   uint32_t image)
{
	for (uint32_t p = 0; p < m->map->proc.n; p++) {
		struct row row = {.image = image, .proc = p,
				  .addr = m->map->proc.at[p].entry};

		row.known = told_instructions(m, p, &row.count);
		row.ran = !row.known && told_ran(m, p);
		rows_add(r, row);
	}
}

static void add_blocks(struct rows *r, const struct told_image *m,
		       struct row row, bool each_insn)
{
	const struct map_proc *p = &m->map->proc.at[row.proc];

	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &m->map->block.at[i];
		struct insn_walk w = {0};

		row.item = i;
		row.addr = b->start;
		row.count = m->solved.block[i];
		row.known = m->solved.block_known[i];
		if (!each_insn)
			rows_add(r, row);
		while (each_insn && insn_next(m->map, b, &w, &row.addr)) {
			row.count = solved_insn(&m->solved, i, w.done - 1);
			rows_add(r, row);
		}
	}
}

static void add_edges(struct rows *r, const struct told_image *m,
		      struct row row)
{
	const struct map_proc *p = &m->map->proc.at[row.proc];

	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		row.item = i;
		row.count = m->solved.edge[i];
		row.known = m->solved.edge_known[i];
		rows_add(r, row);
	}
}

/* blocks, instructions or edges of a procedure */
static void add_inside(struct rows *r, const struct told_image *m,
		       uint32_t image, uint32_t p)
{
	struct row row = {.image = image, .proc = p,
			  .addr = m->map->proc.at[p].entry,
			  .ran = told_ran(m, p)};

	if (r->by == BY_EDGE)
		add_edges(r, m, row);
	else
		add_blocks(r, m, row, r->by == BY_INSTRUCTION);
}

/* what is inside of all procedures of an image */
static void add_insides(struct rows *r, const struct told *t, uint32_t image)
{
	const struct told_image *m = &t->image[image];

	for (uint32_t p = 0; p < m->map->proc.n; p++) {
		if (told_idle(m, p) && !wants_all(r))
			continue;
		/* if all are shown, what these show is needed again */
		if (r->wish->limit == SIZE_MAX &&
		    (r->by == BY_EDGE || r->by == BY_BLOCK))
			told_need(m, p);
		else
			told_turn(m, p);
		if (r->by == BY_CALL_SITE)
			rows_add_sites(r, t, image, p);
		else
			add_inside(r, m, image, p);
	}
}

static void add_lines(struct rows *r, const struct told *t)
{
	line_counts_make(&r->lines, t);
	for (uint32_t i = 0; i < r->lines.v.n; i++) {
		const struct line_count *l = &r->lines.v.at[i];
		struct row row = {.image = l->image, .item = i,
				  .count = l->count, .known = l->known,
				  .ran = l->instructions};

		/* of equal ones, those that did something come first */
		row.addr = !l->own;
		rows_add(r, row);
	}
}

static bool is_inside(enum rows_by by)
{
	return by == BY_EDGE || by == BY_BLOCK || by == BY_INSTRUCTION ||
	       by == BY_CALL_SITE;
}

int rows_make(struct rows *r, struct told *t, enum rows_by by,
	      const struct rows_wish *w, struct err *e)
{
	*r = (struct rows){.t = t, .by = by, .wish = w};
	if (by == BY_IMAGE)
		add_images(r, t);
	if (by == BY_LINE)
		add_lines(r, t);
	if (by == BY_PROCESS && add_processes(r, t, e)) {
		rows_free(r);
		return -1;
	}
	for (uint32_t i = 0; i < t->nimage; i++) {
		if (by == BY_PROCEDURE)
			add_procedures(r, &t->image[i], i);
		if (is_inside(by))
			add_insides(r, t, i);
	}
	rows_sort(r);
	return 0;
}

void rows_free(struct rows *r)
{
	vec_free(&r->v);
	line_counts_free(&r->lines);
}

const struct told_left *row_left(const struct told *t, const struct row *r)
{
	return r->image < t->nimage ? NULL : &t->left[r->image - t->nimage];
}

const char *row_image(const struct told *t, const struct row *r)
{
	return r->image < t->nimage ? t->image[r->image].name :
				      row_left(t, r)->name;
}

bool row_calls(const struct told *t, const struct row *r, uint64_t *calls)
{
	const struct solved *s = &t->image[r->image].solved;

	*calls = s->calls[r->proc];
	return s->calls_known[r->proc];
}

const char *row_procedure(const struct told *t, const struct row *r)
{
	return legend_procedure(t->image[r->image].legend, r->proc);
}

const char *edge_name(const struct told_image *m, uint32_t edge)
{
	/* as `tally cfg` calls them, where it has them */
	static const char *const names[MAP_KINDS] = {
		[MAP_FALL] = "fall", [MAP_TAKEN] = "taken",
		[MAP_JUMP] = "jump", [MAP_OVER] = "over-call",
		[MAP_TABLE] = "table", [MAP_TO_HUB] = "to-hub",
		[MAP_FROM_HUB] = "from-hub", [MAP_CALL] = "call",
		[MAP_RETURN] = "return", [MAP_TAIL] = "tail-call",
		[MAP_NORETURN] = "no-return", [MAP_AWAY] = "indirect",
		[MAP_STAYS] = "in-place", [MAP_BACK] = "after-call",
		[MAP_PAD] = "unwind", [MAP_ENTRY] = "entry",
	};

	return m->solved.arrival[edge] ? "arrival" :
					 names[m->map->edge.at[edge].kind];
}

/* the start of block v of the procedure; false if v is none */
static bool block_start(const struct told_image *m, const struct map_proc *p,
			uint32_t v, uint64_t *addr)
{
	if (v >= p->nblock)
		return false;
	*addr = m->map->block.at[p->block + v].start;
	return true;
}

struct edge_ends edge_ends(const struct told_image *m,
			   const struct map_proc *p, const struct map_edge *d)
{
	bool back = d->kind == MAP_BACK || d->kind == MAP_PAD;
	uint32_t hub = d->kind == MAP_TO_HUB ? d->to : d->from;
	struct edge_ends x = {0};

	x.has_from = block_start(m, p, back ? d->call : d->from, &x.from);
	x.has_to = block_start(m, p, d->to, &x.to);
	if (!x.has_to && d->callee) {
		x.to = d->callee;
		x.has_to = true;
	}
	x.has_hub = hub >= p->nblock && hub < map_exit(p);
	if (x.has_hub)
		x.hub = hub - p->nblock;
	return x;
}

bool insn_next(const struct map *m, const struct map_block *b,
	       struct insn_walk *w, uint64_t *addr)
{
	if (w->done == b->ninsn)
		return false;
	if (!w->done)
		w->next = b->start;
	*addr = w->next;
	w->next += m->insn_size ? m->insn_size :
				  m->length.at[b->length + w->done];
	w->done++;
	return true;
}

uint64_t block_last(const struct map *m, const struct map_block *b)
{
	struct insn_walk w = {0};
	uint64_t at = b->start;

	if (m->insn_size)
		return b->start + b->size - m->insn_size;
	while (insn_next(m, b, &w, &at))
		;
	return at;
}
