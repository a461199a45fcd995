/*
 * lines: where in the source an address comes from, and by which inlined calls
 * (DWARF 4 and 5, by libdw). A compilation unit is read when the first of its
 * addresses is asked for, into sorted arrays that are searched: a look-up by
 * the library itself takes a thousand times as long.
 */
#ifndef PROFILE_LINES_LINES_H
#define PROFILE_LINES_LINES_H

#include "base/mem.h"
#include "profile/symbols/object.h"

struct line_place {
	const char *file; /* as the compiler was told, with its folder */
	uint32_t line;    /* 0: the compiler did not say */
	uint32_t column;
	uint16_t block;  /* of several of the line, which one */
	uint16_t copies; /* the compiler made so many of that code, all with
			    this place: an unrolled loop */
};

/* a function that was inlined, or the one that the others are inlined into */
struct line_frame {
	const char *function;    /* symbol or name, NULL: none */
	struct line_place place; /* where in it */
	uint32_t line;           /* where the function begins; 0: not known */
	uint64_t entry;          /* its address, or of where it was inlined */
};

enum { LINE_FRAMES = 256 }; /* more calls within each other are not told of */

struct line_unit;

struct line_range {
	uint64_t low, high;
	uint32_t unit;
};

struct lines {
	VEC(struct line_range) range; /* by low */
	struct line_unit *unit;
	uint32_t nunit;
};

void lines_open(struct lines *l, const struct object *o);
void lines_close(struct lines *l);

/* whether the unit of the address was read: others are not worth it */
bool lines_read(struct lines *l, uint64_t addr);
/* false: nothing is said about the address */
bool lines_find(struct lines *l, uint64_t addr, struct line_place *out);
/* whether the compiler said that a line begins at the address */
bool lines_begins(struct lines *l, uint64_t addr);
/*
 * Number i, from 0, of the statements that begin at the address and have no
 * instruction of their own; false: there are no more.
 */
bool lines_passed(struct lines *l, uint64_t addr, uint32_t i,
		  struct line_place *out);
/*
 * A number of the copy of a function that the address is in: equal for all
 * addresses of one function, or of one inlined call; 0: not known.
 */
uint64_t lines_copy(struct lines *l, uint64_t addr);
/* whether the compiler made that function: it is not in the source */
bool lines_artificial(struct lines *l, uint64_t addr);
/*
 * The frames at an address, innermost first, at most `max`; how many. The last
 * is the function that is there, whatever was inlined into it.
 */
unsigned lines_frames(struct lines *l, uint64_t addr, struct line_frame *out,
		      unsigned max);

#endif
