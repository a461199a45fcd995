/* walk_calls: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

/* the instruction of the block that makes the call; how many it has: none */
static uint32_t calls_by(struct walk *w, const struct stream_call *c)
{
	uint32_t n = w->at.plan->block[w->at.vertex].ninsn, i;
	struct replay_image *m;
	uint64_t old, base;

	m = walk_find_old(w, c->at, &old, &base);
	i = m && m == w->at.image ? walk_insn_at(&w->at, old) : n;
	return i >= w->first ? i : n;
}

static void tell_call(struct walk *w)
{
	const struct stream_call *c = &w->stream.call.at[w->stream.told++];
	struct walk_step s = walk_other_step(w, WALK_SYSCALL);

	s.number = c->number;
	s.cpu = c->cpu;
	s.time = c->time;
	walk_tell(w, &s);
}

/*
 * The block up to the call comes first, and then the call: a signal may arrive
 * before its instruction is executed.
 */
static bool tells_within(struct walk *w)
{
	const struct stream *s = &w->stream;
	uint32_t n = w->at.plan->block[w->at.vertex].ninsn, i = n;
	size_t last = s->told;

	while (last < s->call.n && (i = calls_by(w, &s->call.at[last])) == n)
		last++;
	if (i == n)
		return false;
	if (last == s->told && i > w->first) {
		walk_tell_block(w, w->first, i - w->first);
		w->first = i;
		return true;
	}
	tell_call(w);
	return true;
}

bool walk_tells_call(struct walk *w)
{
	if (!walk_awaits_call(w))
		return false;
	if (!w->lost && !w->over)
		return tells_within(w);
	tell_call(w);
	return true;
}
