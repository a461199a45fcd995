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
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cfg_walk.h"
#include "mutate_elf.h"

enum {
	HANG_SECONDS = 10, /* the sanitizers on a busy machine */
	MEMORY_KB = 768 * 1024,
};

/* an intact file */
struct sample {
	const char *path;
	struct image im;
	mutate_spots spots;
};

static char seed_text[512];
static size_t seed_len;

/* says which seed it was, and dies of the signal */
static void on_signal(int sig)
{
	if (write(2, seed_text, seed_len) < 0)
		_exit(1);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* a sanitizer ends the process: which seed was it? */
static void on_death(void)
{
	if (seed_len && write(2, seed_text, seed_len) < 0)
		_exit(1);
}

/* there only in sanitizer builds */
void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

/* code and constants, which mutate_elf.h leaves alone */
static void add_contents(struct sample *s)
{
	for (size_t i = 0; i < s->im.nsection; i++) {
		const struct section *t = &s->im.section[i];
		struct mutate_spot spot = {t->offset, t->size, 1};

		if (t->start == t->end || !t->size)
			continue;
		if (strncmp(t->name, ".text", 5) &&
		    strncmp(t->name, ".rodata", 7) &&
		    strncmp(t->name, ".data.rel", 9) &&
		    strncmp(t->name, ".plt", 4))
			continue;
		for (spot.step = 1; spot.step <= 4; spot.step *= 2)
			vec_push(&s->spots, spot);
	}
}

/* opens an intact file; exits if it is not */
static void sample_open(struct sample *s, const char *path)
{
	struct err e;

	*s = (struct sample){.path = path};
	if (image_open(&s->im, path, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(3);
	}
	mutate_elf_spots(&s->im, &s->spots);
	add_contents(s);
}

static void sample_close(struct sample *s)
{
	vec_free(&s->spots);
	image_close(&s->im);
}

/* a mutant in exactly as much memory as it has bytes */
static uint8_t *sample_mutate(const struct sample *s, uint64_t seed, size_t *n)
{
	uint8_t *p = mem_alloc(s->im.size);

	memcpy(p, s->im.bytes, s->im.size);
	*n = mutate(p, s->im.size, seed, s->spots.at, s->spots.n);
	return mem_resize(p, *n, 1);
}

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
			seed_text);
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

	sample_open(&s, path);
	for (uint64_t seed = 0; seed < count; seed++) {
		double before = now();
		size_t n;
		uint8_t *p = sample_mutate(&s, seed, &n);

		seed_len = (size_t)snprintf(seed_text, sizeof seed_text,
					    "seed %" PRIu64 " of %s\n", seed,
					    path);
		alarm(HANG_SECONDS);
		refused += walk_cfg("mutant", p, n, nowhere) < 0;
		mem_free(p);
		peak_memory();
		if (now() - before > slowest) {
			slowest = now() - before;
			slow_seed = seed;
		}
	}
	alarm(0);
	seed_len = 0;
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
	FILE *to = fopen(out, "wb");
	size_t n;
	uint8_t *p;

	sample_open(&s, path);
	p = sample_mutate(&s, seed, &n);
	if (!to || fwrite(p, 1, n, to) != n || fclose(to)) {
		perror(out);
		return 1;
	}
	mem_free(p);
	sample_close(&s);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *nowhere = fopen("/dev/null", "w");

	if (argc == 5 && !strcmp(argv[1], "write")) {
		fclose(nowhere);
		return write_one(argv[3], strtoull(argv[2], NULL, 10),
				 argv[4]);
	}
	signal(SIGALRM, on_signal);
	signal(SIGABRT, on_signal);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_death);
	else
		signal(SIGSEGV, on_signal);
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
