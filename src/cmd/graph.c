/*
 * graph: `tally graph PROCEDURE PROFILE... [--format svg|dot|ps|html]`, the
 * flow graph of a procedure with its counts.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/render/graph_show.h"
#include "cmd/render/report_show.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/status_line.h"
#include "cmd/sources.h"
#include "report/find.h"

enum graph_form { GRAPH_SVG, GRAPH_DOT, GRAPH_PS, GRAPH_HTML, GRAPH_JSON };

struct graph_call {
	const char *procedure, *image, *out;
	FILE *to; /* where it is drawn for `out`, if not there at once */
	struct samples_query pick;
	enum graph_form form;
	bool ran, json, same_work;
};

static const struct option_choice forms[] = {
	{"svg", GRAPH_SVG, "a picture; the default", NULL},
	{"html", GRAPH_HTML, "a page that one can move, zoom and search",
	 "It needs nothing else, neither files nor a network. Drag it to move, "
	 "turn the wheel (or press + and -) to zoom, press 0 to see all of it; "
	 "click at a block to read it. Type an address, an instruction, a "
	 "callee or a line into the field (`/`) to find blocks; Enter goes to "
	 "the next. The same behind a # of the page's address leads there."},
	{"ps", GRAPH_PS, "for a printer", NULL},
	{"dot", GRAPH_DOT, "what Graphviz draws the others from",
	 "Its dot(1) makes the layout, and has to be installed for all formats "
	 "but this."},
	{0},
};

static const struct option graph_options[] = {
	{"format", .type = &type_choice, .choices = forms,
	 .placeholder = "FORMAT", FILLS(struct graph_call, form),
	 .help = "what to write"},
	{"output", 'o', &type_file, FILLS(struct graph_call, out),
	 .help = "where to write, instead of standard output"},
	{"ran", .type = &type_flag, FILLS(struct graph_call, ran),
	 .help = "draw only what ran, or may have",
	 .more = "Of an interpreter's loop, with hundreds of cases, one sees "
		 "more so."},
	{0},
};

/* all of a file from its beginning, to be freed */
static char *read_all(FILE *f)
{
	VEC(char) v = {0};
	size_t n;

	rewind(f);
	do {
		vec_reserve(&v, BUFSIZ);
		n = fread(v.at + v.n, 1, BUFSIZ - 1, f);
		v.n += n;
	} while (n);
	v.at[v.n] = '\0';
	return v.at;
}

/* what graphviz makes of it, as a string to be freed; NULL and *e */
static char *graph_drawn(const struct drawn *d, const char *form,
			 struct err *e)
{
	struct status_line line;
	FILE *dot = tmpfile(), *out;
	char *text = NULL;

	if (!dot) {
		err_set(e, ERR_MACHINE, "no temporary file: %s",
			strerror(errno));
		return NULL;
	}
	graph_show_dot(d, dot);
	status_line_begin(&line);
	progress_at(&line.progress, "layout", 0, 0);
	out = graph_layout(dot, form, e);
	status_line_end(&line);
	if (out) {
		text = read_all(out);
		fclose(out);
	}
	fclose(dot);
	return text;
}

/* text: what graphviz made of it, if that is asked for */
static void graph_print(const struct drawn *d, enum graph_form form,
			const char *text, FILE *to)
{
	if (form == GRAPH_DOT)
		graph_show_dot(d, to);
	else if (form == GRAPH_JSON)
		graph_show_json(d, to);
	else if (form == GRAPH_HTML)
		graph_show_html(d, text, to);
	else
		fputs(text, to);
}

static int graph_unwritten(const struct graph_call *call, struct err *e)
{
	return err_set(e, ERR_MACHINE, "%s: cannot write it: %s", call->out,
		       strerror(errno));
}

/* to the file that was asked for, which stays as it was if we fail */
static int graph_write(const struct drawn *d, const struct graph_call *call,
		       struct err *e)
{
	bool layout = call->form != GRAPH_DOT && call->form != GRAPH_JSON;
	char *text = layout ? graph_drawn(d, call->form == GRAPH_PS ? "ps" :
					  "svg", e) : NULL;
	FILE *to;

	if (layout && !text)
		return -1;
	to = call->to ? call->to : call->out ? fopen(call->out, "we") : stdout;
	if (to)
		graph_print(d, call->form, text, to);
	mem_free(text);
	if (!to || (call->out && (ferror(to) | fclose(to))))
		return graph_unwritten(call, e);
	return 0;
}

/* the procedure of an image, which was counted, or sampled */
static int graph_draw(const struct graph_call *call, struct drawn *d,
		      const struct counts_image *m, uint32_t proc,
		      struct err *e)
{
	int status;

	/* programs can leave out for themselves */
	picture_make(&d->picture, m, proc,
		     call->ran && call->form != GRAPH_JSON);
	report_show_absent(m);
	status = graph_write(d, call, e);
	annotation_free(&d->code);
	picture_free(&d->picture);
	return status;
}

