/*
 * fetches: the text of simulators that have a line for each access of memory:
 * instructions are fetched.
 *
 *	din	Dinero: the label 2, and the address
 *	lackey	of `valgrind --tool=lackey --trace-mem=yes`: address, size
 */
#include <inttypes.h>

#include "export/trace/sinks.h"

struct fetches {
	struct replay_sink is;
	FILE *to;
	void (*put)(FILE *to, const struct replay_insn *i);
};

static void put_din(FILE *to, const struct replay_insn *i)
{
	fprintf(to, "2 %" PRIx64 "\n", i->pc);
}

static void put_lackey(FILE *to, const struct replay_insn *i)
{
	fprintf(to, "I  %08" PRIx64 ",%" PRIu32 "\n", i->pc, i->size);
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct fetches *k = (struct fetches *)s;
	struct replay_insn i;

	if (x->kind != REPLAY_BLOCK)
		return;
	replay_insns(&i, x);
	while (replay_insn_next(&i))
		k->put(k->to, &i);
}

static void end(struct replay_sink *s)
{
	mem_free(s);
}

static struct replay_sink *begin(FILE *to, void (*put)(
					 FILE *to, const struct replay_insn *i))
{
	struct fetches *k = NEW_ARRAY(struct fetches, 1);

	*k = (struct fetches){{take, end}, to, put};
	return &k->is;
}

struct replay_sink *sink_din(FILE *to, const struct sink_options *o)
{
	(void)o;
	return begin(to, put_din);
}

struct replay_sink *sink_lackey(FILE *to, const struct sink_options *o)
{
	(void)o;
	return begin(to, put_lackey);
}
