/*
 * fetches: the text of simulators that have a line for each access of memory:
 * instructions are fetched, data is read and written. What is not known is left
 * out.
 *
 *	din	Dinero: a label (0: read, 1: written, 2: fetched), the address
 *	lackey	of `valgrind --tool=lackey --trace-mem=yes`: I, L, S or M
 *		(both), address, size
 */
#include <inttypes.h>

#include "export/trace/sinks.h"

struct form {
	void (*insn)(FILE *to, const struct replay_insn *i);
	void (*data)(FILE *to, const struct replay_data *d);
};

struct fetches {
	struct replay_sink is;
	FILE *to;
	struct form form;
};

static void din_insn(FILE *to, const struct replay_insn *i)
{
	fprintf(to, "2 %" PRIx64 "\n", i->pc);
}

static void din_data(FILE *to, const struct replay_data *d)
{
	if (d->kind != ACCESS_STORE)
		fprintf(to, "0 %" PRIx64 "\n", d->address);
	if (d->kind != ACCESS_LOAD)
		fprintf(to, "1 %" PRIx64 "\n", d->address);
}

static void lackey_insn(FILE *to, const struct replay_insn *i)
{
	fprintf(to, "I  %08" PRIx64 ",%" PRIu32 "\n", i->pc, i->size);
}

static void lackey_data(FILE *to, const struct replay_data *d)
{
	fprintf(to, " %c %08" PRIx64 ",%" PRIu32 "\n", "LSM"[d->kind],
		d->address, d->size);
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct fetches *k = (struct fetches *)s;
	struct replay_accesses a = {.x = x};
	uint32_t n = x->step->first;
	struct replay_insn i;
	struct replay_data d;

	if (x->kind != REPLAY_BLOCK)
		return;
	replay_insns(&i, x);
	for (; replay_insn_next(&i); n++) {
		k->form.insn(k->to, &i);
		while (replay_data_next(&a, n, &d))
			if (d.known && d.size != MEM_SIZE_UNKNOWN)
				k->form.data(k->to, &d);
	}
}

static void end(struct replay_sink *s)
{
	mem_free(s);
}

static struct replay_sink *begin(FILE *to, struct form form)
{
	struct fetches *k = NEW_ARRAY(struct fetches, 1);

	*k = (struct fetches){{take, end}, to, form};
	return &k->is;
}

struct replay_sink *sink_din(FILE *to, const struct sink_options *o)
{
	(void)o;
	return begin(to, (struct form){din_insn, din_data});
}

struct replay_sink *sink_lackey(FILE *to, const struct sink_options *o)
{
	(void)o;
	return begin(to, (struct form){lackey_insn, lackey_data});
}
