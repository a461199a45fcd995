/*
 * cached: `tally cached FLAGS KEY OPTIONS CACHE ROOT FILE NAME`, for the
 * audit module inside a program that loads a library which is not in the
 * cache yet (src/runtime/ask.c). Not for people: prints nothing, the status
 * tells. With 's' (strict) among the flags it says why it failed, and a file
 * that cannot be rewritten is a failure, too.
 */
#include "cmd/cmd.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "instrument/recipe.h"
#include "launch/launch.h"

enum { WORD_FLAGS = 1, WORD_KEY, WORD_OPTIONS, WORD_CACHE, WORD_ROOT,
       WORD_FILE, WORD_NAME, WORDS };

static int cached_run(int argc, char **argv)
{
	struct recipe recipe;
	struct file_rewriter rewriter;
	struct launch_request q;
	struct err e;
	sigset_t none;

	/* the program's descriptors are not ours; its signals are blocked */
	close_range(3, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGXFSZ, SIG_IGN);
	if (argc != WORDS || !recipe_parse(&recipe, argv[WORD_OPTIONS]))
		return STATUS_USAGE;
	rewriter = recipe_rewriter(&recipe);
	q = (struct launch_request){
		.cache = argv[WORD_CACHE],
		.root = argv[WORD_ROOT],
		.file = argv[WORD_FILE],
		.name = argv[WORD_NAME],
		.key = argv[WORD_KEY],
	};
	q.strict = strchr(argv[WORD_FLAGS], 's');
	if (!launch_answer(&q, &rewriter, &e))
		return STATUS_OK;
	/* what is no library is for ld.so to judge */
	if (q.strict && e.code == ERR_MACHINE)
		return cmd_fail(&e);
	return e.code == ERR_MACHINE ? STATUS_MACHINE : STATUS_INPUT;
}

const struct command cmd_cached = {
	.name = "cached",
	.internal = cached_run,
};
