/*
 * routines: code that travels in rewritten images and is called by what is
 * inserted there (runtime/ISA/calls.S, trace.S). It is assembled for no image:
 * it begins with what tally fills in, and says where the rest is.
 */
#ifndef ABI_ROUTINES_H
#define ABI_ROUTINES_H

#define ROUTINES_MOST 8
#define ROUTINES_HEAD 32 /* bytes of what is filled in */

/* what is to be done for a thread that was interrupted there: nothing; the next
   word of the ring was written; the site's word is to be */
#define UNFINISHED_RESUMES 0
#define UNFINISHED_WORD 1
#define UNFINISHED_SITE 2

#ifndef __ASSEMBLER__
#include <stdint.h>

struct routines_code {
	int64_t page; /* distances from here: to the running page */
	int64_t word; /* to the hooks' word */
	uint64_t nevent;
	uint64_t entry; /* bytes of an entry of calls.h */
	/* offsets of the routines: those that add the thread's slot, those that
	   subtract it */
	uint32_t routine[2][ROUTINES_MOST];
	/* what their third instructions are if there are threads; 0: no
	   matter */
	uint32_t branch[2][ROUTINES_MOST];
	/* npage offsets, from here on, of what leads to the page
	   (isa_move.routine_page) */
	uint32_t pages, npage;
	/* nplace struct routines_place, from here on */
	uint32_t places, nplace;
};

/* where a routine must not be interrupted: from one offset up to another */
struct routines_place {
	uint32_t from, end;
	uint32_t how; /* UNFINISHED_ .. */
	uint32_t on;  /* where the thread is to go on */
};

_Static_assert(__builtin_offsetof(struct routines_code, routine) ==
		       ROUTINES_HEAD,
	       "as the code has it");
#endif

#endif
