/*
 * status_line: tells people at a terminal how far long work has come, in one
 * line of stderr that is gone when the work is done:
 *
 *	tally: jump tables 63%
 *
 * Nothing is shown for work that is over at once, nor where stderr is no
 * terminal or one that cannot erase a line (TERM=dumb).
 */
#ifndef CMD_RENDER_STATUS_LINE_H
#define CMD_RENDER_STATUS_LINE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/progress.h"

struct status_line {
	struct progress progress; /* for the work to write to */
	bool running;
	pthread_t thread; /* shows the line */
	int stop[2];	  /* a pipe; the thread ends when it is closed */
};

/* starts to watch; to be ended before anything else is printed */
void status_line_begin(struct status_line *l);
/* the work is done: erases the line */
void status_line_end(struct status_line *l);

#endif
