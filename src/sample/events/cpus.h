/*
 * cpus: which processors are on. They may be switched off and on while we
 * sample; events of one that went off are dead, and stay so when it comes back.
 */
#ifndef SAMPLE_EVENTS_CPUS_H
#define SAMPLE_EVENTS_CPUS_H

#include <stdbool.h>

#include "base/mem.h"

typedef VEC(bool) cpus; /* by number: is it on? */

/* as the kernel lists them, "0-3,5"; false: it is no such list */
bool cpus_parse(cpus *c, const char *text);
/* those that are on now; false: the kernel does not say */
bool cpus_read(cpus *c);
/* all that this machine can have, as far as that is known */
void cpus_all(cpus *c);
static inline bool cpus_has(const cpus *c, size_t cpu)
{
	return cpu < c->n && c->at[cpu];
}

#endif
