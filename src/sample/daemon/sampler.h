/*
 * sampler: samples of the whole system, by the best means that the kernel lets
 * us use: it counts them (table.h), or it reports each (rings.h). What is
 * collected is the same.
 */
#ifndef SAMPLE_DAEMON_SAMPLER_H
#define SAMPLE_DAEMON_SAMPLER_H

#include "sample/daemon/aggregator.h"
#include "sample/events/cpus.h"
#include "sample/events/rings.h"

enum sampler_means {
	SAMPLER_BEST,  /* that is allowed */
	SAMPLER_BPF,   /* counted in the kernel, or not at all */
	SAMPLER_RINGS, /* a record of each */
};

struct sampler_config {
	const char *events; /* events_read() */
	uint64_t rate;	    /* samples per second and CPU, of each */
	bool turns;	    /* one event after the other */
	enum sampler_means means;
	bool bursts; /* of samples, where they are counted in the kernel */
};

struct sampler {
	struct event event[EVENTS];
	size_t events;
	bool turns;
	bool counted;	    /* by the kernel: the rings only have sideband */
	struct err why_not; /* if it is not, though it was tried */
	struct rings rings;
	struct table table;
	uint64_t lost[EVENTS]; /* of the table's, so many are collected */
	cpus sampled, now;     /* CPUs; those that were on at the last look */
};

/* -1 and *e: samples of the whole system are refused */
int sampler_open(struct sampler *s, const struct sampler_config *w,
		 struct err *e);
/* samples begin, once all that runs already is known */
void sampler_start(struct sampler *s, struct aggregator *c);
/* until something is to be taken, or something is at `also` */
void sampler_wait(struct sampler *s, int also);
/* collects what there is; last: nothing will come any more */
void sampler_round(struct sampler *s, struct aggregator *c, bool last);
/* how many CPUs are sampled */
size_t sampler_cpus(const struct sampler *s);
/* in words */
const char *sampler_means(const struct sampler *s);
/* of one that was never opened, or could not be, too */
void sampler_close(struct sampler *s);

#endif
