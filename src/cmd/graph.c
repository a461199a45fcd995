/*
 * graph: `tally graph PROCEDURE PROFILE... [--format svg|dot|ps|html]`, the
 * flow graph of a procedure with its counts.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/graph_show.h"
#include "cmd/option.h"
#include "cmd/report_show.h"
#include "cmd/sampled_option.h"
#include "cmd/status_line.h"
#include "report/find.h"

static const char graph_usage[] =
	"usage: tally graph [OPTION...] PROCEDURE PROFILE|DB...\n"
	"\n"
	"Draws the flow graph of a procedure, with how often its blocks ran\n"
	"and which way they were left. PROCEDURE is a name as 'tally report'\n"
	"shows it, with or without arguments, a symbol, or 0xADDRESS of\n"
	"anything in it. Of databases blocks have samples, and ways nothing:\n"
	"samples do not tell how often they were gone. Of both, blocks have\n"
	"both, and the time of one execution.\n"
	"\n"
	"  --format svg   a picture; this is the default\n"
	"  --format html  a page that one can move, zoom and search\n"
	"  --format ps    for a printer\n"
	"  --format dot   what graphviz draws the others from\n"
	"  --json         for programs\n"
	"  --ran          only what ran, or may have\n"
	"  --same-work    counts and samples are of the same work, whatever\n"
	"                 their command lines say\n"
	"  --image NAME   the one in that image, if there are several\n"
	"  -o FILE        where to; standard output by default\n"
	SAMPLED_OPTION_HELP
	"\n"
	"Red is what ran most, dashed what never did, yellow what is not "
	"known;\nloops are boxes. graphviz's 'dot' makes the layout.\n";

enum graph_form { GRAPH_SVG, GRAPH_DOT, GRAPH_PS, GRAPH_HTML, GRAPH_JSON };

struct graph_call {
	const char *procedure, *image, *out;
	FILE *to; /* where it is drawn for `out`, if not there at once */
	VEC(const char *) profile;
	struct sampled_option of;
	enum graph_form form;
	bool ran, same_work;
};

static int graph_format(struct graph_call *call, const char *value)
{
	static const char *const names[] = {
		[GRAPH_SVG] = "svg", [GRAPH_DOT] = "dot", [GRAPH_PS] = "ps",
		[GRAPH_HTML] = "html",
	};

	for (int i = 0; i <= GRAPH_HTML; i++)
		if (!strcmp(value, names[i])) {
			call->form = (enum graph_form)i;
			return 0;
		}
	return cmd_misuse(&cmd_graph, "--format svg, dot, ps or html, not "
			  "'%s'", value);
}

/* reads one word; 0 or the exit status */
static int graph_word(void *to, char **argv, int *i, bool option)
{
	struct graph_call *call = to;
	const char *a = argv[*i], *value;
	int status = option ? sampled_option(&call->of, &cmd_graph, argv, i) :
			      0;

	if (option && status >= 0)
		return status;
	if (!option && !call->procedure)
		call->procedure = a;
	else if (!option)
		vec_push(&call->profile, a);
	else if ((value = option_value(argv, i, "--format")))
		return graph_format(call, value);
	else if ((value = option_value(argv, i, "--image")))
		call->image = value;
	else if ((value = option_value(argv, i, "-o")))
		call->out = value;
	else if (!strcmp(a, "--json"))
		call->form = GRAPH_JSON;
	else if (!strcmp(a, "--ran"))
		call->ran = true;
	else if (!strcmp(a, "--same-work"))
		call->same_work = true;
	else
		return cmd_misuse(&cmd_graph, "unknown option '%s'", a);
	return 0;
}

static int graph_parse(int argc, char **argv, struct graph_call *call)
{
	int status = option_each(argc, argv, graph_word, call);

	if (status)
		return status;
	if (!call->procedure)
		return cmd_misuse(&cmd_graph, "which PROCEDURE?");
	if (call->out && !*call->out)
		return cmd_misuse(&cmd_graph, "-o takes a file's name");
	return call->profile.n ? 0 : cmd_misuse(&cmd_graph,
						"which PROFILE or DB?");
}

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
		      const struct told_image *m, uint32_t proc,
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
	struct sampled_told x;
	struct drawn d = {.t = &x.t, .sampled = &x};
	int status;

	if (found_become_owner(f, data, e) ||
	    sampled_told_make(&x, data, f, e))
		return -1;
	annotation_make(&d.code, &x.image, x.proc);
	status = graph_draw(call, &d, &x.image, x.proc, e);
	sampled_told_free(&x);
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

static int graph_sources(struct graph_call *call)
{
	struct dataset data;
	struct err e;
	int status;

	if (dataset_open(&data, call->profile.at, call->profile.n,
			 &call->of.pick, &e))
		return cmd_fail(&e);
	data.same_work = call->same_work;
	report_show_dataset_notes(&data);
	status = graph_found(call, &data, &e);
	if (status < 0)
		status = cmd_fail(&e);
	dataset_close(&data);
	return status;
}

static int graph_run(int argc, char **argv)
{
	struct graph_call call = {0};
	int status = graph_parse(argc, argv, &call);

	if (!status)
		status = sampled_option_check(&cmd_graph, call.profile.at,
					      call.profile.n, &call.of);
	if (!status)
		status = graph_sources(&call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_graph = {
	.name = "graph",
	.summary = "the flow graph of a procedure, with counts",
	.usage = graph_usage,
	.run = graph_run,
};
