/*
 * map: what the counters of a rewritten image mean. It travels in the
 * rewritten file, as a section that is not loaded (MAP_SECTION), and in
 * finished profiles, so that counts can be read without the original.
 *
 * A procedure is a flow graph (flow/graph.h). Its vertices are its blocks that
 * were moved, in the order of their addresses, then its hubs, then EXIT. Some
 * edges, or blocks, carry a counter. Blocks that stay in place are no vertices:
 * it is not known how often they ran.
 *
 * A call ends a block, and what it calls may never come back, or twice. So
 * there is no edge over a call: one leads from the call to EXIT, another from
 * EXIT to what follows (MAP_CALL, MAP_BACK), and the law of flow holds
 * whatever happens in between (doc/how-counting-works.md). Only calls
 * that are sure to come back, once, are edges (MAP_OVER). All ways into the
 * procedure come from EXIT, calls of it as well: how often it was called is
 * the sum over MAP_ENTRY where it is called (map_graph.h).
 */
#ifndef COUNT_MAP_MAP_H
#define COUNT_MAP_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bisect.h"
#include "base/err.h"
#include "base/mem.h"
#include "flow/place.h"
#include "abi/profile_format.h"

#define MAP_SECTION ".tally.map"
enum {
	MAP_VERSION = 6,
	MAP_OLDEST = 3, /* that can be read */
	MAP_CALLERS = 5, /* map_proc.ncall is known since then */
	MAP_CODES = 5,	 /* and edges may have codes */
	MAP_SLICES = 6,	 /* and procedures slices */
};
#define MAP_NONE UINT32_MAX

enum map_kind {
	/* between vertices of one procedure */
	MAP_FALL,
	MAP_TAKEN,
	MAP_JUMP,
	MAP_OVER,   /* a call that is sure to come back, to what follows */
	MAP_TABLE,  /* an indirect jump to one of its own targets */
	MAP_TO_HUB, /* an indirect jump that shares its targets */
	MAP_FROM_HUB,
	/* from a block to EXIT */
	MAP_CALL,
	MAP_RETURN,
	MAP_TAIL,     /* a jump to another procedure */
	MAP_NORETURN, /* a call that never comes back, or a trap */
	MAP_AWAY,     /* an indirect jump by way of the old text */
	MAP_STAYS,    /* to code of the procedure that stays in place */
	/* from EXIT to a block */
	MAP_BACK,  /* what follows a call */
	MAP_PAD,   /* an exception of a call arrives at its landing pad */
	/* a call, or anything else that comes from outside; to a hub: a jump of
	   the procedure that is not understood */
	MAP_ENTRY,
	MAP_KINDS,
};

/*
 * Where the stack pointer is in a procedure, in words of 8 bytes: the caller's
 * when it called, + before, rounded down to a multiple of 1 << align bytes, +
 * words.
 */
struct map_height {
	bool known;
	uint8_t align; /* 0: it is not rounded, `before` is 0 */
	int8_t before;
	int16_t words;
};

enum { MAP_ALIGN_MOST = 15 };

static const struct map_height map_no_height;

struct map_edge {
	uint32_t from, to; /* vertices of the procedure */
	uint32_t counter;  /* MAP_NONE: none */
	/*
	 * MAP_BACK, MAP_PAD: the vertex of the call, for people, MAP_NONE:
	 * not known. Others: 0.
	 */
	uint32_t call;
	/* MAP_CALL, MAP_OVER, MAP_TAIL, MAP_NORETURN: where to, or 0 */
	uint64_t callee;
	uint8_t kind;	 /* enum map_kind */
	/*
	 * Of a map for traces (PLACE_TRACE): what goes along the edge writes
	 * ncode bits, the lowest of `code`, and what map_write says.
	 */
	uint8_t ncode;
	uint16_t code;
	uint8_t writes; /* enum map_write bits */
	/* and of one that leaves the procedure or arrives there: where the
	   stack pointer is, at the last instruction of its block or where it
	   arrives */
	struct map_height height;
};

