/* stopper: see stopper.h. */
#include "launch/stopper.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/object_header.h"
#include "events/event_places.h"
#include "launch/inspect.h"
#include "launch/view.h"
#include "isa/move.h"

enum {
	CODE = 16, /* bytes around a trap that are looked at */
	STEPS_MOST = 50 * 1000 * 1000,
	TRIES_MOST = 20000, /* until it is known who has trapped */
	TRY_MICROSECONDS = 100,
};

struct stopper_run {
	struct profile p;
	struct event_places *places;
	struct inspection *x;
	pid_t first; /* the first process: others do not stop */
	bool done;
	unsigned tries;
};

/* --- what is traced */

static bool read_memory(pid_t tid, uint64_t at, void *to, size_t n)
{
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)at, n}; /* not in here */

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* where a thread has trapped in inserted code */
struct trap {
	uint64_t at, behind; /* it, and what follows */
};

/* false: the trap is the program's */
static bool is_ours(const struct isa *isa, pid_t tid, struct trap *t)
{
	uint8_t code[CODE];
	struct watch_regs r;
	uint64_t pc;
	int skip;

	if (!watch_regs(tid, &r))
		return false;
	pc = arch_pc(r.context);
	if (!read_memory(tid, pc - CODE / 2, code, sizeof code))
		return false;
	skip = isa->move->trapped(code + CODE / 2);
	/* some machines stop before the trap, others behind it */
	*t = skip ? (struct trap){pc, pc + (uint64_t)(unsigned)skip} :
		    (struct trap){pc - 1, pc};
	return skip >= 0;
}

/*
 * A thread that has trapped is not known yet: who made it has not said who it
 * is. It traps again, until it is known or, if nobody says so, may go on.
 */
static void try_again(struct stopper *s, pid_t tid, const struct trap *t)
{
	if (s->run->tries++ < TRIES_MOST) {
		usleep(TRY_MICROSECONDS);
		watch_set_pc(tid, t->at);
		return;
	}
	s->run->tries = 0;
	watch_set_pc(tid, t->behind);
}

/* --- counters */

/* lane l of the first event gets a value that means the same */
static void set_lane(uint64_t *word, unsigned l, int64_t value)
{
	uint64_t *lane = &word[l * RUNNING_EVENTS];
	uint64_t *bias = &word[RUNNING_BIAS + l];

	*bias += *lane - (uint64_t)value;
	*lane = (uint64_t)value;
}

/* nothing traps any more */
static void calm(uint64_t *word)
{
	for (unsigned l = 0; l < RUNNING_LANES; l++)
		set_lane(word, l, RUNNING_FAR);
}

/* how far running counters may be from exact, in any image of the process */
static uint64_t find_highest(const struct view *v)
{
	uint64_t highest = 0;

	for (uint32_t i = 0; i < v->c.image.n; i++) {
		const struct counted_image *m = image_of(&v->c, i);
		struct object_header h;

		if (m->state != IMAGE_GONE &&
		    v->c.peek(&v->c, m->object_header, &h, sizeof h) &&
		    h.highest > highest)
			highest = h.highest;
	}
	return highest;
}

/* --- the profile */

static void close_run(struct stopper_run *r)
{
	if (r->x)
		inspect_close(r->x);
	if (r->places) {
		event_places_close(r->places);
		profile_close(&r->p);
	}
	r->x = NULL;
	r->places = NULL;
}

/* the profile as it is now; -1 and s->e */
static int refresh(struct stopper *s, pid_t pid)
{
	struct stopper_run *r = s->run;

	if (r->x && !inspect_is_old(r->x))
		return 0;
	close_run(r);
	if (profile_open(&r->p, s->profile, &s->e))
		return -1;
	r->places = event_places_open(&r->p, s->list);
	r->x = inspect_open(s->profile, pid, true, &s->e);
	return r->x ? 0 : -1;
}

/* --- step by step */

/* where a thread is, and what it has counted */
struct position {
	uint64_t count;
	bool known;
	struct event_place place;
	struct process_end end; /* where that is, in new code */
};

