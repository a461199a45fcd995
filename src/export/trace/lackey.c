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

/* what is not known is left out */
static void put_data(struct lackey *k, const struct replay_data *d)
{
	if (d->known && d->size != MEM_SIZE_UNKNOWN)
		fprintf(k->to, " %c %08" PRIx64 ",%" PRIu32 "\n",
			"LSM"[d->kind], d->address, d->size);
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct lackey *k = (struct lackey *)s;
	struct replay_accesses a = {.x = x};
	uint32_t n = x->step.first;
	struct replay_insn i;
	struct replay_data d;

	if (x->kind != REPLAY_BLOCK)
		return;
	replay_insns(&i, x);
	for (; replay_insn_next(&i); n++) {
		fprintf(k->to, "I  %08" PRIx64 ",%" PRIu32 "\n", i.pc, i.size);
		while (replay_data_next(&a, n, &d))
			put_data(k, &d);
	}
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
