/*
 * walk_int: what the files of walk share.
 *
 *	walk_tell.c	what is told
 *	walk_places.c	what addresses mean, and where control is
 *	walk_leave.c	ways out of procedures
 *	walk_signals.c	handlers
 *	walk_forks.c	processes that are made
 *	walk_calls.c	system calls
 *	walk_counts.c	what a walk counts, if it is to
 *	walk.c		steps, one by one; choices, gaps and ends
 *	walk_state.c	where epochs begin
 *	walk_begin.c	what threads begin with
 */
#ifndef TRACE_REGENERATE_WALK_INT_H
#define TRACE_REGENERATE_WALK_INT_H

#include "trace/regenerate/walk.h"

/* --- walk_tell.c */

extern const char walk_cut_off[];
/* the n-th step that is not given yet, from 0 */
static inline struct walk_step *walk_queued(struct walk *w, uint32_t n)
{
	return &w->queue[(w->given + n) % WALK_QUEUE];
}
/* the step that is held; requires: one is */
static inline struct walk_step *walk_held(struct walk *w)
{
	return walk_queued(w, w->ntold - 1);
}
/* the step that was held is next, and this one is held */
void walk_tell(struct walk *w, const struct walk_step *s);
/* a step that is no block, where control is */
struct walk_step walk_other_step(const struct walk *w, enum walk_kind kind);
/* by a signal, or (0) by what is not known, there; values that were written by
   then belong to what is interrupted */
void walk_tell_interruption(struct walk *w, uint32_t signal, uint64_t at);
void walk_tell_resumption(struct walk *w, uint32_t signal);
/* what a record says of the place that it leads to */
void walk_note_told(struct walk *w, const struct trace_record *r);
/* n instructions of the block where control is */
static inline void walk_block_step(const struct walk *w, uint32_t first,
				   uint32_t n, struct walk_step *s)
{
	s->kind = WALK_BLOCK;
	s->by = w->by;
	s->told = w->told;
	s->vertex = w->at.vertex;
	s->edge = first ? MAP_NONE : w->edge;
	s->first = first;
	s->n = n;
	s->image = w->at.image;
	s->plan = w->at.plan;
	s->base = w->at.base;
	s->address = w->at.plan->block[w->at.vertex].start;
	s->depth = w->stacks.is.frame.n;
	s->sp = w->sp;
	s->values = w->values;
}
void walk_tell_block(struct walk *w, uint32_t first, uint32_t n);

/* --- walk_counts.c; all but the first do nothing if it does not count */

/* control goes along an edge */
static inline void walk_count_edge(const struct walk *w, uint32_t e)
{
	if (!w->counts)
		return;
	w->at.plan->ran[e]++;
	w->counts->left = true;
}
/* requires: it counts. Control has come to where it is from outside of the
   procedure, by that edge of the map, or nothing says which */
void walk_count_arrival(const struct walk *w, uint32_t edge);
/* a frame ends at the place, where that many instructions of the block ran, or
   (MAP_NONE) all */
void walk_count_death(const struct walk *w, const struct replay_place *p,
		      uint32_t insn);
/* the jump that was counted as one away, by edge `away`, went by a hub */
void walk_count_hub(const struct walk *w, uint32_t away, uint32_t from_hub);
/* the thread ends there, in a system call if that is where the block ends */
void walk_count_end(const struct walk *w, const struct replay_place *p,
		    uint32_t insn);
/* struct stacks's drops: of a walk */
void walk_count_dropped(void *walk, const struct walk_frame *f,
			const struct walk_pause *x);

/* --- walk_places.c */

/* the place of an address of the image, or as it ran (NULL) */
struct replay_place walk_find(struct walk *w, struct replay_image *m,
			      uint64_t address);
/* the address in the original that stands for one as it ran; NULL: of none */
struct replay_image *walk_find_old(struct walk *w, uint64_t address,
				   uint64_t *old, uint64_t *base);
/* what the thread has said of images by now is known */
void walk_follow_images(struct walk *w);
/* where in a block an address of the original is; its instructions if it is
   nowhere there */
uint32_t walk_insn_at(const struct replay_place *p, uint64_t old);