/* what an edge writes to a trace beside its code (trace/place/) */
enum map_write {
	/* its code is written before the last instruction of its block */
	MAP_WRITES_BEFORE = 1,
	/* and then where that leads: the index of the target at this site */
	MAP_WRITES_TARGET = 2,
	/* it leads to another frame, perhaps: the target, and where the stack
	   pointer is */
	MAP_WRITES_FRAME = 4,
	/* where it leads code is not moved, or not traced */
	MAP_WRITES_GAP = 8,
	/* an entry: control that comes unannounced says so */
	MAP_WRITES_ENTRY = 16,
	MAP_WRITES_ALL = 31,
};

struct map_block {
	uint64_t start;
	uint32_t size;
	uint32_t ninsn;
	uint32_t counter; /* of the block itself, MAP_NONE: none */
	uint32_t length;  /* of its instructions: first in map.length, if the
			     machine's differ; else 0. They add up to size */
};

/*
 * The blocks of all procedures lie one behind the other in the order of the
 * procedures, and so do their edges: nothing is shared, nothing left over.
 */
struct map_proc {
	uint64_t entry;
	const char *name; /* NULL: none */
	uint32_t block, nblock; /* in map.block */
	uint32_t nhub;
	uint32_t edge, nedge;	/* in map.edge; without the closing one */
	uint32_t ncall; /* of a map that was read: edges that call
			   (map_calls.h); MAP_NONE: older ones do not tell */
	uint32_t root;		/* the vertex of its entry, 0 if that stays */
	uint32_t slice, nslice; /* in map.slices, of one that is drawn */
	const char *unknown;	/* why its counts are not known, or NULL */
	/*
	 * A stub of the linker, one block. It is not counted: control comes to
	 * it only by calls and jumps of the map that say so (callee).
	 */
	bool stub;
};

/* the vertex EXIT; the hubs are the p->nhub before it */
static inline uint32_t map_exit(const struct map_proc *p)
{
	return p->nblock + p->nhub;
}

/* a jump or call through a register, the last instruction of a block */
struct map_site {
	uint32_t block;
	bool call; /* else it is a jump */
	/*
	 * The profile has pairs of it and its targets: the site's number in
	 * the map, and addresses (profile.h).
	 */
	bool pairs;
};

/* text that runs where it was, uncounted */
struct map_region {
	uint64_t start, end;
	const char *reason;
};

struct map_store;

/*
 * A map that was read has of its blocks and edges only those of procedures
 * that were asked for: see map_need().
 */
struct map {
	uint8_t id[PROFILE_ID];
	const char *path;     /* of the original */
	uint8_t build_id[32];
	uint32_t build_id_len;
	uint16_t machine;     /* e_machine */
	uint8_t insn_size;    /* of every instruction; 0: see map.length */
	uint8_t placement;    /* enum place_kind */
	bool some;	      /* of some procedures, as was wished (--only) */
	/* each edge has been given the counter of its own number: they count
	   what a trace tells (map_count_edges()) */
	bool counts_edges;
	uint64_t file_sum;    /* hash of the original's bytes */
	uint64_t text_bytes, moved_bytes;
	uint32_t ncounter;
	VEC(struct map_proc) proc; /* by entry */
	VEC(struct map_block) block;
	VEC(struct map_edge) edge;
	VEC(struct map_site) site; /* by block, all that were moved */
	VEC(struct map_region) in_place; /* by address */
	VEC(uint8_t) length; /* of instructions, bytes each */
	VEC(uint8_t) slices; /* see map_slices() */
	struct arena arena;  /* strings */
	struct map_store *store; /* of one that was read: its bytes */
};

/* may blocks have counters? */
static inline bool map_marks_blocks(const struct map *m)
{
	return m->placement == PLACE_RUNNING ||
	       place_on_vertices((enum place_kind)m->placement);
}

/* the first procedure that begins at the address, or MAP_NONE */
static inline uint32_t map_proc_at(const struct map *m, uint64_t entry)
{
	size_t i;

	bisect(i, m->proc.n, m->proc.at[i].entry < entry);
	return i < m->proc.n && m->proc.at[i].entry == entry ? (uint32_t)i :
							       MAP_NONE;
}

/*
 * Whether all ways out of block v of the procedure, which ends with an indirect
 * jump, are edges to its targets: then these tell as much as pairs do.
 */
