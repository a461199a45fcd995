/*
 * daemon: samples of the whole system, for as long as it runs.
 *
 * One process, one thread: it takes what the kernel reports, puts it into the
 * database now and then, and does at once what its owner says (control.h).
 * Whatever ends it, the database lacks at most what came since the last flush.
 */
#ifndef SAMPLE_DAEMON_DAEMON_H
#define SAMPLE_DAEMON_DAEMON_H

#include <stdint.h>

#include "base/err.h"
#include "sample/daemon/control.h"
#include "sample/daemon/sampler.h"

enum {
	DAEMON_FLUSH = 300,   /* seconds between writes to the database */
	DAEMON_EPOCH = 86400, /* seconds that an epoch lasts */
	DAEMON_SIZE = 1024,   /* megabytes of the database, at most */
};

struct daemon_config {
	const char *directory; /* of the database */
	struct sampler_config sampler;
	uint64_t flush, epoch; /* seconds */
	uint64_t size; /* megabytes that this host's file may have */
	const char *const *apart; /* processes with profiles of their own */
	gid_t group; /* that may read the database; -1: the one that it has */
};

/* what it reports: that samples begin; what happens to it */
struct daemon_callbacks {
	void (*ready)(void *arg);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/*
 * Runs until it is stopped, by its owner or by SIGINT, SIGTERM or SIGHUP,
 * but for those of them that are ignored when it begins (nohup).
 * -1 and *e: it could not begin, or not all samples are on disk.
 */
int daemon_run(const struct daemon_config *w,
	       const struct daemon_callbacks *callbacks, struct err *e);

/*
 * Tells this host's daemon of a directory "status", "flush", "epoch" or "stop";
 * the answer is of lines "NAME<TAB>VALUE". "error" is what went wrong there.
 * After "stop" there is none any more, and the answer is of all that it had.
 * The host may have had another name when its daemon began: then the one that
 * is there is asked.
 */
int daemon_ask(const char *directory, const char *word,
	       char answer[CONTROL_ANSWER], struct err *e);

#endif
