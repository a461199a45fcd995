/* view: see view.h. */
#include "cfg/value/view.h"

enum { NEAR = 32 }; /* bytes */

/* notes for every NEAR bytes of part i the first block that starts there */
static void view_index(struct view *v, uint32_t i, uint32_t block)
{
	const struct piece *p = &v->b->piece.at[v->part[i]];

	v->first[i] = (uint32_t)v->near.n;
	vec_reserve(&v->near, (p->end - p->start) / NEAR + 1);
	for (uint32_t off = p->start; off < p->end; off += NEAR) {
		while (block < v->cut.n && v->cut.at[block].start < off)
			block++;
		vec_push(&v->near, block);
	}
}

uint32_t view_block_at(const struct view *v, uint32_t off)
{
	uint32_t i = piece_among(v->b, v->part, v->npart, off);
	uint32_t k;

	if (i == v->npart)
		return CFG_NONE;
	off -= v->b->piece.at[v->part[i]].start;
	k = v->near.at[v->first[i] + off / NEAR];
	off += v->b->piece.at[v->part[i]].start;
	while (k < v->cut.n && v->cut.at[k].start < off)
		k++;
	return k < v->cut.n && v->cut.at[k].start == off ? k : CFG_NONE;
}

/* the block at an offset that block i leads to: most often the next one */
static uint32_t view_next(const struct view *v, uint32_t i, uint32_t off)
{
	return i + 1 < v->cut.n && v->cut.at[i + 1].start == off ?
		       i + 1 : view_block_at(v, off);
}

bool view_has(const struct view *v, uint32_t off)
{
	uint32_t k = view_block_at(v, off);

	/* what is jumped to is no filling */
	return k != CFG_NONE && !v->cut.at[k].fill;
}

/* adds the edges that leave block i; succ is scratch */
static void view_add_edges(const struct view *v, uint32_t i,
			   struct graph_sketch *s, successors *succ)
{
	block_successors(v->b, v->piece.at[i], &v->cut.at[i], succ);
	for (size_t j = 0; j < succ->n; j++) {
		uint32_t to = succ->at[j].kind < EDGE_HUB ?
			view_next(v, i, succ->at[j].to) : CFG_NONE;

		graph_add_edge(s, i, to == CFG_NONE ? v->root + 1 : to);
	}
}

/* notes the edges of all blocks but those that end in an indirect jump */
static void view_note_edges(struct view *v)
{
	struct graph_sketch *s = &v->known;
	successors succ = {0};

	graph_add_vertices(s, v->root + 2);
	vec_reserve(&s->from, 2 * (size_t)v->root); /* few have more */
	vec_reserve(&s->to, 2 * (size_t)v->root);
	for (uint32_t i = 0; i < v->cut.n; i++) {
		struct view_jump j = {i, (uint32_t)s->from.n};

		if (v->cut.at[i].kind == INSN_IJUMP)
			vec_push(&v->jump, j);
		else
			view_add_edges(v, i, s, &succ);
	}
	vec_free(&succ);
}

/* notes the blocks that are entered from outside, whatever the edges */
static void view_note_entries(struct view *v)
{
	const struct code *k = &v->b->code;

	for (uint32_t i = 0; i < v->cut.n; i++) {
		uint32_t at = v->cut.at[i].start;
		bool first = v->b->piece.at[v->piece.at[i]].start == at;

		/* what is not called starts a procedure only with a piece */
		if (i == v->main || code_test(k, k->called, at) ||
		    (first && merge_is_start(v->b, at, false)))
			vec_push(&v->entered, i);
	}
}

/* all edges between blocks, in the order of the blocks */
static void view_draw(const struct view *v, struct graph_sketch *s)
{
	successors succ = {0};
	size_t done = 0;

	graph_add_vertices(s, v->root + 2);
	vec_reserve(&s->from, v->known.from.n + v->jump.n + v->entered.n);
	vec_reserve(&s->to, v->known.from.n + v->jump.n + v->entered.n);
	for (size_t i = 0; i < v->jump.n; i++) {
		const struct view_jump *j = &v->jump.at[i];

		graph_add_edges(s, &v->known, done, j->edges);
		view_add_edges(v, j->block, s, &succ);
		done = j->edges;
	}
	graph_add_edges(s, &v->known, done, v->known.from.n);
	vec_free(&succ);
}