static inline bool map_edges_tell(const struct map *m,
				  const struct map_proc *p, uint32_t v)
{
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		const struct map_edge *d = &m->edge.at[i];

		if (d->from == v &&
		    (d->kind != MAP_TABLE || d->to >= p->nblock))
			return false;
	}
	return true;
}

/* the address of the block's last instruction; requires: map_need() */
static inline uint64_t map_block_last(const struct map *m,
				      const struct map_block *b)
{
	if (!b->ninsn)
		return b->start;
	return b->start + b->size -
	       (m->insn_size ? m->insn_size :
			       m->length.at[b->length + b->ninsn - 1]);
}

/*
 * Most of a large image never runs, and most answers are about a small part of
 * it. So the blocks and edges of a map that was read stay packed until a caller
 * needs those of a procedure, and can be forgotten again. Their numbers are
 * always the same, and so is where they are in memory: pages of it that are not
 * in use cost nothing. Threads may do both at the same time, each with
 * procedures of its own that lie together.
 *
 * A map that is being drawn has everything: nothing happens.
 */
void map_need(const struct map *m, uint32_t proc);
/* map_need(), but what is there of others is forgotten when it is much */
void map_turn(const struct map *m, uint32_t proc);
/*
 * Unpacks a procedure's blocks and edges into *x, for callers that need them
 * once: in the map nothing changes. Begin with an empty one, which can be used
 * again, and free it.
 */
struct map_inside {
	const struct map_block *block; /* the procedure's own, from 0 */
	const struct map_edge *edge;
	VEC(struct map_block) blocks;
	VEC(struct map_edge) edges;
};
void map_look(const struct map *m, uint32_t proc, struct map_inside *x);
void map_inside_free(struct map_inside *x);
/* of procedures from .. end-1 */
void map_forget(const struct map *m, uint32_t from, uint32_t end);
/* the block that holds the address, of a procedure that is turned to then; or
   MAP_NONE */
uint32_t map_block_at(const struct map *m, uint64_t address);

/* without looking inside: could a block of the procedure hold the address? */
bool map_may_hold(const struct map *m, uint32_t proc, uint64_t address);
/* or how many procedures, from that one on, have only counters that are 0;
   0: perhaps it has others */
uint32_t map_silent(const struct map *m, uint32_t proc, const uint64_t *value);
/*
 * By procedure: whether it may have run though all its counters are 0. NULL:
 * the map is being drawn (solve.h).
 */
const bool *map_open(const struct map *m);
/* what the edges of the map call; NULL: the map does not know */
struct callees;
const struct callees *map_callees(const struct map *m);
/*
 * By what a procedure's addresses are computed when a trace is replayed: in the
 * words of trace/slice/slice.h, to which the map is mere bytes. None: a trace
 * has no addresses, or they are not known.
 */
struct map_slice_bytes {
	const uint8_t *at;
	size_t n;
};
struct map_slice_bytes map_slices(const struct map *m, uint32_t proc);
/* the procedure that has the block */
uint32_t map_proc_of(const struct map *m, uint32_t block);

/* the map as bytes (compressed), to be freed with vec_free() */
struct map_bytes {
	VEC(uint8_t) v;
};
void map_pack(const struct map *m, struct map_bytes *out);
/*
 * Of the packed map of a trace, which has nedge edges: each gets a counter, but
 * for those where a trace does not tell one from another: exceptions of several
 * calls that arrive at one landing pad, to which code leads as well.
 */
void map_count_edges(uint8_t *bytes, size_t size, uint32_t nedge);
/*
 * What can be known of packed bytes without unpacking them: which image they
 * are of, and that none of them was changed. -1 if one was.
 */
struct map_head {
	unsigned version;
	uint8_t id[PROFILE_ID];
	uint32_t ncounter;
	bool counts_edges;
};
int map_read_head(struct map_head *h, const void *bytes, size_t size,
		  const char *where, struct err *e);
/*
 * Reads one; `where` is for messages. -1 if it is not whole and right: it may
 * come from anywhere. What is inside of procedures is looked at when it is
 * needed; of those where it is not right nothing is known, and struct
 * map_proc's `unknown` says so from then on.
 */
int map_unpack(struct map *m, const void *bytes, size_t size,
	       const char *where, struct err *e);
void map_release(struct map *m);

#endif
