/*
 * view: one procedure as a graph, for data flow.
 *
 * Vertices 0 .. n-1 are the procedure's blocks as the leaders known so far
 * cut them; two virtual ones are added:
 *
 *	view.root --> every entry          view.root + 1: exit
 *
 * What is an entry is the question. `VIEW_CALLED` takes what is certainly
 * entered from outside. A block that no edge leads to is then unreachable:
 * rightly so for dead code, wrongly for the targets of a jump that is not
 * understood. `VIEW_ANY` therefore takes also every block whose address is
 * stored anywhere, and every block without predecessors.
 */
#ifndef CFG_VALUE_VIEW_H
#define CFG_VALUE_VIEW_H

#include "cfg/build.h"
#include "flow/dfs.h"
#include "flow/dom.h"
#include "flow/graph.h"

enum view_entries { VIEW_CALLED, VIEW_ANY };

/* an indirect jump: where its block leads is found out bit by bit */
struct view_jump {
	uint32_t block;
	uint32_t edges; /* that blocks before it have, other jumps left out */
};

struct view {
	const struct build *b;
	/* as the leaders cut it, from view_cut() to view_free(): */
	cuts cut;	      /* by offset */
	VEC(uint32_t) piece;  /* of each cut */
	const uint32_t *part; /* the procedure's pieces */
	uint32_t npart;
	VEC(uint32_t) near;   /* see view_block_at() */
	uint32_t *first;      /* by part: its first one in `near` */
	uint32_t root;	      /* the virtual root; the exit is root + 1 */
	uint32_t main;	      /* block at the procedure's entry */
	VEC(struct view_jump) jump; /* by block */
	struct graph_sketch known; /* the edges of all other blocks */
	VEC(uint32_t) entered; /* blocks that are certainly entered */
	/* with all edges of now, from view_connect() to view_part(): */
	struct arena arena;
	struct graph g;
	struct dfs dfs;
	struct dom dom; /* made when first needed: see view_idom() */
	VEC(uint32_t) opened; /* entries for VIEW_ANY's sake alone */
	uint32_t *only; /* by block: its one reached predecessor, or CFG_NONE */
};

/*
 * Cuts the procedure whose pieces are piece[0 .. n-1], by offset, into blocks.
 * That need not be done again unless other leaders come to be known: see
 * view_has().
 */
void view_cut(struct view *v, const struct build *b, const uint32_t *piece,
	      uint32_t n, uint32_t entry);
/* whether a jump to an offset leads to a block as they are cut */
bool view_has(const struct view *v, uint32_t off);
/* makes the graph; `only` is left to view_complete() */
void view_connect(struct view *v, enum view_entries entries);
void view_complete(struct view *v);
/* the immediate dominator of a block where ways join: ask view_idom() */
uint32_t view_find_idom(struct view *v, uint32_t block);
/* forgets the graph */
void view_part(struct view *v);
void view_free(struct view *v);

/* the block that starts at an offset, or CFG_NONE */
uint32_t view_block_at(const struct view *v, uint32_t off);

/* the immediate dominator of a block, or CFG_NONE; after view_complete() */
static inline uint32_t view_idom(struct view *v, uint32_t block)
{
	return v->only[block] != CFG_NONE ? v->only[block] :
					    view_find_idom(v, block);
}

static inline bool view_reached(const struct view *v, uint32_t block)
{
	return dfs_reached(&v->dfs, block);
}

#endif
