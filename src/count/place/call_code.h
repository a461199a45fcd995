/*
 * call_code: routines that keep a thread's open calls (runtime/ISA/calls.S), in
 * every image whose call sites are seen, and what they call (abi/calls.h).
 */
#ifndef COUNT_PLACE_CALL_CODE_H
#define COUNT_PLACE_CALL_CODE_H

#include "abi/calls.h"
#include "abi/object_header.h"
#include "base/err.h"
#include "base/mem.h"
#include "cfg/cfg.h"
#include "count/place/routines.h"

struct map;
struct map_block;
struct map_edge;

struct call_code {
	struct routines routines; /* CALLS_PUSH .. */
	uint32_t nevent;
	uint8_t *leaf; /* by procedure of the cfg (events/leaves.h) */
	bool go;       /* some are Go's: what these call is not seen */
};

/* those of the machine, for an image. -1: not installed */
int call_code_read(struct call_code *c, const struct cfg *g, uint32_t nevent,
		   struct err *e);
void call_code_free(struct call_code *c);

/*
 * Which record is of which procedure, by record. VEC, and where it lies among
 * the plan's constants.
 */
struct call_table {
	struct call_target *at;
	size_t n, cap;
	uint32_t offset;
};
/*
 * Where a call or a jump to another procedure leads, on an edge of the map that
 * leaves that block; 0: not known. Code may fall into another procedure, too.
 */
uint64_t call_target(const struct cfg *c, const struct map_block *from,
		     const struct map_edge *e);
/* of a whole map of c, whose calls have counters from `first` on; unseen: its
   procedures that make calls that are not seen, in order */
void call_table_make(struct call_table *t, const struct map *m,
		     const struct cfg *c, uint32_t nevent, uint32_t first,
		     const uint32_t *unseen, size_t nunseen);

#endif
