/* record: see cache_record.h. */
#include "sample/daemon/record.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/debug.h"
#include "launch/run.h"
#include "sample/daemon/aggregator.h"
#include "sample/events/rings.h"

enum {
	ROUND = 100,	/* milliseconds between looks at the rings */
	FLUSH = 5,	/* seconds between writes to the database */
	KEPT = 1 << 20,	/* places with samples that cannot be written */
};

struct recording {
	const struct record_config *w;
	struct event event;
	struct rings rings;
	struct aggregator aggregator;
	struct store store;
	int64_t epoch;
	pthread_t thread;
	bool running;	/* the thread is */
	bool over;	/* the program is; atomic */
	bool failed;	/* the last write did */
	struct err err; /* of it, or of what could not be begun */
};

static uint64_t now(void)
{
	return (uint64_t)time(NULL);
}

static int flush(struct recording *x)
{
	struct stored_event v = {
		.name = x->event.name,
		.lost = x->aggregator.lost[0],
		.period = x->event.period,
	};

	/* readers that lock the database are waited for once, then ignored */
	for (int i = 0; i < 2; i++) {
		x->failed =
			sample_buffer_store(&x->aggregator.sample_buffer,
					    &x->store, x->epoch, &v, 1,
					    &x->err) ||
			store_epoch_end(&x->store, x->epoch, now(), &x->err);
		if (!x->failed || !x->store.blocked)
			break;
	}
	return x->failed ? -1 : 0;
}

/* the thread: rings are emptied, and now and then all is written */
static void *follow(void *recording)
{
	struct recording *x = recording;
	uint64_t written = now();

	while (!__atomic_load_n(&x->over, __ATOMIC_ACQUIRE)) {
		rings_wait(&x->rings, -1, ROUND);
		rings_round(&x->rings, false, collect, &x->aggregator);
		if (now() - written < FLUSH &&
		    !sample_buffer_is_full(&x->aggregator.sample_buffer))
			continue;
		if (flush(x))
			aggregator_shed(&x->aggregator, KEPT);
		else
			aggregator_tidy(&x->aggregator);
		written = now();
	}
	return NULL;
}

/* run_meet: the program's process is there, and waits */
static int meet(void *recording, pid_t pid)
{
	struct recording *x = recording;
	struct rings_config w = {&x->event, 1, pid, false};

	if (rings_open(&x->rings, &w))
		return err_set(&x->err, ERR_MACHINE, "samples of the program "
			       "are refused: %s", strerror(errno));
	debug(DEBUG_SAMPLE, "rings of process %ld: %s, %s the kernel",
	      (long)pid, x->event.name, x->event.kernel ? "with" : "without");
	errno = pthread_create(&x->thread, NULL, follow, x);
	x->running = !errno;
	return errno ? err_set(&x->err, ERR_MACHINE, "no thread: %s",
			       strerror(errno)) : 0;
}

static int begin(struct recording *x, struct err *e)
{
	struct stored_epoch epoch = {now(), now(), "record", NULL};
	buffer command = {0};

	if (event_choose(&x->event, x->w->rate, e) ||
	    store_create(&x->store, x->w->directory, e))
		return -1;
	for (char *const *word = x->w->argv; *word; word++) {
		if (command.n)
			buffer_uint(&command, 1, ' ');
		buffer_bytes(&command, *word, strlen(*word));
	}
	buffer_uint(&command, 1, 0);
	epoch.command = (const char *)command.at;
	x->epoch = store_epoch(&x->store, &epoch, e);
	vec_free(&command);
	return x->epoch < 0 ? -1 : 0;
}

/* the program has ended, or was never begun */
static void end(struct recording *x, struct recorded *r)
{
	__atomic_store_n(&x->over, true, __ATOMIC_RELEASE);
	if (x->running) {
		pthread_join(x->thread, NULL);
		rings_round(&x->rings, true, collect, &x->aggregator);
		x->aggregator.sample_buffer.unhurried = true;
		r->unstored = flush(x);
	}
	memcpy(r->event, x->event.name, sizeof r->event);
	r->kernel = x->event.kernel;
	r->epoch = x->epoch;
	r->names = x->aggregator.sample_buffer.trouble;
	r->samples = x->aggregator.samples;
	r->unknown = x->aggregator.unknown;
	r->lost = x->aggregator.lost[0];
}

static void recording_free(struct recording *x)
{
	rings_close(&x->rings);
	aggregator_free(&x->aggregator);
	store_close(&x->store);
}

int record(const struct record_config *w, struct recorded *r, struct err *e)
{
	struct recording x = {.w = w};
	bool refused = false;
	int status = -1;

	*r = (struct recorded){0};
	if (!begin(&x, e)) {
		status = run_met(w->file, w->argv, w->envp, meet, &x, &refused,
				 &r->why);
		end(&x, r);
		if (refused || r->unstored)
			*e = x.err;
		if (refused)
			r->why = 0;
	}
	recording_free(&x);
	return status;
}
