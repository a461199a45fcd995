/*
 * step-accesses: what a program that tally runs accesses in memory, by the
 * registers that it has: rewritten code runs one step at a time, under ptrace.
 *
 *	step-accesses OUT COMMAND [ARG...]
 *
 * COMMAND is `tally trace ..`. Of each rewritten program that it executes
 * OUT.PID.TID gets what `tally replay --as addresses` prints of a thread, a
 * line for each access of an instruction that was completed; inserted code is
 * left out. Where addresses are comes from isa->accesses() of the original's
 * bytes, which is compared with other tools elsewhere (tests/e2e/isa).
 * Instructions that access what no general register tells have a `?`. On x86-64
 * alone.
 */
#include "x64_only.h"

#ifdef __x86_64__

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dict.h"
#include "base/mem.h"
#include "count/map/map.h"
#include "count/profile/embedded.h"
#include "elf/image.h"
#include "isa/access.h"
#include "rewrite/output/reverse_map.h"

/* a rewritten file in a process */
struct module {
	uint64_t start, end, base;
	struct image original;
	struct reverse_map back;
	bool moved; /* it is rewritten */
	const char *name; /* of the original, without folders */
};

struct thread {
	pid_t tid, pid;
	bool steps;
	FILE *out;
	uint64_t last; /* where the last instruction was, and is repeated */
};

static VEC(struct thread) thread;
static VEC(struct module *) module; /* of the program that is stepped */
static const char *out;
static pid_t leader;
static int result = 125;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "step-accesses: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* --- modules */

/* the original of a rewritten file; false: it is not rewritten */
static bool open_original(struct module *m, const char *path)
{
	size_t nmap, nback;
	struct err e;
	uint8_t *bytes = embedded_read(path, MAP_SECTION, &nmap, &e), *back;
	struct map map = {0};

	if (!bytes)
		return false;
	back = embedded_read(path, REVERSE_MAP_SECTION, &nback, &e);
	if (!back || map_unpack(&map, bytes, nmap, path, &e) ||
	    reverse_map_read(&m->back, back, nback) ||
	    image_open(&m->original, map.path, &e))
		die(path);
	m->name = strrchr(m->original.path, '/') + 1;
	return true;
}

/* what is added to the file's addresses where that offset is mapped */
static uint64_t base_of(const char *path, uint64_t start, uint64_t offset)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	FILE *f = fopen(path, "re");
	uint64_t base = start - offset;

	if (!f || fread(&h, sizeof h, 1, f) != 1)
		die(path);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		fseek(f, (long)(h.e_phoff + i * sizeof p), SEEK_SET);
		if (fread(&p, sizeof p, 1, f) == 1 && p.p_type == PT_LOAD &&
		    offset >= (p.p_offset & -(uint64_t)4096) &&
		    offset < p.p_offset + p.p_filesz)
			base = start - (p.p_vaddr - p.p_offset + offset);
	}
	fclose(f);
	return base;
}

static void read_modules(pid_t pid)
{
	char line[PATH_MAX + 128], path[PATH_MAX + 1], may[8], name[64];
	uint64_t start, end, offset;
	FILE *f;

	module.n = 0;
	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof line, f)) {
		struct module *m;

		path[0] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %*s %*s %4096[^\n]", &start, &end, may, &offset,
			   path) < 4 || !strchr(may, 'x'))
			continue;
		m = NEW_ARRAY(struct module, 1);
		m->start = start;
		m->end = end;
		if (path[0] == '/' && open_original(m, path)) {
			m->moved = true;
			m->base = base_of(path, start, offset);
		}
		vec_push(&module, m);
	}
	if (f)
		fclose(f);
}

static struct module *module_at(pid_t pid, uint64_t pc)
{
	for (unsigned again = 0; again < 2; again++) {
		for (size_t i = 0; i < module.n; i++)
			if (pc >= module.at[i]->start &&
			    pc < module.at[i]->end)
				return module.at[i];
		read_modules(pid);
	}
	return NULL;
}

/* --- accesses */

static void get_registers(pid_t tid, struct user_regs_struct *r)
{
	struct iovec v = {r, sizeof *r};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v))
		die("registers");
}

static void put(FILE *f, const struct module *m, uint64_t at, char kind,
		const struct access *a, bool known, uint64_t address)
{
	fprintf(f, "%s\t0x%" PRIx64 "\t%c\t", m->name, at, kind);
	if (known)
		fprintf(f, "0x%" PRIx64, address);
	else
		putc('?', f);
	if (a->size == MEM_SIZE_UNKNOWN)
		fputs("\t?\n", f);
	else
		fprintf(f, "\t%u\n", a->size);
}

