/*
 * running_phases: phases of a block of counters (abi/phases.h) in the live
 * profile, which is read as running_pages.h says.
 */
#ifndef LAUNCH_RUNNING_PHASES_H
#define LAUNCH_RUNNING_PHASES_H

#include "abi/phases.h"
#include "abi/running.h"

/* those of a block at the moment its thread was read */
struct inspected_phases {
	uint32_t block;
	unsigned row; /* that its thread adds to, or PHASE_NONE */
	char name[PHASES][PHASE_NAME]; /* "": no such phase, but the first */
	uint64_t value[PHASES][RUNNING_EVENTS];
};

/* those at `at` in the profile, where there is room for those of nevent events,
   to be freed; NULL: they cannot be read. `word` are those of the block's page,
   read at the same moment */
struct inspected_phases *running_phases_read(int profile, uint64_t at,
					     uint32_t block, uint32_t nevent,
					     const uint64_t *word);

#endif
