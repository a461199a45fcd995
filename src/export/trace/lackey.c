/*
 * lackey: the text of `valgrind --tool=lackey --trace-mem=yes`, of which
 * simulators are readers: a line for each access, instruction fetches first.
 */
#include <inttypes.h>

#include "export/trace/sinks.h"

struct lackey {
	struct replay_sink is;
	FILE *to;
};

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct lackey *k = (struct lackey *)s;
	struct replay_insn i;

	if (x->kind != REPLAY_BLOCK)
		return;
	replay_insns(&i, x);
	while (replay_insn_next(&i))
		fprintf(k->to, "I  %08" PRIx64 ",%" PRIu32 "\n", i.pc, i.size);
}

static void end(struct replay_sink *s)
{
	mem_free(s);
}

struct replay_sink *sink_lackey(FILE *to, const struct sink_options *o)
{
	struct lackey *k = NEW_ARRAY(struct lackey, 1);

	(void)o;
	*k = (struct lackey){{take, end}, to};
	return &k->is;
}
