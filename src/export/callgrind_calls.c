/*
 * callgrind_calls: of a run in which calls were measured (run_calls.h), for
 * callgrind_annotate and kcachegrind: a column for each event; each procedure
 * with its own cost, where it begins, and its calls with what they cost with
 * all that the callee did. A recursive call has the cost of all activations, as
 * valgrind has it. What is not known is left out: a comment says so in its
 * place.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "export/callgrind_file.h"
#include "export/formats.h"
#include "profile/run_calls.h"
#include "profile/run_events.h"

struct writer {
	struct callgrind_file out;
	struct run_calls r;
	struct run_procedures procs;
	VEC(uint32_t) order; /* of calls: by caller */
	uint64_t calls, owns; /* whose cost is left out */
};

/* --- the head */

/* as valgrind calls the event */
static void write_column(FILE *to, const struct event *x)
{
	char *name = name_text(x->name, " ");

	for (char *at = name; *at; at++)
		if (*at == '-')
			*at = '_';
	fprintf(to, " %s", x->kind == EVENT_INSNS ? "Ir" :
			   x->kind == EVENT_LOADS ? "Dr" :
			   x->kind == EVENT_STORES ? "Dw" : name);
	mem_free(name);
}

static int write_head(struct writer *x, struct counts *t, struct err *e)
{
	const struct event_list *list = &x->r.list;
	FILE *to = x->out.to;
	struct run_events all;

	if (run_events_make(&all, t, list, false, e))
		return -1;
	callgrind_head(&x->out, t);
	fputs("positions: instr line\nevents:", to);
	for (unsigned k = 0; k < list->n; k++)
		write_column(to, &list->at[k]);
	fputs("\nsummary:", to);
	for (unsigned k = 0; k < list->n; k++)
		fprintf(to, " %" PRIu64, all.at[k].n);
	fputs("\n", to);
	run_events_free(&all);
	return 0;
}

/* --- procedures and calls */

/* an end of a call, or a procedure: code, or what stands for such */
struct code {
	const struct counts_image *m; /* or NULL */
	uint64_t addr;
	struct line_place at;
};

static struct code code_at(const struct writer *x, uint32_t image,
			   uint64_t addr)
{
	struct code c = {.at.file = "???"};

	if (image != CALL_NONE) {
		c.m = &x->r.t->image[image];
		c.addr = addr;
		c.at = callgrind_place(c.m, addr);
	}
	return c;
}

static uint64_t entry_of(const struct writer *x, uint32_t image, uint32_t proc)
{
	const struct counts *t = x->r.t;

	return counts_map(t, &t->image[image])->proc.at[proc].entry;
}

static const char *object_name(const struct code *c)
{
	return c->m ? c->m->map->path : "???";
}

static void write_costs(struct writer *x, const struct code *c,
			const uint64_t *value)
{
	fprintf(x->out.to, "0x%" PRIx64 " %" PRIu32, c->addr, c->at.line);
	for (unsigned k = 0; k < x->r.list.n; k++)
		fprintf(x->out.to, " %" PRIu64, value[k]);
	putc('\n', x->out.to);
}

static void write_call(struct writer *x, const struct run_call *c,
		       const char **file)
{
	struct code site = code_at(x, c->image, c->addr);
	struct code to = code_at(x, c->to_image, c->to);

	if (!c->known) {
		x->calls += c->calls;
		fprintf(x->out.to, "# %" PRIu64 " calls at 0x%" PRIx64
			" of ", c->calls, c->addr);
		name_print(x->out.to, run_call_callee(&x->r, c), "");
		fputs(": their cost is not known\n", x->out.to);
		return;
	}
	if (strcmp(*file, site.at.file))
		callgrind_name(&x->out, &x->out.file, "fi", site.at.file);
	*file = site.at.file;
	callgrind_name(&x->out, &x->out.object, "cob", object_name(&to));
	callgrind_name(&x->out, &x->out.file, "cfi", to.at.file);
	callgrind_name(&x->out, &x->out.function, "cfn",
		       run_call_callee(&x->r, c));
	fprintf(x->out.to, "calls=%" PRIu64 " 0x%" PRIx64 " %" PRIu32 "\n",
		c->calls, to.addr, to.at.line);
	write_costs(x, &site, c->value);
}

static void write_own(struct writer *x, const struct code *c,
		      const struct run_procedure *p)
{
	if (p->own_known) {
		write_costs(x, c, p->value + 2 * x->r.list.n);
		return;
	}
	x->owns++;
	fputs("# its own cost is not known\n", x->out.to);
}

