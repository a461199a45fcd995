/*
 * build: what the passes that make a cfg share. Private to this room.
 *
 * The order of the passes, and what each needs and leaves:
 *
 *	sweep     FDE ranges and, outside of these, symbols with a size
 *	          are decoded once, front to back: instruction
 *	          starts, control transfers, references
 *	descend   pieces in which that met data are decoded again, and prefix
 *	          those in which branches pass over one
 *	discover  code without FDEs is found from symbols, calls, pointers;
 *	          then leaders and entries are marked
 *	merge     pieces that belong together become procedures
 *	block     pieces become blocks and edges; proc and hub complete them
 *	noreturn  which procedures ever return
 *	dispatch  indirect jumps are understood (fixpoint, resolve_jump, view,
 *	          value, range, table_shape);
 *	          code that only tables lead to sends us back to discover
 *	merge, block, noreturn once more, with the targets of the tables
 *	data_in_text  data that looked like code is taken out; then merge,
 *	          block and noreturn a last time
 *	region    what is left alone, and why
 *
 * All positions are dense offsets (code.h).
 */
#ifndef CFG_BUILD_H
#define CFG_BUILD_H

#include "cfg/cfg.h"
#include "cfg/discover/code.h"
#include "cfg/jumps/table_shape.h"

/* an instruction that is not simply followed by the next one */
struct xfer {
	uint32_t at;
	uint32_t target; /* CODE_NONE if there is none in code */
	uint8_t len;
	uint8_t kind; /* enum insn_kind */
};

/* an instruction refers to an address in code */
struct coderef {
	uint32_t from, to;
	uint8_t kind; /* enum insn_ref, or REF_NONE for an immediate */
	uint8_t size; /* REF_LOAD, REF_STORE */
};

/* what decoding leaves */
struct found {
	VEC(struct xfer) xfer;
	VEC(struct coderef) ref;
	uint64_t page[32]; /* that a register holds, as far as one can see */
	regset paged;	   /* registers that hold one */
};

/* a part while it is being worked on */
struct piece {
	uint32_t start, end;
	uint32_t fde; /* or CFG_NONE */
	uint32_t xfer, nxfer; /* in found.xfer, by position */
	uint32_t leader; /* union-find parent: pieces of one procedure */
	uint8_t source;	 /* enum part_source */
	bool whole; /* an FDE, or the size of a symbol, says where it ends */
	bool holes; /* not all of it is instructions */
	bool fresh; /* starts an FDE, with the frame as right after a call */
	const char *in_place; /* why it has no blocks, or NULL */
};

/* an indirect jump and what the table pass found */
struct jump_site {
	uint32_t at;
	uint32_t hub; /* in cfg->hub, or CFG_NONE */
	bool resolved;  /* a round has looked at it */
	bool stale;   /* and what it saw may have changed since */
	bool checked; /* a comparison bounds the index */
	uint32_t ways; /* leading here with targets of their own */
	struct table table; /* of the first of them */
	uint64_t last; /* index of the last entry there may be in it */
	struct dispatch d; /* d.target is set by dispatch_export() */
	VEC(uint64_t) target; /* addresses, sorted */
	VEC(uint64_t) wanted; /* addresses that may be code of the cases */
};

/* a target of a call or pointer that cannot be code */
struct refusal {
	uint32_t at;
	const char *why;
};

struct stub_range {
	uint32_t start, end;
};

struct landing {
	uint32_t start, end; /* of the calls */
	uint32_t pad;
};

/* bytes that have no blocks, see gap_scan.c */
struct gap {
	uint32_t start, end;
	bool sure;
	size_t target, ntarget; /* of outside.target */
};

struct outside {
	VEC(struct gap) gap; /* by start */
	VEC(uint32_t) target; /* offsets that they seem to branch to */
	bool known; /* the pieces are as they were when this was read */
};

struct build {
	struct cfg *cfg;
	const struct image *im;
	const struct unwind *unwind;
	const struct isa *isa;
	struct code code;
	struct progress *progress; /* or NULL */

