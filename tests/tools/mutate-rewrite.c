/*
 * mutate-rewrite: damaged files through the whole rewriter, in one process.
 *
 *	mutate-rewrite run COUNT FILE...	rewrites COUNT mutants of each
 *	mutate-rewrite write SEED FILE OUT	writes one of them
 *	mutate-rewrite once FILE...		rewrites files as they are
 *
 * As mutate-cfg, which tells what is damaged and what seeds are: a mutant
 * that crashes, breaks a promise (rewrite_walk.h) or takes too long ends the
 * run with status 1 or a signal, and `seed N of FILE` on stderr says which.
 * Each is rewritten twice: with traps, and with code inserted everywhere.
 */
#include "mutants.h"
#include "rewrite_walk.h"

/* code and tables, which are damaged as well */
static const char *const damaged[] = {
	".text", ".rodata", ".eh_frame", ".gcc_except", ".note", NULL,
};

/* rewrites `count` mutants of a file */
static void run(const char *path, uint64_t count)
{
	struct sample s;
	size_t refused = 0;

	sample_open_sections(&s, path, damaged);
	for (uint64_t seed = 0; seed < count; seed++) {
		size_t n;
		uint8_t *p = sample_mutate(&s, seed, &n);

		trial_begin(&s, seed);
		refused += walk_rewrite("mutant", p, n) < 0;
		mem_free(p);
	}
	trial_end();
	printf("%" PRIu64 " mutants, %zu refused: %s\n", count, refused, path);
	fflush(stdout);
	sample_close(&s);
}

static void run_once(const char *path)
{
	struct sample s;

	sample_open(&s, path);
	printf("%s: %s\n", path, walk_rewrite("once", s.im.bytes, s.im.size) ?
					 "refused" : "rewritten");
	sample_close(&s);
}

static int write_one(const char *path, uint64_t seed, const char *out)
{
	struct sample s;
	int status;

	sample_open_sections(&s, path, damaged);
	status = sample_write(&s, seed, out);
	sample_close(&s);
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_one(argv[3], strtoull(argv[2], NULL, 10),
				 argv[4]);
	trial_watch();
	if (argc >= 4 && !strcmp(argv[1], "run")) {
		for (int i = 3; i < argc; i++)
			run(argv[i], strtoull(argv[2], NULL, 10));
	} else if (argc >= 3 && !strcmp(argv[1], "once")) {
		for (int i = 2; i < argc; i++)
			run_once(argv[i]);
	} else {
		fprintf(stderr, "usage: mutate-rewrite run COUNT FILE...\n"
				"       mutate-rewrite write SEED FILE OUT\n"
				"       mutate-rewrite once FILE...\n");
		return 2;
	}
	return 0;
}
