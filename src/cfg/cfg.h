/*
 * cfg: what tally understands of an image: procedures, their blocks, the
 * edges between them, jump tables, and what it leaves alone.
 *
 * Everything is an array indexed by 32-bit numbers:
 *
 *	part    a contiguous range of code: what one FDE covers, or a piece
 *	        found without one. By address, disjoint.
 *	block   instructions that run one after the other; calls and system
 *	        calls end a block. By address, disjoint; a part's blocks are
 *	        consecutive.
 *	edge    between blocks of one procedure, or out of it; grouped by
 *	        the block they leave.
 *	procedure  one or more parts (a hot and a cold one, say) with one or
 *	        more entries.
 *	dispatch   an indirect jump, and what is known of its targets.
 *	hub     a target set shared by several dispatches:
 *	        dispatch -> hub -> targets, so that the law of flow holds and
 *	        no (source, target) pairs are invented.
 *
 * What is not proved to be code has no blocks; it is listed in `region`, with
 * the reason. Unwind edges say that a landing pad may follow a call.
 */
#ifndef CFG_CFG_H
#define CFG_CFG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "elf/image.h"
#include "elf/pclntab.h"
#include "elf/unwind.h"
#include "isa/isa.h"

#define CFG_NONE UINT32_MAX

enum edge_kind {
	/* to a block of the same procedure */
	EDGE_FALL,   /* the next instruction */
	EDGE_TAKEN,  /* a conditional branch that is taken */
	EDGE_JUMP,   /* a direct jump */
	EDGE_AFTER,  /* the instruction after a call or system call */
	EDGE_UNWIND, /* the landing pad of a call */
	EDGE_TABLE,  /* an indirect jump, its own target set */
	/* to a hub: `to` is its index in cfg->hub */
	EDGE_HUB,
	/* out of the procedure: `to` is CFG_NONE */
	EDGE_RETURN,
	EDGE_TAIL,     /* a jump to another procedure, direct or not */
	EDGE_NORETURN, /* a call that never comes back, or a trap */
	EDGE_AWAY,     /* an indirect jump to another stack: longjmp() */
	EDGE_UNKNOWN,  /* an indirect jump that is not understood */
	EDGE_KINDS,
};

struct edge {
	uint32_t from, to; /* blocks */
	uint8_t kind;	   /* enum edge_kind */
};

enum block_flag {
	BLOCK_ENTRY = 1,   /* control may arrive from outside */
	BLOCK_PAD = 2,	   /* a landing pad of exceptions */
	BLOCK_FILL = 4,	   /* only padding */
	BLOCK_KEPT = 8,	   /* tables of the program know where the call at its
			      end returns to: calls leave that address */
};

struct block {
	uint64_t start;
	uint32_t size; /* bytes, data in the middle of code excluded */
	uint32_t part;
	uint32_t edge; /* first of its edges; the next block's is the end */
	uint8_t flags; /* enum block_flag */
	uint8_t last;  /* enum insn_kind of its last instruction */
	uint64_t target; /* last is JUMP, COND or CALL: where to; else 0 */
};

/* how a part was found, most trusted first */
enum part_source {
	PART_FDE,    /* the unwind table covers it */
	PART_SYMBOL, /* a function symbol */
	PART_CALL,   /* called, or an entry point of the file */
	PART_HANDED, /* relocations know a pointer to it, or a procedure whose
			bounds are known makes one, or what is known by such a
			pointer calls it */
	PART_POINTER, /* its address is stored or computed somewhere */
};

struct part {
	uint64_t start, end;
	uint32_t proc;
	uint32_t block, nblock;
	uint32_t fde;	/* index in the unwind table, or CFG_NONE */
	uint8_t source; /* enum part_source */
};

struct procedure {
	uint64_t entry;
	const char *name; /* a symbol's, or NULL */
	bool stub; /* it merely jumps to where the loader's slot says */
	const char *import; /* the symbol that this stub jumps to, or NULL */
	bool addressed; /* and pointers may lead to the stub */
	bool foreign;	/* the symbol is not of this file */
	bool versioned; /* nor without a version that is asked for */
	uint32_t part, npart; /* in cfg->proc_part */
	bool returns;	/* some path returns to the caller */
	bool unknown;	/* it has an indirect jump that is not understood */
	bool open; /* control may arrive anywhere in it: that, or region.c */
};

enum dispatch_status {
	DISPATCH_BOUNDED,      /* the target set is exact */
	DISPATCH_APPROXIMATED, /* a superset of the targets */
	DISPATCH_UNKNOWN,
	DISPATCH_TAIL, /* not a dispatch: leaves the procedure */
	DISPATCH_AWAY, /* leaves, to go on with another stack */
};