	VEC(struct piece) piece; /* by start, once discovery is over */
	struct found found;
	VEC(struct landing) site; /* by start; see landing_pads.c */
	VEC(struct jump_site) jump; /* by position */
	VEC(struct refusal) refusal;
	VEC(struct stub_range) stub; /* sections of linkage stubs */
	uint64_t effort; /* instructions tried by descents so far */
	size_t indexed; /* pieces that pieces_index() has seen */
	uint32_t *piece_index; /* first piece ending after each 256 bytes */
	bool *noreturn; /* by piece, at the representative; may be NULL */
	struct outside outside;
};

typedef VEC(uint32_t) offsets;

/* --- piece.c */
/* the piece that holds an offset, or CFG_NONE; requires pieces_index() */
uint32_t piece_at(const struct build *b, uint32_t off);
/*
 * Control falls from the end of the FDE's code into what no piece holds yet:
 * clone() of glibc has no FDE around its system call, where none could be
 * right for the child.
 */
bool piece_falls_out(const struct build *b, uint32_t p);
/* a call, a symbol or a certain pointer makes its start a procedure's */
bool piece_is_wanted(const struct build *b, const struct piece *p);
/* which of n pieces, by offset, holds an offset; n if none does */
uint32_t piece_among(const struct build *b, const uint32_t *piece, uint32_t n,
		     uint32_t off);
/* by start */
void pieces_sort(struct build *b);
/* sorts the pieces and makes them searchable */
void pieces_index(struct build *b);
/* the representative piece of the procedure that piece p belongs to */
uint32_t piece_find(const struct build *b, uint32_t p);
void piece_union(struct build *b, uint32_t p, uint32_t q);
/* makes every piece_find() one step */
void pieces_flatten(struct build *b);
/* p without what lies outside [start, end), with its share of transfers */
struct piece piece_slice(const struct build *b, struct piece p,
			 uint32_t start, uint32_t end);

/* an offset lies in a section of linkage stubs */
bool stubs_hold(const struct build *b, uint32_t off);

/* --- landing_pads.c */
/* fills b->site */
void landing_list(struct build *b);

/* --- sweep.c */
/* makes a piece of every FDE, and of symbols, and decodes it */
void sweep_vouched(struct build *b);
/* collects what the instruction at off says */
void found_take(const struct build *b, struct found *f, uint32_t off,
		const struct insn *i);
/* moves all of `from` behind `to` */
void found_append(struct found *to, struct found *from);

/* --- descend.c */
/* how sure one must be to take what was found for code */
enum descend_care {
	DESCEND_FDE,   /* it is code; which bytes of it is the question */
	DESCEND_ENTRY, /* it is certainly called, or named by a symbol */
	DESCEND_STRICT, /* what seems to be a pointer leads there */
};
/*
 * Follows control flow from the seeds within [lo, hi) and makes pieces of
 * what it reaches. Returns NULL, or why this cannot be code (nothing is
 * changed then).
 */
const char *descend_from(struct build *b, const uint32_t *seed, size_t nseed,
			 uint32_t lo, uint32_t hi, enum descend_care care,
			 const struct piece *like);
/* pieces whose sweep met data or overlaps are looked at again */
void descend_repair(struct build *b);

/* --- pinned.c */
/*
 * Why all of the image is left as it is, or NULL; sets c->pinned, c->kept
 * and c->go.
 * requires: c->isa
 */
const char *pinned_find(struct cfg *c);
/* addr is in c->kept */
bool pinned_is_kept(const struct cfg *c, uint64_t addr);
/* sets BLOCK_KEPT of all blocks whose call returns to one of c->kept, and of
   all of Go */
void pinned_mark(struct cfg *c);
/* marks where Go's runtime may go by addresses of its table */
void pinned_mark_go(struct build *b);
/* is that Go's function which goes on where another goroutine was? */
bool pinned_go_switches(const struct cfg *c, uint64_t addr);
/* why that function of Go stays where it is, or NULL */
const char *pinned_go_stays(const struct cfg *c, uint64_t addr);

