/*
 * lookups: what it costs to know the name, the line and the inlined calls of
 * an address, when all of the file has been read.
 *
 *	lookups FILE...
 *
 * Addresses are those of symbols and what lies behind them, in random order.
 * At most a microsecond each is promised. Exit status 1: it took more.
 */
#include <stdio.h>
#include <time.h>

#include "random_cfg.h"
#include "profile/lines/lines.h"
#include "profile/symbols/names.h"

enum { LOOKUPS = 1000000, FRAMES = 16 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct files {
	struct object object;
	struct names names;
	struct lines lines;
};

/* an address in one of the functions */
static uint64_t pick(struct rng *r, const struct names *n)
{
	const struct name *x = &n->v.at[rng_below(r, (uint32_t)n->v.n)];
	uint64_t size = x->end - x->start;

	return x->start + rng_below(r, size < 4096 ? (uint32_t)size : 4096);
}

typedef bool look(struct files *f, uint64_t addr);

static bool look_name(struct files *f, uint64_t addr)
{
	return names_find(&f->names, addr);
}

static bool look_line(struct files *f, uint64_t addr)
{
	struct line_place place;

	return lines_find(&f->lines, addr, &place);
}

static bool look_frames(struct files *f, uint64_t addr)
{
	struct line_frame frame[FRAMES];

	return lines_frames(&f->lines, addr, frame, FRAMES);
}

/* microseconds each, the second time: the first reads what is asked for */
static bool measure(struct files *f, const char *what, look *one)
{
	double start = now(), first;
	size_t found = 0;

	for (int round = 0; round < 2; round++) {
		struct rng r = {1};

		first = now() - start;
		start = now();
		found = 0;
		for (int i = 0; i < LOOKUPS; i++)
			found += one(f, pick(&r, &f->names));
	}
	start = (now() - start) / LOOKUPS * 1e6;
	printf("    %-8s %6.3f us  %3.0f%% known, all read after %.2f s\n",
	       what, start, 100.0 * (double)found / LOOKUPS, first);
	return start <= 1;
}

static bool measure_file(const char *path)
{
	struct object_id id = {.path = path};
	struct files f;
	struct err e;
	bool good;

	if (object_open(&f.object, &id, &e))
		return false;
	names_read(&f.names, &f.object);
	lines_open(&f.lines, &f.object);
	printf("  %s: %zu names, %u units with lines\n", path, f.names.v.n,
	       f.lines.nunit);
	good = f.names.v.n && measure(&f, "name", look_name) &&
	       measure(&f, "line", look_line) &&
	       measure(&f, "frames", look_frames);
	lines_close(&f.lines);
	names_free(&f.names);
	object_close(&f.object);
	return good;
}

int main(int argc, char **argv)
{
	bool good = true;

	for (int i = 1; i < argc; i++)
		good &= measure_file(argv[i]);
	return !good;
}
