/*
 * random_map: maps of counters (count/map/map.h) of random procedures, with calls
 * that come back, land elsewhere or never return; and random runs through
 * them, counted by brute force.
 */
#ifndef TESTS_RANDOM_MAP_H
#define TESTS_RANDOM_MAP_H

#include <elf.h>
#include <stdio.h>

#include "count/map/map_graph.h"
#include "random_cfg.h"

/* how often everything ran; by number in the map */
struct ran {
	uint64_t *block, *edge;
};

/* the vertex of a map for one of the graph: EXIT is the last */
static inline uint32_t random_map_vertex(const struct graph *g,
					 const uint32_t *number, uint32_t v)
{
	return v == g->exit ? g->nv - 1 : number[v];
}

static inline uint8_t random_map_kind(struct rng *r, const struct graph *g,
				      uint32_t e)
{
	static const uint8_t leave[] = {MAP_RETURN, MAP_TAIL, MAP_NORETURN,
					MAP_AWAY, MAP_STAYS};

	if (g->is_virtual[g->from[e]])
		return g->to[e] == g->exit ? MAP_STAYS : MAP_FROM_HUB;
	if (g->to[e] == g->exit)
		return leave[rng_below(r, sizeof leave)];
	if (g->is_virtual[g->to[e]])
		return MAP_TO_HUB;
	return (uint8_t)rng_below(r, MAP_TO_HUB);
}

/* edge e of the graph; a call is cut into its two halves, perhaps with pads */
static inline void random_map_edge(struct rng *r, struct map *m,
				   const struct graph *g,
				   const uint32_t *number, uint32_t nblock,
				   uint32_t e)
{
	uint32_t exit = g->nv - 1;
	struct map_edge d = {
		.from = random_map_vertex(g, number, g->from[e]),
		.to = random_map_vertex(g, number, g->to[e]),
		.counter = MAP_NONE,
		.kind = random_map_kind(r, g, e),
	};

	if (d.kind == MAP_TAIL || d.kind == MAP_NORETURN)
		d.callee = rng_once_in(r, 3) ? 0 : 0x1000 + rng_below(r, 9999);
	if (d.kind < MAP_TO_HUB && rng_once_in(r, 4)) {
		struct map_edge call = {.from = d.from, .to = exit,
					.counter = MAP_NONE, .kind = MAP_CALL,
					.callee = rng_below(r, 2) * 0x4000};

		vec_push(&m->edge, call);
		d.from = exit;
		d.kind = MAP_BACK;
		d.call = call.from;
		if (rng_once_in(r, 4)) {
			d.to = rng_below(r, nblock);
			d.kind = MAP_PAD;
		}
		if (rng_once_in(r, 9))
			d.call = MAP_NONE;
	}
	vec_push(&m->edge, d);
}

/* n blocks at *addr, with gaps; lengths of instructions if they differ */
static inline void random_map_blocks(struct rng *r, struct map *m, uint32_t n,
				     uint64_t *addr)
{
	for (uint32_t i = 0; i < n; i++) {
		struct map_block b = {.start = *addr, .counter = MAP_NONE,
				      .ninsn = 1 + rng_below(r, 9)};

		b.size = b.ninsn * m->insn_size;
		b.length = m->insn_size ? 0 : (uint32_t)m->length.n;
		for (uint32_t k = 0; !m->insn_size && k < b.ninsn; k++) {
			vec_push(&m->length, 1 + rng_below(r, 15));
			b.size += m->length.at[m->length.n - 1];
		}
		vec_push(&m->block, b);
		*addr += b.size + (rng_once_in(r, 8) ? rng_below(r, 99) : 0);
	}
}

