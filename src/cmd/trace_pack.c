/*
 * trace_pack: `tally trace pack TRACE`, a trace that was recorded, in fewer
 * bytes.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/status_line.h"
#include "cmd/render/table.h"
#include "trace/pack/repack.h"

struct pack_call {
	const char *out;
	bool json;
};

static const struct option pack_options[] = {
	{"output", 'o', &type_file, FILLS(struct pack_call, out),
	 .help = "where the packed trace goes; by default it takes the place "
		 "of the other, once it is whole"},
	{0},
};

static void print_table(const struct repacked *r)
{
	static const struct table_column columns[] = {
		{"before", TABLE_NUMBER}, {"after", TABLE_NUMBER},
		{"bytes of", TABLE_NAME}};
	const struct {
		uint64_t before, after;
		const char *name;
	} rows[] = {
		{r->chunks_before, r->chunks_after, "threads"},
		{r->rest_before, r->rest_after, "images, and all else"},
		{r->chunks_before + r->rest_before,
		 r->chunks_after + r->rest_after, "all"}};
	struct table x;

	table_begin(&x, columns, 3, stdout);
	for (unsigned i = 0; i < 3; i++) {
		table_number(&x, true, rows[i].before);
		table_number(&x, true, rows[i].after);
		table_text(&x, rows[i].name);
		table_end_row(&x, LOOK_PLAIN);
	}
	table_print(&x);
}

static void print_json(const char *path, const struct repacked *r)
{
	struct json j = {.to = stdout};

	json_object(&j, NULL);
	json_string(&j, "file", path);
	json_number(&j, "threads_before", r->chunks_before);
	json_number(&j, "threads_after", r->chunks_after);
	json_number(&j, "bytes_before", r->chunks_before + r->rest_before);
	json_number(&j, "bytes_after", r->chunks_after + r->rest_after);
	json_end(&j);
}

/* what is written holds it (output.h) */
static bool is_written(const struct trace_file *f)
{
	return flock(f->file.fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
}

static int pack(const char *from, const char *to, bool in_place,
		struct repacked *r, struct err *e)
{
	struct status_line line;
	struct trace_file f;
	int status;

	if (trace_open(&f, from, e))
		return -1;
	if (in_place && is_written(&f)) {
		trace_close(&f);
		return err_set(e, ERR_INPUT, "%s: it is still being written",
			       from);
	}
	status_line_begin(&line);
	status = trace_repack(&f, to, &line.progress, r, e);
	status_line_end(&line);
	if (!status && f.truncated)
		cmd_note("the trace is incomplete: its end is missing");
	trace_close(&f);
	return status;
}

static int pack_run(void *words, const struct arguments *a)
{
	const struct pack_call *call = words;
	const char *from = a->operand.at[0];
	/* a link goes on leading to the trace */
	char *itself = realpath(from, NULL);
	const char *to = call->out ? call->out : itself ? itself : from;
	struct repacked r;
	struct err e;
	int status;

	/* a file that is too large is an error as others are */
	signal(SIGXFSZ, SIG_IGN);
	status = pack(from, to, !call->out, &r, &e) ? cmd_fail(&e) : STATUS_OK;

	if (!status && call->json)
		print_json(to, &r);
	else if (!status)
		print_table(&r);
	free(itself);
	return cmd_finish(status);
}

const struct command cmd_trace_pack = {
	.name = "trace pack",
	.summary = "a trace in fewer bytes",
	.usage = "[-o FILE] [--json] TRACE",
	.about = "Packs a trace that was recorded more densely than there is "
		 "time for while a program runs. `tally replay` tells the same "
		 "of it, only later.",
	.closing = "Exit status: 0, 2 wrong usage, 3 bad input, 4 it cannot be "
		   "written. The trace is as it was then.",
	.operands = (const struct operand[]){
		{.name = "TRACE", .offer = OFFER_FILES}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(pack_options),
		OPTIONS_AT(json_option, struct pack_call, json),
		OPTIONS(help_option), {0}},
	.defaults = &(const struct pack_call){0},
	.size = sizeof(struct pack_call),
	.run = pack_run,
};
