/*
 * nearest: see nearest.h. Near are words that few edits make of the other
 * (a letter more, less, changed, or two swapped: Damerau's distance, of
 * substrings that are edited once), and those that it is the beginning of.
 */
#include "cmd/options/nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 32 }; /* letters; what is longer is near to nothing */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* how many edits make b of a; requires: both have at most LONGEST letters */
static size_t edits(const char *a, const char *b)
{
	size_t d[LONGEST + 1][LONGEST + 1];
	size_t na = strlen(a), nb = strlen(b);

	for (size_t i = 0; i <= na; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= na; i++)
		for (size_t j = 1; j <= nb; j++) {
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] +
						(a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[na][nb];
}

/* a third of a word may be wrong, and one letter in any case */
static size_t distance(const char *word, const char *name)
{
	size_t n = strlen(word), most = (n + 2) / 3, x;

	if (!n || n > LONGEST || strlen(name) > LONGEST)
		return SIZE_MAX;
	x = edits(word, name);
	if (n > 1 && !strncmp(word, name, n))
		x = least(x, 1);
	return x <= most && x < n ? x : SIZE_MAX;
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t x = distance(n->word, name);

	if (x == SIZE_MAX || (n->n && x > n->distance))
		return;
	if (n->n && x < n->distance)
		n->n = 0;
	n->distance = x;
	if (n->n < NEAREST_MOST)
		n->at[n->n++] = name;
}

const char *nearest_text(const struct nearest *n, const char *prefix,
			 char text[NEAREST_TEXT])
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n->n; i++)
		used += (size_t)snprintf(
			text + used, NEAREST_TEXT - used, "%s'%s%s'",
			!i ? "; did you mean " : i + 1 < n->n ? ", " : " or ",
			prefix, n->at[i]);
	if (n->n)
		snprintf(text + used, NEAREST_TEXT - used, "?");
	return text;
}
