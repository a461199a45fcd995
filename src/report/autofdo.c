/* autofdo: see autofdo.h. */
#include "report/autofdo.h"

#include "report/walk.h"
#include "report/sites.h"

/* an image while it is looked through */
struct reader {
	struct autofdo *s;
	const struct counts *t;
	const struct counts_image *m;
	struct lines *lines;
};

/* where in its function a frame is */
static uint32_t place_of(const struct line_frame *f)
{
	return ((f->place.line - f->line) & 0xffff) << 16 | f->place.block;
}

/* strings of debug information stay where they are: each is hashed once */
static uint32_t function_of(struct autofdo *s, const char *name)
{
	uint64_t key = (uint64_t)(uintptr_t)name;
	uint32_t n = dict_get(&s->by_pointer, key);

	if (n == DICT_NONE) {
		n = intern(&s->name, name);
		dict_put(&s->by_pointer, key, n);
	}
	return n;
}

/* the value of the pair of keys, or `new` from now on */
static uint32_t find_or_put(struct dict *d, uint32_t high, uint32_t low,
			    size_t new)
{
	uint64_t key = (uint64_t)high << 32 | low;
	uint32_t n = dict_get(d, key);

	if (n == DICT_NONE)
		dict_put(d, key, n = (uint32_t) new);
	return n;
}

/* the function, or the call of it that is inlined at a place of `parent` */
static uint32_t node_of(struct autofdo *s, uint32_t parent, uint32_t place,
			uint32_t function)
{
	struct autofdo_node x = {.function = function,
				 .parent = parent,
				 .place = place,
				 .calls_known = true};
	uint32_t site = find_or_put(&s->site, parent, place, s->nsite);
	uint32_t n = find_or_put(&s->by_site, site, function, s->node.n);

	if (site == s->nsite)
		s->nsite++;
	if (n == s->node.n)
		vec_push(&s->node, x);
	return n;
}

static uint32_t body_of(struct autofdo *s, uint32_t node, uint32_t place)
{
	struct autofdo_body x = {node, place, 0, true};
	uint32_t n = find_or_put(&s->by_place, node, place, s->body.n);

	if (n == s->body.n)
		vec_push(&s->body, x);
	return n;
}

/* all frames are there, and say where they are: how many, or 0 */
static unsigned returning_frames(const struct line_frame *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!f[i].function || !f[i].place.line || !f[i].line)
			return 0;
	return n < LINE_FRAMES ? n : 0;
}

static unsigned frames_at(struct reader *r, uint64_t addr, struct line_frame *f)
{
	return returning_frames(f,
				lines_frames(r->lines, addr, f, LINE_FRAMES));
}

/* the body of the place that the frames lead to, its node and all above */
static uint32_t enter(struct autofdo *s, const struct line_frame *f, unsigned n)
{
	uint32_t node = AUTOFDO_NONE, place = 0;

	for (unsigned i = n; i-- > 0;) {
		node = node_of(s, node, place, function_of(s, f[i].function));
		place = place_of(&f[i]);
	}
	return body_of(s, node, place);
}

/* an instruction with those frames */
static void add_count(struct autofdo *s, const struct line_frame *f, unsigned n,
		      bool known, uint64_t count)
{
	struct autofdo_body *b;
	uint32_t body;

	if (!n)
		return;
	body = enter(s, f, n);
	b = &s->body.at[body];
	count *= f[0].place.copies;
	b->known &= known;
	if (!known)
		return;
	if (count > b->count)
		b->count = count;
	for (uint32_t k = b->node; k != AUTOFDO_NONE;
	     k = s->node.at[k].parent) {
		s->node.at[k].total += count;
		s->node.at[k].known = true;
	}
}

static void add_insn(struct reader *r, uint64_t addr, bool known,
		     uint64_t count)
{
	struct line_frame f[LINE_FRAMES];

	add_count(r->s, f, frames_at(r, addr, f), known, count);
}

static void add_blocks(struct reader *r, uint32_t proc)
{
	const struct map_proc *p = &r->m->map->proc.at[proc];
	const struct solved *s = &r->m->solved;

	counts_load_next(r->m, proc);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		struct insn_walk w = {0};
		uint64_t addr;

		while (insn_next(r->m->map, &r->m->map->block.at[i], &w, &addr))
			add_insn(r, addr, s->block_known[i],
				 solved_insn(s, i, w.done - 1));
	}
}

/*
 * What did not run may be a part of a function that did. Such a function is of
 * the same file: debug information of files in which nothing ran, most of it
 * in large programs, is not read.
 */
static void add_procedures(struct reader *r)
{
	const struct map *m = r->m->map;
	bool *ran = NEW_ARRAY(bool, m->proc.n + 1);
	uint64_t n;

	for (uint32_t p = 0; p < m->proc.n; p++) {
		ran[p] = !counts_instructions(r->m, p, &n) || n;
		if (ran[p])
			add_blocks(r, p);
	}
	for (uint32_t p = 0; p < m->proc.n; p++)
		if (!ran[p] && lines_read(r->lines, m->proc.at[p].entry))
			add_blocks(r, p);
	mem_free(ran);
}

