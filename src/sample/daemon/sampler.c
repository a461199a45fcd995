/* sampler: see sampler.h. */
#include "sample/daemon/sampler.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/debug.h"

enum {
	ROUND = 1000,	 /* milliseconds between looks at rings, at most */
	PAUSED_ROUNDS = 2, /* after these all that was there has been seen */
};

static int64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- opening */

static int open_rings(struct sampler *s, struct err *e)
{
	struct event sideband = event_sideband();
	struct rings_config x = {s->event, s->events, EVENT_EVERYBODY,
				 s->turns};

	if (s->counted)
		x = (struct rings_config){&sideband, 1, EVENT_EVERYBODY, false};
	if (!rings_open(&s->rings, &x))
		return 0;
	return err_set(e, ERR_MACHINE, "samples of the whole system are "
		       "refused: %s (perf_event_paranoid is %d, and must be "
		       "0 or less but for root); 'tally record' samples "
		       "programs of your own", strerror(errno),
		       event_paranoia());
}

static int open_table(struct sampler *s, const struct sampler_config *w,
		      struct err *e)
{
	const struct table_config x = {.event = s->event,
				       .events = s->events,
				       .turns = s->turns,
				       .bursts = w->bursts};

	if (w->means == SAMPLER_RINGS)
		return -1;
	return table_open(&s->table, &x, e);
}

/* --- CPUs that go and come */

static bool come(struct sampler *s, size_t cpu)
{
	if (s->counted && table_come(&s->table, (uint32_t)cpu))
		return false;
	if (!rings_come(&s->rings, (int)cpu))
		return true;
	if (s->counted)
		table_leave(&s->table, (uint32_t)cpu);
	return false;
}

static void leave(struct sampler *s, size_t cpu)
{
	rings_leave(&s->rings, (int)cpu);
	if (s->counted)
		table_leave(&s->table, (uint32_t)cpu);
}

/* samples are of all that are on; true: there are some that were off */
static bool look_at_cpus(struct sampler *s)
{
	bool came = false;

	if (!cpus_read(&s->now))
		return false;
	while (s->sampled.n < s->now.n)
		vec_push(&s->sampled, false);
	for (size_t i = 0; i < s->sampled.n; i++) {
		bool on = cpus_has(&s->now, i);

		if (on == s->sampled.at[i])
			continue;
		if (!on)
			leave(s, i);
		s->sampled.at[i] = on && come(s, i);
		came |= s->sampled.at[i];
	}
	return came;
}

size_t sampler_cpus(const struct sampler *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->sampled.n; i++)
		n += s->sampled.at[i];
	return n;
}

int sampler_open(struct sampler *s, const struct sampler_config *w,
		 struct err *e)
{
	int n;

	*s = (struct sampler){.turns = w->turns};
	n = events_read(s->event, w->events, w->rate, e);
	if (n < 0)
		return -1;
	s->events = (size_t)n;
	s->counted = !open_table(s, w, &s->why_not);
	if (!s->counted && w->means == SAMPLER_BPF) {
		*e = s->why_not;
		return -1;
	}
	debug(DEBUG_SAMPLE, "samples are from %s%s%s", sampler_means(s),
	      s->counted || w->means == SAMPLER_RINGS ? "" : ", as BPF is "
	      "refused: ", s->counted ? "" : s->why_not.text);
	cpus_all(&s->sampled);
	return open_rings(s, e);
}

void sampler_close(struct sampler *s)
{
	rings_close(&s->rings);
	table_close(&s->table);
	vec_free(&s->sampled);
	vec_free(&s->now);
}

const char *sampler_means(const struct sampler *s)
{
	if (!s->counted)
		return "rings";
	if (s->table.times == 1)
		return "bpf, steady";
	/* those of time have bursts: all, or some */
	return s->table.bursts == (1u << s->events) - 1 ?
		       "bpf, in bursts" : "bpf, time in bursts";
}

/* --- beginning */

/* samples that are taken while /proc is scanned are dropped (aggregator.h) */
void sampler_start(struct sampler *s, struct aggregator *c)
{
	c->history.kept = s->counted;
	c->paused = true;
	look_at_cpus(s);
	rings_start(&s->rings);
	if (s->counted)
		table_census(&s->table, order_room(&s->rings.order));
	aggregator_scan(c);
	for (int i = 0; i < PAUSED_ROUNDS; i++)
		rings_round(&s->rings, false, collect, c);
	c->paused = false;
	if (s->counted)
		table_start(&s->table);
}

/* --- going on */

/*
 * Until it is time to look at what there is. Where the table is due now and
 * then anyway, we are not woken for the look alone, and it comes before a
 * burst, not in one.
 */
static void wait_counted(struct sampler *s, int also, int64_t end)
{
	for (;;) {
		int due = table_due(&s->table);

		if (due <= 0 &&
		    (milliseconds() >= end || table_is_full(&s->table)))
			return;
		if (!due) {
			table_schedule(&s->table);
			due = table_due(&s->table);
		}
		if (due < 0)
			due = (int)(end - milliseconds());
		if (rings_wait(&s->rings, also, due > 0 ? due : 0))
			return;
	}
}

void sampler_wait(struct sampler *s, int also)
{
	if (s->counted)
		wait_counted(s, also, milliseconds() +
				      table_patience(&s->table));
	else
		rings_wait(&s->rings, also, ROUND);
}

static void take_lost(struct sampler *s, struct aggregator *c)
{
	for (uint32_t i = 0; i < s->events; i++) {
		uint64_t lost = table_lost(&s->table, i);

		c->lost[i] += lost - s->lost[i];
		s->lost[i] = lost;
	}
}

/*
 * Processes that were there when the table was flipped must be known before its
 * samples are: two rounds take all that was in the rings when the first began.
 */
static void count_round(struct sampler *s, struct aggregator *c, bool last)
{
	table_rest(&s->table);
	table_flip(&s->table);
	rings_round(&s->rings, false, collect, c);
	rings_round(&s->rings, last, collect, c);
	table_take(&s->table, collect_counted, c);
	aggregator_turn(c);
	take_lost(s, c);
	if (c->needs_rescan)
		table_census(&s->table, order_room(&s->rings.order));
	c->needs_rescan = false;
	if (c->history.remapped)
		table_slice(&s->table);
	c->history.remapped = false;
}

void sampler_round(struct sampler *s, struct aggregator *c, bool last)
{
	if (s->counted)
		count_round(s, c, last);
	else
		rings_round(&s->rings, last, collect, c);
	/* there is no record of what began on a CPU without events */
	if (!last && look_at_cpus(s)) {
		aggregator_scan(c);
		c->needs_rescan = true;
	}
}
