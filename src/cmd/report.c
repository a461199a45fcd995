/*
 * report: `tally report [--by ...] [--limit N] [--json] PROFILE`, where the
 * instructions went.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/option.h"
#include "cmd/report_show.h"

static const char report_usage[] =
	"usage: tally report [OPTION...] PROFILE\n"
	"\n"
	"Shows how often the parts of a program ran, most first. PROFILE is\n"
	"what 'tally count' left, or is filling just now.\n"
	"\n"
	"  --by image|procedure|line|process|edge|block|instruction|call-site\n"
	"               what to list; procedure by default\n"
	"  --all        also what did not run\n"
	"  --limit N    only the first N\n"
	"  --json       for programs\n"
	"\n"
	"What did not run is not listed; what is not known is called "
	"unknown.\n";

struct report_call {
	const char *profile;
	enum rows_by by;
	size_t limit;
	bool json, all;
};

/* the value of --by; -1 if there is no such one */
static int parse_by(const char *word)
{
	static const char *const names[] = {
		[BY_IMAGE] = "image", [BY_PROCEDURE] = "procedure",
		[BY_PROCESS] = "process", [BY_EDGE] = "edge",
		[BY_BLOCK] = "block", [BY_INSTRUCTION] = "instruction",
		[BY_CALL_SITE] = "call-site", [BY_LINE] = "line",
	};

	for (int i = 0; i <= BY_LINE; i++)
		if (!strcmp(word, names[i]))
			return i;
	return -1;
}

static bool parse_limit(const char *word, size_t *limit)
{
	char *end;

	errno = 0;
	*limit = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

/* reads one word; 0 or the exit status */
static int report_word(struct report_call *call, char **argv, int *i)
{
	const char *a = argv[*i], *value;
	int by;

	if ((value = option_value(argv, i, "--by"))) {
		by = parse_by(value);
		if (by < 0)
			return cmd_misuse(&cmd_report, "--by image, procedure,"
					  " line, process, edge, block, "
					  "instruction or call-site, not "
					  "'%s'", value);
		call->by = (enum rows_by)by;
	} else if ((value = option_value(argv, i, "--limit"))) {
		if (!parse_limit(value, &call->limit))
			return cmd_misuse(&cmd_report, "--limit takes a "
					  "number, not '%s'", value);
	} else if (!strcmp(a, "--json")) {
		call->json = true;
	} else if (!strcmp(a, "--all")) {
		call->all = true;
	} else if (a[0] == '-' && a[1]) {
		return cmd_misuse(&cmd_report, "unknown option '%s'", a);
	} else if (call->profile) {
		return cmd_misuse(&cmd_report, "one PROFILE at a time");
	} else {
		call->profile = a;
	}
	return 0;
}

static int report_parse(int argc, char **argv, struct report_call *call)
{
	for (int i = 1; i < argc; i++) {
		int status;

		if (!strcmp(argv[i], "--")) {
			if (argc - i > 2 || (call->profile && argc - i > 1))
				return cmd_misuse(&cmd_report,
						  "one PROFILE at a time");
			if (i + 1 < argc)
				call->profile = argv[i + 1];
			break;
		}
		status = report_word(call, argv, &i);
		if (status)
			return status;
	}
	return call->profile ? 0 : cmd_misuse(&cmd_report, "which PROFILE?");
}

static int report_run(int argc, char **argv)
{
	struct report_call call = {.by = BY_PROCEDURE, .limit = SIZE_MAX};
	struct told t;
	struct rows r;
	struct err e;
	int status = report_parse(argc, argv, &call);

	if (status)
		return status;
	if (told_open(&t, call.profile, &e))
		return cmd_fail(&e);
	report_show_notes(&t);
	if (rows_make(&r, &t, call.by, call.all, &e)) {
		told_close(&t);
		return cmd_fail(&e);
	}
	if (call.json)
		report_show_json(&t, &r, call.by, call.limit, stdout);
	else
		report_show_text(&t, &r, call.by, call.limit, stdout);
	rows_free(&r);
	told_close(&t);
	return STATUS_OK;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "how often the parts of a program ran",
	.usage = report_usage,
	.run = report_run,
};
