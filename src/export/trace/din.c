/*
 * din: the text that the cache simulator Dinero reads: a line for each access,
 * its label and its address. Instruction fetches have label 2.
 */
#include <inttypes.h>

#include "export/trace/sinks.h"

struct din {
	struct replay_sink is;
	FILE *to;
};

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct din *k = (struct din *)s;
	struct replay_insn i;

	if (x->kind != REPLAY_BLOCK)
		return;
	replay_insns(&i, x);
	while (replay_insn_next(&i))
		fprintf(k->to, "2 %" PRIx64 "\n", i.pc);
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
