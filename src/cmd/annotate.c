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
	"  --same-work       counts and samples are of the same work,\n"
	"                    whatever their command lines say\n"
	"  --json            for programs\n"
	SAMPLED_OPTION_HELP
	"\n"
	"Needs neither symbols nor debug information nor source, but shows\n"
	"what there is. '-' is what was not measured.\n";

struct annotate_call {
	const char *procedure, *image;
	VEC(const char *) profile;
	struct sampled_option of;
	bool json, same_work;
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
	else if (!strcmp(a, "--same-work"))
		call->same_work = true;
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

/* 0, or -1 and *e */
static int annotate_found(const struct annotate_call *call, struct dataset *d,
			  struct err *e)
{
	struct annotation a;
	struct found f;

	if (find_procedure(&f, d, call->procedure, call->image, e) ||
	    found_become_owner(&f, d, e))
		return -1;
	report_show_others(f.others);
	if (f.proc != MAP_NONE)
		report_show_absent(d->image.at[f.image].counts);
	annotation_of(&a, d, &f);
	if (call->json)
		annotate_show_json(&a, stdout);
	else
		annotate_show_text(&a, stdout);
	annotation_free(&a);
	return 0;
}

static int annotate_sources(const struct annotate_call *call)
{
	struct dataset d;
	struct err e;
	int failed;

	if (dataset_open(&d, call->profile.at, call->profile.n, &call->of.pick,
			 &e))
		return cmd_fail(&e);
	d.same_work = call->same_work;
	report_show_dataset_notes(&d);
	failed = annotate_found(call, &d, &e);
	if (d.samples)
		report_show_sample_notes(d.samples);
	dataset_close(&d);
	return failed ? cmd_fail(&e) : STATUS_OK;
}

static int annotate_run(int argc, char **argv)
{
	struct annotate_call call = {0};
	int status = annotate_parse(argc, argv, &call);

	if (!status)
		status = sampled_option_check(&cmd_annotate, call.profile.at,
					      call.profile.n, &call.of);
	if (!status)
		status = annotate_sources(&call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "source and instructions of a procedure, with counts",
	.usage = annotate_usage,
	.run = annotate_run,
};
