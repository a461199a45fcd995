/* walk_tell: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

const char walk_cut_off[] = "lost: up to 64 branches";

void walk_tell(struct walk *w, const struct walk_step *s)
{
	w->ntold++;
	w->holds = true;
	*walk_held(w) = *s;
}

struct walk_step walk_other_step(const struct walk *w, enum walk_kind kind)
{
	return (struct walk_step){.kind = (uint8_t)kind, .edge = MAP_NONE,
				  .address = w->at.address,
				  .depth = w->stacks.is.frame.n,
				  .why = w->why};
}

void walk_tell_interruption(struct walk *w, uint32_t signal, uint64_t at)
{
	struct walk_step s = walk_other_step(w, WALK_SIGNAL);

	s.number = signal;
	s.address = at;
	s.values = w->stream.record_values;
	walk_tell(w, &s);
}

void walk_tell_resumption(struct walk *w, uint32_t signal)
{
	struct walk_step s = walk_other_step(w, WALK_RESUME);

	s.number = signal;
	walk_tell(w, &s);
}

void walk_note_told(struct walk *w, const struct trace_record *r)
{
	w->told = WALK_TELLS_VALUES;
	w->values = w->stream.record_values;
	if (r->nword < 2 || (r->kind != RING_JUMP && r->kind != RING_ENTRY &&
			     r->kind != RING_BEGIN))
		return;
	w->told |= WALK_TELLS_SP;
	w->sp = r->word[1];
}

void walk_tell_block(struct walk *w, uint32_t first, uint32_t n)
{
	w->ntold++;
	w->holds = true;
	walk_block_step(w, first, n, walk_held(w));
	w->told = 0;
}