/* --- discover.c */
/* finds code that no FDE covers */
void discover_code(struct build *b);
/* tries the code that only tables lead to; true if there was some */
bool discover_wanted(struct build *b);
/* marks leaders and entries, once all pieces are known */
void discover_leaders(struct build *b);
/* marks again where control may enter, with what the dispatches account for */
void discover_entries(struct build *b);

/* --- gap_scan.c */
/* marks what is entered from where there are no blocks */
void gap_scan_mark(struct build *b);
void gap_scan_free(struct outside *o);

/* one FDE covers a whole PLT: makes a piece of every stub that is called */
void discover_split_stubs(struct build *b);

/* --- merge_pieces.c */
/* t starts a procedure: a jump there, perhaps a conditional one, leaves */
bool merge_is_start(const struct build *b, uint32_t t, bool conditional);
void merge_pieces(struct build *b);

/* --- noreturn.c */
void noreturn_find(struct build *b);

/* calls of procedures that never return lose their edge behind the call */
void noreturn_apply(struct build *b);

/* --- data_in_text.c */
/*
 * Takes data out of the pieces that only its neighbours made look like code.
 * True if there was some: then blocks must be built again.
 */
bool data_in_text_remove(struct build *b);

/* --- region.c */
/* lists what has no blocks, and counts bytes; pinned: all of it */
void region_list(struct build *b, const char *pinned);

/* --- dispatch.c */
/* what every indirect jump is; needs blocks and noreturn_find() */
void dispatch_resolve_all(struct build *b);
/* copies the result into the cfg */
void dispatch_export(struct build *b);

/* --- block.c */
/* one block of a piece, before it has edges */
struct cut {
	uint32_t start, end;
	uint32_t last;	 /* position of its last transfer, or CODE_NONE */
	uint32_t target; /* of that */
	uint8_t kind;	 /* of its last instruction */
	bool fill;	 /* only padding that no jump leads to */
};
typedef VEC(struct cut) cuts;
/* [off, end) holds nothing but padding */
bool block_is_fill(const struct code *k, uint32_t off, uint32_t end);
/* appends the blocks of p between leaders and transfers */
void block_cut(const struct build *b, const struct piece *p, cuts *out);
/* where control goes that leaves for offset t by a direct jump or a fall */
enum block_goal { GOAL_INSIDE, GOAL_TAIL, GOAL_NOWHERE };
enum block_goal block_goal(const struct build *b, uint32_t piece, uint32_t t);
/* where control may go behind a block */
struct successor {
	uint32_t to; /* offset of a block of the procedure, a hub, or
			CODE_NONE: out of the procedure */
	uint8_t kind; /* enum edge_kind */
};
typedef VEC(struct successor) successors;
/* fills *out with the successors of a block of the piece */
void block_successors(const struct build *b, uint32_t piece,
		      const struct cut *c, successors *out);
/* the indirect jump at an offset, or NULL */
struct jump_site *build_jump_at(const struct build *b, uint32_t off);
/* --- region.c */
/* finds procedures that control may enter anywhere; requires all others */
void open_find(struct build *b);
/* --- proc.c */
/* groups parts into procedures, with names; requires parts and blocks */
void proc_build(struct build *b);
/* the name says "cold piece of something", not "procedure" */
bool proc_name_is_cold(const char *name);
/* --- call_slot.c */
/* the relocated slot that the block's indirect jump goes through, or 0 */
uint64_t stub_slot(const struct cfg *c, const struct block *k);
/*
 * The relocated slot that the block's indirect call goes through, or 0, from
 * the last few instructions;
 * *held: the slot's own address is in a register during the call.
 */
uint64_t call_slot(const struct cfg *c, const struct block *k, bool *held);

/* --- blocks.c */
/* turns pieces into c->part, c->block, c->edge, c->proc ... (from empty) */
void block_build(struct build *b);

#endif
