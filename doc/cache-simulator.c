/*
 * cache-simulator: how often the data that a traced program accessed would have
 * been in a cache, set-associative, the least recently used line replaced.
 *
 *	cc -O2 cache-simulator.c -ltally-replay -o cache-simulator
 *	tally trace --addresses -o prog.trace prog
 *	cache-simulator prog.trace 32768 8 64
 *
 * It says so of the whole, and of the ten procedures that missed most.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally-replay.h"

enum { PROCEDURES = 4096 };
static struct { const char *name; uint64_t accesses, misses; } by[PROCEDURES];
static uint64_t *line, now, size, ways, bytes, sets;

/* the tag of line i is line[2 * i], when it was used last line[2 * i + 1] */
static int misses(uint64_t address)
{
	uint64_t tag = address / bytes + 1, first = tag % sets * ways;
	uint64_t oldest = first;

	for (uint64_t i = first; i < first + ways; i++) {
		if (line[2 * i] == tag) {
			line[2 * i + 1] = ++now;
			return 0;
		}
		if (line[2 * i + 1] < line[2 * oldest + 1])
			oldest = i;
	}
	line[2 * oldest] = tag;
	line[2 * oldest + 1] = ++now;
	return 1;
}

static void access_data(const struct tally_replay_record *r)
{
	const char *name = r->procedure ? r->procedure : "?";
	unsigned at = 5381;

	for (const char *c = name; *c; c++)
		at = at * 33 + (unsigned char)*c;
	while (by[at %= PROCEDURES].name && strcmp(by[at].name, name))
		at++;
	by[at].name = name;
	for (uint64_t a = r->data / bytes; a <= (r->data + r->size - 1) / bytes;
	     a++) {
		by[at].accesses++;
		by[at].misses += (uint64_t)misses(a * bytes);
	}
}

static int by_misses(const void *a, const void *b)
{
	uint64_t x = ((const uint64_t *)a)[2], y = ((const uint64_t *)b)[2];

	return x < y ? 1 : x > y ? -1 : 0;
}

int main(int argc, char **argv)
{
	char why[512] = "usage: cache-simulator TRACE SIZE WAYS LINE";
	uint64_t all = 0, missed = 0, unknown = 0;
	struct tally_replay_record r;
	struct tally_replay *t = argc == 5 ? tally_replay_open(argv[1], why,
							       sizeof why) : NULL;

	if (!t || !(size = strtoull(argv[2], NULL, 0)) ||
	    !(ways = strtoull(argv[3], NULL, 0)) ||
	    !(bytes = strtoull(argv[4], NULL, 0)) ||
	    !(sets = size / ways / bytes) ||
	    !(line = calloc(2 * sets * ways, sizeof *line))) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	while (tally_replay_next(t, &r) > 0)
		if (r.kind == TALLY_REPLAY_READ || r.kind == TALLY_REPLAY_WRITE)
			r.known ? access_data(&r) : (void)unknown++;
	qsort(by, PROCEDURES, sizeof *by, by_misses);
	for (unsigned i = 0; i < PROCEDURES; i++) {
		all += by[i].accesses;
		missed += by[i].misses;
	}
	printf("%12" PRIu64 " accesses, %" PRIu64 " misses, %" PRIu64
	       " of an address that is not known\n", all, missed, unknown);
	for (unsigned i = 0; i < 10 && by[i].misses; i++)
		printf("%12" PRIu64 " %12" PRIu64 "  %s\n", by[i].accesses,
		       by[i].misses, by[i].name);
	tally_replay_close(t);
	return 0;
}