/* how often functions were called: parts that lie elsewhere are not */
static void add_calls(struct reader *r)
{
	const struct solved *s = &r->m->solved;

	for (uint32_t p = 0; p < r->m->map->proc.n; p++) {
		uint64_t entry = r->m->map->proc.at[p].entry;
		struct line_frame f[LINE_FRAMES];
		unsigned n = lines_read(r->lines, entry)
				     ? frames_at(r, entry, f)
				     : 0;
		struct autofdo_node *x;
		uint32_t node;

		if (!n || f[n - 1].entry != entry)
			continue;
		node = node_of(r->s, AUTOFDO_NONE, 0,
			       function_of(r->s, f[n - 1].function));
		x = &r->s->node.at[node];
		x->calls += s->calls[p];
		x->calls_known &= s->calls_known[p];
	}
}

/* the function that a call site's callee is; NULL: none, or a part of one */
static const char *callee_of(const struct reader *r, const struct site_count *x,
			     const char *caller)
{
	const struct counts_image *m = &r->t->image[x->to_image];
	struct lines *l = symbolizer_lines(m->symbolizer);
	struct line_frame f[LINE_FRAMES];
	unsigned n;
	uint32_t proc = map_proc_at(m->map, x->to);

	if (proc == MAP_NONE)
		return NULL;
	n = l ? lines_frames(l, x->to, f, LINE_FRAMES) : 0;
	if (!n || n == LINE_FRAMES || !f[n - 1].function)
		return symbolizer_symbol(m->symbolizer, proc);
	return f[n - 1].entry == x->to && (x->kind == SITE_DIRECT_CALL ||
					   x->kind == SITE_INDIRECT_CALL ||
					   strcmp(caller, f[n - 1].function))
		       ? f[n - 1].function
		       : NULL;
}

/* "puts" of "puts@plt" or of "puts@@GLIBC_2.2.5" */
static uint32_t plain_name(struct autofdo *s, const char *symbol)
{
	size_t n = strcspn(symbol, "@");
	char *name;
	uint32_t f;

	if (!symbol[n] || !n)
		return function_of(s, symbol);
	name = mem_alloc(n + 1);
	memcpy(name, symbol, n);
	name[n] = '\0';
	f = intern(&s->name, name);
	mem_free(name);
	return f;
}

static void add_target(struct reader *r, const struct site_count *x)
{
	struct line_frame f[LINE_FRAMES];
	struct autofdo_target new = {0};
	const char *callee;
	uint32_t k;
	unsigned n;

	if (!x->known || !x->count || x->to_image == SITE_NONE)
		return;
	n = frames_at(r, x->addr, f);
	if (!n)
		return;
	callee = callee_of(r, x, f[n - 1].function);
	if (!callee)
		return;
	new.body = enter(r->s, f, n);
	new.function = plain_name(r->s, callee);
	k = find_or_put(&r->s->by_callee, new.body, new.function,
			r->s->target.n);
	if (k == r->s->target.n)
		vec_push(&r->s->target, new);
	r->s->target.at[k].count += x->count;
}

static void add_targets(struct reader *r, uint32_t image)
{
	site_counts sites = {0};

	for (uint32_t p = 0; p < r->m->map->proc.n; p++) {
		if (counts_idle(r->m, p))
			continue;
		counts_load_next(r->m, p);
		sites.n = 0;
		sites_list(&sites, r->t, image, p);
		for (size_t i = 0; i < sites.n; i++)
			add_target(r, &sites.at[i]);
	}
	vec_free(&sites);
}

void autofdo_make(struct autofdo *s, const struct counts *t)
{
	*s = (struct autofdo){0};
	for (uint32_t i = 0; i < t->nimage; i++) {
		struct reader r = {.s = s, .t = t, .m = &t->image[i]};

		r.lines =
			r.m->missing ? NULL : symbolizer_lines(r.m->symbolizer);
		if (!r.lines || !r.lines->nunit)
			continue;
		add_procedures(&r);
		add_calls(&r);
		add_targets(&r, i);
	}
}

void autofdo_add(struct autofdo *s, const struct line_frame *f, unsigned n,
		 uint64_t count)
{
	add_count(s, f, returning_frames(f, n), true, count);
}

void autofdo_free(struct autofdo *s)
{
	intern_free(&s->name);
	vec_free(&s->node);
	vec_free(&s->body);
	vec_free(&s->target);
	dict_free(&s->by_pointer);
	dict_free(&s->site);
	dict_free(&s->by_site);
	dict_free(&s->by_place);
	dict_free(&s->by_callee);
}
