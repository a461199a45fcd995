/* replay_show: the ways to show what is in a trace. Part of `tally replay`. */
#ifndef CMD_RENDER_REPLAY_SHOW_H
#define CMD_RENDER_REPLAY_SHOW_H

#include <stdio.h>

#include "export/trace/sinks.h"
#include "report/timeline.h"
#include "trace/regenerate/totals.h"

/* what the trace has, of each process and thread, as tables or as an object */
void replay_show_text(const struct trace_file *f, const struct trace_totals *t,
		      FILE *to);
void replay_show_json(const struct trace_file *f, const struct trace_totals *t,
		      FILE *to);

/* lines of what happened; as objects, a line each, with o->json; of accesses of
   memory; calls as a tree */
sink_maker replay_show_insns, replay_show_blocks, replay_show_addresses,
	replay_show_calls;

/* parts of a picture that can be told apart, of a page that is zoomed into */
enum { TIMELINE_SVG_PARTS = 1200, TIMELINE_HTML_PARTS = 12000 };
void replay_show_timeline(const struct timeline *t, const struct walks *w,
			  const struct trace_thread *thread, bool html,
			  FILE *to);

/* lines that tell of threads, gaps and ends: each begins with # */
void replay_show_note(FILE *to, const struct replay_event *x);

/* names of procedures, as their authors call them */
struct replay_names;
struct replay_names *replay_names_open(const struct walks *w);
void replay_names_close(struct replay_names *n);
const char *replay_name(struct replay_names *n, const struct walk_step *s);

#endif