/* a procedure: name, own cost if it has such, calls */
static void write_procedure(struct writer *x, const struct code *c,
			    const char *name, const struct run_procedure *p,
			    const uint32_t *call, size_t n)
{
	const char *file = c->at.file;

	putc('\n', x->out.to);
	callgrind_name(&x->out, &x->out.object, "ob", object_name(c));
	callgrind_name(&x->out, &x->out.file, "fl", file);
	callgrind_name(&x->out, &x->out.function, "fn", name);
	if (p)
		write_own(x, c, p);
	for (size_t i = 0; i < n; i++)
		write_call(x, &x->r.call.at[call[i]], &file);
}

/* --- all of them, by caller */

/* procedures by image, then those that are none */
static int by_caller(const struct run_call *a, const struct run_call *b)
{
	const uint64_t k[][2] = {
		{a->image, b->image}, {a->proc, b->proc},
		{a->image == CALL_NONE ? a->kind : 0,
		 b->image == CALL_NONE ? b->kind : 0},
		{a->signal, b->signal},
	};

	for (unsigned i = 0; i < sizeof k / sizeof *k; i++)
		if (k[i][0] != k[i][1])
			return k[i][0] < k[i][1] ? -1 : 1;
	return 0;
}

static int compare_calls(const void *a, const void *b, void *call)
{
	const struct run_call *at = call;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int by = by_caller(&at[i], &at[j]);

	return by ? by : i < j ? -1 : i > j;
}

static void write_caller(struct writer *x, const uint32_t *call, size_t n)
{
	const struct run_call *c = &x->r.call.at[call[0]];
	const struct run_procedure *p = NULL;
	struct code at = code_at(x, CALL_NONE, 0);

	if (c->image != CALL_NONE) {
		p = run_procedure_find(&x->procs, c->image, c->proc);
		at = code_at(x, c->image, entry_of(x, c->image, c->proc));
	}
	write_procedure(x, &at, run_call_site(&x->r, c), p, call, n);
}

/* procedures that call nothing */
static void write_leaves(struct writer *x, const bool *calls)
{
	for (size_t i = 0; i < x->procs.v.n; i++) {
		const struct run_procedure *p = &x->procs.v.at[i];
		const struct counts_image *m = &x->r.t->image[p->image];
		struct code at;

		if (calls[i])
			continue;
		at = code_at(x, p->image, entry_of(x, p->image, p->proc));
		write_procedure(x, &at, symbolizer_procedure(m->symbolizer,
							     p->proc),
				p, NULL, 0);
	}
}

static void write_all(struct writer *x)
{
	bool *calls = NEW_ARRAY(bool, x->procs.v.n + 1);
	const struct run_call *at = x->r.call.at;

	for (uint32_t i = 0; i < x->r.call.n; i++)
		vec_push(&x->order, i);
	if (x->order.n)
		qsort_r(x->order.at, x->order.n, sizeof *x->order.at,
			compare_calls, x->r.call.at);
	for (size_t i = 0, end; i < x->order.n; i = end) {
		const struct run_call *c = &at[x->order.at[i]];
		const struct run_procedure *p =
			run_procedure_find(&x->procs, c->image, c->proc);

		for (end = i; end < x->order.n; end++)
			if (by_caller(c, &at[x->order.at[end]]))
				break;
		if (p)
			calls[p - x->procs.v.at] = true;
		write_caller(x, x->order.at + i, end - i);
	}
	write_leaves(x, calls);
	mem_free(calls);
}

/* 1 and *e, if there is something to say */
static int note_left_out(const struct writer *x, struct err *e)
{
	if (!x->calls && !x->owns)
		return 0;
	err_set(e, ERR_INPUT, "what is not known is left out: what calls cost "
		"(%" PRIu64 "), and procedures without what they called (%"
		PRIu64 ")", x->calls, x->owns);
	return 1;
}

int export_callgrind_calls(struct dataset *d, FILE *to, struct err *e)
{
	struct writer x = {.out = {.to = to, .numbers = true}};
	int status;

	if (run_calls_make(&x.r, d->counts, e))
		return -1;
	status = write_head(&x, d->counts, e);
	if (!status) {
		run_procedures_make(&x.procs, &x.r);
		write_all(&x);
		status = note_left_out(&x, e);
	}
	vec_free(&x.order);
	vec_free(&x.procs.v);
	run_calls_free(&x.r);
	callgrind_file_free(&x.out);
	return status;
}
