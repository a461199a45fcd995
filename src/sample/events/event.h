/*
 * event: what is sampled, and by which of the machine's means.
 *
 * Cycles, where there are counters; else the processor's clock, a timer. A user
 * that may not see the kernel gets samples of user mode only.
 */
#ifndef SAMPLE_EVENTS_EVENT_H
#define SAMPLE_EVENTS_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { EVENT_RATE = 5200, EVENT_RATE_MOST = 100000 }; /* per second and CPU */
enum { EVENTS = 8, EVENT_NAME = 32 }; /* at the same time; of a name */
enum { EVENT_EVERYBODY = -1 }; /* for a process: all there are */

struct event {
	char name[EVENT_NAME];
	uint32_t type; /* of perf_event_attr */
	uint64_t config;
	uint64_t period; /* nanoseconds, cycles; 0: the kernel finds it */
	uint64_t rate;	 /* samples per second that are asked for */
	bool kernel;	 /* samples in the kernel, too */
	bool idle;	 /* and while a CPU is idle */
	uint8_t precise; /* how near to what it is of, as far as it goes */
};

/* does the machine have counters for cycles? */
bool event_has_cycles(void);
/* may we sample the kernel? */
bool event_may_see_kernel(void);
/* may we sample what others run? */
bool event_may_see_everybody(void);
/* the number in a file of /proc/sys/kernel, or `otherwise` */
int event_setting(const char *name, int otherwise);
/* perf_event_paranoid; -2 if that cannot be read */
int event_paranoia(void);

/* the best there is for time, so many samples per second; -1 if none is */
int event_choose(struct event *v, uint64_t rate, struct err *e);
/* whether it can be sampled, and as precisely as the processor can; or -1 */
int event_check(struct event *v, struct err *e);
/*
 * A descriptor for a process and what it starts, on one CPU, from its next
 * execution on, or for all processes there, once it is enabled; an idle CPU has
 * no samples unless v->idle. sideband: it reports what is mapped where as well,
 * and which processes begin and end. -1 and errno.
 */
int event_open(const struct event *v, pid_t pid, int cpu, bool sideband);
/* an event that samples nothing, where only sideband records are wanted */
struct event event_sideband(void);
/*
 * Is it a measure of time? Samples take time themselves, which these count and
 * all others lack: a program does less in a second in which it is often
 * interrupted.
 */
bool event_is_time(const struct event *v);
/* the event, sampled so many times as often */
struct event event_faster(const struct event *v, uint64_t times);
/* the period, changed at random by a few percent: no loop keeps its step */
void event_jitter(const struct event *v, int fd, uint64_t *random);

/*
 * Events by the names that people know, as `perf list` has them.
 *
 * Reads "NAME[:PERIOD],...": what is sampled, and once in how many of it. With
 * no period, so often that there are `rate` samples per second and CPU; "time"
 * is the best there is for that (event_choose()). rHEX is an event by the
 * number that the processor's manual gives to it. How many there are, at most
 * EVENTS, or -1 and *e.
 */
int events_read(struct event v[EVENTS], const char *list, uint64_t rate,
		struct err *e);

#endif
