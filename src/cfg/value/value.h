/*
 * value: what registers hold, as expressions, within one procedure.
 *
 * Every value is a node; nodes that compute the same thing are one node
 * (value numbering), so "the index that was compared is the index that is
 * loaded from the table" is an equality of numbers. A block is lifted once,
 * with its inputs left open (NODE_LIVEIN); value_resolve() closes an open
 * value by walking to the predecessors, and makes a NODE_PHI where several
 * bring different ones. This is SSA construction on demand (Braun et al.,
 * CC 2013): only what a question touches is ever built. What a phi chooses
 * from is followed through copies and spills, to see whether there is a choice
 * at all; how it was computed stays open until value_operand() asks for it:
 * else the closed form of one loop counter may be all of a large procedure.
 *
 * Memory: a load sees the last store to the same place (the same address
 * expression) if nothing between may have changed it. The frame is private to
 * the procedure unless some address of it got out (escape.c): then calls and
 * stores through unknown pointers do not touch it. Loads from constant memory
 * stay as they are: they are the tables.
 *
 * Nothing here recurses deeper than a given limit; beyond, a value is unknown.
 */
#ifndef CFG_VALUE_VALUE_H
#define CFG_VALUE_VALUE_H

#include "base/dict.h"
#include "cfg/value/body.h"
#include "cfg/value/view.h"

enum {
	VALUE_DEPTH = 16000,	 /* for a thread with a stack made for it */
	VALUE_DEPTH_SMALL = 400, /* for any thread */
	VALUE_LIMIT = 4000000,	 /* nodes */
};

#define NODE_UNSET UINT32_MAX

enum node_kind {
	NODE_CONST,  /* imm */
	NODE_INPUT,  /* register a at the procedure's entry */
	NODE_UNKNOWN, /* something; one node per place and register */
	NODE_LIVEIN, /* variable a at the start of `block`: still open */
	NODE_PHI,    /* one of several; operand i comes by in-edge i */
	NODE_OP,     /* `code` applied to a and b */
	NODE_LOAD,   /* `size` bytes at address a, zero-extended */
};

/* what an expression contains somewhere */
enum {
	HOLDS_FRAME = 1, /* the stack or frame pointer */
	HOLDS_PHI = 2,	 /* a choice */
};

struct node {
	uint8_t kind;  /* enum node_kind */
	uint8_t code;  /* NODE_OP: enum uop_code */
	uint8_t width; /* of the operation, as in struct uop */
	uint8_t size;
	uint8_t cond, nzcv;
	uint8_t bits;	/* the value is below 2^bits */
	uint8_t holds;	/* HOLDS_ bits: what it is computed from */
	uint32_t a, b;	/* operands */
	uint32_t flags; /* SELECT, CCMP: the flags tested */
	uint32_t block, pos; /* LIVEIN, PHI, LOAD, UNKNOWN: where */
	int64_t imm;
	uint32_t canon; /* the closed form, once known */
	uint32_t near;	/* a form closed no further than to a join */
	uint32_t uses;	/* PHI: first of the phis it is an operand of */
};

struct use {
	uint32_t phi, next; /* next: in values.use, or NODE_UNSET */
};

/* a store's size if another procedure makes it: not to private slots */
enum { STORE_BY_CALLEE = 255 };

/* a write to memory within a block, in order */
struct store {
	uint32_t addr;	/* node, or NODE_UNSET: anywhere */
	uint32_t value; /* node, or NODE_UNSET: unknown */
	uint8_t size;	/* 0: anything may have changed */
	uint8_t split;	/* enum: what is known of root and offset */
	uint32_t root;	/* of the closed address */
	int64_t offset;
};

/* a block, lifted */
struct lifted {
	uint32_t out[UOP_NREGS]; /* nodes at its end */
	uint32_t store, nstore;	 /* in values.store */
	uint32_t test; /* flags that its conditional branch tests */
	uint8_t cond;  /* the condition under which it is taken */
	uint32_t jump; /* address of its indirect jump */
	uint8_t slots_are; /* enum slots_known of memory.c */
	uint64_t slots; /* of the frame that it writes: a bit for some each */
};