/* where control may come from an unknown place; they are sorted */
static void view_open_entries(struct view *v, const struct graph_sketch *s)
{
	const struct code *k = &v->b->code;
	bool *has_pred = NEW_ARRAY(bool, v->cut.n + 2);
	size_t entered = 0;

	for (size_t e = 0; e < s->to.n; e++)
		has_pred[s->to.at[e]] = true;
	for (uint32_t i = 0; i < v->cut.n; i++) {
		if (entered < v->entered.n && v->entered.at[entered] == i)
			entered++;
		else if (!v->cut.at[i].fill &&
			 (!has_pred[i] ||
			  code_test(k, k->entry, v->cut.at[i].start)))
			vec_push(&v->opened, i);
	}
	mem_free(has_pred);
}

/* edges from the virtual root, in the order of the blocks they lead to */
static void view_add_entries(struct view *v, struct graph_sketch *s)
{
	size_t i = 0;

	for (size_t o = 0; o <= v->opened.n; o++) {
		uint32_t next = o < v->opened.n ? v->opened.at[o] : CFG_NONE;

		for (; i < v->entered.n && v->entered.at[i] < next; i++)
			graph_add_edge(s, v->root, v->entered.at[i]);
		if (next != CFG_NONE)
			graph_add_edge(s, v->root, next);
	}
}

/* a block's only reached predecessor; CFG_NONE if several or the root */
static uint32_t only_pred(const struct view *v, uint32_t block)
{
	uint32_t only = CFG_NONE;

	for_each_edge_in(e, &v->g, block) {
		uint32_t p = v->g.from[e];

		if (!view_reached(v, p))
			continue;
		if (p == v->root || (only != CFG_NONE && only != p))
			return CFG_NONE;
		only = p;
	}
	return only;
}

void view_cut(struct view *v, const struct build *b, const uint32_t *piece,
	      uint32_t n, uint32_t entry)
{
	*v = (struct view){.b = b, .part = piece, .npart = n};
	v->first = NEW_ARRAY(uint32_t, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct piece *p = &b->piece.at[piece[i]];
		uint32_t block = (uint32_t)v->cut.n;

		/* most blocks end in a transfer */
		vec_reserve(&v->cut, p->nxfer + p->nxfer / 4);
		block_cut(b, p, &v->cut);
		view_index(v, i, block);
		vec_reserve(&v->piece, v->cut.n - block);
		while (v->piece.n < v->cut.n)
			v->piece.at[v->piece.n++] = piece[i];
	}
	v->root = (uint32_t)v->cut.n;
	v->main = view_block_at(v, entry);
	view_note_edges(v);
	view_note_entries(v);
}

void view_connect(struct view *v, enum view_entries entries)
{
	struct graph_sketch s = {0};

	view_draw(v, &s);
	if (entries == VIEW_ANY)
		view_open_entries(v, &s);
	view_add_entries(v, &s);
	graph_seal(&v->arena, &s, v->root, v->root + 1, &v->g);
	dfs_search(&v->arena, &v->g, &v->dfs);
}

void view_complete(struct view *v)
{
	v->only = ARENA_RAW(&v->arena, uint32_t, v->cut.n);
	for (uint32_t i = 0; i < v->cut.n; i++)
		v->only[i] = only_pred(v, i);
}

uint32_t view_find_idom(struct view *v, uint32_t block)
{
	if (!v->dom.idom)
		dom_find(&v->arena, &v->g, &v->dfs, &v->dom);
	return v->dom.idom[block];
}

void view_part(struct view *v)
{
	v->dom.idom = NULL;
	v->opened.n = 0;
	arena_free(&v->arena);
}

void view_free(struct view *v)
{
	view_part(v);
	vec_free(&v->cut);
	vec_free(&v->piece);
	vec_free(&v->near);
	vec_free(&v->jump);
	vec_free(&v->entered);
	vec_free(&v->opened);
	mem_free(v->first);
	graph_sketch_free(&v->known);
}
