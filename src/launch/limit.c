/* limit: see limit.h. */
#include "launch/limit.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/phases.h"
#include "abi/running.h"
#include "count/profile/live_walk.h"
#include "count/profile/profile.h"
#include "launch/member.h"
#include "launch/view.h"

enum {
	TICK = 10,    /* milliseconds between looks, at least */
	TAKES = 20,   /* a look takes a twentieth of the time, at most */
	MERCY = 1000, /* milliseconds between SIGTERM and SIGKILL */
	TRIES = 16,   /* to read what changes */
};

/* no procedure has more instructions: branches do not reach further */
#define MOST_INSNS (INT64_C(1) << 32)

static int64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void pause_for(int64_t ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static bool is_stopping(struct limit *l)
{
	return __atomic_load_n(&l->stop, __ATOMIC_ACQUIRE);
}

/* what the event's running counter of a block is */
static void note_sum(struct limit *l, const struct live_walk *w)
{
	struct limit_sum x = {.process = w->chunk.process};
	uint64_t words[RUNNING_WORDS];
	struct chunk_running r;

	if (!live_read(w->fd, w->at, &r, sizeof r) ||
	    r.first > w->chunk.size ||
	    w->chunk.size - r.first < sizeof words ||
	    !live_read(w->fd, w->at + r.first, words, sizeof words))
		return;
	x.block = r.block;
	x.value = running_sum(words, l->event);
	vec_push(&l->sum, x);
}

/* what was there already when threads of these records began */
static void note_records(struct limit *l, const struct live_walk *w)
{
	uint8_t bytes[sizeof(struct thread_record) +
		      2 * RUNNING_EVENTS * sizeof(uint64_t)];
	struct chunk_threads t;

	if (!live_read(w->fd, w->at, &t, sizeof t) || t.nevent <= l->event ||
	    t.size > sizeof bytes ||
	    t.size < sizeof(struct thread_record) + 16 * t.nevent ||
	    t.nrecord > w->chunk.size / t.size)
		return;
	for (uint32_t i = 0; i < t.nrecord; i++) {
		struct limit_sum x = {.process = w->chunk.process};
		struct thread_record r;

		if (!live_read(w->fd,
			       w->at + sizeof t + (uint64_t)i * t.size, bytes,
			       t.size))
			return;
		memcpy(&r, bytes, sizeof r);
		if (r.state == THREAD_NONE && !r.block)
			return; /* the others are not in use yet */
		memcpy(&x.value, bytes + sizeof r + l->event * sizeof x.value,
		       sizeof x.value);
		x.block = r.block;
		if (r.state == THREAD_BEGAN)
			vec_push(&l->began, x);
	}
}

/* the event's word of a row of phases; false: it cannot be read */
static bool read_row(const struct limit *l, const struct live_walk *w,
		     const struct chunk_phases *c, unsigned row,
		     uint64_t *value)
{
	uint64_t word = phases_word(c->nevent, row,
				    phases_which(c->state, row), l->event);

	return live_read(w->fd, w->at + sizeof *c + word * sizeof *value,
			 value, sizeof *value);
}

/* what threads of this block have left out; false: it cannot be read */
static bool read_left(const struct limit *l, const struct live_walk *w,
		      const struct chunk_phases *c, struct limit_left *x)
{
	x->stopped = c->state & PHASE_STOPPED;
	return read_row(l, w, c, PHASE_LEFT_OUT, &x->value) &&
	       read_row(l, w, c, PHASE_BEGAN, &x->began);
}

/* .. in the same state from beginning to end: it changes meanwhile */
static void note_left(struct limit *l, const struct live_walk *w)
{
	struct limit_left x = {.process = w->chunk.process};
	struct chunk_phases c;
	uint64_t state;

	if (!live_read(w->fd, w->at, &c, sizeof c) || c.nevent <= l->event ||
	    c.nevent > RUNNING_EVENTS ||
	    w->chunk.size < phases_size(c.nevent))
		return;
	x.block = c.block;
	for (unsigned i = 0; i < TRIES; i++) {
		if (!read_left(l, w, &c, &x) ||
		    !live_read(w->fd,
			       w->at + offsetof(struct chunk_phases, state),
			       &state, sizeof state))
			return;
		if (state == c.state) {
			vec_push(&l->left, x);
			return;
		}
		c.state = state;
	}
	/* it is not known this time: all of it, so that none is over */
	x.stopped = true;
	x.value = x.began = 0;
	vec_push(&l->left, x);
}

/* the chunk of a process, if that has not ended */
static bool read_process(const struct live_walk *w, struct chunk_process *c)
{
	return w->chunk.kind == CHUNK_PROCESS &&
	       live_read(w->fd, w->at, c, sizeof *c) && !c->ended;
}

/* running counters are exact at calls: in between they may be so much more
   than was counted, at most */
static int64_t slack_of(const struct limit *l, int fd, uint32_t process)
{
	int64_t slack = MOST_INSNS;
	struct chunk_process c;
	struct live_walk w;
	struct view v;

	if (!live_walk_begin(&w, fd))
		return slack;
	while (live_walk_next_sound(&w)) {
		if (w.chunk.process != process || !read_process(&w, &c) ||
		    !view_open(&v, (pid_t)c.pid, &c))
			continue;
		slack = (int64_t)view_highest(&v, l->event);
		view_close(&v);
	}
	return slack >= 0 && slack < MOST_INSNS ? slack : MOST_INSNS;
}

/* has the thread that uses the block counted more? */
static bool is_over(const struct limit *l, int fd, const struct limit_sum *x)
{
	uint64_t sum = x->value;

	for (size_t i = 0; i < l->left.n; i++) {
		const struct limit_left *k = &l->left.at[i];

		if (k->process != x->process || k->block != x->block)
			continue;
		if (k->stopped && (int64_t)(sum - k->began) > 0)
			sum = k->began;
		sum -= k->value;
	}
	for (size_t i = 0; i < l->began.n; i++)
		if (l->began.at[i].process == x->process &&
		    l->began.at[i].block == x->block)
			sum -= l->began.at[i].value;
	/* it may be below 0 for a moment */
	return (int64_t)sum > 0 && sum >= l->most &&
	       sum - l->most >= (uint64_t)slack_of(l, fd, x->process);
}

static void each_chunk(struct limit *l, int fd, uint32_t kind,
		       void (*note)(struct limit *, const struct live_walk *))
{
	struct live_walk w;

	if (!live_walk_begin(&w, fd))
		return;
	while (live_walk_next_sound(&w))
		if (w.chunk.kind == kind)
			note(l, &w);
}

/*
 * Counts are read first, then what is taken away from them, which may have
 * grown meanwhile: no thread is over that is not.
 */
static bool any_is_over(struct limit *l, int fd)
{
	l->sum.n = l->began.n = l->left.n = 0;
	each_chunk(l, fd, CHUNK_RUNNING, note_sum);
	each_chunk(l, fd, CHUNK_THREADS, note_records);
	each_chunk(l, fd, CHUNK_PHASES, note_left);
	for (size_t i = 0; i < l->sum.n; i++)
		if (is_over(l, fd, &l->sum.at[i]))
			return true;
	return false;
}

/* sends the signal to all processes of the run */
static void signal_all(int fd, int signo)
{
	struct chunk_process c;
	struct live_walk w;

	if (!live_walk_begin(&w, fd))
		return;
	while (live_walk_next_sound(&w)) {
		struct profile_process p = {0};

		if (!read_process(&w, &c))
			continue;
		p.pid = c.pid;
		p.started = c.started;
		if (profile_is_alive(&p))
			member_signal((pid_t)c.pid, fd, signo);
	}
}

/* ends all processes of the run */
static void fire(struct limit *l, int fd)
{
	__atomic_store_n(&l->fired, true, __ATOMIC_RELEASE);
	signal_all(fd, SIGTERM);
	for (int i = 0; i < MERCY / TICK && !is_stopping(l); i++)
		pause_for(TICK);
	while (!is_stopping(l)) {
		signal_all(fd, SIGKILL);
		pause_for(TICK);
	}
}

static void *look_on(void *arg)
{
	struct limit *l = arg;
	int fd = -1;

	while (!is_stopping(l)) {
		int64_t began = milliseconds(), took;

		if (fd < 0)
			fd = open(l->profile, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && any_is_over(l, fd))
			fire(l, fd);
		took = milliseconds() - began;
		pause_for(took * TAKES > TICK ? took * TAKES : TICK);
	}
	if (fd >= 0)
		close(fd);
	vec_free(&l->sum);
	vec_free(&l->began);
	vec_free(&l->left);
	return NULL;
}

void limit_begin(struct limit *l)
{
	sigset_t all, before;

	/* signals are for the thread that waits for the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	l->runs = !pthread_create(&l->thread, NULL, look_on, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool limit_end(struct limit *l)
{
	__atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
	if (l->runs)
		pthread_join(l->thread, NULL);
	return l->fired;
}
