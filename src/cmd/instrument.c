/*
 * instrument: `tally instrument FILE -o OUT`, the rewritten file alone.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cmd/figures.h"
#include "cmd/name.h"
#include "cmd/rewriter.h"
#include "cmd/status_line.h"
#include "count/only.h"
#include "rewrite/rewrite.h"

static const char instrument_usage[] =
	"usage: tally instrument [OPTION...] FILE -o OUT\n"
	"\n"
	"Writes a copy of an executable or shared library whose code was\n"
	"moved to a new place in the same file, with counters in it. The copy\n"
	"does what the original does.\n"
	"\n"
	"  -o OUT              the new file\n"
	"  --placement edges|vertices|vertex-edges|redundant|none|poison\n"
	"                      where counters go; edges by default\n"
	"  --weights heuristic|PROFILE\n"
	"                      what counters may cost: guessed, or as counted\n"
	"                      in an earlier run\n"
	"  --only NAME,..|@FILE\n"
	"                      count in these procedures only, by names,\n"
	"                      patterns of names or addresses (0x...); or as\n"
	"                      a file has them, one per line\n"
	"  --calls             tells where indirect calls and jumps lead, too\n"
	"  --after-calls       a counter after every call, for comparison\n"
	"  --trap-unexpected   a test mode: old code that should never be\n"
	"                      reached traps\n"
	"  --strict            fail if none of the code can be moved\n"
	"  --json              what was done, for programs\n";

struct instrument_call {
	const char *file, *out, *placement, *weights, *only;
	struct recipe recipe;
	struct rewrite_options o;
	bool json;
};

static int instrument_check(struct instrument_call *call)
{
	struct err e;

	if (!call->file)
		return cmd_misuse(&cmd_instrument, "which FILE?");
	if (!call->out)
		return cmd_misuse(&cmd_instrument, "-o OUT is missing");
	if (!recipe_placement(&call->recipe, call->placement))
		return cmd_misuse(&cmd_instrument, "there is no placement "
				  "'%s'", call->placement);
	if (call->recipe.count.pairs && !call->recipe.counts)
		return cmd_misuse(&cmd_instrument, "--calls needs counters: "
				  "not --placement none");
	if (call->only && recipe_only(&call->recipe, call->only, &e))
		return cmd_fail(&e);
	if (strcmp(call->weights, "heuristic") &&
	    recipe_weights(&call->recipe, call->weights, &e))
		return cmd_fail(&e);
	return 0;
}

/* reads the arguments; 0 or the exit status */
static int instrument_parse(int argc, char **argv, struct instrument_call *c)
{
	bool options = true;

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];

		if (options && !strcmp(a, "--"))
			options = false;
		else if (options && !strcmp(a, "-o") && i + 1 < argc)
			c->out = argv[++i];
		else if (options && !strcmp(a, "--placement") && i + 1 < argc)
			c->placement = argv[++i];
		else if (options && !strcmp(a, "--weights") && i + 1 < argc)
			c->weights = argv[++i];
		else if (options && !strcmp(a, "--only") && i + 1 < argc)
			c->only = argv[++i];
		else if (options && !strcmp(a, "--after-calls"))
			c->recipe.count.after_calls = true;
		else if (options && !strcmp(a, "--calls"))
			c->recipe.count.pairs = true;
		else if (options && !strcmp(a, "--trap-unexpected"))
			c->o.trap_unexpected = true;
		else if (options && !strcmp(a, "--strict"))
			c->o.strict = true;
		else if (options && !strcmp(a, "--json"))
			c->json = true;
		else if (options && a[0] == '-' && a[1])
			return cmd_misuse(&cmd_instrument,
					  "unknown option '%s'", a);
		else if (!c->file)
			c->file = a;
		else
			return cmd_misuse(&cmd_instrument,
					  "too many arguments");
	}
	return instrument_check(c);
}

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
	struct rewrite_report r;
	struct err e;

	if (instrument_check_only(c, call->recipe.count.only, &e))
		return cmd_fail(&e);
	if (recipe_rewrite(&call->recipe, c, &call->o, call->out, &r, &e))
		return cmd_fail(&e);
	if (call->json)
		show_json(call, &r);
	else
		show_text(call, &r);
	rewrite_report_free(&r);
	return STATUS_OK;
}

static int instrument_run(int argc, char **argv)
{
	struct instrument_call call = {.recipe = {.by_hand = true},
				       .placement = "edges",
				       .weights = "heuristic"};
	struct status_line line;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;
	int status = instrument_parse(argc, argv, &call);

	if (status)
		return status;
	if (instrument_check_out(&call, &e) || image_open(&im, call.file, &e))
		return cmd_fail(&e);
	status_line_begin(&line);
	unwind_read(&u, &im);
	status = cfg_build_watched(&c, &im, &u, &line.progress, &e);
	status_line_end(&line);
	status = status ? cmd_fail(&e) : instrument_write(&c, &call);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return status;
}

const struct command cmd_instrument = {
	.name = "instrument",
	.summary = "a copy of a file whose code can be measured",
	.usage = instrument_usage,
	.run = instrument_run,
};
