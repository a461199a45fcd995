/* running_phases: see running_phases.h. */
#include "launch/running_phases.h"

#include <string.h>

#include "base/mem.h"
#include "count/profile/live_walk.h"

/* a program may have written any name: it is one that can be shown */
static void take_name(char *to, const char *from)
{
	memcpy(to, from, PHASE_NAME - 1);
	for (; *to; to++)
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			*to = '?';
}

static struct inspected_phases *take_phases(const struct chunk_phases *k,
					    uint32_t block, uint32_t nevent,
					    const uint64_t *word)
{
	struct inspected_phases *x = NEW_ARRAY(struct inspected_phases, 1);
	const uint64_t *count = (const uint64_t *)(k + 1);

	x->block = block;
	x->row = phases_row(k->state);
	for (unsigned row = 0; row < PHASES; row++) {
		if (row)
			take_name(x->name[row], k->name[row]);
		for (uint32_t e = 0; e < nevent; e++)
			x->value[row][e] =
				phases_count(count, nevent, k->state, row, e,
					     running_sum(word, e));
	}
	return x;
}

struct inspected_phases *running_phases_read(int profile, uint64_t at,
					     uint32_t block, uint32_t nevent,
					     const uint64_t *word)
{
	size_t size = phases_size(nevent);
	struct chunk_phases *k = mem_alloc(size);
	struct inspected_phases *x = NULL;

	if (live_read(profile, at, k, size))
		x = take_phases(k, block, nevent, word);
	mem_free(k);
	return x;
}
