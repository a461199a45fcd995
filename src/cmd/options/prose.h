/*
 * prose: texts with marks (options.h), for a terminal and for troff.
 */
#ifndef CMD_OPTIONS_PROSE_H
#define CMD_OPTIONS_PROSE_H

#include <stddef.h>
#include <stdio.h>

/* the text without its marks, to be freed with mem_free() */
char *prose_plain(const char *text);
/* the text in troff's language, as a sentence; to be freed, too */
char *prose_troff(const char *text);
/*
 * Prints the words of a text, in lines of at most 80 columns. The line at hand
 * is at `column`; words begin at `indent`. A line of the text is a paragraph.
 */
void prose_wrap(FILE *to, const char *text, size_t column, size_t indent);

#endif
