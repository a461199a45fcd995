/*
 * step-counts: how often every instruction of a running program is completed,
 * by the processor's own word: it runs one step at a time, under ptrace, with
 * all its threads and children.
 *
 *	step-counts [-a] [-s] [-t] OUT PROGRAM [ARG...]
 *
 * Libraries run at full speed, with the program's code hidden (hidden.h), until
 * there is a second thread; -a: they are stepped through and told of as well.
 * -t: OUT.trace.TID, one per thread, gets addresses in memory, 8 bytes each, of
 * what it completed, in order. -s: the same with stack pointers, signals and
 * forks (step_trace.h), libraries too, from the program's entry point on and up
 * to where another program is executed.
 *
 * OUT.PID, one per process, gets what qemu-counts.c writes, one line for each
 * instruction, and what qemu-flow.c does: how often which followed which. A
 * repeated string instruction is one, however often it repeats;
 * one that faults is none; a system call that never returns is one. The exit
 * status is the program's, or 128 and its signal.
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hidden.h"
#include "step_trace.h"
#include "steps.h"

struct process {
	pid_t pid;
	struct steps seen;
	struct hidden code; /* of the program */
	bool shared; /* others are in its memory: nothing is hidden */
	struct step_maps maps;
	bool begun, other; /* it executes the program; another one */
	uint64_t entry; /* it runs up to there; 0: it has */
	uint8_t was[TRAP_BYTES];
};

struct thread {
	pid_t tid;
	struct process *p;
	uint64_t pc; /* of what is about to run; 0: not known */
	uint64_t sp, number; /* before it runs; of a system call */
	int signalled; /* it gets this signal with this step */
	uint64_t stopped_call; /* a system call that a signal met, or 0 */
	bool free; /* it runs in a library, at full speed */
	bool born, held; /* its parent has told of it; it has stopped before */
	FILE *trace;
	struct step_trace steps;
};

static VEC(struct thread) thread;
static VEC(struct process *) process;
static const char *out;
static pid_t leader;
static int result = 125;
static bool all; /* libraries, too */
static bool traces, steps;

/* --- who runs */

static struct process *process_of(pid_t pid)
{
	struct process *p;

	for (size_t i = 0; i < process.n; i++)
		if (process.at[i]->pid == pid)
			return process.at[i];
	p = NEW_ARRAY(struct process, 1);
	p->pid = pid;
	vec_push(&process, p);
	return p;
}

/* the process that the thread belongs to, as the kernel says */
static pid_t group_of(pid_t tid)
{
	char name[64], line[128];
	int pid = tid;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/status", tid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static struct thread *thread_of(pid_t tid)
{
	struct thread t = {.tid = tid};

	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].tid == tid)
			return &thread.at[i];
	t.p = process_of(group_of(tid));
	vec_push(&thread, t);
	return &thread.at[thread.n - 1];
}

static void thread_gone(pid_t tid, int status)
{
	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].tid == tid) {
			if (thread.at[i].trace)
				fclose(thread.at[i].trace);
			step_trace_close(&thread.at[i].steps);
			thread.at[i] = thread.at[--thread.n];
		}
	if (tid == leader)
		result = WIFEXITED(status) ? WEXITSTATUS(status) :
					     128 + WTERMSIG(status);
}

/* --- steps */

static siginfo_t why_stopped(pid_t tid)
{
	siginfo_t info = {0};

	ptrace(PTRACE_GETSIGINFO, tid, 0, &info);
	return info;
}

static struct insn_seen *find(const struct thread *t)
{
	return steps_find(&t->p->seen, t->tid, t->pc);
}

static struct step_trace *steps_of(struct thread *t)
{
	if (!t->steps.open)
		step_trace_open(&t->steps, out, t->p->pid, t->tid);
	return &t->steps;
}

static void note_mark(struct thread *t, uint64_t mark, uint64_t value)
{
	if (steps && !t->p->other)
		step_trace_add(steps_of(t), mark, value);
}

static void note_step(struct thread *t, uint64_t pc)
{
	char name[PATH_MAX];

	if (steps && !t->p->other) {
		step_maps_look(&t->p->maps, out, t->p->pid, pc);
		step_trace_add(steps_of(t), pc, t->sp);
	}
	if (!traces)
		return;
	if (!t->trace) {
		snprintf(name, sizeof name, "%s.trace.%d", out, t->tid);
		t->trace = fopen(name, "ae");
	}
	if (!t->trace || fwrite(&pc, sizeof pc, 1, t->trace) != 1) {
		perror("trace");
		exit(125);
	}
}

