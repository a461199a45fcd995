/*
 * nearest: which of the words that there are was meant by one that there is
 * not.
 *
 *	struct nearest n = {.word = "formt"};
 *
 *	nearest_offer(&n, "limit");
 *	nearest_offer(&n, "format");
 *	nearest_text(&n, "--", text);	"; did you mean '--format'?"
 */
#ifndef CMD_OPTIONS_NEAREST_H
#define CMD_OPTIONS_NEAREST_H

#include <stddef.h>

enum { NEAREST_MOST = 3, NEAREST_TEXT = 256 };

struct nearest {
	const char *word;
	const char *at[NEAREST_MOST]; /* the nearest ones, all equally near */
	size_t n;
	size_t distance; /* theirs; requires: n */
};

/* one of the words that there are */
void nearest_offer(struct nearest *n, const char *name);
/* what was meant, with a prefix before each; "" if nothing is near */
const char *nearest_text(const struct nearest *n, const char *prefix,
			 char text[NEAREST_TEXT]);

#endif
