/* events_show: how often events happened. Part of `tally events`. */
#ifndef CMD_RENDER_EVENTS_SHOW_H
#define CMD_RENDER_EVENTS_SHOW_H

#include <stdio.h>

#include "profile/run_events.h"

/* counts of a run, of several that did the same */
struct repeated {
	const struct event_total (*at)[EVENTS_MAX]; /* NULL: there is one run */
	size_t n;
};

/* a line for each event, then what is not measured */
void events_show_text(const struct run_events *r, const struct repeated *all,
		      FILE *to);
/* the contract of doc/report-json.md: one object */
void events_show_json(const struct run_events *r, const struct repeated *all,
		      FILE *to);
/* the events that there are */
void events_show_list(FILE *to, bool json);

#endif
