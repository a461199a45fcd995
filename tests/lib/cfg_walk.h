/*
 * cfg_walk: understands an image from memory, whatever it is, shows it in all
 * ways, and checks the promises of cfg/cfg.h. A broken promise aborts.
 */
#ifndef TESTS_CFG_WALK_H
#define TESTS_CFG_WALK_H

#include "base/bisect.h"
#include "elf_walk.h"

#include "cfg/live/live.h"
#include "cmd/render/cfg_show.h"

/* parts are sorted and disjoint, and their blocks fill them in order */
static inline void walk_parts(const struct cfg *c)
{
	uint32_t next = 0;

	for (size_t i = 0; i < c->part.n; i++) {
		const struct part *p = &c->part.at[i];

		WALK_CHECK(p->start < p->end);
		WALK_CHECK(!i || p[-1].end <= p->start);
		WALK_CHECK(image_is_code(c->image, p->start));
		WALK_CHECK(p->block == next);
		WALK_CHECK(!p->nblock || p->proc < c->proc.n);
		WALK_CHECK(p->fde == CFG_NONE || p->fde < c->unwind->nfde);
		next += p->nblock;
	}
	WALK_CHECK(next == c->block.n);
}

/* blocks are sorted, disjoint and inside their part */
static inline void walk_blocks(const struct cfg *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->block.n; i++) {
		const struct block *b = &c->block.at[i];
		const struct part *p = &c->part.at[b->part];

		WALK_CHECK(b->size > 0 && b->part < c->part.n);
		WALK_CHECK(!i || block_end(b - 1) <= b->start);
		WALK_CHECK(p->start <= b->start && block_end(b) <= p->end);
		WALK_CHECK(b->edge <= c->edge.n);
		WALK_CHECK(!i || b[-1].edge <= b->edge);
		WALK_CHECK(cfg_block_at(c, b->start) == i);
		WALK_CHECK(cfg_block_at(c, block_end(b) - 1) == i);
		bytes += b->size;
	}
	WALK_CHECK(bytes == c->covered_bytes);
	WALK_CHECK(c->covered_bytes <= c->text_bytes);
	WALK_CHECK(c->fde_covered <= c->fde_bytes);
}

/* edges stay in their procedure or say that they do not */
static inline void walk_edges(const struct cfg *c)
{
	for (uint32_t b = 0; b < c->block.n; b++) {
		bool fill = c->block.at[b].flags & BLOCK_FILL;
		uint32_t first = c->block.at[b].edge;

		WALK_CHECK(fill == (first == cfg_edges_end(c, b)));
		for (uint32_t e = first; e < cfg_edges_end(c, b); e++) {
			const struct edge *g = &c->edge.at[e];

			WALK_CHECK(g->from == b && g->kind < EDGE_KINDS);
			if (g->kind == EDGE_HUB)
				WALK_CHECK(g->to < c->hub.n);
			else if (g->kind > EDGE_HUB)
				WALK_CHECK(g->to == CFG_NONE);
			else
				WALK_CHECK(g->to < c->block.n &&
					   cfg_block_proc(c, g->to) ==
					   cfg_block_proc(c, b));
		}
	}
	for (size_t h = 0; h < c->hub.n; h++) {
		const struct hub *u = &c->hub.at[h];

		WALK_CHECK(u->proc < c->proc.n && u->sources > 1);
		for (uint32_t t = 0; t < u->ntarget; t++)
			WALK_CHECK(c->hub_target.at[u->target + t] <
				   c->block.n);
	}
}

/* procedures are sorted by entry, and have one */
static inline void walk_procs(const struct cfg *c)
{
	for (size_t i = 0; i < c->proc.n; i++) {
		const struct procedure *p = &c->proc.at[i];
		uint32_t k = cfg_block_at(c, p->entry);

		WALK_CHECK(p->npart && p->part + p->npart <= c->proc_part.n);
		WALK_CHECK(!i || p[-1].entry < p->entry);
		WALK_CHECK(k != CFG_NONE &&
			   c->block.at[k].start == p->entry &&
			   cfg_block_proc(c, k) == i);
		for (uint32_t j = 0; j < p->npart; j++)
			WALK_CHECK(c->part.at[c->proc_part.at[p->part + j]]
					   .proc == i);
	}
}

