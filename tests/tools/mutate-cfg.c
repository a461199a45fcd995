/*
 * mutate-cfg: damaged files through all of `tally cfg`, in one process.
 *
 *	mutate-cfg run COUNT FILE...	understands COUNT mutants of each file
 *	mutate-cfg write SEED FILE OUT	writes one of them
 *	mutate-cfg once FILE...		understands files as they are
 *
 * Each mutant has its own seed, 0 to COUNT-1. Besides headers and tables
 * (mutate_elf.h), code and constants are damaged. A mutant that crashes,
 * breaks a promise (cfg_walk.h) or takes too long or too much memory ends the
 * run with status 1 or a signal, and `seed N of FILE` on stderr says which.
 */
#include <sys/resource.h>
#include <time.h>

#include "cfg_walk.h"
#include "mutants.h"

enum { MEMORY_KB = 768 * 1024 };

/* code and constants, which are damaged as well */
static const char *const damaged[] = {
	".text", ".rodata", ".data.rel", ".plt", NULL,
};

/* seconds of this process so far */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* KB that the process ever had; exits if that is too much */
static long peak_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (usage.ru_maxrss > MEMORY_KB) {
		fprintf(stderr, "%ld KB of memory: %s", usage.ru_maxrss,
			trial_text);
		exit(1);
	}
	return usage.ru_maxrss;
}

/* understands `count` mutants of a file */
static void run(const char *path, uint64_t count, FILE *nowhere)
{
	struct sample s;
	size_t refused = 0;
	double start = now(), slowest = 0;
	uint64_t slow_seed = 0;

	sample_open_sections(&s, path, damaged);
	for (uint64_t seed = 0; seed < count; seed++) {
		double before = now();
		size_t n;
		uint8_t *p = sample_mutate(&s, seed, &n);

		trial_begin(&s, seed);
		refused += walk_cfg("mutant", p, n, nowhere) < 0;
		mem_free(p);
		peak_memory();
		if (now() - before > slowest) {
			slowest = now() - before;
			slow_seed = seed;
		}
	}
	trial_end();
	printf("%" PRIu64 " mutants, %zu refused, %.1f s, slowest %.3f s "
	       "(seed %" PRIu64 "), peak %ld KB: %s\n", count, refused,
	       now() - start, slowest, slow_seed, peak_memory(), path);
	fflush(stdout);
	sample_close(&s);
}

/* understands one file as it is */
static void run_once(const char *path, FILE *nowhere)
{
	struct sample s;

	sample_open(&s, path);
	printf("%s: %s\n", path, walk_cfg("once", s.im.bytes, s.im.size,
					  nowhere) ? "refused" : "read");
	sample_close(&s);
}

/* writes one mutant */
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
	FILE *nowhere = fopen("/dev/null", "w");

	if (argc == 5 && !strcmp(argv[1], "write")) {
		fclose(nowhere);
		return write_one(argv[3], strtoull(argv[2], NULL, 10),
				 argv[4]);
	}
	trial_watch();
	if (argc >= 4 && !strcmp(argv[1], "run")) {
		for (int i = 3; i < argc; i++)
			run(argv[i], strtoull(argv[2], NULL, 10), nowhere);
	} else if (argc >= 3 && !strcmp(argv[1], "once")) {
		for (int i = 2; i < argc; i++)
			run_once(argv[i], nowhere);
	} else {
		fprintf(stderr, "usage: mutate-cfg run COUNT FILE...\n"
				"       mutate-cfg write SEED FILE OUT\n"
				"       mutate-cfg once FILE...\n");
		return 2;
	}
	fclose(nowhere);
	return 0;
}
