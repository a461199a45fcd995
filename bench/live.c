/*
 * live: how often inserted code finds registers and flags that nobody needs,
 * and what it costs to know.
 *
 *	live FILE...
 *
 * Of the places where counters go, the beginnings of blocks: the share with
 * two or more dead scratch registers, with one, with none; with dead flags
 * (the direction flag, which no counter changes, left aside); and with
 * neither register nor flags.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "cfg/live/live.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* megabytes that the process has ever held at once */
static double peak(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)r.ru_maxrss / 1024;
}

static void print_shares(const struct cfg *c, const struct live *l)
{
	size_t n = 0, some[3] = {0}, flags = 0, nothing = 0;

	for (uint32_t b = 0; b < c->block.n; b++) {
		const struct block *k = &c->block.at[b];
		struct live_set s;
		unsigned dead;
		bool free_flags;

		if (k->flags & BLOCK_FILL)
			continue;
		s = live_before(l, b, k->start);
		dead = (unsigned)__builtin_popcount(live_scratch(c->isa, s));
		free_flags = !(s.flags & ~FLAG_D);
		some[dead < 2 ? dead : 2]++;
		flags += free_flags;
		nothing += !dead && !free_flags;
		n++;
	}
	if (!n)
		n = 1;
	printf("%9zu %7.2f %7.2f %7.2f %7.2f %7.3f", n,
	       100.0 * (double)some[2] / (double)n,
	       100.0 * (double)some[1] / (double)n,
	       100.0 * (double)some[0] / (double)n,
	       100.0 * (double)flags / (double)n,
	       100.0 * (double)nothing / (double)n);
}

static void measure(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct live l;
	struct err e;
	double before, began, took;

	if (image_open(&im, path, &e)) {
		printf("%-28s not read\n", name);
		return;
	}
	unwind_read(&u, &im);
	if (!cfg_build(&c, &im, &u, &e)) {
		before = peak();
		began = now();
		live_build(&l, &c);
		took = now() - began;
		printf("%-28.28s %-8s", name, c.isa->name);
		print_shares(&c, &l);
		printf(" %7.3f %7.0f\n", took, peak() - before);
		live_free(&l);
		cfg_free(&c);
	}
	unwind_free(&u);
	image_close(&im);
}

int main(int argc, char **argv)
{
	printf("%-28s %-8s%9s %7s %7s %7s %7s %7s %7s %7s\n", "file", "isa",
	       "blocks", ">=2 %", "1 %", "0 %", "flags %", "none %",
	       "seconds", "MB more");
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	return 0;
}
