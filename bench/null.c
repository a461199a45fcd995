/*
 * null: what samples cost if nothing is done at them. The events of the daemon,
 * at its rate and by its schedule, and a program in the kernel that returns at
 * once; until its input ends.
 *
 *	null RATE bursts|steady
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample/kernel/table.h"

int main(int argc, char **argv)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	struct table_config w = {.events = 1, .nothing = true};
	struct event v;
	struct table t;
	struct err e;

	if (argc != 3)
		return 2;
	w.event = &v;
	w.bursts = !strcmp(argv[2], "bursts");
	if (event_choose(&v, strtoull(argv[1], NULL, 10), &e) ||
	    table_open(&t, &w, &e)) {
		fprintf(stderr, "null: %s\n", e.text);
		return 4;
	}
	table_start(&t);
	fprintf(stderr, "ready\n");
	while (!poll(&in, 1, table_due(&t)))
		table_schedule(&t);
	table_close(&t);
	return 0;
}
