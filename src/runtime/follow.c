/*
 * follow: a program that the program executes runs rewritten, too.
 *
 * Tally takes its place first: `tally follow` (cmd/follow.c) makes the
 * rewritten file if need be and executes that, in the same process. It gets
 * the file as an open descriptor, because names may mean another file once
 * this program is gone, and the environment as arguments, because none of it
 * is meant for tally. If it cannot be started, nothing has happened, and the
 * program's own call says what is wrong.
 *
 * This runs wherever a program may call execve(): in any thread, in a child
 * that shares its parent's memory (vfork), in a handler. So it writes to
 * nothing but the stack, of which posix_spawn() gives its child little.
 */
#include "runtime/counting.h"

enum {
	SET_FD_FLAGS = 2, /* F_SETFD */
	PAGE_LEAST = 4096,
	NUMBER_SIZE = 24,
	WORDS = 14, /* before the arguments */
	/*
	 * More words than this need memory of their own, and if the parent
	 * shares it, it stays there. posix_spawn() has a stack of 32 KB and
	 * more in glibc, of 5 KB in musl, whose programs have entry.c.
	 */
#ifdef RUNTIME_IS_ENTRY
	WORDS_ON_STACK = 256,
#else
	WORDS_ON_STACK = 2048,
#endif
};

/* the number of strings in a list, or -1 if it cannot be read to its end */
static long count(char **list)
{
	long n = 0;

	if (!list)
		return 0;
	for (;; n++) {
		if ((!n || !((uintptr_t)(list + n) % PAGE_LEAST)) &&
		    !sys_readable(list + n))
			return -1;
		if (!list[n])
			return n;
	}
}

/* the program as tally gets it, see cmd/follow.c; returns if that fails */
__attribute__((noinline)) static void execute(const struct execution *x,
					      const struct launch_env *h,
					      long fd, const char **word,
					      long argc, long envc)
{
	static char *const no_environment[] = {NULL};
	char fd_text[NUMBER_SIZE], dir_text[NUMBER_SIZE];
	char argc_text[NUMBER_SIZE], process_text[NUMBER_SIZE];
	const char *const first[WORDS] = {h->field[LAUNCH_ENV_TALLY],
					  "follow",
					  h->field[LAUNCH_ENV_FLAGS],
					  h->field[LAUNCH_ENV_KEY],
					  h->field[LAUNCH_ENV_OPTIONS],
					  h->field[LAUNCH_ENV_CACHE],
					  h->field[LAUNCH_ENV_ROOT],
					  h->field[LAUNCH_ENV_LIBS],
					  h->field[LAUNCH_ENV_PROFILE],
					  process_text,
					  fd_text,
					  dir_text,
					  x->name,
					  argc_text};
	long n = 0;

	str_number(fd_text, fd);
	str_number(dir_text, x->dir);
	str_number(argc_text, argc);
	str_number(process_text, h->counting ? h->counting->number : 0);
	for (; n < WORDS; n++)
		word[n] = first[n];
	for (long i = 0; i < argc; i++)
		word[n++] = x->argv[i];
	for (long i = 0; i < envc; i++)
		word[n++] = x->envp[i];
	word[n] = NULL;
	if (fd >= 0)
		arch_call(SYS_FCNTL, fd, SET_FD_FLAGS, 0, 0, 0);
	arch_call(SYS_EXECVE, (long)word[0], (long)word, (long)no_environment,
		  0, 0);
}

__attribute__((noinline)) static void
execute_on_stack(const struct execution *x, const struct launch_env *h, long fd,
		 long argc, long envc)
{
	size_t size = (size_t)(WORDS + argc + envc + 1) * sizeof(char *);

	execute(x, h, fd, __builtin_alloca(size), argc, envc);
}

static void execute_in_map(const struct execution *x,
			   const struct launch_env *h, long fd, long argc,
			   long envc)
{
	size_t size = (size_t)(WORDS + argc + envc + 1) * sizeof(char *);
	const char **word = sys_map(size);

	if (!word)
		return;
	execute(x, h, fd, word, argc, envc);
	sys_unmap(word, size);
}

void follow(const struct execution *x, const struct launch_env *h)
{
	long argc = count(x->argv), envc = count(x->envp), fd;
	enum fitness fit;

	if (!x->name || argc < 1 || envc < 0 ||
	    confined(launch_env_has(h, 'w')))
		return;
	fit = program_look(x, &fd);
	if (fit == FIT || (fit == FIT_NOT && launch_env_has(h, 's'))) {
		if (WORDS + argc + envc < WORDS_ON_STACK)
			execute_on_stack(x, h, fd, argc, envc);
		else
			execute_in_map(x, h, fd, argc, envc);
	}
	if (fd >= 0)
		arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
}
