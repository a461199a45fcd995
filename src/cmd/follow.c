/*
 * follow: `tally follow FLAGS KEY OPTIONS CACHE ROOT LIBS PROFILE NUMBER FD
 * DIR NAME ARGC ARGUMENT.. VARIABLE..`, for the code inside a program that
 * executes another (src/runtime/follow.c). Not for people: this is the other's
 * process, and becomes it. FD has its file, NAME is what it is called, seen
 * from the descriptor DIR. It counts in PROFILE, where the process that it is
 * has NUMBER.
 *
 * Whatever fails, the original is executed; but with 's' (strict) among the
 * flags it says why and ends.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "instrument/recipe.h"
#include "launch/launch.h"

enum { WORD_FLAGS = 1, WORD_KEY, WORD_OPTIONS, WORD_CACHE, WORD_ROOT,
       WORD_LIBS, WORD_PROFILE, WORD_NUMBER, WORD_FD, WORD_DIR, WORD_NAME,
       WORD_ARGC, WORDS };

/* the program; one per process, and out_of_memory() needs it, too */
static struct {
	int fd;
	char *name; /* AT_EXECFN, as the kernel has it */
	char **argv;
} program;

/* the descriptors that the program closed would be taken by ours */
static void keep_streams_free(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* executes the original, as if we had never been there; 126 or 127 */
static int run_original(void)
{
	int why;

	execve(program.name, program.argv, environ);
	why = errno;
	if (program.fd >= 0)
		execveat(program.fd, "", program.argv, environ,
			 AT_EMPTY_PATH);
	fprintf(stderr, "tally: %s: %s\n", program.name, strerror(why));
	return why == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NO_PROGRAM;
}

static void out_of_memory(size_t wanted)
{
	(void)wanted;
	_exit(run_original());
}

/* what execveat(dir, name) is called by the kernel */
static char *name_seen(int dir, const char *name)
{
	char *text = mem_alloc(strlen(name) + 64);

	if (dir == AT_FDCWD || *name == '/')
		strcpy(text, name);
	else
		sprintf(text, "/dev/fd/%d%s%s", dir, *name ? "/" : "", name);
	return text;
}

/* the arguments and the environment, each with an end of its own */
static bool split_words(int argc, char **argv)
{
	int n = atoi(argv[WORD_ARGC]);

	if (n < 1 || n > argc - WORDS)
		return false;
	program.argv = NEW_ARRAY(char *, (size_t)n + 1);
	memcpy(program.argv, argv + WORDS, (size_t)n * sizeof *argv);
	environ = argv + WORDS + n;
	return true;
}

/* returns only if it could not be executed rewritten; 0, or *e says why */
static int run_rewritten(char **argv, struct err *e)
{
	struct recipe recipe;
	struct launch_options o = {
		.libs = argv[WORD_LIBS],
		.strict = strchr(argv[WORD_FLAGS], 's'),
		.follow = true,
		.watch = strchr(argv[WORD_FLAGS], 'w'),
	};
	struct execution x = {
		.cache = argv[WORD_CACHE],
		.root = argv[WORD_ROOT],
		.key = argv[WORD_KEY],
		.fd = program.fd,
		.name = program.name,
		.argv = program.argv,
		.profile = argv[WORD_PROFILE],
		.number = argv[WORD_NUMBER],
	};
	struct launch l;
	int status;

	if (!recipe_parse(&recipe, argv[WORD_OPTIONS]))
		return err_set(e, ERR_USAGE, "another version asks");
	o.rewriter = recipe_rewriter(&recipe);
	status = launch_prepare_execution(&l, &x, &o, e);
	if (!status)
		launch_execute(&l);
	launch_free(&l);
	return status;
}

static int follow_run(int argc, char **argv)
{
	struct err e = {0};

	if (argc < WORDS || !split_words(argc, argv))
		return STATUS_USAGE;
	program.fd = atoi(argv[WORD_FD]);
	program.name = name_seen(atoi(argv[WORD_DIR]), argv[WORD_NAME]);
	mem_on_exhausted(out_of_memory);
	if (program.fd >= 0)
		fcntl(program.fd, F_SETFD, FD_CLOEXEC);
	keep_streams_free();
	/* wrong in the program's environment: not ours to say */
	cmd_environment(&e);
	if (run_rewritten(argv, &e) && strchr(argv[WORD_FLAGS], 's')) {
		cmd_fail(&e);
		return LAUNCH_FAILED;
	}
	return run_original();
}

const struct command cmd_follow = {
	.name = "follow",
	.internal = follow_run,
};
