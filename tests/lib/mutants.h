/*
 * mutants: an intact ELF file and the damaged copies of it, by seed. If one
 * of them kills the process, stderr says which it was.
 */
#ifndef TESTS_MUTANTS_H
#define TESTS_MUTANTS_H

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mutate_elf.h"

enum { HANG_SECONDS = 900 }; /* as PATIENCE of patience.py */

/* an intact file */
struct sample {
	const char *path;
	struct image im;
	mutate_spots spots; /* more may be added */
};

/* opens an intact file; exits if it is not */
static inline void sample_open(struct sample *s, const char *path)
{
	struct err e;

	*s = (struct sample){.path = path};
	if (image_open(&s->im, path, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(3);
	}
	mutate_elf_spots(&s->im, &s->spots);
}

static inline bool is_one_of(const char *name, const char *const *start)
{
	while (*start && strncmp(name, *start, strlen(*start)))
		start++;
	return *start != NULL;
}

/* the same; sections whose names begin with one of those (NULL ends them) are
   to be damaged too */
static inline void sample_open_sections(struct sample *s, const char *path,
					const char *const *start)
{
	sample_open(s, path);
	for (size_t i = 0; i < s->im.nsection; i++) {
		const struct section *t = &s->im.section[i];
		struct mutate_spot spot = {t->offset, t->size, 1};

		if (t->start == t->end || !t->size ||
		    !is_one_of(t->name, start))
			continue;
		for (spot.step = 1; spot.step <= 4; spot.step *= 2)
			vec_push(&s->spots, spot);
	}
}

static inline void sample_close(struct sample *s)
{
	vec_free(&s->spots);
	image_close(&s->im);
}

/* a mutant in exactly as much memory as it has bytes */
static inline uint8_t *sample_mutate(const struct sample *s, uint64_t seed,
				     size_t *n)
{
	uint8_t *p = mem_alloc(s->im.size);

	memcpy(p, s->im.bytes, s->im.size);
	*n = mutate(p, s->im.size, seed, s->spots.at, s->spots.n);
	return mem_resize(p, *n, 1);
}

/* writes one mutant to the file `out`; the exit status */
static inline int sample_write(const struct sample *s, uint64_t seed,
			       const char *out)
{
	FILE *to = fopen(out, "wb");
	size_t n;
	uint8_t *p = sample_mutate(s, seed, &n);
	bool written = to && fwrite(p, 1, n, to) == n;

	mem_free(p);
	if (!to || fclose(to) || !written) {
		perror(out);
		return 1;
	}
	return 0;
}

/* what the process is at */
static char trial_text[512];
static size_t trial_len;

/* mutant `seed` is tried now, for HANG_SECONDS at most */
static inline void trial_begin(const struct sample *s, uint64_t seed)
{
	trial_len = (size_t)snprintf(trial_text, sizeof trial_text,
				     "seed %" PRIu64 " of %s\n", seed,
				     s->path);
	alarm(HANG_SECONDS);
}

/* no mutant is tried any more */
static inline void trial_end(void)
{
	alarm(0);
	trial_len = 0;
}

/* says which mutant it was: a sanitizer ends the process */
static void trial_on_death(void)
{
	if (write(2, trial_text, trial_len) < 0)
		_exit(1);
}

/* says which mutant it was, and dies of the signal */
static void trial_on_signal(int sig)
{
	trial_on_death();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* there only in sanitizer builds */
void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

/* from now on a mutant's seed is told if it kills the process */
static inline void trial_watch(void)
{
	signal(SIGALRM, trial_on_signal);
	signal(SIGABRT, trial_on_signal);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(trial_on_death);
	else
		signal(SIGSEGV, trial_on_signal);
}

#endif