/* one procedure of about `size` blocks behind *addr */
static inline void random_map_proc(struct rng *r, struct map *m, uint32_t size,
				   uint64_t *addr)
{
	struct map_proc p = {.entry = *addr, .block = (uint32_t)m->block.n,
			     .edge = (uint32_t)m->edge.n};
	struct arena a = {0};
	struct graph g;
	uint32_t *number;
	char name[32];

	random_cfg(&a, r, rng_below(r, CFG_SHAPES), size, &g);
	number = ARENA_ARRAY(&a, uint32_t, g.nv);
	for (uint32_t v = 0; v < g.nv; v++)
		number[v] = g.is_virtual[v] ? 0 : p.nblock++;
	for (uint32_t v = 0; v < g.nv; v++)
		if (g.is_virtual[v] && v != g.exit)
			number[v] = p.nblock + p.nhub++;
	p.root = number[g.root];
	random_map_blocks(r, m, p.nblock, addr);
	for (uint32_t e = 0; e < g.closing; e++)
		random_map_edge(r, m, &g, number, p.nblock, e);
	for (bool first = true; first || rng_once_in(r, 3); first = false) {
		struct map_edge d = {.from = map_exit(&p), .kind = MAP_ENTRY,
				     .to = rng_below(r, p.nblock),
				     .counter = MAP_NONE};

		if (first)
			d.to = p.root;
		vec_push(&m->edge, d);
	}
	p.nedge = (uint32_t)m->edge.n - p.edge;
	if (p.nhub > p.nedge)
		p.nhub = p.nedge;
	snprintf(name, sizeof name, "proc%zu", m->proc.n);
	if (!rng_once_in(r, 5))
		p.name = arena_string(&m->arena, name, strlen(name));
	vec_push(&m->proc, p);
	*addr += 16;
	arena_free(&a);
}

/* counters for one procedure, numbered in order or back and forth */
static inline void random_map_count(struct rng *r, struct map *m,
				    const struct map_proc *p)
{
	struct arena a = {0};
	struct graph g;
	struct weights w;
	struct placement at;
	bool odd = rng_once_in(r, 3);

	map_graph(&a, m, p, &g);
	weight_guess(&a, &g, NULL, &w);
	place_counters(&a, &g, &w, NULL, m->placement, &at);
	for (uint32_t i = 0; i < at.n; i++) {
		uint32_t k = at.at[i];
		uint32_t n = m->ncounter + (odd ? at.n - 1 - i : i);

		if (place_on_vertices(m->placement))
			m->block.at[p->block + k].counter = n;
		else
			m->edge.at[p->edge + k].counter = n;
	}
	m->ncounter += at.n;
	arena_free(&a);
}

/* some blocks end with an indirect jump or call */
static inline void random_map_sites(struct rng *r, struct map *m)
{
	for (uint32_t i = 0; i < m->block.n; i++) {
		struct map_site s = {.block = i, .call = rng_once_in(r, 2),
				     .pairs = rng_once_in(r, 2)};

		if (rng_once_in(r, 4))
			vec_push(&m->site, s);
	}
}

/* a map of nproc procedures of about `size` blocks, with all that it can say */
static inline void random_map(struct rng *r, struct map *m, uint32_t nproc,
			      uint32_t size, enum place_kind placement)
{
	uint64_t addr = 0x1000 + 16 * (uint64_t)rng_below(r, 1000);

	*m = (struct map){.path = "/usr/bin/sample", .placement = placement,
			  .machine = EM_AARCH64, .insn_size = 4,
			  .build_id_len = rng_below(r, 33)};
	if (rng_once_in(r, 2)) {
		m->machine = EM_X86_64;
		m->insn_size = 0;
	}
	for (unsigned i = 0; i < PROFILE_ID; i++)
		m->id[i] = (uint8_t)rng_next(r);
	for (unsigned i = 0; i < m->build_id_len; i++)
		m->build_id[i] = (uint8_t)rng_next(r);
	for (uint32_t i = 0; i < nproc; i++) {
		random_map_proc(r, m, size, &addr);
		random_map_count(r, m, &m->proc.at[i]);
		if (rng_once_in(r, 9)) {
			struct map_region g = {addr, addr + 7, "not proved"};

			vec_push(&m->in_place, g);
			addr += 7;
		}
	}
	random_map_sites(r, m);
	m->text_bytes = addr - 0x1000;
	m->file_sum = addr * UINT64_C(0x9e3779b97f4a7c15);
	m->moved_bytes = m->text_bytes / 2;
}

