/*
 * run_query: the exact counts of a program that runs, now.
 *
 * With running counters each thread is looked at by itself, at a moment of its
 * own (launch/inspect.h). What it has to be corrected by follows from where it
 * was then.
 */
#ifndef PROFILE_RUN_QUERY_H
#define PROFILE_RUN_QUERY_H

#include <sys/types.h>

#include "profile/run_events.h"

struct run_query;

/*
 * Opens the run of a process, or of the launcher of all of them (*all); NULL
 * and *e: there is no such, or it may not be looked at.
 */
struct run_query *run_query_open(pid_t pid, bool *all, struct err *e);
void run_query_close(struct run_query *q);
const struct event_list *run_query_list(const struct run_query *q);
/* fills *r as of now; -1 and *e if the program has ended, or cannot be read */
int run_query_ask(struct run_query *q, struct run_events *r, struct err *e);

#endif