struct dispatch {
	uint64_t addr;	/* of the indirect jump */
	uint64_t table; /* address of the table, 0 if there is none */
	uint64_t base;	/* added to every entry */
	uint32_t count; /* entries, one behind the other */
	uint8_t entry_size;  /* bytes of an entry */
	uint8_t entry_shift; /* an entry is shifted left by this */
	bool entry_signed;
	uint8_t status; /* enum dispatch_status */
	const char *reason; /* why it is not bounded, or what it is instead */
	uint32_t target, ntarget; /* addresses, in cfg->target, sorted */
	uint32_t block;
	/*
	 * If all entries are loaded by one instruction of the same block, its
	 * address, the register by which it finds the table, and what that
	 * certainly holds; or ISA_NO_REG, and what it adds to others.
	 * Else load is 0.
	 */
	uint64_t load, load_base;
	uint8_t load_reg;
};

struct hub {
	uint32_t target, ntarget; /* in cfg->hub_target: blocks */
	uint32_t proc;
	uint32_t sources; /* how many dispatches share it */
};

/* a range of addresses that is left as it is */
struct region {
	uint64_t start, end;
	const char *reason;
};

struct cfg {
	const struct image *image;
	const struct unwind *unwind;
	const struct isa *isa;

	VEC(struct part) part;
	VEC(struct block) block;
	VEC(struct edge) edge;
	VEC(struct procedure) proc; /* by entry */
	VEC(uint32_t) proc_part;
	VEC(struct dispatch) dispatch; /* by address */
	VEC(uint64_t) target;
	VEC(struct hub) hub;
	VEC(uint32_t) hub_target;
	VEC(struct region) region; /* by address */

	/* why code without unwind entries has to stay where it is, or NULL */
	const char *pinned;
	/* return addresses that tables of the program know, sorted: no control
	   arrives there but by returns */
	VEC(uint64_t) kept;
	struct pclntab go; /* functions of Go: all their calls are known so */
	uint64_t text_bytes;	/* in code ranges */
	uint64_t covered_bytes; /* in blocks */
	uint64_t fde_bytes;	/* in unwind tables */
	uint64_t fde_covered;	/* of those, in blocks */
};

/*
 * Understands an image. The image and its unwind table must outlive the cfg.
 * Returns -1 only for what no analysis can start on.
 */
int cfg_build(struct cfg *c, const struct image *im, const struct unwind *u,
	      struct err *e);
/* cfg_build() that reports its progress to p, which may be NULL */
int cfg_build_watched(struct cfg *c, const struct image *im,
		      const struct unwind *u, struct progress *p,
		      struct err *e);
void cfg_free(struct cfg *c);

/* where entry i of the dispatch's table leads; false if the file lacks it */
bool cfg_table_entry(const struct cfg *c, const struct dispatch *d, uint32_t i,
		     uint64_t *target);
/* the block that holds addr, or CFG_NONE */
uint32_t cfg_block_at(const struct cfg *c, uint64_t addr);
/* the procedure with an entry at addr or, failing that, that holds it */
uint32_t cfg_proc_at(const struct cfg *c, uint64_t addr);
/* the first procedure of that name from number `first` on, or CFG_NONE */
uint32_t cfg_proc_named(const struct cfg *c, const char *name, uint32_t first);
/* its name, or "fn_ADDRESS" where it has none; buf holds 32 bytes or more */
const char *cfg_proc_name(const struct cfg *c, uint32_t p, char *buf,
			  size_t size);
/* cfg_proc_name() of a procedure with that entry, and name or NULL */
const char *cfg_name_of(const char *name, uint64_t entry, char *buf,
			size_t size);

static inline uint64_t block_end(const struct block *b)
{
	return b->start + b->size;
}

/* a prefix that is the end of a block (discover/descend.c) */
static inline bool insn_is_prefix(const struct block *b, const struct insn *in)
{
	return in->kind == INSN_UNKNOWN && b->last == INSN_JUMP &&
	       in->addr + in->len == block_end(b);
}

/* is that Go's code? */
bool cfg_is_go(const struct cfg *c, uint64_t addr);
/*
 * Is it in Go's write barrier? That saves all registers, those of veneers too,
 * which no caller expects to be preserved.
 */
bool cfg_go_barrier(const struct cfg *c, uint64_t addr);
/* is it in a function of Go's runtime that never returns, but panics? */
bool cfg_go_ends(const struct cfg *c, uint64_t addr);
/*
 * Is it in the function that Go's scheduler makes threads call wherever they
 * are? It ends with a jump back there.
 */
bool cfg_go_preempts(const struct cfg *c, uint64_t addr);
/* where that begins, 0: there is none */
uint64_t cfg_go_preempter(const struct cfg *c);
/* are there calls that have to leave their old return addresses? */
bool cfg_keeps(const struct cfg *c);

/* edges of block b are c->edge.at[b.edge .. cfg_edges_end()-1] */
static inline uint32_t cfg_edges_end(const struct cfg *c, uint32_t b)
{
	return b + 1 < c->block.n ? c->block.at[b + 1].edge :
				    (uint32_t)c->edge.n;
}

static inline uint32_t cfg_block_proc(const struct cfg *c, uint32_t b)
{
	return c->part.at[c->block.at[b].part].proc;
}

#endif
