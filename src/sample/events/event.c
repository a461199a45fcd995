/* event: see event.h. */
#include "sample/events/event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/debug.h"

enum { SECOND = 1000000000, PARANOIA_UNKNOWN = -2 };

/* what the kernel is asked for; times are of CLOCK_MONOTONIC for all CPUs */
static struct perf_event_attr attributes(const struct event *v)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = v->type,
		.config = v->config,
		.freq = !v->period,
		.sample_period = v->period ? v->period : v->rate,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.disabled = 1,
		.precise_ip = v->precise,
		.exclude_kernel = !v->kernel,
		.exclude_hv = 1,
	};
}

static int perf_open(struct perf_event_attr *a, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* may this process sample itself so? */
static bool works(const struct event *v)
{
	struct perf_event_attr a = attributes(v);
	int fd = perf_open(&a, 0, -1);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

bool event_has_cycles(void)
{
	return works(&(struct event){.type = PERF_TYPE_HARDWARE,
				     .config = PERF_COUNT_HW_CPU_CYCLES,
				     .rate = 100});
}

bool event_may_see_kernel(void)
{
	return works(&(struct event){.type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .rate = 100, .kernel = true});
}

bool event_may_see_everybody(void)
{
	struct event v = {.type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_CPU_CLOCK, .rate = 100,
			  .kernel = event_may_see_kernel()};
	int fd = event_open(&v, EVENT_EVERYBODY, 0, false);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int event_setting(const char *name, int otherwise)
{
	char path[128];
	FILE *f;
	int n = otherwise;

	snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &n) != 1)
		n = otherwise;
	if (f)
		fclose(f);
	return n;
}

int event_paranoia(void)
{
	return event_setting("perf_event_paranoid", PARANOIA_UNKNOWN);
}

/* a timer has no precision; counters may have, from 3 (none is off) to 0 */
static bool settle_precision(struct event *v)
{
	v->precise = v->type == PERF_TYPE_SOFTWARE ? 0 : 3;
	while (!works(v)) {
		if (!v->precise)
			return false;
		v->precise--;
	}
	return true;
}

int event_check(struct event *v, struct err *e)
{
	if (settle_precision(v))
		return 0;
	return err_set(e, ERR_MACHINE, "this machine does not let us sample "
		       "%s: %s; 'tally doctor' says more", v->name,
		       strerror(errno));
}

int event_choose(struct event *v, uint64_t rate, struct err *e)
{
	*v = (struct event){.name = "cycles", .type = PERF_TYPE_HARDWARE,
			    .config = PERF_COUNT_HW_CPU_CYCLES, .rate = rate,
			    .kernel = event_may_see_kernel()};
	if (settle_precision(v)) {
		debug(DEBUG_SAMPLE, "cycles, precision %d", (int)v->precise);
		return 0;
	}
	debug(DEBUG_SAMPLE, "cycles are refused: %s; the clock is taken",
	      strerror(errno));
	*v = (struct event){.name = "cpu-clock", .type = PERF_TYPE_SOFTWARE,
			    .config = PERF_COUNT_SW_CPU_CLOCK, .rate = rate,
			    .period = SECOND / rate, .kernel = v->kernel};
	if (works(v))
		return 0;
	return err_set(e, ERR_MACHINE, "this machine does not let us sample: "
		       "%s (perf_event_paranoid is %d); 'tally doctor' says "
		       "more", strerror(errno), event_paranoia());
}

int event_open(const struct event *v, pid_t pid, int cpu, bool sideband)
{
	struct perf_event_attr a = attributes(v);

	a.inherit = a.enable_on_exec = pid != EVENT_EVERYBODY;
	a.exclude_idle = !v->idle;
	a.mmap = a.mmap2 = a.build_id = sideband;
	a.comm = a.comm_exec = sideband;
	a.task = sideband;
	a.watermark = 1;
	a.wakeup_watermark = 1 << 16;
	return perf_open(&a, pid, cpu);
}

struct event event_sideband(void)
{
	return (struct event){.name = "news", .type = PERF_TYPE_SOFTWARE,
			      .config = PERF_COUNT_SW_DUMMY};
}

bool event_is_time(const struct event *v)
{
	switch (v->type) {
	case PERF_TYPE_SOFTWARE:
		return v->config == PERF_COUNT_SW_CPU_CLOCK ||
		       v->config == PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_HARDWARE:
		return v->config == PERF_COUNT_HW_CPU_CYCLES ||
		       v->config == PERF_COUNT_HW_REF_CPU_CYCLES ||
		       v->config == PERF_COUNT_HW_BUS_CYCLES;
	default:
		return false;
	}
}

struct event event_faster(const struct event *v, uint64_t times)
{
	struct event faster = *v;

	faster.period /= times;
	faster.rate *= times;
	return faster;
}

void event_jitter(const struct event *v, int fd, uint64_t *random)
{
	uint64_t span = v->period / 16, period;

	if (!span)
		return;
	/* a linear congruence is random enough for this */
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	period = v->period - span / 2 + (*random >> 33) % (span + 1);
	ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

/* --- by name */

enum { WORD = 64 };

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name, what) \
	{name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what}
#define SOFTWARE(name, what) \
	{name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what}

static const struct known_event known[] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

/* a clock ticks in nanoseconds, so its period is known */
static bool is_clock(const struct event *v)
{
	return v->type == PERF_TYPE_SOFTWARE && event_is_time(v);
}

static bool read_raw(struct event *v, const char *word)
{
	size_t n = strlen(word);

	if (word[0] != 'r' || n < 2 || n > 17 ||
	    strspn(word + 1, "0123456789abcdefABCDEF") != n - 1)
		return false;
	v->type = PERF_TYPE_RAW;
	v->config = strtoull(word + 1, NULL, 16);
	memcpy(v->name, word, n + 1);
	return true;
}

static bool read_name(struct event *v, const char *word)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(word, known[i].name)) {
			strcpy(v->name, known[i].name);
			v->type = known[i].type;
			v->config = known[i].config;
			return true;
		}
	return read_raw(v, word);
}

