/*
 * annotate: `tally annotate PROCEDURE PROFILE|DB...`, source and instructions
 * side by side with how often they ran, or with their samples.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/annotate_show.h"
#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/sampled_option.h"
#include "cmd/sampled_show.h"
#include "report/find.h"

static const char annotate_usage[] =
	"usage: tally annotate [OPTION...] PROCEDURE PROFILE|DB...\n"
	"\n"
	"Shows a procedure, instruction by instruction, with its source: how\n"
	"often each ran, and which way branches went; or, of databases, how\n"
	"many samples fell on each. PROCEDURE is a name as\n"
	"'tally report' shows it, with or without arguments, a symbol, or\n"
	"0xADDRESS of anything in it.\n"
	"\n"
	"  --image NAME      the one in that image, if there are several\n"
	"  --json            for programs\n"
	SAMPLED_OPTION_HELP
	"\n"
	"Needs neither symbols nor debug information nor source, but shows\n"
	"what there is. '-' is what was not measured.\n";

struct annotate_call {
	const char *procedure, *image;
	VEC(const char *) profile;
	struct sampled_option of;
	bool json;
};

/* reads one word; 0 or the exit status */
static int annotate_word(void *to, char **argv, int *i, bool option)
{
	struct annotate_call *call = to;
	const char *a = argv[*i], *value;
	int status = option ? sampled_option(&call->of, &cmd_annotate, argv,
					     i) : 0;

	if (option && status >= 0)
		return status;
	if (!option && !call->procedure)
		call->procedure = a;
	else if (!option)
		vec_push(&call->profile, a);
	else if ((value = option_value(argv, i, "--image")))
		call->image = value;
	else if (!strcmp(a, "--json"))
		call->json = true;
	else
		return cmd_misuse(&cmd_annotate, "unknown option '%s'", a);
	return 0;
}

static int annotate_parse(int argc, char **argv, struct annotate_call *call)
{
	int status = option_each(argc, argv, annotate_word, call);

	if (status)
		return status;
	if (!call->procedure)
		return cmd_misuse(&cmd_annotate, "which PROCEDURE?");
	return call->profile.n ? 0 : cmd_misuse(&cmd_annotate,
						"which PROFILE or DB?");
}

static int annotate_one(const void *words, const struct told *t, struct err *e)
{
	const struct annotate_call *call = words;
	struct annotation a;
	struct found f;

	if (find_procedure(&f, t, call->procedure, call->image, e))
		return -1;
	report_show_others(f.others);
	report_show_absent(&t->image[f.image]);
	annotation_make(&a, t, f.image, f.proc);
	if (call->json)
		annotate_show_json(t, &a, stdout);
	else
		annotate_show_text(t, &a, stdout);
	annotation_free(&a);
	return 0;
}

static int annotate_databases(const struct annotate_call *call)
{
	struct sampled_annotation a;
	struct sampled s;
	struct err e;
	int failed;

	if (sampled_open(&s, call->profile.at, call->profile.n, &call->of.pick,
			 &e))
		return cmd_fail(&e);
	failed = sampled_annotation_make(&a, &s, call->procedure, call->image,
					 &e);
	if (!failed) {
		report_show_others(a.f.others);
		if (call->json)
			annotate_sampled_json(&s, &a, stdout);
		else
			annotate_sampled_text(&s, &a, stdout);
		sampled_annotation_free(&a);
	}
	sampled_show_notes(&s);
	sampled_close(&s);
	return failed ? cmd_fail(&e) : STATUS_OK;
}

static int annotate_run(int argc, char **argv)
{
	struct annotate_call call = {0};
	int status = annotate_parse(argc, argv, &call);
	bool databases = false;

	if (!status)
		status = sampled_sources(&cmd_annotate, call.profile.at,
					 call.profile.n, &call.of, &databases);
	if (!status)
		status = databases ? annotate_databases(&call) :
				     report_opened(call.profile.at,
						   call.profile.n,
						   annotate_one, &call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "source and instructions of a procedure, with counts",
	.usage = annotate_usage,
	.run = annotate_run,
};
