/* shared_options: see shared_options.h. */
#include "cmd/options/shared_options.h"

#include <string.h>
#include <time.h>

#include "sample/events/event.h"

enum { DAY = 24 * 60 * 60 };

const struct option help_option[] = {
	{"help", 'h', &type_help, .help = "a short help"},
	{0},
};

const struct option json_option[] = {
	{"json", .type = &type_flag, .size = sizeof(bool),
	 .help = "write JSON, for programs",
	 .more = "The keys are described in <report-json.md>."},
	{0},
};

const struct option limit_option[] = {
	{"limit", .type = &type_number, .size = sizeof(uint64_t),
	 .help = "only the first <N> rows"},
	{0},
};

const struct option same_work_option[] = {
	{"same-work", .type = &type_flag, .size = sizeof(bool),
	 .help = "counts and samples are of the same work, whatever their "
		 "command lines say"},
	{0},
};

const struct option min_option[] = {
	{"min", .type = &type_percent, .size = sizeof(double),
	 .help = "only what has at least that share of all instructions, or "
		 "samples"},
	{0},
};

const struct option choose_image_option[] = {
	{"image", .type = &type_image, .size = sizeof(const char *),
	 .help = "the procedure of that image, if several have one of that "
		 "name"},
	{0},
};

const struct option quiet_option[] = {
	{"quiet", .type = &type_flag, .size = sizeof(bool),
	 .help = "do not list the procedures with most instructions, or "
		 "samples"},
	{0},
};

const struct option rate_option[] = {
	{"rate", .type = &type_number, .placeholder = "HZ", .least = 1,
	 .most = EVENT_RATE_MOST, .size = sizeof(uint64_t),
	 .help = "samples per second of each CPU, from 1 to 100000; 5200 by "
		 "default"},
	{0},
};

/* --- which samples of databases */

static bool read_epochs(const struct option *o, const char *word, void *field)
{
	struct samples_query *pick = field;
	const char *dash = strchr(word, '-');
	char first[24] = "";
	uint64_t a, b;

	(void)o;
	pick->newest = !strcmp(word, "last");
	pick->first = pick->last = 0;
	if (pick->newest || !strcmp(word, "all"))
		return true;
	if (dash && (size_t)(dash - word) < sizeof first)
		memcpy(first, word, (size_t)(dash - word));
	if (!option_number(dash ? first : word, &a) ||
	    !option_number(dash ? dash + 1 : word, &b) || !a || a > b ||
	    b > INT64_MAX)
		return false;
	pick->first = (int64_t)a;
	pick->last = (int64_t)b;
	return true;
}

const struct option_choice epoch_choices[] = {
	{.name = "all"}, {.name = "last"}, {0}};

const struct option_type type_epochs = {
	"EPOCHS", "a number, or two with '-' between them", OFFER_NOTHING,
	sizeof(struct samples_query), read_epochs};

/* local time; of a day alone its first second or, late: its last one */
static bool read_time(const char *word, bool late, uint64_t *out)
{
	static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S",
					    "%Y-%m-%dT%H:%M", "%Y-%m-%d"};

	for (int i = 0; i < 3; i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(word, forms[i], &tm);
		time_t t;

		if (!end || *end)
			continue;
		t = mktime(&tm);
		if (t < 0)
			return false;
		*out = (uint64_t)t + (late && i == 2 ? DAY - 1 : 0);
		return true;
	}
	return false;
}

static bool read_since(const struct option *o, const char *word, void *field)
{
	(void)o;
	return read_time(word, false, field);
}

static bool read_until(const struct option *o, const char *word, void *field)
{
	(void)o;
	return read_time(word, true, field);
}

static const char time_forms[] =
	"YYYY-MM-DD, with 'THH:MM' or 'THH:MM:SS' if need be";
static const struct option_type
	type_since = {"TIME", time_forms, OFFER_NOTHING, sizeof(uint64_t),
		      read_since},
	type_until = {"TIME", time_forms, OFFER_NOTHING, sizeof(uint64_t),
		      read_until};

const struct option database_options[] = {
	{"epoch", .type = &type_epochs, .choices = epoch_choices,
	 .size = sizeof(struct samples_query),
	 .help = "only these epochs: a number, two with - between them, "
		 "`last`, or `all`, which is the default",
	 .more = "Numbers are as `tally report --by epoch` has them; of two, "
		 "all epochs between them are meant, too; `last` is the last "
		 "of each host."},
	{"since", .type = &type_since, FILLS(struct samples_query, since),
	 .help = "only epochs that lasted until then, or longer; <TIME> is "
		 "local time, <YYYY-MM-DD>, or with `THH:MM` or `THH:MM:SS`",
	 .more = "Of a day alone, its first second is meant."},
	{"until", .type = &type_until, FILLS(struct samples_query, until),
	 .help = "only epochs that were begun by then; of a day alone, by its "
		 "last second"},
	{"host", .type = &type_host, FILLS(struct samples_query, host),
	 .help = "only samples of that host, or of those that a pattern with "
		 "* and ? fits"},
	{"event", .type = &type_event, FILLS(struct samples_query, event),
	 .help = "only samples of that event"},
	{"process", .type = &type_process, FILLS(struct samples_query, process),
	 .help = "only samples of processes of that name, which had to be kept "
		 "apart when they were taken (`tally daemon --apart`)"},
	{0},
};