/* dispatches lead to blocks, if anywhere */
static inline void walk_dispatches(const struct cfg *c)
{
	for (size_t i = 0; i < c->dispatch.n; i++) {
		const struct dispatch *d = &c->dispatch.at[i];

		WALK_CHECK(!i || d[-1].addr < d->addr);
		WALK_CHECK(d->status <= DISPATCH_TAIL);
		WALK_CHECK(d->status == DISPATCH_BOUNDED || d->reason);
		WALK_CHECK(d->target + d->ntarget <= c->target.n);
		WALK_CHECK(d->status > DISPATCH_APPROXIMATED || d->ntarget);
		for (uint32_t t = 0; t < d->ntarget; t++) {
			uint64_t to = c->target.at[d->target + t];
			uint32_t k = cfg_block_at(c, to);

			WALK_CHECK(k != CFG_NONE &&
				   c->block.at[k].start == to);
			WALK_CHECK(!t || c->target.at[d->target + t - 1] < to);
		}
	}
}

/* regions are sorted and share nothing with blocks */
static inline void walk_regions(const struct cfg *c)
{
	for (size_t i = 0; i < c->region.n; i++) {
		const struct region *r = &c->region.at[i];
		size_t k;

		WALK_CHECK(r->start < r->end && r->reason);
		WALK_CHECK(!i || r[-1].end <= r->start);
		bisect(k, c->block.n,
		       block_end(&c->block.at[k]) <= r->start);
		WALK_CHECK(k == c->block.n ||
			   c->block.at[k].start >= r->end);
	}
}

/* writes everything to nowhere; the first procedures one by one */
static inline void walk_show(const struct cfg *c, FILE *nowhere)
{
	cfg_show_summary(c, nowhere);
	cfg_show_json(c, CFG_NONE, nowhere);
	for (uint32_t p = 0; p < c->proc.n && p < 8; p++) {
		cfg_show_procedure(c, p, nowhere);
		cfg_show_dot(c, p, nowhere);
		cfg_show_json(c, p, nowhere);
	}
	cfg_proc_named(c, "main", 0);
	cfg_proc_at(c, c->image->entry);
}

/* what is live at any place: what the instruction there reads, at least */
static inline void walk_live(const struct cfg *c)
{
	struct live l;

	live_build(&l, c);
	for (uint32_t b = 0; b < c->block.n; b++) {
		const struct block *k = &c->block.at[b];
		size_t avail;
		const uint8_t *code = image_at(c->image, k->start, &avail);
		struct live_set s = live_before(&l, b, k->start);
		struct insn i;

		c->isa->decode(code, avail, k->start, &i);
		WALK_CHECK(!(i.reads & ~s.regs & c->isa->scratch));
		WALK_CHECK(!(i.flags_read & ~s.flags));
		live_before(&l, b, k->start + i.len);
	}
	for (uint32_t e = 0; e < c->edge.n; e++)
		live_on_edge(&l, e);
	live_free(&l);
}

/* all of it; -1 if the image is refused (with a message, which is checked) */
static inline int walk_cfg(const char *name, const uint8_t *bytes, size_t n,
			   FILE *nowhere)
{
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e = {0};
	int refused;

	if (image_parse(&im, name, bytes, n, &e)) {
		WALK_CHECK(e.code == ERR_INPUT && strstr(e.text, name));
		return -1;
	}
	unwind_read(&u, &im);
	refused = cfg_build(&c, &im, &u, &e);
	if (refused) {
		WALK_CHECK(e.code == ERR_INPUT && strstr(e.text, name));
	} else {
		walk_parts(&c);
		walk_blocks(&c);
		walk_edges(&c);
		walk_procs(&c);
		walk_dispatches(&c);
		walk_regions(&c);
		walk_live(&c);
		walk_show(&c, nowhere);
	}
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return refused;
}

#endif