/* -1 and s->e */
static int look(struct stopper *s, struct position *p)
{
	struct inspected t;

	*p = (struct position){0};
	if (inspect_stopped(s->run->x, s->tid, &t, &s->e))
		return -1;
	p->count = t.value[0];
	p->known = !t.lost;
	for (uint32_t i = 0; i < t.nend; i++) {
		p->end = t.end[i];
		p->known &= event_places_find(s->run->places, &p->end,
					      &p->place);
		p->count += (uint64_t)p->place.add[0] * p->end.count;
	}
	/* in nothing that is counted */
	if (!t.nend)
		p->place.here = true;
	return 0;
}

/* the instruction that is next is one that new code does without */
static bool is_left_out(struct stopper *s, struct position *p)
{
	uint64_t more = p->count - s->count, at;

	if (!p->known || !p->place.here || !p->place.map ||
	    (int64_t)more <= 0)
		return false;
	at = event_places_back(s->run->places, &p->end, &p->place, 0, more);
	if (at)
		p->place.old = at;
	return at;
}

/* one instruction; false: the thread is gone */
static bool step(const struct stopper_tracer *t, pid_t tid, int *signo)
{
	int status;
	pid_t got;

	if (ptrace(PTRACE_SINGLESTEP, tid, NULL, (void *)(uintptr_t)*signo))
		return false;
	*signo = 0;
	for (;;) {
		got = waitpid(-1, &status, __WALL);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (got != tid) {
			t->event(t->w, got, status);
			continue;
		}
		if (!WIFSTOPPED(status)) {
			t->event(t->w, got, status);
			return false;
		}
		if (status >> 16) {
			if (!t->step_event(t->w, tid, status))
				return false;
			if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL))
				return false;
			continue;
		}
		if (WSTOPSIG(status) != SIGTRAP)
			*signo = WSTOPSIG(status);
		return true;
	}
}

/* a path without folders */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!*path)
		return "[unknown]";
	return slash ? slash + 1 : path;
}

/* the file that is mapped there, and the address in it */
static void name_mapping(struct stopper *s, uint64_t pc)
{
	char name[64], line[4352], path[4096];
	uint64_t from, to, offset;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/maps", (long)s->pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof line, f)) {
		*path = 0;
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
			   " %*s %*s %4095[^\n]",
			   &from, &to, &offset, path) < 3 ||
		    pc < from || pc >= to)
			continue;
		snprintf(s->image, sizeof s->image, "%.255s", last_part(path));
		s->address = *path == '/' ? pc - from + offset : pc;
	}
	if (f)
		fclose(f);
}

/* the procedure of the map that holds the address */
static void name_procedure(struct stopper *s, const struct map *m)
{
	const struct map_proc *best = NULL;

	snprintf(s->image, sizeof s->image, "%.255s", last_part(m->path));
	for (uint32_t i = 0; i < m->proc.n; i++)
		if (m->proc.at[i].entry <= s->address &&
		    map_may_hold(m, i, s->address) &&
		    (!best || m->proc.at[i].entry > best->entry))
			best = &m->proc.at[i];
	if (!best)
		return;
	snprintf(s->procedure, sizeof s->procedure, "%s",
		 best->name ? best->name : "");
	s->entry = best->entry;
}

static void note_place(struct stopper *s, const struct event_place *place)
{
	struct watch_regs r;

	s->stopped = true;
	s->address = place->old;
	if (place->map)
		name_procedure(s, place->map);
	else if (watch_regs(s->tid, &r))
		name_mapping(s, arch_pc(r.context));
}

/*
 * A test mode: between two steps an instruction was executed, some were that
 * have none of their own, or none was.
 */
static bool is_continuous(struct stopper *s, const struct position *was,
			  const struct position *now)
{
	uint64_t more = now->count - was->count;

	if (!was->known || !now->known || more <= 1)
		return true;
	return (int64_t)more > 0 && now->place.map &&
	       event_places_back(s->run->places, &now->end, &now->place, 0,
				 more - 1);
}