static bool read_period(const char *word, uint64_t *period)
{
	enum { DIGITS = 18 };
	size_t n = strlen(word);

	if (!n || n > DIGITS || strspn(word, "0123456789") != n)
		return false;
	*period = strtoull(word, NULL, 10);
	return *period;
}

/* the rate and the period of a clock are two words for one thing */
static int settle_clock(struct event *v, struct err *e)
{
	enum { LEAST = SECOND / EVENT_RATE_MOST };

	if (!v->period)
		v->period = SECOND / v->rate;
	if (v->period < LEAST)
		return err_set(e, ERR_USAGE, "the period of %s is %d or more, "
			       "in nanoseconds: the kernel's timers are not "
			       "faster", v->name, LEAST);
	v->rate = v->period < SECOND ? SECOND / v->period : 1;
	return 0;
}

/* one of the list; the word is cut where its period begins */
static int read_event(struct event *v, char *word, uint64_t rate,
		      struct err *e)
{
	char *colon = strchr(word, ':');

	if (colon)
		*colon = 0;
	if (!strcmp(word, "time") && !colon)
		return event_choose(v, rate, e);
	*v = (struct event){.rate = rate, .kernel = event_may_see_kernel()};
	if (!read_name(v, word))
		return err_set(e, ERR_USAGE, "no event is called '%s'; "
			       "'tally daemon --help' lists some", word);
	if (colon && !read_period(colon + 1, &v->period))
		return err_set(e, ERR_USAGE, "the period of %s is a number "
			       "from 1 on, not '%s'", word, colon + 1);
	if (is_clock(v) && settle_clock(v, e))
		return -1;
	return event_check(v, e);
}

static bool is_there(const struct event *v, int n, const struct event *x)
{
	for (int i = 0; i < n; i++)
		if (v[i].type == x->type && v[i].config == x->config)
			return true;
	return false;
}

int events_read(struct event v[EVENTS], const char *list, uint64_t rate,
		struct err *e)
{
	int n = 0;

	for (;;) {
		size_t length = strcspn(list, ",");
		char word[WORD];

		if (n == EVENTS)
			return err_set(e, ERR_USAGE, "more than %d events",
				       EVENTS);
		if (length >= sizeof word)
			return err_set(e, ERR_USAGE, "no event is called "
				       "'%.*s'", (int)length, list);
		memcpy(word, list, length);
		word[length] = 0;
		if (read_event(&v[n], word, rate, e))
			return -1;
		if (is_there(v, n, &v[n]))
			return err_set(e, ERR_USAGE, "%s is there twice",
				       v[n].name);
		n++;
		if (!list[length])
			return n;
		list += length + 1;
	}
}