static void tell(struct thread *t, const struct module *m, uint64_t at,
		 const struct user_regs_struct *r)
{
	const uint64_t regs[] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp,
				 r->rbp, r->rsi, r->rdi, r->r8, r->r9,
				 r->r10, r->r11, r->r12, r->r13, r->r14,
				 r->r15};
	const uint64_t segments[ACCESS_SEGMENTS] = {
		[ACCESS_FS] = r->fs_base, [ACCESS_GS] = r->gs_base};
	struct access a[ACCESS_MOST];
	struct insn in;
	size_t avail;
	const uint8_t *code = image_at(&m->original, at, &avail);
	unsigned n;

	if (!code)
		die("code of the original");
	isa_x64.decode(code, avail, at, &in);
	n = isa_x64.accesses(code, avail, at, a);
	for (unsigned i = 0; i < n; i++) {
		bool known = a[i].how < ACCESS_STRING_UNTIL ||
			     a[i].how == ACCESS_MASKED;
		uint64_t times = 1, address = access_address(&a[i], regs,
							     segments);

		if (in.ref_kind != REF_NONE && a[i].base == ISA_NO_REG &&
		    a[i].index == ISA_NO_REG && in.ref == (uint64_t)a[i].disp)
			address += m->base;
		if (a[i].how == ACCESS_STRING)
			times = a[i].narrow ? (uint32_t)r->rcx : r->rcx;
		for (uint64_t k = 0; k < times; k++) {
			if (a[i].kind != ACCESS_STORE)
				put(t->out, m, at, 'r', &a[i], known, address);
			if (a[i].kind != ACCESS_LOAD)
				put(t->out, m, at, 'w', &a[i], known, address);
			address += a[i].size;
		}
	}
}

/* the original instruction that begins there, if it does; 0: none */
static uint64_t original(const struct module *m, uint64_t pc)
{
	struct place_back at = reverse_map_find(&m->back, pc - m->base);

	if (at.kind == RANGE_RUN)
		return at.old;
	return at.kind == RANGE_ONE && at.start == pc - m->base ? at.old : 0;
}

/* --- threads */

static struct thread *thread_of(pid_t tid)
{
	struct thread t = {.tid = tid, .pid = tid};

	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].tid == tid)
			return &thread.at[i];
	vec_push(&thread, t);
	return &thread.at[thread.n - 1];
}

static void begin(struct thread *t, pid_t pid)
{
	char name[PATH_MAX];

	t->pid = pid;
	t->steps = true;
	snprintf(name, sizeof name, "%s.%d.%d", out, pid, t->tid);
	t->out = fopen(name, "we");
	if (!t->out)
		die(name);
}

static void go(const struct thread *t, int signal)
{
	ptrace(t->steps ? PTRACE_SINGLESTEP : PTRACE_CONT, t->tid, 0, signal);
}

static void step(struct thread *t)
{
	struct user_regs_struct r;
	const struct module *m;
	uint64_t at = 0;

	get_registers(t->tid, &r);
	m = module_at(t->pid, r.rip);
	if (m && m->moved)
		at = original(m, r.rip);
	/* a repeated string instruction is told of once */
	if (at && r.rip != t->last)
		tell(t, m, at, &r);
	t->last = r.rip;
	go(t, 0);
}

static void gone(pid_t tid, int status)
{
	if (tid == leader)
		result = WIFEXITED(status) ? WEXITSTATUS(status) :
					     128 + WTERMSIG(status);
	for (size_t i = 0; i < thread.n; i++)
		if (thread.at[i].tid == tid) {
			if (thread.at[i].out)
				fclose(thread.at[i].out);
			thread.at[i] = thread.at[--thread.n];
		}
}

/* another program is executed: is it a rewritten one? */
static void executed(struct thread *t)
{
	char name[64], path[PATH_MAX];
	size_t size;
	struct err e;
	ssize_t n;
	uint8_t *map;

	snprintf(name, sizeof name, "/proc/%d/exe", t->tid);
	n = readlink(name, path, sizeof path - 1);
	path[n < 0 ? 0 : n] = 0;
	map = embedded_read(path, MAP_SECTION, &size, &e);
	if (map)
		begin(t, t->tid);
	mem_free(map);
	module.n = 0;
}

static void stopped(pid_t tid, int status)
{
	struct thread *t = thread_of(tid);
	int signal = WSTOPSIG(status), event = status >> 16;
	unsigned long child;
	pid_t pid = t->pid;
	bool steps = t->steps;

	switch (event) {
	case PTRACE_EVENT_CLONE:
		ptrace(PTRACE_GETEVENTMSG, tid, 0, &child);
		if (steps && !thread_of((pid_t)child)->steps)
			begin(thread_of((pid_t)child), pid);
		break;
	case PTRACE_EVENT_EXEC:
		executed(t);
		break;
	case 0:
		if (signal == SIGTRAP && steps) {
			step(t);
			return;
		}
		if (signal != SIGTRAP && signal != SIGSTOP) {
			go(t, signal);
			return;
		}
		break;
	}
	go(thread_of(tid), 0);
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
			     PTRACE_O_EXITKILL;
	int status;
	pid_t tid;

	if (argc < 3) {
		fprintf(stderr, "usage: step-accesses OUT COMMAND [ARG...]\n");
		return 125;
	}
	out = argv[1];
	leader = fork();
	if (!leader) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	if (waitpid(leader, &status, 0) != leader ||
	    ptrace(PTRACE_SETOPTIONS, leader, 0, options))
		die("ptrace");
	ptrace(PTRACE_CONT, leader, 0, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			stopped(tid, status);
		else
			gone(tid, status);
	}
	return result;
}

#endif
