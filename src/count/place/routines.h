/*
 * routines: the code that inserted code calls (abi/routines.h), from the file
 * that is installed, on its way into an image.
 */
#ifndef COUNT_PLACE_ROUTINES_H
#define COUNT_PLACE_ROUTINES_H

#include <stdbool.h>

#include "abi/routines.h"
#include "base/err.h"
#include "cfg/cfg.h"

struct plan_bases;

struct routines {
	const struct isa *isa;
	uint8_t *bytes;
	size_t size;
	uint32_t at[ROUTINES_MOST]; /* where they begin */
	uint32_t nevent;
};

/* those of the machine, for an image; `name` has %s where the machine's is.
   -1: they are not installed */
int routines_read(struct routines *r, const struct cfg *g, const char *name,
		  struct err *e);
void routines_free(struct routines *r);
/* at bases->support; the running page is `page` bytes into the plan's memory,
   the hooks' word `before` bytes before that. False: out of reach */
bool routines_write(const struct routines *r, const struct plan_bases *bases,
		    uint64_t page, uint64_t before, uint8_t *out);

#endif
