/*
 * record: samples of one program and all that it starts, for any user that may
 * start it. One event per CPU, inherited; what the kernel reports is collected
 * in a thread of ours while the program runs.
 */
#ifndef SAMPLE_DAEMON_RECORD_H
#define SAMPLE_DAEMON_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/events/event.h"

struct record_config {
	const char *directory; /* of the database */
	uint64_t rate;	       /* samples per second */
	const char *file;      /* to execute */
	char *const *argv, *const *envp;
};

struct recorded {
	char event[EVENT_NAME];
	bool kernel; /* samples in the kernel are among them */
	uint64_t samples, unknown, lost;
	int64_t epoch; /* the number that they have in the database */
	struct err names; /* why code that was made has none, if it has not */
	int why;	 /* errno, if the file could not be executed */
	bool unstored;	 /* *e says why not all samples are on disk */
};

/*
 * The program's exit status, 128+N after signal N; or -1: nothing has run, and
 * r->why or *e says why not.
 */
int record(const struct record_config *w, struct recorded *r, struct err *e);

#endif
