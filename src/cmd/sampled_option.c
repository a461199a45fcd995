/* sampled_option: see sampled_option.h. */
#include "cmd/sampled_option.h"

#include <string.h>
#include <time.h>

#include "cmd/option.h"

enum { DAY = 24 * 60 * 60 };

bool sampled_option_epochs(const char *word, struct sampled_pick *pick)
{
	const char *dash = strchr(word, '-');
	char first[24] = "";
	size_t a, b;

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

/* the options with a name */
static bool option_names(struct sampled_option *o, char **argv, int *i)
{
	const struct {
		const char *option;
		const char **name;
	} names[] = {{"--host", &o->pick.host}, {"--event", &o->pick.event},
		     {"--process", &o->pick.process}};
	const char *value;

	for (int k = 0; k < 3; k++)
		if ((value = option_value(argv, i, names[k].option))) {
			*names[k].name = value;
			o->used = names[k].option;
			return true;
		}
	return false;
}

int sampled_option(struct sampled_option *o, const struct command *c,
		   char **argv, int *i)
{
	const char *value;
	bool late;

	if (option_names(o, argv, i))
		return 0;
	if ((value = option_value(argv, i, "--epoch"))) {
		o->used = "--epoch";
		return sampled_option_epochs(value, &o->pick) ? 0 :
			cmd_misuse(c, "--epoch all, last, a number or two "
				   "with '-' between them, not '%s'", value);
	}
	late = (value = option_value(argv, i, "--until"));
	if (!late)
		value = option_value(argv, i, "--since");
	if (!value)
		return -1;
	o->used = late ? "--until" : "--since";
	return read_time(value, late, late ? &o->pick.until : &o->pick.since) ?
		0 : cmd_misuse(c, "%s takes YYYY-MM-DD, with 'THH:MM' or "
			       "'THH:MM:SS' if need be, not '%s'", o->used,
			       value);
}

int sampled_option_check(const struct command *c, const char *const *source,
			 size_t n, const struct sampled_option *o)
{
	for (size_t i = 0; i < n; i++)
		if (store_is(source[i]))
			return 0;
	return o->used ? cmd_misuse(c, "%s is for databases", o->used) : 0;
}

int sampled_sources(const struct command *c, const char *const *source,
		    size_t n, const struct sampled_option *o,
		    bool *databases)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += store_is(source[i]);
	*databases = found;
	if (found && found < n)
		return cmd_misuse(c, "profiles and databases cannot be added "
				  "up");
	if (!found && o->used)
		return cmd_misuse(c, "%s is for databases", o->used);
	return 0;
}
