/*
 * style: how words look on a terminal. All commands take their colours from
 * here, so that one meaning has one look everywhere:
 *
 *	struct style s = style_for(stdout);
 *
 *	fprintf(s.to, "%s%s%s\n", s.head, "left in place", s.off);
 *
 * Where the stream is no terminal every look is "", and what is printed is
 * the same text without colours: scripts see what people see.
 */
#ifndef CMD_RENDER_STYLE_H
#define CMD_RENDER_STYLE_H

#include <stdbool.h>
#include <stdio.h>

struct style {
	FILE *to;
	bool terminal; /* for people: columns may be padded to align */
	const char *head; /* headings and names */
	const char *dim;  /* what is read last: legends, ends of ranges */
	const char *warn; /* what is not understood or left alone */
	const char *warm; /* what ran much, */
	const char *hot;  /* and what ran most */
	const char *good; /* what became less */
	const char *off;  /* ends any of them */
};

/*
 * The looks for a stream. On a terminal they are empty too if the user wants
 * none (NO_COLOR is set, see no-color.org) or the terminal has none (TERM is
 * "dumb" or missing).
 */
struct style style_for(FILE *to);

/* the stream is a terminal on which a line can be written over */
bool style_can_erase(FILE *to);

#endif
