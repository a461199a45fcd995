/*
 * trace-jumps: where indirect jumps of a running program really go.
 *
 *	trace-jumps [-n HITS] [-o OUT] DISPATCHES PROGRAM [ARG...]
 *	trace-jumps --step [-m STEPS] [-o OUT] PROGRAM [ARG...]
 *	trace-jumps --images PROGRAM [ARG...]
 *
 * An oracle for `tally cfg` that shares nothing with it: ptrace runs the
 * program up to its entry point, when all startup libraries are mapped, and
 * then either
 *
 *	puts a breakpoint on every address of DISPATCHES (lines of
 *	IMAGE<TAB>ADDRESS) and takes one step at each hit, or
 *	(--step) steps through the first STEPS instructions of its first
 *	thread one by one.
 *
 * --images only lists the files mapped then. OUT gets one line per distinct observation, addresses as in the ELF file,
 * "-" the image of code that no file holds:
 *
 *	jump<TAB>IMAGE<TAB>FROM<TAB>IMAGE<TAB>TO<TAB>COUNT
 *	flow<TAB>...	the same, of any two instructions, for --step
 *
 * A breakpoint goes away after HITS hits (0: never); tracee.h says the rest.
 */
#include "tracee.h"

static struct seen seen;
static uint64_t steps_max = 400000;

static void trap_before(pid_t pid, struct trap *t)
{
	(void)pid;
	(void)t;
}

/* one step shows where the jump went */
static void trap_behind(const struct trap *t, uint64_t to)
{
	seen_add(&seen, t->at, to, 1);
}

/* is the thread about to return from a signal handler? */
static bool at_sigreturn(pid_t pid, uint64_t pc)
{
	struct user_regs_struct r;
	struct iovec v = {&r, sizeof r};
	uint8_t code[4] = {0};

	if (!peek(pc, code, sizeof code) ||
	    ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v))
		return false;
#if defined(__x86_64__)
	return code[0] == 0x0f && code[1] == 0x05 && r.rax == SYS_rt_sigreturn;
#else
	return !memcmp(code, "\x01\0\0\xd4", 4) &&
	       r.regs[8] == SYS_rt_sigreturn;
#endif
}

/* steps through the first thread; whoever else comes into being is let go */
static int step(void)
{
	uint64_t pc = get_pc(leader), to;
	int status, sig = 0;
	bool jump; /* of control that no instruction made */

	for (uint64_t n = 0; n < steps_max; n++) {
		jump = sig != 0 || at_sigreturn(leader, pc);
		if (!trace(PTRACE_SINGLESTEP, leader, (uint64_t)sig) ||
		    waitpid(leader, &status, __WALL) != leader)
			break;
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) :
						   128 + WTERMSIG(status);
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_EXEC)
			break;
		if (status >> 16 && status >> 16 != PTRACE_EVENT_STOP)
			on_birth(leader, PTRACE_EVENT_VFORK);
		to = get_pc(leader);
		if (!jump && !sig && status >> 16 == 0)
			seen_add(&seen, pc, to, 1);
		if (!sig)
			pc = to;
	}
	trace(PTRACE_DETACH, leader, (uint64_t)sig);
	waitpid(leader, &status, __WALL);
	return 0;
}

__attribute__((noreturn))
static void usage(void)
{
	fputs("usage: trace-jumps [-n HITS] [-o OUT] DISPATCHES PROGRAM "
	      "[ARG...]\n"
	      "       trace-jumps --step [-m STEPS] [-o OUT] PROGRAM "
	      "[ARG...]\n"
	      "       trace-jumps --images PROGRAM [ARG...]\n", stderr);
	exit(125);
}

int main(int argc, char **argv)
{
	bool stepping = false, images = false;
	FILE *out = stdout;
	const char *list = NULL;
	int i = 1, status;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--step"))
			stepping = true;
		else if (!strcmp(argv[i], "--images"))
			images = true;
		else if (i + 1 == argc)
			usage();
		else if (!strcmp(argv[i], "-n"))
			hits_max = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-m"))
			steps_max = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-o"))
			out = fopen(argv[++i], "we");
		else
			usage();
	}
	if (!stepping && !images)
		list = argv[i++];
	if (i >= argc || !out)
		usage();
	start(argv + i);
	if (images) {
		for (size_t k = 0; k < maps.n; k++)
			fprintf(out, "%s\n", maps.at[k].path);
		kill(leader, SIGKILL);
		return 0;
	}
	if (list)
		traps_read(list);
	thread_of(leader);
	if (!stepping)
		go_on(leader, 0);
	status = stepping ? step() : run();
	seen_print(&seen, &maps, out, stepping ? "flow" : "jump");
	return fclose(out) ? 125 : status;
}