void walk_lose(struct walk *w, const char *why);
void walk_finish(struct walk *w, const char *why);
void walk_enter_gap(struct walk *w, uint64_t address);
/* control is at an address as it ran, where a thread begins or goes on */
void walk_begin_at(struct walk *w, uint64_t at, uint64_t sp);

/* control is there, by that edge or MAP_NONE */
static inline void walk_arrive(struct walk *w, const struct replay_place *p,
			       uint32_t edge, enum walk_by by)
{
	w->at = *p;
	w->edge = edge;
	w->by = (uint8_t)by;
	w->fresh = true;
	w->first = 0;
	w->lost = w->paused = false;
	w->nway = 0;
	if (w->counts && (edge == MAP_NONE || by != BY_BRANCH))
		walk_count_arrival(w, edge);
}

/* the record that comes before the next bit, if it is of that kind and has so
   many words; or NULL */
static inline const struct trace_record *
walk_record(struct walk *w, enum ring_record kind, unsigned nword)
{
	const struct trace_record *r = stream_record(&w->stream);

	return r && r->kind == kind && r->nword >= nword ? r : NULL;
}

/* the stack pointer that a record has as that word; 0: it has none */
static inline uint64_t walk_sp(const struct trace_record *r, unsigned word)
{
	return r->nword > word ? r->word[word] : 0;
}

/* the thread has said that it is not traced from here on */
bool walk_stops(struct walk *w);
/* or it was not up to here, where it begins */
bool walk_is_paused(struct walk *w);

/* --- walk_leave.c */

/* a jump had said that it leads here, but jumps of a handler have since said
   otherwise */
void walk_pass_late_entry(struct walk *w);
/* the stream says nothing that fits */
void walk_not_said(struct walk *w);
void walk_go_along(struct walk *w, uint32_t e);
/* the innermost frame goes on */
void walk_pop(struct walk *w);
/* what was interrupted goes on; its frame was popped */
void walk_go_on(struct walk *w, const struct walk_frame *f);
/* control goes to a place in a frame that is not the innermost, perhaps */
void walk_land(struct walk *w, uint64_t address, uint64_t sp);
/* if it is certain in which frame that is */
bool walk_land_sure(struct walk *w, const struct replay_place *p, uint64_t sp);

/* --- walk_signals.c */

/* a signal has arrived where control is, or had just been */
void walk_interrupt(struct walk *w, const struct trace_record *r,
		    const struct walk_step *rest, uint32_t first);
/* has one arrived in what was told last, in the block that is about to be told,
   or in code that is not traced? Else it arrives later on */
bool walk_is_interrupted(struct walk *w);
/* has a handler returned? */
bool walk_resumes(struct walk *w);

/* --- walk_calls.c */

/* has the stream said of a call that is not told yet? */
static inline bool walk_awaits_call(const struct walk *w)
{
	return w->stream.told != w->stream.call.n;
}
/* tells the first of these, or what runs before it: if one of them is made in
   the block where control is, or it is not known where control is */
bool walk_tells_call(struct walk *w);

/* could frames that are further out than all that are known have that stack
   pointer, or a lower one? */
static inline bool walk_may_miss(const struct walk *w, uint64_t sp)
{
	const struct stack *s = &w->stacks.is;

	return !s->frame.n || s->frame.at[0].sp <= sp;
}

/* --- walk_state.c */

/* where control is when an epoch begins */
struct walk_start {
	struct replay_place at;
	uint32_t edge; /* by which it has come there; MAP_NONE: not known */
	bool pending;  /* it is about to go along that, out of the procedure */
	struct unwound open;
};

/* by the state that the stream has passed; false: it does not say. *to starts
   zeroed, and is to be freed in either case */
bool walk_find_start(struct walk *w, struct walk_start *to);
void walk_start_free(struct walk_start *x);
/* has the stream come to a state? Then the walk goes on there, if it says where
   that is; requires: it was lost */
bool walk_takes_state(struct walk *w);
/* tells a call that was open there; false: all were told */
bool walk_tells_open(struct walk *w);
/* control has gone along an edge with a code, or (pending) is about to: there
   may be a state here */
void walk_meets_state(struct walk *w, uint32_t pending);

/* --- walk_forks.c */

/* a process is about to be made */
void walk_keep_frames(struct walk *w, const struct trace_record *r);
/* does the thread go on that has made one in its memory? That has ended so */
bool walk_is_again(struct walk *w, const char *why);
#endif
