/*
 * turns: what threads of tests/progs/events/turns.c say about themselves, in a
 * file that others map: tests/tools/ask-often.c.
 */
#ifndef TURNS_H
#define TURNS_H

struct turns {
	volatile unsigned long tid, begun;
	char line[48]; /* each thread has a cache line of its own */
};

enum { TURNS = 64, TURNS_SIZE = TURNS * sizeof(struct turns) };

#endif
