/*
 * step-counts: how often every instruction of a running program is completed,
 * by the processor's own word: it runs one step at a time, under ptrace, with
 * all its threads and children.
 *
 *	step-counts OUT PROGRAM [ARG...]
 *
 * OUT.PID, one per process, gets what qemu-counts.c writes, one line for each
 * instruction, and what qemu-flow.c does: how often which followed which. A
 * repeated string instruction is one, however often it repeats;
 * one that faults is none; a system call that never returns is one. The exit
 * status is the program's, or 128 and its signal.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "observe.h"

/* an instruction that was seen, in a hash table by address */
struct insn_seen {
	uint64_t pc, count;
	bool repeats, calls;
};

struct process {
	pid_t pid;
	struct insn_seen *at;
	size_t n, size;
	struct seen done; /* by image, numbered from 1, and address there */
	struct seen flow; /* from one address in memory to another */
};

struct thread {
	pid_t tid;
	struct process *p;
	uint64_t pc; /* of what is about to run; 0: not known */
	bool signalled; /* it gets a signal with this step */
};

static VEC(struct thread) thread;
static VEC(struct process *) process;
static VEC(char *) image; /* paths */
static const char *out;
static pid_t leader;
static int result = 125;

static void get_registers(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = {r, sizeof *r};

	memset(r, 0, sizeof *r);
	ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v);
}

#if defined(__x86_64__)
enum { CODE = 4 };

static uint64_t pc_of(const struct user_regs_struct *r)
{
	return r->rip;
}

static uint64_t number_of(const struct user_regs_struct *r)
{
	return r->rax;
}

static bool is_call(const uint8_t *c)
{
	return c[0] == 0x0f && c[1] == 0x05;
}

/* rep or repne, perhaps REX or an operand size, and a string instruction */
static bool is_repeated(const uint8_t *c)
{
	bool rep = false;

	for (; *c == 0xf2 || *c == 0xf3 || *c == 0x66 || *c >> 4 == 4; c++)
		rep |= *c >> 4 == 0xf;
	return rep && ((*c >= 0x6c && *c <= 0x6f) ||
		       (*c >= 0xa4 && *c <= 0xa7) ||
		       (*c >= 0xaa && *c <= 0xaf));
}
#elif defined(__aarch64__)
enum { CODE = 4 };

static uint64_t pc_of(const struct user_regs_struct *r)
{
	return r->pc;
}

static uint64_t number_of(const struct user_regs_struct *r)
{
	return r->regs[8];
}

static bool is_call(const uint8_t *c)
{
	return c[0] == 1 && !c[1] && !c[2] && c[3] == 0xd4;
}

static bool is_repeated(const uint8_t *c)
{
	(void)c;
	return false;
}
#endif

/* --- what was seen */

static struct insn_seen *place_of(const struct process *p, uint64_t pc)
{
	size_t i = (pc * 0x9e3779b97f4a7c15u) >> 20 & (p->size - 1);

	while (p->at[i].pc && p->at[i].pc != pc)
		i = (i + 1) & (p->size - 1);
	return &p->at[i];
}

static void process_grow(struct process *p)
{
	struct process old = *p;

	p->size = old.size ? 2 * old.size : 4096;
	p->at = NEW_ARRAY(struct insn_seen, p->size);
	for (size_t i = 0; i < old.size; i++)
		if (old.at[i].pc)
			*place_of(p, old.at[i].pc) = old.at[i];
	mem_free(old.at);
}

static struct insn_seen *find(struct process *p, pid_t tid, uint64_t pc)
{
	struct insn_seen *x;
	uint8_t code[CODE + 12] = {0};
	struct iovec to = {code, CODE}, from = {(void *)(uintptr_t)pc, CODE};

	if (2 * p->n >= p->size)
		process_grow(p);
	x = place_of(p, pc);
	if (x->pc)
		return x;
	process_vm_readv(tid, &to, 1, &from, 1, 0);
	*x = (struct insn_seen){pc, 0, is_repeated(code), is_call(code)};
	p->n++;
	return x;
}

static uint64_t image_number(const char *path)
{
	for (size_t i = 0; i < image.n; i++)
		if (!strcmp(image.at[i], path))
			return i + 1;
	vec_push(&image, strdup(path));
	return image.n;
}

static FILE *process_file(const struct process *p)
{
	char name[PATH_MAX];
	FILE *f;

	snprintf(name, sizeof name, "%s.%d", out, p->pid);
	f = fopen(name, "ae");
	if (!f) {
		perror(name);
		exit(125);
	}
	return f;
}

