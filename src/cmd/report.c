/*
 * report: `tally report [--by ...] [--limit N] [--json] PROFILE...`, where the
 * instructions went.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/option.h"
#include "cmd/report_show.h"

static const char report_usage[] =
	"usage: tally report [OPTION...] PROFILE...\n"
	"\n"
	"Shows how often the parts of a program ran, most first. PROFILE is\n"
	"what 'tally count' left, or is filling just now; several of one\n"
	"program are added up.\n"
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
	VEC(const char *) profile;
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

static int report_by(struct report_call *call, const char *value)
{
	int by = parse_by(value);

	if (by < 0)
		return cmd_misuse(&cmd_report, "--by image, procedure, line, "
				  "process, edge, block, instruction or "
				  "call-site, not '%s'", value);
	call->by = (enum rows_by)by;
	return 0;
}

/* reads one word; 0 or the exit status */
static int report_word(void *to, char **argv, int *i, bool option)
{
	struct report_call *call = to;
	const char *a = argv[*i], *value;

	if (!option) {
		vec_push(&call->profile, a);
	} else if ((value = option_value(argv, i, "--by"))) {
		return report_by(call, value);
	} else if ((value = option_value(argv, i, "--limit"))) {
		if (!option_number(value, &call->limit))
			return cmd_misuse(&cmd_report, "--limit takes a "
					  "number, not '%s'", value);
	} else if (!strcmp(a, "--json")) {
		call->json = true;
	} else if (!strcmp(a, "--all")) {
		call->all = true;
	} else {
		return cmd_misuse(&cmd_report, "unknown option '%s'", a);
	}
	return 0;
}

static int report_all(const struct report_call *call)
{
	struct told t;
	struct rows r;
	struct err e;

	if (told_open(&t, call->profile.at, call->profile.n, &e))
		return cmd_fail(&e);
	report_show_notes(&t);
	if (rows_make(&r, &t, call->by, call->all, &e)) {
		told_close(&t);
		return cmd_fail(&e);
	}
	if (call->json)
		report_show_json(&t, &r, call->by, call->limit, stdout);
	else
		report_show_text(&t, &r, call->by, call->limit, stdout);
	rows_free(&r);
	told_close(&t);
	return STATUS_OK;
}

static int report_run(int argc, char **argv)
{
	struct report_call call = {.by = BY_PROCEDURE, .limit = SIZE_MAX};
	int status = option_each(argc, argv, report_word, &call);

	if (!status && !call.profile.n)
		status = cmd_misuse(&cmd_report, "which PROFILE?");
	if (!status)
		status = report_all(&call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "how often the parts of a program ran",
	.usage = report_usage,
	.run = report_run,
};
