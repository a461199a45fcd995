/*
 * stacks: the calls that are open in a thread, on each of its stacks.
 *
 *	stack pointer of the caller, `caller'
 *	  |	procedure of `site'
 *	  sp	its call, which is open
 *	  |	the next frame, or what control is in
 *
 * Most returns lead to the innermost frame. What lands elsewhere, as longjmp(),
 * exceptions and switches of stacks do, tells the stack pointer: by that, and
 * by where in its procedure's frame it is there (struct map_height), the frame
 * is found that it lands in. If that is on another stack than control was on,
 * the frames of that one are kept, to be gone back to. What is not known is not
 * guessed: then there is no frame.
 */
#ifndef TRACE_REGENERATE_STACKS_H
#define TRACE_REGENERATE_STACKS_H

#include "trace/regenerate/step.h"

struct walk_frame {
	struct replay_place site; /* the block that called; image NULL: code
				     that is not traced */
	uint64_t sp;	 /* there, before the call; 0: not known */
	uint64_t caller; /* that of what called its procedure, or 0 */
	uint32_t pause;	 /* it did not call, but was interrupted: the number of
			    that, from 1 on; else 0 */
};

/* what was interrupted, by a signal or by a call that no code of it makes */
struct walk_pause {
	uint32_t signal; /* by which; 0: not known */
	/* by that signal, whose handler may not say that it returns; or 0 */
	uint32_t untold;
	uint64_t pc;
	/* what is left of its way, and of the block where it is, if that is
	   not told yet */
	const uint32_t *way;
	uint32_t nway;
	bool fresh;
	uint32_t first, edge;
	uint8_t by, told;
	uint64_t sp, values;
	uint32_t prefix; /* bits of a code that was half written */
	uint8_t nprefix;
	struct walk_step rest; /* of a block that was left by then */
	struct walk_step before; /* as the walk's */
};

struct stack {
	VEC(struct walk_frame) frame; /* the innermost is last */
	VEC(struct walk_pause) pause; /* of these, as they are */
};

struct stacks {
	struct stack is;	  /* where control is */
	VEC(struct stack) other; /* the one that was left last is last */
	bool partial; /* frames are missing: what is the only one that may go on
			 need not be the right one */
	/* one that was interrupted is left, and does not go on; or NULL */
	void (*drops)(void *arg, const struct walk_frame *f,
		      const struct walk_pause *x);
	void *arg;
};

static inline void stacks_push(struct stacks *s, const struct walk_frame *f)
{
	vec_push(&s->is.frame, *f);
}

/* the frame's number in what was interrupted is set */
void stacks_push_pause(struct stacks *s, struct walk_frame *f,
		       const struct walk_pause *p);
/* of this many frames; the others are left */
void stacks_cut(struct stacks *s, size_t n);
/* the innermost frame is left; requires: there is one */
struct walk_frame stacks_pop(struct stacks *s);
/* what interrupted it, if that was popped just now */
const struct walk_pause *stacks_pause(const struct stacks *s,
				      const struct walk_frame *f);

/* the stack pointer at a place, by its procedure's caller's; 0: not known */
static inline uint64_t stacks_sp(uint64_t caller, struct map_height h)
{
	if (!caller || !h.known)
		return 0;
	if (h.align)
		caller = (caller + (uint64_t)(h.before * 8)) & -1ull << h.align;
	return caller + (uint64_t)(h.words * 8);
}

/* the other way round */
static inline uint64_t stacks_caller(uint64_t sp, struct map_height h)
{
	return sp && h.known && !h.align ? sp - (uint64_t)(h.words * 8) : 0;
}

/* all frames are left */
void stacks_clear(struct stacks *s);
/* the frames of *from instead of those of *to, which are forgotten */
void stacks_copy(struct stacks *to, const struct stacks *from);
void stacks_free(struct stacks *s);

enum lands {
	LANDS_BEHIND_CALL, /* the frame's call has returned: it was popped */
	LANDS_WITHIN, /* the frame's procedure goes on there: so it was */
	LANDS_HERE, /* what control was in goes on, or has jumped */
	LANDS_ANEW, /* none of the frames is its */
};

/*
 * Control comes to that place, of a traced image, with that stack pointer, or
 * 0; from a procedure, of which `from' has the site and its caller's stack
 * pointer (site.image NULL: from none). Frames that it has left are popped.
 */
enum lands stacks_land(struct stacks *s, const struct walk_frame *from,
			 const struct replay_place *p, uint64_t sp,
			 struct walk_frame *f);
/* where no frame is certainly its, nothing changes */
enum lands stacks_land_sure(struct stacks *s, const struct replay_place *p,
			      uint64_t sp, struct walk_frame *f);
/* control comes to code that is not traced, in that hole perhaps, with that
   stack pointer, or 0: what is open then is what that returns to */
void stacks_land_outside(struct stacks *s, uint64_t sp,
			 struct replay_hole hole);

#endif
