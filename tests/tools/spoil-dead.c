/*
 * spoil-dead: overwrites what is said to be dead, in a running program.
 *
 *	spoil-dead [-n HITS] [-s SEED] [-o OUT] PLACES PROGRAM [ARG...]
 *
 * The oracle for cfg/live/live.h: at every place of PLACES (list-dead's output,
 * about files that the program has mapped at its entry point) registers and
 * flags that are said to be dead get random values, HITS times (5), before
 * the program goes on. It must not notice: output and exit status, which is
 * ours too, are for the caller to compare. OUT gets a line: how many places
 * were reached, and how many registers and flags were overwritten.
 */
#include "tracee.h"

#include "isa/isa.h"
#include "splitmix.h"

static uint64_t state = 1, nregs, nflags;

#if defined(__x86_64__)
typedef unsigned long long word;

/* where register r, numbered as struct isa does, lies */
static word *reg_at(struct user_regs_struct *u, unsigned r)
{
	word *const at[] = {
		(word *)&u->rax, (word *)&u->rcx, (word *)&u->rdx,
		(word *)&u->rbx, (word *)&u->rsp, (word *)&u->rbp,
		(word *)&u->rsi, (word *)&u->rdi, (word *)&u->r8,
		(word *)&u->r9,	 (word *)&u->r10, (word *)&u->r11,
	};

	return at[r];
}

/* the bits of the flags register that FLAG_ bits stand for */
static uint64_t flag_bits(unsigned flags)
{
	return (flags & FLAG_C ? 1u : 0) | (flags & FLAG_P ? 4u : 0) |
	       (flags & FLAG_A ? 0x10u : 0) | (flags & FLAG_Z ? 0x40u : 0) |
	       (flags & FLAG_N ? 0x80u : 0) | (flags & FLAG_V ? 0x800u : 0);
}

static word *flags_at(struct user_regs_struct *u)
{
	return (word *)&u->eflags;
}
#else
typedef unsigned long long word;

static word *reg_at(struct user_regs_struct *u, unsigned r)
{
	return &u->regs[r];
}

static uint64_t flag_bits(unsigned flags)
{
	return (flags & FLAG_N ? 1u << 31 : 0) |
	       (flags & FLAG_Z ? 1u << 30 : 0) |
	       (flags & FLAG_C ? 1u << 29 : 0) |
	       (flags & FLAG_V ? 1u << 28 : 0);
}

static word *flags_at(struct user_regs_struct *u)
{
	return &u->pstate;
}
#endif

/* gives what is dead there random values */
static void trap_before(pid_t pid, struct trap *t)
{
	uint64_t mask = flag_bits((unsigned)(t->dead >> 32));
	struct user_regs_struct u;
	struct iovec v = {&u, sizeof u};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v))
		return;
	for (unsigned r = 0; r < 32; r++)
		if (t->dead >> r & 1) {
			*reg_at(&u, r) = splitmix(&state);
			nregs++;
		}
	*flags_at(&u) = (*flags_at(&u) & ~mask) | (splitmix(&state) & mask);
	nflags += (unsigned)__builtin_popcountll(mask);
	ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &v);
}

static void trap_behind(const struct trap *t, uint64_t to)
{
	(void)t;
	(void)to;
}

__attribute__((noreturn))
static void usage(void)
{
	fputs("usage: spoil-dead [-n HITS] [-s SEED] [-o OUT] PLACES PROGRAM "
	      "[ARG...]\n", stderr);
	exit(125);
}

int main(int argc, char **argv)
{
	FILE *out = stderr;
	size_t reached = 0;
	int i = 1, status;

	hits_max = 5;
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (!strcmp(argv[i], "-n"))
			hits_max = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "-s"))
			state = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "-o"))
			out = fopen(argv[i + 1], "we");
		else
			usage();
	}
	if (i + 1 >= argc || !out)
		usage();
	start(argv + i + 1);
	traps_read(argv[i]);
	thread_of(leader);
	go_on(leader, 0);
	status = run();
	for (size_t k = 0; k < trap.n; k++)
		reached += trap.at[k].hits != 0;
	fprintf(out, "%zu of %zu places, %" PRIu64 " registers, %" PRIu64
		" flags\n", reached, trap.n, nregs, nflags);
	fclose(out);
	return status;
}
