/*
 * only: which procedures are meant, as `--only` has them: NAME,.. where NAME is
 * a symbol, a pattern of symbols as the shell has them, or an address (0x...).
 * Procedures without a symbol are called fn_ADDRESS.
 */
#ifndef COUNT_PLACE_ONLY_H
#define COUNT_PLACE_ONLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct only_item {
	const char *name;
	bool seen; /* some procedure is called so */
};

struct only {
	VEC(struct only_item) exact; /* by name */
	VEC(struct only_item) pattern;
	char *text;
};

void only_open(struct only *o, const char *list);
void only_close(struct only *o);
/* is the procedure meant? Its name may be NULL */
bool only_has(struct only *o, const char *name, uint64_t entry);
/* looks for all of them in the map of a rewritten file, if it has one */
int only_look(struct only *o, const char *file, struct err *e);
/* the first of them that nothing is called by, or NULL */
const char *only_unseen(const struct only *o);

#endif