/* may the call change what is where? Then what was seen is told before it */
static void before_call(struct process *p, uint64_t nr)
{
	if (nr == SYS_munmap || nr == SYS_mremap || nr == SYS_mmap ||
	    nr == SYS_execve || nr == SYS_execveat)
		steps_settle(&p->seen, out, p->pid);
}

static void on_stop(pid_t tid, int status);
static void go_on(struct thread *t, int sig, const struct user_regs_struct *r);

/* a stop that says that the thread has run into a breakpoint */
static bool is_breakpoint(int status, pid_t tid)
{
	return status >> 8 == SIGTRAP &&
	       why_stopped(tid).si_code == TRAP_BRKPT;
}

/* is there a breakpoint now? */
static bool trap_at(pid_t tid, uint64_t pc)
{
	uint8_t code[TRAP_BYTES] = {0};
	struct iovec to = {code, sizeof code};
	struct iovec from = {(void *)(uintptr_t)pc, sizeof code};

	process_vm_readv(tid, &to, 1, &from, 1, 0);
	return is_trap(code);
}

static void count_way(struct thread *t, const struct way *w, uint64_t next)
{
	for (int i = 0; i < w->n; i++) {
		steps_find(&t->p->seen, t->tid, w->pc[i])->count++;
		note_step(t, w->pc[i]);
		seen_add(&t->p->seen.flow, w->pc[i],
			 i + 1 < w->n ? w->pc[i + 1] : next, 1);
	}
}

/*
 * A stretch with several ways to one place: tried first, then run. If another
 * thread sends it another way than the one that was tried, or a signal meets
 * it on its way, that run is as if it had not been: there was no store.
 */
static int run_forked(struct way *w, struct exclusive *x, pid_t tid)
{
	struct user_regs_struct begin;
	int status;

	get_registers(tid, &begin);
	for (;;) {
		w->n = 0;
		status = way_try(w, x, tid);
		if (!WIFSTOPPED(status) || get_pc(tid) != x->store)
			return status;
		set_registers(tid, &begin);
		status = run_guarded(x, tid);
		if (!WIFSTOPPED(status))
			return status;
		if (get_pc(tid) == x->store + 4) {
			w->pc[w->n++] = x->store;
			return status;
		}
		set_registers(tid, &begin);
		if (!is_breakpoint(status, tid)) {
			w->n = 0;
			return status;
		}
	}
}

/*
 * The thread is at a load-exclusive, and goes on to where the store is over,
 * without any stop. Nobody waits for anything in there.
 */
static void run_exclusive(struct thread *t, struct exclusive *x)
{
	struct user_regs_struct r;
	struct way w = {.n = 0};
	pid_t tid = t->tid;
	int status;

	t->pc = 0;
	t->signalled = 0;
	status = x->forks ? run_forked(&w, x, tid) : run_guarded(x, tid);
	if (!WIFSTOPPED(status)) {
		thread_gone(tid, status);
		return;
	}
	get_registers(tid, &r);
	if (!x->forks)
		way_straight(&w, x, pc_of(&r));
	count_way(t, &w, pc_of(&r));
	if (status >> 8 == SIGTRAP)
		go_on(t, 0, &r);
	else
		on_stop(tid, status);
}

/* the thread goes on in the program, one step */
static void step(struct thread *t, int sig, const struct user_regs_struct *r)
{
	struct exclusive x;

	t->free = false;
	hidden_show(&t->p->code);
	t->pc = pc_of(r);
	t->sp = sp_of(r);
	t->number = number_of(r);
	if (!sig && find(t)->reserves && exclusive_find(&x, t->tid, t->pc)) {
		run_exclusive(t, &x);
		return;
	}
	if (find(t)->calls && !sig)
		before_call(t->p, number_of(r));
	t->signalled = sig;
	ptrace(PTRACE_SINGLESTEP, t->tid, 0, sig);
}

/* the thread goes on in a library, up to the next system call or surprise */
static void run_free(struct thread *t, int sig)
{
	t->free = true;
	t->pc = 0;
	hidden_hide(&t->p->code);
	ptrace(PTRACE_SYSCALL, t->tid, 0, sig);
}

