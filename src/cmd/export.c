/*
 * export: `tally export --format FORMAT PROFILE...`, counts for other tools.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "export/formats.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/sources.h"

enum { EXPORT_NONE, EXPORT_TSV, EXPORT_JSON, EXPORT_CALLGRIND, EXPORT_LCOV,
       EXPORT_GCOV, EXPORT_FOLDED, EXPORT_PPROF, EXPORT_PIXIE, EXPORT_AUTOFDO,
       EXPORT_BOLT };

/* what a format is made of */
enum export_needs {
	NEEDS_ANY,    /* counts, samples or both */
	NEEDS_EITHER, /* one of them: it has a single value */
	NEEDS_COUNTS,
};

static const struct export_format {
	int (*write)(struct dataset *d, FILE *to, struct err *e);
	/* instead, of one image alone */
	int (*write_image)(const struct counts *t, uint32_t image, FILE *to,
			   struct err *e);
	bool lines; /* it is about lines: without any there is nothing */
	bool calls; /* it tells what calls cost, where that is known */
	enum export_needs needs;
} formats[] = {
	[EXPORT_TSV] = {.write = export_tsv},
	[EXPORT_JSON] = {.write = export_json},
	[EXPORT_CALLGRIND] = {.write = export_callgrind, .calls = true},
	[EXPORT_LCOV] = {.write = export_lcov, .lines = true,
			 .needs = NEEDS_COUNTS},
	[EXPORT_GCOV] = {.write = export_gcov, .lines = true,
			 .needs = NEEDS_COUNTS},
	[EXPORT_FOLDED] = {.write = export_folded, .needs = NEEDS_EITHER},
	[EXPORT_PPROF] = {.write = export_pprof},
	[EXPORT_PIXIE] = {.write = export_pixie, .needs = NEEDS_COUNTS},
	[EXPORT_AUTOFDO] = {.write = export_autofdo, .lines = true,
			    .needs = NEEDS_EITHER},
	[EXPORT_BOLT] = {.write_image = export_bolt, .needs = NEEDS_COUNTS},
};

static const struct option_choice format_choices[] = {
	{"tsv", EXPORT_TSV, "a line for each instruction that ran: <IMAGE>, a "
			    "tab, 0x<ADDRESS>, a tab, <COUNT>",
	 "The address is that in the original file. Of databases, a column for "
	 "the samples of each event takes the place of the count or, given "
	 "both, follows it; a count is then `?` if it is not known. Images are "
	 "in the order of their names, addresses ascend."},
	{"json", EXPORT_JSON, "images, procedures, blocks and edges",
	 "It is one object; the keys are described in <report-json.md>."},
	{"callgrind", EXPORT_CALLGRIND,
	 "for callgrind_annotate(1) and kcachegrind",
	 "There are instructions with their lines, and calls. What a call cost "
	 "with all that it called is not measured, and written as 0. Of a "
	 "profile of `tally events --per-call-site` it is: there are "
	 "procedures, with their own cost and the inclusive one of each call, "
	 "a column for each event (`Ir` is `insns`, `Dr` `loads`, `Dw` "
	 "`stores`). What is not known is left out, and a note says how "
	 "much."},
	{"lcov", EXPORT_LCOV, "lines and functions, for genhtml(1)",
	 "It is a tracefile, also with lines that did not run. What is not "
	 "known is left out. Of libraries whose lines are known, but not their "
	 "source, genhtml complains, and with `--ignore-errors source` goes "
	 "on."},
	{"gcov", EXPORT_GCOV, "source with counts, as gcov(1) writes it",
	 "`#####` never ran, `-` has no code, `?????` is not known."},
	{"folded", EXPORT_FOLDED,
	 "a line for each procedure that ran, for flame graphs",
	 "There are no stacks: an exact profile does not know for which "
	 "callers procedures ran."},
	{"pprof", EXPORT_PPROF, "instructions, lines and calls, for pprof",
	 "`go tool pprof` and others read it (<profile.proto>, compressed): a "
	 "sample for each instruction that ran, with its address, function and "
	 "line and the calls that are inlined there, and files with their "
	 "build-ids. Values are `instructions` and, where procedures begin, "
	 "`calls`. There are no stacks. What is not known is left out, and the "
	 "profile's comments say so."},
	{"pixie", EXPORT_PIXIE,
	 "a line for each basic block: <IMAGE>, a tab, 0x<ADDRESS>, a tab, "
	 "<INSTRUCTIONS>, a tab, <COUNT>",
	 "So pixie's <.Addrs> and <.Counts> told it: the address of the first "
	 "instruction in the original file, how many instructions the block "
	 "has, and how often it ran: 0 if it never did, `?` if that is not "
	 "known. All instructions of a line ran equally often: where a thread "
	 "ended in the middle of a block its parts have lines of their own. "
	 "Code that is not measured has no line. Images are in the order of "
	 "their names, addresses ascend."},
	{"autofdo", EXPORT_AUTOFDO,
	 "lines of functions, as LLVM's sample profile, for "
	 "`clang -fprofile-sample-use`",
	 "`llvm-profdata merge --sample` reads it, too. It is text: how often "
	 "lines of functions ran, and in them those of inlined calls, by their "
	 "distance from the line that the function begins with. Programs "
	 "should be built with clang and `-g -fdebug-info-for-profiling`, so "
	 "that several blocks of a line are told apart. Functions have their "
	 "linkers' names; those of one name in several files are added up, as "
	 "the format does not tell them apart. Callees of calls by pointer are "
	 "known if the program was counted with --calls. Lines that are not "
	 "known are left out, and functions that never ran, too."},
	{"bolt", EXPORT_BOLT, "branches, for `llvm-bolt -data`",
	 "It is what `perf2bolt` makes of branch records: of one image, how "
	 "often each branch was taken or not, and what called what. No branch "
	 "is lost, and none is stale. Mispredictions were not measured, and "
	 "are 0; returns are left out. BOLT optimizes best what was linked "
	 "with `-Wl,-q`, but shipped programs and libraries, too: in a file "
	 "without symbols (`llvm-bolt --allow-stripped`) it knows functions by "
	 "their unwind tables. Counted with --calls the targets of indirect "
	 "calls, and of jumps that share their targets, are there, too. BOLT "
	 "takes what is not there for never executed, and leaves functions "
	 "alone of which nothing is there: so functions in which a count is "
	 "not known, or that are not measured, are left out altogether, and a "
	 "note says how many."},
	{0},
};

