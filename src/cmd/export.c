/*
 * export: `tally export --format FORMAT PROFILE...`, counts for other tools.
 */
#include "cmd/cmd.h"

#include <string.h>

#include "cmd/export_format.h"
#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/sampled_option.h"
#include "cmd/sampled_show.h"

static const char export_usage[] =
	"usage: tally export --format FORMAT [--image NAME] PROFILE...\n"
	"       tally export --format FORMAT [OPTION...] DB...\n"
	"\n"
	"Writes what a profile tells, or several of one program together,\n"
	"in a form that other tools read; of databases, samples. Formats that\n"
	"need exact counts are not for these: lcov, gcov, pixie, bolt.\n"
	"\n"
	"  --format tsv        a line for each instruction that ran:\n"
	"                      IMAGE<TAB>0xADDRESS<TAB>COUNT\n"
	"  --format json       images, procedures, blocks and edges\n"
	"  --format callgrind  for callgrind_annotate and kcachegrind\n"
	"  --format lcov       lines and functions, for genhtml\n"
	"  --format gcov       source with counts, as gcov writes it\n"
	"  --format folded     a line for each procedure, for flame graphs\n"
	"  --format pprof      instructions, lines and calls, for pprof\n"
	"  --format pixie      a line for each basic block: IMAGE<TAB>\n"
	"                      0xADDRESS<TAB>INSTRUCTIONS<TAB>COUNT\n"
	"  --format autofdo    lines of functions, as LLVM's sample profile,\n"
	"                      for clang -fprofile-sample-use\n"
	"  --format bolt       branches, for llvm-bolt -data\n"
	"  --image NAME        which image bolt is told of; by default the\n"
	"                      program\n"
	SAMPLED_OPTION_HELP;

static const struct export_format {
	const char *name;
	void (*write)(const struct told *t, FILE *to);
	/* instead, of one image alone */
	int (*write_image)(const struct told *t, uint32_t image, FILE *to,
			   struct err *e);
	bool lines; /* it is about lines: without any there is nothing */
	/* of samples; NULL: it needs exact counts */
	void (*write_sampled)(struct sampled *s, FILE *to);
} formats[] = {
	{.name = "tsv", .write = export_tsv,
	 .write_sampled = export_sampled_tsv},
	{.name = "json", .write = export_json,
	 .write_sampled = export_sampled_json},
	{.name = "callgrind", .write = export_callgrind,
	 .write_sampled = export_sampled_callgrind},
	{.name = "lcov", .write = export_lcov, .lines = true},
	{.name = "gcov", .write = export_gcov, .lines = true},
	{.name = "folded", .write = export_folded,
	 .write_sampled = export_sampled_folded},
	{.name = "pprof", .write = export_pprof,
	 .write_sampled = export_sampled_pprof},
	{.name = "pixie", .write = export_pixie},
	{.name = "autofdo", .write = export_autofdo, .lines = true,
	 .write_sampled = export_sampled_autofdo},
	{.name = "bolt", .write_image = export_bolt},
};

enum { FORMATS = sizeof formats / sizeof *formats };

struct export_call {
	VEC(const char *) profile;
	const struct export_format *format;
	const char *image; /* NULL: not asked for */
	struct sampled_option of;
};

static const struct export_format *find_format(const char *name)
{
	for (int i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

/* reads one word; 0 or the exit status */
static int export_word(void *to, char **argv, int *i, bool option)
{
	struct export_call *call = to;
	const char *a = argv[*i], *value;
	int status;

	if (!option) {
		vec_push(&call->profile, a);
		return 0;
	}
	value = option_value(argv, i, "--image");
	if (value) {
		call->image = value;
		return 0;
	}
	value = option_value(argv, i, "--format");
	if (!value) {
		status = sampled_option(&call->of, &cmd_export, argv, i);
		return status >= 0 ? status :
			cmd_misuse(&cmd_export, "unknown option '%s'", a);
	}
	call->format = find_format(value);
	return call->format ? 0 : cmd_misuse(&cmd_export, "there is no format "
					     "'%s'", value);
}

static int export_parse(int argc, char **argv, struct export_call *call)
{
	int status = option_each(argc, argv, export_word, call);

	if (status)
		return status;
	if (!call->format)
		return cmd_misuse(&cmd_export, "which --format?");
	if (call->image && !call->format->write_image)
		return cmd_misuse(&cmd_export, "--image goes with formats of "
				  "one image: bolt");
	return call->profile.n ? 0 : cmd_misuse(&cmd_export, "which PROFILE?");
}

static bool is_image(const struct told_image *m, const char *word)
{
	return !strcmp(m->name, word) ||
	       (m->map->path && !strcmp(m->map->path, word));
}

/* the image that the word means, or the program; -1 and *e */
static int find_image(const struct told *t, const char *word, uint32_t *image,
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

static bool has_lines(const struct told *t)
{
	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct told_image *m = &t->image[i];
		struct lines *l = m->missing ? NULL : legend_lines(m->legend);

		if (l && l->nunit)
			return true;
	}
	return false;
}

static int export_one(const void *words, const struct told *t, struct err *e)
{
	const struct export_call *call = words;
	uint32_t image = 0;

	if (call->format->lines)
		report_show_lineless(t, has_lines(t));
	if (!call->format->write_image) {
		call->format->write(t, stdout);
		return 0;
	}
	if (find_image(t, call->image, &image, e))
		return -1;
	return call->format->write_image(t, image, stdout, e);
}

static int export_databases(const struct export_call *call)
{
	struct sampled s;
	struct err e;

	if (!call->format->write_sampled)
		return cmd_misuse(&cmd_export, "%s needs to know how often "
				  "code ran; samples only tell where time "
				  "went", call->format->name);
	if (sampled_open(&s, call->profile.at, call->profile.n,
			 &call->of.pick, &e))
		return cmd_fail(&e);
	call->format->write_sampled(&s, stdout);
	report_show_sample_notes(&s);
	sampled_close(&s);
	return STATUS_OK;
}

static int export_run(int argc, char **argv)
{
	struct export_call call = {0};
	int status = export_parse(argc, argv, &call);
	bool databases = false;

	if (!status)
		status = sampled_sources(&cmd_export, call.profile.at,
					 call.profile.n, &call.of, &databases);
	if (!status)
		status = databases ? export_databases(&call) :
				     report_opened(call.profile.at,
						   call.profile.n, export_one,
						   &call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "counts in a form that other tools read",
	.usage = export_usage,
	.run = export_run,
};