/* a place in memory that is looked up: root + offset */
struct location {
	uint32_t root;
	int64_t offset;
	uint8_t size;
	bool trusted; /* in the frame, and no other code writes it */
};

struct values {
	struct view *view;
	const struct image *im;
	const struct isa *isa;
	struct body *body;
	VEC(struct node) node;
	VEC(struct store) store;
	VEC(struct location) location;
	VEC(uint32_t) operand; /* of the phis */
	VEC(uint32_t) arriving; /* operands of phis that are being made */
	VEC(uint32_t) loose; /* phis that may have lost their choice */
	VEC(struct use) use;
	struct lifted **lifted; /* by block; NULL: not yet */
	struct arena arena;	/* where they are */
	/* closed nodes at the place that their hash gives, or behind it;
	   NODE_UNSET: a free place */
	uint32_t *unique;
	size_t nunique, unique_cap; /* the latter a power of two, or 0 */
	struct dict livein;     /* (block, variable) -> node */
	uint32_t horizon; /* what was there before this block is not closed */
	struct dict near_livein; /* like livein, behind the horizon */
	struct dict near_closed; /* node -> its closed form there */
	struct written *written; /* once it pays */
	uint32_t *before; /* by block: see memory.c; NULL until asked for */
	uint32_t slot_phis; /* phis made for locations in memory */
	unsigned depth, depth_limit;
	unsigned loads; /* that the address at hand is nested in */
	bool shallow;	/* what comes to a join is not looked into */
	bool lazy;	/* operations may stay open: for operands of phis */
};

void values_init(struct values *s, struct view *v, struct body *body,
		 unsigned depth_limit);
void values_free(struct values *s);

/* the block, lifted */
const struct lifted *value_block(struct values *s, uint32_t block);
/* the closed form of a node */
uint32_t value_resolve(struct values *s, uint32_t n);
/* the closed form of flags, as comparisons with an index have it */
uint32_t value_resolve_test(struct values *s, uint32_t n);
/*
 * value_resolve_test(), but closed no further than to the start of block
 * `since`, which dominates the place: what was there before stays unknown,
 * however it got there. values_forget_near() comes between calls for different
 * blocks, and before the first.
 */
uint32_t value_resolve_test_since(struct values *s, uint32_t n,
				  uint32_t since);
void values_forget_near(struct values *s);
/* the closed form of register r at the end of block */
uint32_t value_at_end(struct values *s, uint32_t block, unsigned r);
/* operand i of a phi, closed; NODE_UNSET if that way brings nothing new */
uint32_t value_operand(struct values *s, const struct node *phi, uint32_t i);
/* a and b, closed, certainly hold the same value */
bool value_same(const struct values *s, uint32_t a, uint32_t b);

/* the closed node is what memory holds, whatever that is */
bool value_is_memory(const struct values *s, uint32_t n);

/* the closed node is what memory holds somewhere beside what *root points
   to, and not on the stack */
bool value_beside(struct values *s, uint32_t n, uint32_t *root);

/* closed nodes made from closed nodes, simplified */
uint32_t value_const(struct values *s, uint64_t c);
uint32_t value_zext(struct values *s, uint32_t a, unsigned bits);

/* a sum: constant + coef[i] * term[i] */
enum { LINEAR_TERMS = 4 };
struct linear {
	uint64_t constant;
	unsigned n;
	uint32_t term[LINEAR_TERMS];
	uint64_t coef[LINEAR_TERMS];
	bool ok; /* false: more terms than that */
};
/* the closed node n as a sum (modulo 2^64) */
struct linear value_linear(struct values *s, uint32_t n);

static inline const struct node *value_node(const struct values *s, uint32_t n)
{
	return &s->node.at[n];
}

/* the value that a closed node stands for, phis without choice removed */
static inline uint32_t value_find(const struct values *s, uint32_t n)
{
	while (s->node.at[n].canon != NODE_UNSET && s->node.at[n].canon != n)
		n = s->node.at[n].canon;
	return n;
}

#endif
