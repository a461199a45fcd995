/*
 * stopper: see stopper.h. Traps of inserted code, and how far a thread may run
 * before the next one; stopper_steps.c goes the rest of the way.
 */
#include <sys/uio.h>
#include <unistd.h>

#include "isa/move.h"
#include "launch/stopper_int.h"
#include "launch/view.h"

enum {
	CODE = 16, /* bytes around a trap that are looked at */
	TRIES_MOST = 20000, /* until it is known who has trapped */
	TRY_MICROSECONDS = 100,
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

/* code that adds to these traps when one is no longer negative; RUNNING_FAR:
   never */
static void set_lanes(struct stopper *s, struct running_page *page,
		      int64_t value)
{
	running_set_lanes(page->word, (uint64_t)value);
	if (!inspect_write(s->run->x, page))
		err_set(&s->e, ERR_MACHINE, "its counters cannot be changed");
}

/* --- traps */

/* lets it run as far as is safe, or steps */
static enum stopper_says approach(struct stopper *s,
				  const struct stopper_tracer *t,
				  struct running_page *page)
{
	uint64_t now = running_page_count(page, 0);
	int64_t left = (int64_t)(s->count - now), share;
	struct view v;

	if (inspect_view(s->run->x, s->tid, &v)) {
		left -= 2 * (int64_t)view_highest(&v, 0);
		view_close(&v);
	}
	share = left / RUNNING_LANES;
	if (share > 1 && !s->checks) {
		set_lanes(s, page, -share);
		return STOPPER_GO_ON;
	}
	set_lanes(s, page, RUNNING_FAR);
	s->run->done = true;
	return stopper_step(s, t);
}

enum stopper_says stopper_trap(struct stopper *s,
			       const struct stopper_tracer *t, pid_t pid,
			       pid_t tid)
{
	struct running_page page;
	struct trap trap;

	if (!s->run) {
		s->run = NEW_ARRAY(struct stopper_run, 1);
		s->run->first = pid;
	}
	if (stopper_refresh(s, pid) ||
	    !is_ours(isa_for_elf(s->run->p.header.machine), tid, &trap))
		return STOPPER_NOT_OURS;
	if (inspect_page(s->run->x, tid, &page) != RUNNING_FOUND) {
		try_again(s, tid, &trap);
		return STOPPER_GO_ON;
	}
	s->run->tries = 0;
	if (!watch_set_pc(tid, trap.behind))
		return STOPPER_NOT_OURS;
	if (pid != s->run->first || page.thread != s->thread || s->run->done) {
		set_lanes(s, &page, RUNNING_FAR);
		return STOPPER_GO_ON;
	}
	s->pid = pid;
	s->tid = tid;
	return approach(s, t, &page);
}

void stopper_leave(struct stopper *s)
{
	if (!stopper_refresh(s, s->pid))
		inspect_quiet(s->run->x);
}

void stopper_close(struct stopper *s)
{
	if (!s->run)
		return;
	stopper_close_run(s->run);
	mem_free(s->run);
	s->run = NULL;
}
