/*
 * ask-often PID TIMES FILE: asks a running program for its counts so often, one
 * time directly behind the other, by what `tally query` does. FILE is that in
 * which its threads say how many turns they have begun (turns.h). Writes a line
 * for each thread and question:
 *
 *	TID BEFORE AFTER COUNT...
 *
 * turns that had begun before the question and after it, and what was said of
 * each event, or '-' where it is unknown. A thread that says nothing there has
 * 0 of both.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "profile/run_query.h"
#include "turns.h"

static const struct turns *turns;

static void read_turns(unsigned long *begun)
{
	for (unsigned i = 0; i < TURNS; i++)
		begun[i] = turns[i].begun;
}

/* the place of a thread in the file, or TURNS */
static unsigned place_of(uint32_t tid)
{
	unsigned i = 0;

	while (i < TURNS && turns[i].tid != tid)
		i++;
	return i;
}

static void say(const struct run_events *r, const struct thread_events *t,
		const unsigned long *before, const unsigned long *after)
{
	unsigned at = place_of(t->tid);

	printf("%" PRIu32 " %lu %lu", t->tid, at < TURNS ? before[at] : 0,
	       at < TURNS ? after[at] : 0);
	for (unsigned i = 0; i < r->list->n; i++)
		if (event_total_is_known(&t->at[i]))
			printf(" %" PRIu64, t->at[i].n);
		else
			printf(" -");
	putchar('\n');
}

static int ask(struct run_query *q, struct err *e)
{
	unsigned long before[TURNS], after[TURNS];
	struct run_events r;

	read_turns(before);
	if (run_query_ask(q, &r, e))
		return -1;
	read_turns(after);
	for (size_t i = 0; i < r.process.n; i++)
		for (uint32_t k = 0; k < r.process.at[i].nthread; k++)
			say(&r, &r.process.at[i].thread[k], before, after);
	run_events_free(&r);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t times = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
	int fd = times ? open(argv[3], O_RDONLY) : -1;
	struct run_query *q;
	struct err e;
	bool all;

	turns = mmap(NULL, TURNS_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (turns == MAP_FAILED) {
		fprintf(stderr, "ask-often PID TIMES FILE\n");
		return 2;
	}
	q = run_query_open(atoi(argv[1]), &all, &e);
	for (uint64_t i = 0; q && i < times; i++)
		if (ask(q, &e)) {
			run_query_close(q);
			q = NULL;
		}
	if (!q) {
		fprintf(stderr, "ask-often: %s\n", e.text);
		return 1;
	}
	run_query_close(q);
	return 0;
}
