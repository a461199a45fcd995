/*
 * annotate: `tally annotate PROCEDURE PROFILE|DB...`, source and instructions
 * side by side with how often they ran, or with their samples.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/render/annotate_show.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/sources.h"
#include "report/find.h"

struct annotate_call {
	const char *procedure, *image;
	struct samples_query pick;
	bool json, same_work;
};

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

static int annotate_sources(const struct annotate_call *call,
			    const char *const *source, size_t n)
{
	struct dataset d;
	struct err e;
	int failed;

	if (sources_open(&d, source, n, &call->pick, &e))
		return cmd_fail(&e);
	d.same_work = call->same_work;
	report_show_dataset_notes(&d);
	failed = annotate_found(call, &d, &e);
	if (d.samples)
		report_show_sample_notes(d.samples);
	dataset_close(&d);
	return failed ? cmd_fail(&e) : STATUS_OK;
}

static int annotate_run(void *words, const struct arguments *a)
{
	struct annotate_call *call = words;
	int status = sources_fit(&cmd_annotate, a, 1);

	call->procedure = a->operand.at[0];
	return status ? status :
			annotate_sources(call, a->operand.at + 1,
					 a->operand.n - 1);
}

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "source and instructions of a procedure, with counts",
	.usage = "[OPTION...] PROCEDURE PROFILE|TRACE|DB...",
	.about = "Shows a procedure, instruction by instruction, with its "
		 "source: how often each ran, and which way branches went; "
		 "of databases, how many samples fell on each; of both, what "
		 "one execution took. PROCEDURE "
		 "is a name as `tally report` shows it, with or without "
		 "arguments, a symbol, or 0xADDRESS of anything in it.",
	.closing = "Needs neither symbols nor debug information nor source, "
		   "but shows what there is. `-` is what was not measured.",
	.operands = (const struct operand[]){
		{.name = "PROCEDURE", .offer = OFFER_PROCEDURES},
		{"PROFILE or DB", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS_AT(choose_image_option, struct annotate_call, image),
		OPTIONS_AT(same_work_option, struct annotate_call, same_work),
		OPTIONS_AT(json_option, struct annotate_call, json),
		OPTIONS(help_option),
		DATABASE_OPTIONS(struct annotate_call, pick), {0}},
	.defaults = &(const struct annotate_call){0},
	.size = sizeof(struct annotate_call),
	.run = annotate_run,
};