static inline void ran_init(struct arena *a, const struct map *m,
			    struct ran *t)
{
	t->block = ARENA_ARRAY(a, uint64_t, m->block.n);
	t->edge = ARENA_ARRAY(a, uint64_t, m->edge.n);
}

/* a random edge of p from vertex v that suits `call`, or MAP_NONE */
static inline uint32_t ran_choose(struct rng *r, const struct map *m,
				  const struct map_proc *p, uint32_t v,
				  uint32_t call)
{
	uint32_t found = MAP_NONE, n = 0;

	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		const struct map_edge *d = &m->edge.at[i];

		if (d->from != v || (v == map_exit(p) && d->call != call))
			continue;
		if (rng_once_in(r, ++n))
			found = i;
	}
	return found;
}

/* the edges of a path were taken */
static inline void ran_path(const struct map *m, const struct map_proc *p,
			    const uint32_t *path, size_t n, struct ran *t)
{
	for (size_t i = 0; i < n; i++) {
		const struct map_edge *d = &m->edge.at[path[i]];

		t->edge[path[i]]++;
		if (d->to < p->nblock)
			t->block[p->block + d->to]++;
	}
}

/*
 * A frame of procedure k that ends in the middle of a block, after at most so
 * many steps; returns the block, or MAP_NONE if it did not get to one.
 */
static inline uint32_t ran_dead_frame(struct rng *r, const struct map *m,
				      uint32_t k, uint32_t steps,
				      struct ran *t)
{
	const struct map_proc *p = &m->proc.at[k];
	uint32_t v = map_exit(p), call = 0, e;
	VEC(uint32_t) path = {0};

	while (path.n < steps &&
	       (e = ran_choose(r, m, p, v, call)) != MAP_NONE) {
		vec_push(&path, e);
		call = v;
		v = m->edge.at[e].to;
		if (v == map_exit(p) && m->edge.at[e].kind != MAP_CALL)
			break;
	}
	if (v < p->nblock)
		ran_path(m, p, path.at, path.n, t);
	vec_free(&path);
	return v < p->nblock ? p->block + v : MAP_NONE;
}

/*
 * One frame of procedure k: in by an edge from EXIT, then on, also behind
 * calls, until it leaves or a call does not return. What cannot leave at all
 * was never entered.
 */
static inline void ran_frame(struct rng *r, const struct map *m, uint32_t k,
			     uint32_t steps, struct ran *t)
{
	const struct map_proc *p = &m->proc.at[k];
	uint32_t exit = map_exit(p), v = exit, call = 0, e;
	VEC(uint32_t) path = {0};

	while (path.n < steps) {
		e = ran_choose(r, m, p, v, call);
		if (e == MAP_NONE)
			break;
		vec_push(&path, e);
		call = v;
		v = m->edge.at[e].to;
		if (v == exit && (m->edge.at[e].kind != MAP_CALL ||
				  rng_once_in(r, 8)))
			break;
	}
	if (v == exit)
		ran_path(m, p, path.at, path.n, t);
	vec_free(&path);
}

/* what the counters say after such runs */
static inline uint64_t *ran_counters(struct arena *a, const struct map *m,
				     const struct ran *t)
{
	uint64_t *value = ARENA_ARRAY(a, uint64_t, m->ncounter);

	for (size_t i = 0; i < m->block.n; i++)
		if (m->block.at[i].counter != MAP_NONE)
			value[m->block.at[i].counter] = t->block[i];
	for (size_t i = 0; i < m->edge.n; i++)
		if (m->edge.at[i].counter != MAP_NONE)
			value[m->edge.at[i].counter] = t->edge[i];
	return value;
}

#endif