struct export_call {
	int format; /* EXPORT_NONE: not given */
	const char *image; /* NULL: not asked for */
	struct samples_query pick;
};

static const struct option export_options[] = {
	{"format", .type = &type_choice, .choices = format_choices,
	 .placeholder = "FORMAT", FILLS(struct export_call, format),
	 .help = "what to write"},
	{"image", .type = &type_image, FILLS(struct export_call, image),
	 .help = "which image `--format bolt` is about, by the name of its "
		 "file or its path; by default the program"},
	{0},
};

static bool is_image(const struct counts_image *m, const char *word)
{
	return !strcmp(m->name, word) ||
	       (m->map->path && !strcmp(m->map->path, word));
}

/* the image that the word means, or the program; -1 and *e */
static int find_image(const struct counts *t, const char *word, uint32_t *image,
		      struct err *e)
{
	uint32_t program = profile_program(&t->profile), n = 0;

	for (uint32_t i = 0; i < t->nimage; i++)
		if (word ? is_image(&t->image[i], word) :
			   t->image[i].image == program) {
			*image = i;
			n++;
		}
	if (!n)
		return err_set(e, ERR_INPUT, "%s: %s%s", t->profile.file.name,
			       word ? "there is no image " :
				      "which image? (--image)",
			       word ? word : "");
	if (n > 1)
		return err_set(e, ERR_INPUT, "%s: more than one image is "
			       "called %s: give its path",
			       t->profile.file.name, word);
	return t->image[*image].missing ?
		err_set(e, ERR_INPUT, "%s: %s", t->image[*image].name,
			t->image[*image].missing) : 0;
}

static bool has_lines(const struct counts *t)
{
	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct counts_image *m = &t->image[i];
		struct lines *l =
			m->missing ? NULL : symbolizer_lines(m->symbolizer);

		if (l && l->nunit)
			return true;
	}
	return false;
}

/* what a format left out is said, and no failure */
static int noted(int status, const struct err *e)
{
	if (status > 0)
		cmd_note(e->text);
	return status > 0 ? 0 : status;
}

static int export_write(const struct export_call *call, struct dataset *d,
			struct err *e)
{
	const struct export_format *f = &formats[call->format];
	uint32_t image = 0;

	if (!f->write_image)
		return noted(f->write(d, stdout, e), e);
	if (find_image(d->counts, call->image, &image, e))
		return -1;
	return noted(f->write_image(d->counts, image, stdout, e), e);
}

static void export_notes(const struct export_format *f, const struct dataset *d)
{
	if (d->counts && f->calls)
		report_show_call_notes(d->counts);
	else if (d->counts)
		report_show_notes(d->counts);
	if (d->counts && f->lines)
		report_show_lineless(d->counts, has_lines(d->counts));
	if (d->counts && d->samples && f->needs != NEEDS_ANY)
		cmd_note("samples are left out: the format has no room for "
			 "them beside counts");
}

/* the exit status */
static int export_sources(const struct export_call *call,
			  const struct word_list *source)
{
	const struct export_format *f = &formats[call->format];
	struct dataset d;
	struct err e;
	int status = STATUS_OK;

	if (sources_open(&d, source->at, source->n, &call->pick, &e))
		return cmd_fail(&e);
	if (!d.counts && f->needs == NEEDS_COUNTS) {
		status = cmd_misuse(&cmd_export, "%s needs to know how often "
				    "code ran; samples only tell where time "
				    "went",
				    format_choices[call->format - 1].name);
	} else {
		export_notes(f, &d);
		if (export_write(call, &d, &e))
			status = cmd_fail(&e);
		if (d.samples)
			report_show_sample_notes(d.samples);
	}
	dataset_close(&d);
	return status;
}

static int export_run(void *words, const struct arguments *a)
{
	struct export_call *call = words;
	int status;

	if (!call->format)
		return cmd_misuse(&cmd_export, "--format FORMAT is missing");
	if (call->image && !formats[call->format].write_image)
		return cmd_misuse(&cmd_export, "--image goes with formats of "
				  "one image: bolt");
	status = sources_fit(&cmd_export, a, 0);
	return status ? status : export_sources(call, &a->operand);
}

const struct command cmd_export = {
	.name = "export",
	.summary = "counts in a form that other tools read",
	.usage = "--format FORMAT [OPTION...] PROFILE|TRACE|DB...",
	.about = "Writes what a profile tells, or several of one program "
		 "together, in a form that other tools read; of databases, "
		 "samples, and of both both: tsv, json, callgrind and pprof "
		 "have a column or value for each. Formats that need exact "
		 "counts are not for databases alone: lcov, gcov, pixie, "
		 "bolt.",
	.operands = (const struct operand[]){
		{"PROFILE or DB", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(export_options), OPTIONS(help_option),
		DATABASE_OPTIONS(struct export_call, pick), {0}},
	.defaults = &(const struct export_call){0},
	.size = sizeof(struct export_call),
	.run = export_run,
};
