/* limit: see limit.h. */
#include "launch/limit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/phases.h"
#include "abi/running.h"
#include "count/profile/profile.h"

enum {
	TICK = 10,    /* milliseconds between looks, at least */
	TAKES = 20,   /* a look takes a twentieth of the time, at most */
	MERCY = 1000, /* milliseconds between SIGTERM and SIGKILL */
	/* running counters are exact at calls: in between they may be so much
	   more than was counted, at most */
	SLACK = 1 << 20,
};

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

/* what each chunk of the profile is looked at for; true: that is enough */
typedef bool chunk_look(struct limit *l, int fd, const struct profile_chunk *k);

static bool each_chunk(struct limit *l, int fd, chunk_look *look)
{
	struct profile_header h;
	struct profile_chunk k;
	uint64_t size;

	if (pread(fd, &h, sizeof h, 0) != sizeof h ||
	    h.magic != PROFILE_MAGIC || h.form != PROFILE_LIVE)
		return false;
	for (uint64_t at = PROFILE_FIRST; at < h.end; at += size) {
		size = PROFILE_UNIT;
		if (pread(fd, &k, sizeof k, (off_t)at) != sizeof k ||
		    k.magic != CHUNK_MAGIC || k.at != at ||
		    k.size < PROFILE_UNIT || k.size > h.end - at)
			continue;
		size = k.size;
		if (look(l, fd, &k))
			return true;
	}
	return false;
}

/* what the event's running counter is; false: the chunk is none of such */
static bool read_sum(const struct limit *l, int fd,
		     const struct profile_chunk *k, struct chunk_running *r,
		     uint64_t *sum)
{
	uint64_t words[RUNNING_WORDS];

	if (k->kind != CHUNK_RUNNING ||
	    pread(fd, r, sizeof *r, (off_t)k->at) != sizeof *r ||
	    r->first > k->size || k->size - r->first < sizeof words ||
	    pread(fd, words, sizeof words, (off_t)(k->at + r->first)) !=
		    sizeof words)
		return false;
	*sum = running_sum(words, l->event);
	return true;
}

/* what was there already when threads of these records began */
static bool note_records(struct limit *l, int fd, const struct profile_chunk *k)
{
	uint8_t bytes[sizeof(struct thread_record) +
		      2 * RUNNING_EVENTS * sizeof(uint64_t)];
	struct chunk_threads t;

	if (k->kind != CHUNK_THREADS ||
	    pread(fd, &t, sizeof t, (off_t)k->at) != sizeof t ||
	    t.nevent <= l->event || t.size > sizeof bytes)
		return false;
	for (uint32_t i = 0; i < t.nrecord; i++) {
		struct thread_record r;
		struct limit_sum x = {.process = k->process};

		if (pread(fd, bytes, t.size,
			  (off_t)(k->at + sizeof t + (uint64_t)i * t.size)) !=
		    (ssize_t)t.size)
			return false;
		memcpy(&r, bytes, sizeof r);
		if (r.state == THREAD_NONE && !r.block)
			break; /* the others are not in use yet */
		memcpy(&x.value, bytes + sizeof r + l->event * sizeof x.value,
		       sizeof x.value);
		x.block = r.block;
		if (r.state == THREAD_BEGAN)
			vec_push(&l->began, x);
	}
	return false;
}

/* one word behind the chunk's head; false: it cannot be read */
static bool read_word(int fd, const struct profile_chunk *k, uint64_t word,
		      uint64_t *value)
{
	uint64_t at = sizeof(struct chunk_phases) + word * sizeof *value;

	return at + sizeof *value <= k->size &&
	       pread(fd, value, sizeof *value, (off_t)(k->at + at)) ==
		       sizeof *value;
}

/* what threads of this block have left out */
static bool note_left(struct limit *l, int fd, const struct profile_chunk *k)
{
	struct limit_left x = {.process = k->process};
	struct chunk_phases p;

	if (k->kind != CHUNK_PHASES ||
	    pread(fd, &p, sizeof p, (off_t)k->at) != sizeof p ||
	    p.nevent <= l->event || p.nevent > RUNNING_EVENTS)
		return false;
	x.block = p.block;
	x.stopped = p.state & PHASE_STOPPED;
	if (read_word(fd, k, phases_word(p.nevent, PHASE_LEFT_OUT,
					 phases_which(p.state, PHASE_LEFT_OUT),
					 l->event), &x.value) &&
	    read_word(fd, k, phases_word(p.nevent, PHASE_BEGAN,
					 phases_which(p.state, PHASE_BEGAN),
					 l->event), &x.began))
		vec_push(&l->left, x);
	return false;
}

/* what a block has counted now */
static bool note_sum(struct limit *l, int fd, const struct profile_chunk *k)
{
	struct limit_sum x = {.process = k->process};
	struct chunk_running r;

	if (read_sum(l, fd, k, &r, &x.value)) {
		x.block = r.block;
		vec_push(&l->sum, x);
	}
	return false;
}

/* has the thread that uses the block counted more? */
static bool is_over(const struct limit *l, const struct limit_sum *x)
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
	return (int64_t)sum > SLACK && sum - SLACK >= l->most;
}

/*
 * Counts are read first, then what is taken away from them, which may have
 * grown meanwhile: no thread is over that is not.
 */
static bool any_is_over(struct limit *l, int fd)
{
	l->sum.n = l->began.n = l->left.n = 0;
	each_chunk(l, fd, note_sum);
	each_chunk(l, fd, note_records);
	each_chunk(l, fd, note_left);
	for (size_t i = 0; i < l->sum.n; i++)
		if (is_over(l, &l->sum.at[i]))
			return true;
	return false;
}

/* sends the signal to the process of the chunk, if there is one */
static void end_process(int fd, const struct profile_chunk *k, int signo)
{
	struct profile_process p = {0};
	struct chunk_process c;

	if (k->kind != CHUNK_PROCESS ||
	    pread(fd, &c, sizeof c, (off_t)k->at) != sizeof c || c.ended)
		return;
	p.pid = c.pid;
	p.started = c.started;
	if (profile_is_alive(&p))
		kill((pid_t)c.pid, signo);
}

static bool terminate(struct limit *l, int fd, const struct profile_chunk *k)
{
	(void)l;
	end_process(fd, k, SIGTERM);
	return false;
}

static bool end_at_once(struct limit *l, int fd, const struct profile_chunk *k)
{
	(void)l;
	end_process(fd, k, SIGKILL);
	return false;
}

/* ends all processes of the run */
static void fire(struct limit *l, int fd)
{
	__atomic_store_n(&l->fired, true, __ATOMIC_RELEASE);
	each_chunk(l, fd, terminate);
	for (int i = 0; i < MERCY / TICK && !is_stopping(l); i++)
		pause_for(TICK);
	while (!is_stopping(l)) {
		each_chunk(l, fd, end_at_once);
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
