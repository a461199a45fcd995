/* event_name: see event_name.h. */
#include "sample/events/event_name.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000000, WORD = 64 };

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