/* the thread counts no more */
static bool has_ended(const struct stopper *s)
{
	struct inspected_page page;

	return s->run->x && !inspect_page(s->run->x, s->tid, &page);
}

/* goes on until it has happened as often as asked for */
static enum stopper_says step_to_end(struct stopper *s,
				     const struct stopper_tracer *t)
{
	struct position was = {0}, now;
	int signo = 0;

	for (uint64_t i = 0; i < STEPS_MOST; i++, was = now) {
		if (refresh(s, s->pid) || look(s, &now)) {
			if (has_ended(s))
				s->e = (struct err){0};
			return STOPPER_GO_ON;
		}
		if (s->checks && i && !is_continuous(s, &was, &now)) {
			err_set(&s->e, ERR_MACHINE, "step %" PRIu64 ": %" PRIu64
				" at 0x%" PRIx64 ", then %" PRIu64 " at 0x%"
				PRIx64, i, was.count, was.place.old, now.count,
				now.place.old);
			return STOPPER_GO_ON;
		}
		if ((now.known && now.count == s->count && now.place.here) ||
		    is_left_out(s, &now)) {
			note_place(s, &now.place);
			return STOPPER_STOP;
		}
		if (now.known && now.place.here &&
		    (int64_t)(now.count - s->count) > 0) {
			err_set(&s->e, ERR_MACHINE, "it cannot be stopped "
				"there: the count was %" PRIu64 " already",
				now.count);
			return STOPPER_GO_ON;
		}
		if (!step(t, s->tid, &signo))
			return STOPPER_GO_ON;
	}
	err_set(&s->e, ERR_MACHINE, "it cannot be stopped there: it is too "
		"far away, step by step");
	return STOPPER_GO_ON;
}

/* --- traps */

/* lets it run as far as is safe, or steps */
static enum stopper_says approach(struct stopper *s,
				  const struct stopper_tracer *t,
				  const struct inspected_page *page)
{
	uint64_t now = running_sum(page->word, 0) -
		       (page->began ? page->began[0] : 0);
	struct chunk_process places = {0};
	int64_t left = (int64_t)(s->count - now), share;
	struct view v;

	if (inspect_view(s->run->x, s->tid, &v, &places)) {
		left -= 2 * (int64_t)find_highest(&v);
		view_close(&v);
	}
	share = left / RUNNING_LANES;
	if (share > 1 && !s->checks) {
		for (unsigned l = 0; l < RUNNING_LANES; l++)
			set_lane(page->word, l, -share);
		return STOPPER_GO_ON;
	}
	calm(page->word);
	s->run->done = true;
	return step_to_end(s, t);
}

enum stopper_says stopper_trap(struct stopper *s,
			       const struct stopper_tracer *t, pid_t pid,
			       pid_t tid)
{
	struct inspected_page page;
	struct trap trap;

	if (!s->run) {
		s->run = NEW_ARRAY(struct stopper_run, 1);
		s->run->first = pid;
	}
	if (refresh(s, pid) ||
	    !is_ours(isa_for_elf(s->run->p.header.machine), tid, &trap))
		return STOPPER_NOT_OURS;
	if (!inspect_page(s->run->x, tid, &page)) {
		try_again(s, tid, &trap);
		return STOPPER_GO_ON;
	}
	s->run->tries = 0;
	if (!watch_set_pc(tid, trap.behind))
		return STOPPER_NOT_OURS;
	if (pid != s->run->first || page.thread != s->thread || s->run->done) {
		calm(page.word);
		return STOPPER_GO_ON;
	}
	s->pid = pid;
	s->tid = tid;
	return approach(s, t, &page);
}

void stopper_leave(struct stopper *s)
{
	if (!refresh(s, s->pid))
		inspect_quiet(s->run->x);
}

void stopper_close(struct stopper *s)
{
	if (!s->run)
		return;
	close_run(s->run);
	mem_free(s->run);
	s->run = NULL;
}
