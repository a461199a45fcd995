/*
 * cfg: `tally cfg FILE [PROCEDURE] [--json|--dot]`, what tally understands
 * of a file.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/render/cfg_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/status_line.h"

/* the options of one call */
struct cfg_call {
	const char *file, *procedure;
	bool json, dot;
};

static const struct option cfg_options[] = {
	{"json", .type = &type_flag, FILLS(struct cfg_call, json),
	 .help = "everything, as JSON",
	 .more = "The keys are described in <cfg-json.md>."},
	{"dot", .type = &type_flag, FILLS(struct cfg_call, dot),
	 .help = "the graph of one procedure, as input for Graphviz's dot(1)",
	 .more = "A block shows its address, how many instructions it has, "
		 "which procedures it calls, and whether it leaves the "
		 "procedure; in brackets along an edge stand the entries of "
		 "the jump table that lead there, counted from 0. Colours are "
		 "explained in the picture. Padding is not drawn."},
	{0},
};

/* several procedures have that name: their addresses, as an error */
static int cfg_ambiguous(const struct cfg *c, const struct cfg_call *call,
			 uint32_t p, struct err *e)
{
	char list[160];
	size_t n = 0;

	for (; p != CFG_NONE && n + 32 < sizeof list;
	     p = cfg_proc_named(c, call->procedure, p + 1))
		n += (size_t)snprintf(list + n, sizeof list - n,
				      " 0x%" PRIx64, c->proc.at[p].entry);
	return err_set(e, ERR_USAGE, "%s: there are several procedures '%s'; "
		       "ask by address:%s%s", call->file, call->procedure,
		       list, p == CFG_NONE ? "" : " ...");
}

/* the procedure asked for, by name or address; 0, or -1 and *e */
static int cfg_choose(const struct cfg *c, const struct cfg_call *call,
		      uint32_t *p, struct err *e)
{
	char *end;
	uint64_t addr;

	*p = cfg_proc_named(c, call->procedure, 0);
	if (*p != CFG_NONE)
		return cfg_proc_named(c, call->procedure, *p + 1) == CFG_NONE ?
			       0 : cfg_ambiguous(c, call, *p, e);
	addr = strtoull(call->procedure, &end, 16);
	if (!*end && end != call->procedure)
		*p = cfg_proc_at(c, addr);
	if (*p == CFG_NONE)
		return err_set(e, ERR_INPUT, "%s: there is no procedure '%s'",
			       call->file, call->procedure);
	return 0;
}

/* shows the finished cfg in the way asked for */
static int cfg_print(const struct cfg *c, const struct cfg_call *call)
{
	uint32_t p = CFG_NONE;
	struct err e;

	if (call->procedure && cfg_choose(c, call, &p, &e))
		return cmd_fail(&e);
	if (call->json)
		cfg_show_json(c, p, stdout);
	else if (call->dot)
		cfg_show_dot(c, p, stdout);
	else if (p != CFG_NONE)
		cfg_show_procedure(c, p, stdout);
	else
		cfg_show_summary(c, stdout);
	return STATUS_OK;
}

/* what is asked for, of the file */
static int cfg_show(const struct cfg_call *call)
{
	struct status_line line;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;
	int status;

	status_line_begin(&line);
	progress_at(&line.progress, "reading", 0, 0);
	if (image_open(&im, call->file, &e)) {
		status_line_end(&line);
		return cmd_fail(&e);
	}
	unwind_read(&u, &im);
	status = cfg_build_watched(&c, &im, &u, &line.progress, &e);
	status_line_end(&line);
	status = status ? cmd_fail(&e) : cfg_print(&c, call);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return status;
}

static int cfg_run(void *words, const struct arguments *a)
{
	struct cfg_call *call = words;

	call->file = a->operand.at[0];
	call->procedure = a->operand.n > 1 ? a->operand.at[1] : NULL;
	if (call->json && call->dot)
		return cmd_misuse(&cmd_cfg, "--json or --dot, not both");
	if (call->dot && !call->procedure)
		return cmd_misuse(&cmd_cfg, "--dot draws one PROCEDURE");
	return cfg_show(call);
}

const struct command cmd_cfg = {
	.name = "cfg",
	.summary = "what tally understands of a file",
	.usage = "FILE [PROCEDURE] [--json|--dot]",
	.about = "Shows what tally understands of an executable or shared "
		 "library: procedures, blocks, edges, jump tables, and what "
		 "it leaves alone. PROCEDURE is a name or an address (0x...).",
	.operands = (const struct operand[]){
		{.name = "FILE", .offer = OFFER_FILES},
		{.name = "PROCEDURE", .optional = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(cfg_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct cfg_call){0},
	.size = sizeof(struct cfg_call),
	.run = cfg_run,
};