static void go_on(struct thread *t, int sig, const struct user_regs_struct *r)
{
	const struct process *p = t->p;

	if (all || p->shared || !p->code.code.n ||
	    hidden_holds(&p->code, pc_of(r)))
		step(t, sig, r);
	else
		run_free(t, sig);
}

/*
 * A thread that runs free has stopped: at a system call, at the first
 * instruction of the program, which is a breakpoint, or by a signal.
 */
static void on_free_stop(struct thread *t, int sig, struct user_regs_struct *r)
{
	struct __ptrace_syscall_info call = {0};

	if (sig == (SIGTRAP | 0x80)) {
		ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof call, &call);
		if (call.op == PTRACE_SYSCALL_INFO_ENTRY)
			before_call(t->p, call.entry.nr);
		run_free(t, 0);
		return;
	}
	/* kernels give codes above 0, senders of signals do not */
	if (sig == SIGTRAP && hidden_holds(&t->p->code, pc_of(r) - TRAP_SKIP) &&
	    why_stopped(t->tid).si_code > 0) {
		r->REGISTER_PC -= TRAP_SKIP;
		set_pc(t->tid, pc_of(r));
		sig = 0;
	}
	go_on(t, sig, r);
}

/* a trap that says that a handler begins, and nothing has run? */
static bool is_arrival(pid_t tid)
{
	return why_stopped(tid).si_code == SIGTRAP;
}

/*
 * What was about to run has, if the thread is elsewhere now. Some kernels stop
 * a thread twice behind a system call: where it is in the same place nothing
 * has run, unless it is an instruction that jumps to itself.
 */
static void count_step(struct thread *t, bool whole,
		       const struct user_regs_struct *r)
{
	struct insn_seen *x;

	if (!t->pc)
		return;
	x = find(t);
	if (pc_of(r) != t->pc || (whole && x->circles)) {
		x->count++;
		note_step(t, t->pc);
		seen_add(&t->p->seen.flow, t->pc, pc_of(r), 1);
		if (x->calls && t->number == SYS_rt_sigreturn)
			note_mark(t, STEP_SIGRETURN, 0);
	}
	t->stopped_call = !whole && pc_of(r) == t->pc && x->calls ? t->pc : 0;
	t->pc = 0;
}

/*
 * A handler begins. A system call that the signal met is shown as if it would
 * be made again, until the handler's frame says that it has failed: then it was
 * made.
 */
static void count_stopped_call(struct thread *t,
			       const struct user_regs_struct *r)
{
#ifdef __aarch64__
	enum { INFO = 128, PC = 55 * 8 }; /* of the frame: the context's pc */
	uint64_t at = sp_of(r) + INFO + PC;
	uint64_t pc = (uint64_t)ptrace(PTRACE_PEEKDATA, t->tid, at, 0);

	if (t->stopped_call && pc == t->stopped_call + 4) {
		t->pc = t->stopped_call;
		find(t)->count++;
		note_step(t, t->pc);
		t->pc = 0;
	}
#else
	(void)r;
#endif
	t->stopped_call = 0;
}

static void on_exit_event(struct thread *t)
{
	/* a call that ends the thread is the last that it does */
	if (t->pc && find(t)->calls && !t->signalled) {
		find(t)->count++;
		note_step(t, t->pc);
	}
	t->pc = 0;
	steps_settle(&t->p->seen, out, t->p->pid);
	ptrace(PTRACE_CONT, t->tid, 0, 0);
}

/* lets the loader do its work at full speed */
static void run_to_entry(struct process *p)
{
	int mem = memory_of(p->pid);

	p->entry = entry_of(p->pid);
	if (pread(mem, p->was, TRAP_BYTES, (off_t)p->entry) < 0 ||
	    pwrite(mem, trap_code, TRAP_BYTES, (off_t)p->entry) < 0)
		exit(125);
	close(mem);
	ptrace(PTRACE_CONT, p->pid, 0, 0);
}

static void on_entry(struct thread *t, struct user_regs_struct *r)
{
	int mem = memory_of(t->tid);

	if (pwrite(mem, t->p->was, TRAP_BYTES, (off_t)t->p->entry) < 0)
		exit(125);
	close(mem);
	r->REGISTER_PC = t->p->entry;
	set_pc(t->tid, t->p->entry);
	t->p->entry = 0;
	go_on(t, 0, r);
}

/* do two processes have the same memory, as far as one can know? */
static bool share(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) <= 0;
}

