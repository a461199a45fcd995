/*
 * elf-mutate: damaged ELF files.
 *
 *	elf-mutate run COUNT FILE...	reads COUNT mutants of each file with
 *					all of src/elf; says how it went
 *	elf-mutate write SEED FILE OUT	writes one of them
 *
 * Each mutant has its own seed, 0 to COUNT-1. A mutant that crashes, hangs
 * (10 s) or breaks a promise ends the run, and `seed N` on stderr says which.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "elf_walk.h"
#include "mutate_elf.h"

enum { HANG_SECONDS = 10 };

/* an intact file */
struct sample {
	const char *path;
	struct image im;
	mutate_spots spots;
};

static char seed_text[64];
static size_t seed_len;

/* says which seed it was, and dies of the signal */
static void on_signal(int sig)
{
	if (write(2, seed_text, seed_len) < 0)
		_exit(1);
	signal(sig, SIG_DFL);
	raise(sig);
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
}

/* frees it */
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

/* reads `count` mutants of a file */
static void run(const char *path, uint64_t count)
{
	struct sample s;
	size_t refused = 0;

	sample_open(&s, path);
	for (uint64_t seed = 0; seed < count; seed++) {
		size_t n;
		uint8_t *p = sample_mutate(&s, seed, &n);

		seed_len = (size_t)snprintf(seed_text, sizeof seed_text,
					    "seed %" PRIu64 "\n", seed);
		alarm(HANG_SECONDS);
		refused += walk_image(path, p, n) < 0;
		mem_free(p);
	}
	alarm(0);
	printf("%" PRIu64 " mutants, %zu refused: %s\n", count, refused, path);
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
	struct rusage usage;

	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_one(argv[3], strtoull(argv[2], NULL, 10),
				 argv[4]);
	if (argc < 4 || strcmp(argv[1], "run")) {
		fprintf(stderr, "usage: elf-mutate run COUNT FILE...\n"
				"       elf-mutate write SEED FILE OUT\n");
		return 2;
	}
	signal(SIGALRM, on_signal);
	signal(SIGABRT, on_signal);
	for (int i = 3; i < argc; i++)
		run(argv[i], strtoull(argv[2], NULL, 10));
	getrusage(RUSAGE_SELF, &usage);
	printf("peak %ld KB\n", usage.ru_maxrss);
	return 0;
}
