/*
 * instrument: `tally instrument FILE -o OUT`, the rewritten file alone.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cmd/render/figures.h"
#include "base/name.h"
#include "cmd/options/recipe_options.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/status_line.h"
#include "count/place/only.h"
#include "rewrite/rewrite.h"

struct instrument_call {
	const char *file, *out;
	struct recipe_call how;
	bool strict, json;
};

static const struct option output_options[] = {
	{"output", 'o', &type_file, "OUT", FILLS(struct instrument_call, out),
	 .help = "the new file",
	 .more = "It appears whole or not at all, with the permissions of "
		 "<FILE> but without set-user-id bits."},
	{0},
};

static const struct option instrument_options[] = {
	{"strict", .type = &type_flag, FILLS(struct instrument_call, strict),
	 .help = "fail, with status 3, if none of the code can be moved"},
	{"json", .type = &type_flag, FILLS(struct instrument_call, json),
	 .help = "what was done, as one JSON object",
	 .more = "Its keys are `file`, `out`, `text_bytes`, `moved_bytes`, "
		 "`new_bytes` (of those `inserted_bytes` with counters, "
		 "`jump_bytes` back from code on edges, `table_bytes` of "
		 "copied jump tables, `link_bytes` of the linker's stubs and "
		 "`support_bytes` that inserted code calls; the rest is the "
		 "code itself), `data_bytes` (memory for counters, and room "
		 "for code that counts for threads), `tables` (copied), "
		 "`islands`, `unreached` (places in old code of very large "
		 "files at which control may arrive and go on, for one "
		 "instruction at least, before it is in the new code) and "
		 "`in_place` (each `start`, `end`, `reason`)."},
	{0},
};

/*
 * OUT is replaced by a new file when that is complete: what is there must be
 * a file, and not the original, which may be the only copy.
 */
static int instrument_check_out(const struct instrument_call *call,
				struct err *e)
{
	struct stat in, out;

	if (stat(call->out, &out))
		return 0;
	if (!S_ISREG(out.st_mode))
		return err_set(e, ERR_USAGE, "%s: is not a regular file",
			       call->out);
	if (!stat(call->file, &in) && in.st_dev == out.st_dev &&
	    in.st_ino == out.st_ino)
		return err_set(e, ERR_USAGE,
			       "%s: is the original itself; give the new file "
			       "another name",
			       call->out);
	return 0;
}

static void show_json(const struct instrument_call *call,
		      const struct rewrite_report *r)
{
	struct json j = {.to = stdout};

	json_object(&j, NULL);
	json_string(&j, "file", call->file);
	json_string(&j, "out", call->out);
	json_number(&j, "text_bytes", r->text_bytes);
	json_number(&j, "moved_bytes", r->moved_bytes);
	json_number(&j, "new_bytes", r->new_bytes);
	json_number(&j, "inserted_bytes", r->inserted_bytes);
	json_number(&j, "jump_bytes", r->jump_bytes);
	json_number(&j, "table_bytes", r->table_bytes);
	json_number(&j, "link_bytes", r->link_bytes);
	json_number(&j, "support_bytes", r->support_bytes);
	json_number(&j, "data_bytes", r->data_bytes);
	json_number(&j, "tables", r->tables);
	json_number(&j, "islands", r->islands);
	json_number(&j, "unreached", r->unreached);
	json_array(&j, "in_place");
	for (size_t i = 0; i < r->in_place.n; i++) {
		json_object(&j, NULL);
		json_address(&j, "start", r->in_place.at[i].start);
		json_address(&j, "end", r->in_place.at[i].end);
		json_string(&j, "reason", r->in_place.at[i].reason);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void show_text(const struct instrument_call *call,
		      const struct rewrite_report *r)
{
	struct style s = style_for(stdout);

	fputs(s.head, stdout);
	name_print(stdout, call->out, "");
	printf("%s: ", s.off);
	name_print(stdout, call->file, "");
	putchar('\n');
	figures_count(&s, "bytes of text", r->text_bytes);
	figures_share(&s, "", "moved", r->moved_bytes, r->text_bytes);
	figures_count(&s, "bytes of new code", r->new_bytes);
	figures_count(&s, "jump tables copied", r->tables);
	figures_count(&s, "islands", r->islands);
	if (r->unreached)
		figures_count(&s, "arrivals out of reach", r->unreached);
	figures_regions(&s, r->in_place.at, r->in_place.n);
}

/* all procedures that were asked for are there; 0 or -1 and *e */
static int instrument_check_only(const struct cfg *c, const char *list,
				 struct err *e)
{
	const char *unseen;
	struct only only;

	only_open(&only, list ? list : "");
	for (uint32_t i = 0; i < c->proc.n; i++)
		only_has(&only, c->proc.at[i].name, c->proc.at[i].entry);
	unseen = only_unseen(&only);
	if (unseen)
		err_set(e, ERR_USAGE, "%s: no procedure is called '%.200s' "
			"(--only)", c->image->path, unseen);
	only_close(&only);
	return unseen ? -1 : 0;
}

/* rewrites what was understood, and says what was done */
static int instrument_write(const struct cfg *c,
			    const struct instrument_call *call)
{
	const struct recipe *recipe = &call->how.recipe;
	struct rewrite_options o = {
		.strict = call->strict,
		.trap_unexpected = recipe->trap_unexpected,
	};
	struct rewrite_report r;
	struct err e;

	if (instrument_check_only(c, recipe->count.only, &e))
		return cmd_fail(&e);
	if (recipe_rewrite(recipe, c, &o, call->out, &r, &e))
		return cmd_fail(&e);
	if (call->json)
		show_json(call, &r);
	else
		show_text(call, &r);
	rewrite_report_free(&r);
	return STATUS_OK;
}

static int instrument_file(const struct instrument_call *call)
{
	struct status_line line;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;
	int status;

	if (instrument_check_out(call, &e) || image_open(&im, call->file, &e))
		return cmd_fail(&e);
	status_line_begin(&line);
	unwind_read(&u, &im);
	status = cfg_build_watched(&c, &im, &u, &line.progress, &e);
	status_line_end(&line);
	status = status ? cmd_fail(&e) : instrument_write(&c, call);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return status;
}

static int instrument_run(void *words, const struct arguments *a)
{
	struct instrument_call *call = words;
	int status;

	call->file = a->operand.at[0];
	if (!call->out)
		return cmd_misuse(&cmd_instrument, "-o OUT is missing");
	status = recipe_settle(&cmd_instrument, &call->how);
	return status ? status : instrument_file(call);
}

const struct command cmd_instrument = {
	.name = "instrument",
	.summary = "a copy of a file whose code can be measured",
	.usage = "[OPTION...] FILE -o OUT",
	.about = "Writes a copy of an executable or shared library whose code "
		 "was moved to a new place in the same file, with counters in "
		 "it. The copy does what the original does.",
	.operands = (const struct operand[]){
		{.name = "FILE", .offer = OFFER_FILES}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(output_options),
		OPTIONS_AT(recipe_options, struct instrument_call, how),
		OPTIONS_AT(only_options, struct instrument_call, how),
		OPTIONS(instrument_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct instrument_call){
		.how = {RECIPE_DEFAULTS, .recipe.by_hand = true}},
	.size = sizeof(struct instrument_call),
	.run = instrument_run,
};