/* memory is about to change: whose addresses these are is told now */
static void process_settle(struct process *p)
{
	char name[64];
	struct maps maps = {0};
	FILE *f = process_file(p);

	snprintf(name, sizeof name, "/proc/%d/maps", p->pid);
	maps_read(&maps, name);
	for (size_t i = 0; i < p->size; i++) {
		const struct insn_seen *x = &p->at[i];
		const struct map *m = x->pc ? maps_find(&maps, x->pc) : NULL;

		if (m && x->count)
			seen_add(&p->done, image_number(m->path),
				 x->pc - m->delta, x->count);
	}
	memset(p->at, 0, p->size * sizeof *p->at);
	p->n = 0;
	seen_print(&p->flow, &maps, f, "flow");
	fclose(f);
	for (size_t i = 0; i < maps.n; i++)
		free(maps.at[i].path);
	free(maps.at);
}

static void process_print(struct process *p)
{
	FILE *f = process_file(p);

	for (size_t i = 0; i < p->done.size; i++) {
		const struct pair *x = &p->done.at[i];

		if (x->from)
			fprintf(f, "ran\t%s\t0x%" PRIx64 "\t%s\t0x%" PRIx64
				"\t%" PRIu64 "\n", image.at[x->from - 1],
				x->to, image.at[x->from - 1], x->to, x->count);
	}
	fclose(f);
	free(p->done.at);
	p->done = (struct seen){0};
}

/* --- who runs */

static struct process *process_of(pid_t pid)
{
	struct process *p;

	for (size_t i = 0; i < process.n; i++)
		if (process.at[i]->pid == pid)
			return process.at[i];
	p = NEW_ARRAY(struct process, 1);
	p->pid = pid;
	process_grow(p);
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
		if (thread.at[i].tid == tid)
			thread.at[i] = thread.at[--thread.n];
	if (tid == leader)
		result = WIFEXITED(status) ? WEXITSTATUS(status) :
					     128 + WTERMSIG(status);
}

/* --- steps */

/* the thread goes on, from `pc`; some calls change who is where */
static void step(struct thread *t, int sig, const struct user_regs_struct *r)
{
	struct insn_seen *x;

	t->pc = pc_of(r);
	x = find(t->p, t->tid, t->pc);
	if (x->calls && !sig) {
		uint64_t nr = number_of(r);
		bool lasts = nr != SYS_munmap && nr != SYS_mremap &&
			     nr != SYS_mmap && nr != SYS_execve &&
			     nr != SYS_execveat;

		if (!lasts)
			process_settle(t->p);
	}
	t->signalled = sig;
	ptrace(PTRACE_SINGLESTEP, t->tid, 0, sig);
}

/* a trap that says that a handler begins, and nothing has run? */
static bool is_arrival(pid_t tid)
{
	siginfo_t info = {0};

	ptrace(PTRACE_GETSIGINFO, tid, 0, &info);
	return info.si_code == SIGTRAP;
}

/* what was about to run has, if the thread is elsewhere now */
static void count_step(struct thread *t, bool whole,
		       const struct user_regs_struct *r)
{
	struct insn_seen *x;

	if (!t->pc)
		return;
	x = find(t->p, t->tid, t->pc);
	if (pc_of(r) != t->pc || (whole && !x->repeats)) {
		x->count++;
		seen_add(&t->p->flow, t->pc, pc_of(r), 1);
	}
	t->pc = 0;
}

static void on_exit_event(struct thread *t)
{
	/* a call that ends the thread is the last that it does */
	if (t->pc && find(t->p, t->tid, t->pc)->calls && !t->signalled)
		find(t->p, t->tid, t->pc)->count++;
	t->pc = 0;
	process_settle(t->p);
	ptrace(PTRACE_CONT, t->tid, 0, 0);
}

static void on_stop(struct thread *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	struct user_regs_struct r;

	get_registers(t->tid, &r);
	switch (event) {
	case 0:
		if (sig == SIGTRAP) {
			if (!t->signalled || !is_arrival(t->tid))
				count_step(t, true, &r);
			sig = 0;
		} else {
			count_step(t, false, &r);
		}
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_event(t);
		return;
	case PTRACE_EVENT_EXEC:
		/* of the old program, but for this one, all was told */
		t->pc = 0;
		process_print(t->p);
		sig = 0;
		break;
	case PTRACE_EVENT_STOP:
		sig = 0;
		break;
	default: /* somebody was born: the call itself is not over */
		ptrace(PTRACE_SINGLESTEP, t->tid, 0, 0);
		return;
	}
	step(t, sig, &r);
}

static void start(char **argv)
{
	const int options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
			    PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
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
	close(ready[0]);
	close(ready[1]);
}

int main(int argc, char **argv)
{
	bool begun = false;
	int status;
	pid_t tid;

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
			on_stop(thread_of(tid), status);
		else
			ptrace(PTRACE_CONT, tid, 0, 0);
	}
	for (size_t i = 0; i < process.n; i++)
		process_print(process.at[i]);
	return result;
}