/* somebody was born: a thread or a child, which waits until we know */
static void on_birth(struct process *p, const struct step_trace *steps_before,
		     pid_t parent, pid_t tid)
{
	struct thread *t = thread_of(tid);
	struct process *q = t->p;

	q->begun |= p->begun;
	q->other |= p->other;
	if (steps && q != p && !q->other)
		step_trace_forked(steps_of(t), parent, steps_before->n);

	if (q == p || share(p->pid, q->pid)) {
		hidden_show(&p->code);
		p->shared = q->shared = true;
	} else {
		hidden_copy(&q->code, &p->code, q->pid);
	}
	t->born = true;
	if (t->held)
		on_stop(tid, PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f);
}

/* the call that gave birth is not over */
static void after_birth(struct thread *t)
{
	t->free &= !t->p->shared;
	if (t->free)
		run_free(t, 0);
	else
		ptrace(PTRACE_SINGLESTEP, t->tid, 0, 0);
}

static void on_stop(pid_t tid, int status)
{
	struct thread *t = thread_of(tid);
	int sig = WSTOPSIG(status), event = status >> 16;
	struct user_regs_struct r;
	struct step_trace before;
	unsigned long child;

	if (!t->born) {
		t->held = true;
		return;
	}
	get_registers(tid, &r);
	switch (event) {
	case 0:
		if (t->p->entry && sig == SIGTRAP) {
			on_entry(t, &r);
			return;
		}
		if (t->free) {
			on_free_stop(t, sig, &r);
			return;
		}
		if (sig == SIGTRAP && pc_of(&r) == t->pc &&
		    is_breakpoint(status, tid)) {
			/* the program's own, or another thread's guard */
			t->pc = 0;
			sig = trap_at(tid, pc_of(&r)) ? SIGTRAP : 0;
		} else if (sig == SIGTRAP) {
			if (!t->signalled || !is_arrival(t->tid))
				count_step(t, true, &r);
			else {
				count_stopped_call(t, &r);
				note_mark(t, STEP_SIGNAL,
					  (uint64_t)t->signalled);
			}
			sig = 0;
		} else {
			count_step(t, false, &r);
		}
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_event(t);
		return;
	case PTRACE_EVENT_EXEC:
		/* of the old program all was told but for this call */
		if (t->pc)
			note_step(t, t->pc);
		t->pc = 0;
		steps_print(&t->p->seen, out, tid);
		hidden_read(&t->p->code, tid);
		t->p->shared = false;
		t->p->other = t->p->begun;
		t->p->begun = true;
		if (steps && !t->p->other) {
			run_to_entry(t->p);
			return;
		}
		sig = 0;
		break;
	case PTRACE_EVENT_STOP:
		sig = 0;
		break;
	default:
		ptrace(PTRACE_GETEVENTMSG, tid, 0, &child);
		before = t->steps;
		on_birth(t->p, &before, tid, (pid_t)child);
		after_birth(thread_of(tid));
		return;
	}
	go_on(t, sig, &r);
}

static void start(char **argv)
{
	const int options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
			    PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL |
			    PTRACE_O_TRACESYSGOOD;
	int ready[2];
	char c;

	if (pipe2(ready, O_CLOEXEC))
		exit(125);
	leader = fork();
	if (!leader) {
		close(ready[1]);
		if (read(ready[0], &c, 1) < 0)
			_exit(127);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (ptrace(PTRACE_SEIZE, leader, 0, options)) {
		perror("ptrace");
		exit(125);
	}
	thread_of(leader)->born = true;
	close(ready[0]);
	close(ready[1]);
}

int main(int argc, char **argv)
{
	bool begun = false;
	int status;
	pid_t tid;

	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		steps |= !strcmp(argv[1], "-s");
		all |= steps || !strcmp(argv[1], "-a");
		traces |= !strcmp(argv[1], "-t");
	}
	if (argc < 3)
		return 2;
	out = argv[1];
	start(argv + 2);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid < 0)
			continue;
		begun |= WIFSTOPPED(status) &&
			 status >> 16 == PTRACE_EVENT_EXEC;
		if (!WIFSTOPPED(status))
			thread_gone(tid, status);
		else if (begun)
			on_stop(tid, status);
		else
			ptrace(PTRACE_CONT, tid, 0, 0);
	}
	for (size_t i = 0; i < process.n; i++)
		steps_print(&process.at[i]->seen, out, process.at[i]->pid);
	return result;
}
