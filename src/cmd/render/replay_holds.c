/*
 * replay_holds: what a trace has: what it says of itself, and a row for each
 * thread.
 */
#include "cmd/render/replay_show.h"

#include <inttypes.h>

#include "base/json.h"
#include "base/name.h"
#include "cmd/render/table.h"

/* notes with a blank in their keys are for tally alone */
static bool is_for_people(const struct trace_note *n)
{
	return !strchr(n->key, ' ');
}

/* of the trace's file */
static uint64_t bytes_of(const struct trace_thread *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->nchunk; i++)
		n += trace_block_room(t->chunk[i].block.size);
	return n;
}

static const char *name_of(const struct trace_file *f,
			   const struct trace_thread *t)
{
	const struct trace_process *p = trace_process(f, t->process);

	return p ? p->name : "?";
}

/* --- for people */

static void put_notes(const struct trace_file *f, FILE *to)
{
	for (size_t i = 0; i < f->note.n; i++) {
		if (!is_for_people(&f->note.at[i]))
			continue;
		name_print(to, f->note.at[i].key, "");
		fputs(": ", to);
		name_print(to, f->note.at[i].value, "");
		putc('\n', to);
	}
	if (f->last)
		fputs("it has the end of the run alone\n", to);
	if (f->truncated)
		fprintf(to, "incomplete: %s\n", f->truncated);
	putc('\n', to);
}

/* a number that is a name: without commas */
static void put_id(struct table *x, bool known, uint32_t id)
{
	char text[16];

	snprintf(text, sizeof text, "%" PRIu32, id);
	table_text(x, known ? text : "?");
}

static void put_row(struct table *x, const struct trace_file *f,
		    const struct thread_totals *k)
{
	const struct trace_thread *t = &k->thread;
	const struct trace_process *p = trace_process(f, t->process);

	put_id(x, true, t->process);
	put_id(x, p && p->pid, p ? p->pid : 0);
	put_id(x, true, t->thread);
	table_number(x, true, k->insns);
	table_number(x, true, k->branches);
	table_number(x, true, k->gaps);
	table_number(x, true, k->lost);
	table_number(x, true, t->end - t->first);
	table_number(x, true, bytes_of(t));
	table_text(x, trace_ended_text(t->ended));
	table_text(x, name_of(f, t));
	table_end_row(x, LOOK_PLAIN);
}

void replay_show_text(const struct trace_file *f, const struct trace_totals *t,
		      FILE *to)
{
	static const struct table_column columns[] = {
		{"process", TABLE_NUMBER}, {"pid", TABLE_NUMBER},
		{"thread", TABLE_NUMBER}, {"instructions", TABLE_NUMBER},
		{"branches", TABLE_NUMBER}, {"gaps", TABLE_NUMBER},
		{"lost", TABLE_NUMBER}, {"parts", TABLE_NUMBER},
		{"bytes", TABLE_NUMBER}, {"end", TABLE_WORD},
		{"name", TABLE_NAME},
	};
	struct table x;

	put_notes(f, to);
	table_begin(&x, columns, sizeof columns / sizeof *columns, to);
	for (size_t i = 0; i < t->thread.n; i++)
		put_row(&x, f, &t->thread.at[i]);
	table_print(&x);
}

/* --- for programs */

static void thread_json(struct json *j, const struct trace_file *f,
			const struct thread_totals *k)
{
	const struct trace_thread *t = &k->thread;
	const struct trace_process *p = trace_process(f, t->process);

	json_object(j, NULL);
	json_number(j, "process", t->process);
	if (p)
		json_number(j, "pid", p->pid);
	else
		json_null(j, "pid");
	json_number(j, "thread", t->thread);
	json_number(j, "instructions", k->insns);
	json_number(j, "branches", k->branches);
	json_number(j, "gaps", k->gaps);
	json_number(j, "lost", k->lost);
	json_number(j, "first_part", t->first);
	json_number(j, "parts", t->end - t->first);
	json_number(j, "bytes", bytes_of(t));
	json_string(j, "end", trace_ended_text(t->ended));
	json_string(j, "name", name_of(f, t));
	json_end(j);
}

void replay_show_json(const struct trace_file *f, const struct trace_totals *t,
		      FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_object(&j, "notes");
	for (size_t i = 0; i < f->note.n; i++)
		if (is_for_people(&f->note.at[i]))
			json_string(&j, f->note.at[i].key,
				    f->note.at[i].value);
	json_end(&j);
	json_bool(&j, "last", f->last);
	json_bool(&j, "complete", !f->truncated);
	json_array(&j, "threads");
	for (size_t i = 0; i < t->thread.n; i++)
		thread_json(&j, f, &t->thread.at[i]);
	json_end(&j);
	json_end(&j);
}
