/*
 * din: the text that the cache simulator Dinero reads: a line for each access,
 * its label and its address. Reads have label 0, writes 1, instruction fetches
 * 2.
 */
#include <inttypes.h>

#include "export/trace/sinks.h"

struct din {
	struct replay_sink is;
	FILE *to;
};

/* what is not known is left out */
static void put_data(struct din *k, const struct replay_data *d)
{
	if (d->known && d->kind != ACCESS_STORE)
		fprintf(k->to, "0 %" PRIx64 "\n", d->address);
	if (d->known && d->kind != ACCESS_LOAD)
		fprintf(k->to, "1 %" PRIx64 "\n", d->address);
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct din *k = (struct din *)s;
	struct replay_accesses a = {.x = x};
	uint32_t n = x->step.first;
	struct replay_insn i;
	struct replay_data d;

	if (x->kind != REPLAY_BLOCK)
		return;
	replay_insns(&i, x);
	for (; replay_insn_next(&i); n++) {
		fprintf(k->to, "2 %" PRIx64 "\n", i.pc);
		while (replay_data_next(&a, n, &d))
			put_data(k, &d);
	}
}

static void end(struct replay_sink *s)
{
	mem_free(s);
}

struct replay_sink *sink_din(FILE *to, const struct sink_options *o)
{
	struct din *k = NEW_ARRAY(struct din, 1);

	(void)o;
	*k = (struct din){{take, end}, to};
	return &k->is;
}