static int graph_counted(const struct graph_call *call, struct dataset *data,
			 const struct found *f, struct err *e)
{
	struct drawn d = {.t = data->counts};

	annotation_of(&d.code, data, f);
	return graph_draw(call, &d, data->image.at[f->image].counts, f->proc,
			  e);
}

/* from its file, for good with the rights of the file's owner */
static int graph_sampled(const struct graph_call *call, struct dataset *data,
			 const struct found *f, struct err *e)
{
	struct sample_graph x;
	struct drawn d = {.t = &x.t, .sampled = &x};
	int status;

	if (found_become_owner(f, data, e) || sample_graph_make(&x, data, f, e))
		return -1;
	annotation_make(&d.code, &x.image, x.proc);
	status = graph_draw(call, &d, &x.image, x.proc, e);
	sample_graph_free(&x);
	return status;
}

/* copies what was drawn to the file that was asked for */
static int graph_copy(const struct graph_call *call, FILE *drawn,
		      struct err *e)
{
	FILE *to = fopen(call->out, "we");
	char part[BUFSIZ];
	size_t n;

	rewind(drawn);
	while (to && (n = fread(part, 1, sizeof part, drawn)))
		fwrite(part, 1, n, to);
	return !to || (ferror(to) | fclose(to)) ? graph_unwritten(call, e) : 0;
}

/*
 * The owner of the image may not write where root wants it: a process of its
 * own draws, and this one, if that was done, writes the file. -1 and *e, or the
 * exit status; a failure of the other process was told by it.
 */
static int graph_by_child(struct graph_call *call, struct dataset *data,
			  const struct found *f, struct err *e)
{
	FILE *drawn = tmpfile();
	int status = 0;
	pid_t child;

	if (!drawn)
		return graph_unwritten(call, e);
	fflush(NULL);
	child = fork();
	if (!child) {
		call->to = drawn;
		status = graph_sampled(call, data, f, e) ? cmd_fail(e) : 0;
		fflush(NULL);
		_exit(status);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = err_set(e, ERR_MACHINE, "no process to draw in: %s",
				 strerror(errno));
	else if (!WIFEXITED(status))
		status = err_set(e, ERR_MACHINE, "the process that draws was "
				 "ended by signal %d", WTERMSIG(status));
	else
		status = WEXITSTATUS(status);
	if (!status)
		status = graph_copy(call, drawn, e);
	fclose(drawn);
	return status;
}

/* -1 and *e, or the exit status */
static int graph_found(struct graph_call *call, struct dataset *data,
		       struct err *e)
{
	struct found f;

	if (find_procedure(&f, data, call->procedure, call->image, e))
		return -1;
	report_show_others(f.others);
	if (f.proc != MAP_NONE)
		return graph_counted(call, data, &f, e);
	return call->out && !geteuid() ? graph_by_child(call, data, &f, e) :
					 graph_sampled(call, data, &f, e);
}

static int graph_sources(struct graph_call *call, const char *const *source,
			 size_t n)
{
	struct dataset data;
	struct err e;
	int status;

	if (sources_open(&data, source, n, &call->pick, &e))
		return cmd_fail(&e);
	data.same_work = call->same_work;
	report_show_dataset_notes(&data);
	status = graph_found(call, &data, &e);
	if (status < 0)
		status = cmd_fail(&e);
	dataset_close(&data);
	return status;
}

static int graph_run(void *words, const struct arguments *a)
{
	struct graph_call *call = words;
	int status = sources_fit(&cmd_graph, a, 1);

	call->procedure = a->operand.at[0];
	if (call->json)
		call->form = GRAPH_JSON;
	return status ? status : graph_sources(call, a->operand.at + 1,
					       a->operand.n - 1);
}

const struct command cmd_graph = {
	.name = "graph",
	.summary = "the flow graph of a procedure, with counts",
	.usage = "[OPTION...] PROCEDURE PROFILE|TRACE|DB...",
	.about = "Draws the flow graph of a procedure, with how often its "
		 "blocks ran and which way they were left. PROCEDURE is a "
		 "name as `tally report` shows it, with or without arguments, "
		 "a symbol, or 0xADDRESS of anything in it. Of databases "
		 "blocks have samples, and ways nothing: samples do not tell "
		 "how often they were gone. Of both, blocks have both, and the "
		 "time of one execution.",
	.closing = "Red is what ran most, dashed what never did, yellow what "
		   "is not known; loops are boxes. Graphviz's `dot` makes the "
		   "layout.",
	.operands = (const struct operand[]){
		{.name = "PROCEDURE", .offer = OFFER_PROCEDURES},
		{"PROFILE or DB", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(graph_options),
		OPTIONS_AT(choose_image_option, struct graph_call, image),
		OPTIONS_AT(same_work_option, struct graph_call, same_work),
		OPTIONS_AT(json_option, struct graph_call, json),
		OPTIONS(help_option),
		DATABASE_OPTIONS(struct graph_call, pick), {0}},
	.defaults = &(const struct graph_call){0},
	.size = sizeof(struct graph_call),
	.run = graph_run,
};
