/* event: see event.h. */
#include "sample/events/event.h"

#include <errno.h>
#include <stdio.h>
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
