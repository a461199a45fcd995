/*
 * stopper_steps: the last part of the way to where a thread is to stop, one
 * instruction at a time, and the name of that place; and the profile by which
 * it is known where a thread is.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "launch/stopper_int.h"
#include "watch_arch.h"

enum { STEPS_MOST = 50 * 1000 * 1000 };

/* --- the profile */

void stopper_close_run(struct stopper_run *r)
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

int stopper_refresh(struct stopper *s, pid_t pid)
{
	struct stopper_run *r = s->run;

	if (r->x && !inspect_is_old(r->x))
		return 0;
	stopper_close_run(r);
	if (profile_open(&r->p, s->profile, &s->e))
		return -1;
	r->places = event_places_open(&r->p, s->list);
	r->x = inspect_open(s->profile, pid, true, &s->e);
	return r->x ? 0 : -1;
}

/* --- the name of a place */

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

/* --- steps */

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

/* a thread that has been stepped stops once more, without having gone on */
static void stop_again(pid_t tid)
{
	siginfo_t what;

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    ptrace(PTRACE_CONT, tid, NULL, NULL))
		return;
	/* if it ends instead, that is seen to when it is stepped */
	if (waitid(P_PID, (id_t)tid, &what,
		   WSTOPPED | WEXITED | WNOWAIT | __WALL) ||
	    what.si_code == CLD_EXITED || what.si_code == CLD_KILLED ||
	    what.si_code == CLD_DUMPED)
		return;
	waitpid(tid, NULL, __WALL);
}

/* one instruction; false: the thread is gone */
static bool step(const struct stopper_tracer *t, pid_t tid, int *signo)
{
	struct watch_step flags;
	int status;
	pid_t got;

	watch_step_begins(tid, &flags);
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
		else if (watch_step_ends(tid, &flags))
			stop_again(tid);
		return true;
	}
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
	struct running_page page;

	return s->run->x &&
	       inspect_page(s->run->x, s->tid, &page) == RUNNING_NONE;
}

enum stopper_says stopper_step(struct stopper *s,
			       const struct stopper_tracer *t)
{
	struct position was = {0}, now;
	int signo = 0;

	for (uint64_t i = 0; i < STEPS_MOST; i++, was = now) {
		if (stopper_refresh(s, s->pid) || look(s, &now)) {
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
