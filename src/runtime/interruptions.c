/*
 * interruptions: handlers that never return to what they interrupted.
 *
 * A handler may leave by longjmp(), or end its thread or process. Then the
 * thread ended, as far as the interrupted block is concerned, where the signal
 * arrived (exits.c). Every handler's begin is remembered, with the frame record
 * that the kernel makes for it on the stack; its return is not seen. But the
 * function that leaves it has that record among those of its callers:
 *
 *	exit()    all records above that belong to a handler
 *	longjmp() those up to the frame that it goes back to, whose record
 *	          is in the jump buffer (a hook is at its entry)
 *
 * What is remembered of a handler that has returned is never found: a record
 * in the same place has something else in it.
 *
 * Where code keeps no records (x86-64), the kernel's frame lies between the
 * stack pointer at that call and the one that is gone back to. There the
 * module sees handlers return, and forgets them; programs without it cannot
 * tell if one has, and say so. NEEDSWORK: a handler that is left by
 * setcontext(), execve() or an exception is not seen, nor one that is left
 * through functions without frame records.
 */
#include "runtime/counting.h"

enum { RECORDS = 4096 }; /* looked at, at most */

/* what is remembered of this thread with that record, or NULL */
static struct interruption *find(struct counting *c, const struct frame *f)
{
	const struct interruption *x = handler_find(c, thread_self(c), f);

	return x ? &c->interruption[x - c->interruption] : NULL;
}

static _Bool is_readable(const struct counting *c, const struct frame *f)
{
	struct frame copy;

	return !((uintptr_t)f % sizeof f->back) &&
	       c->peek(c, f, &copy, sizeof copy);
}

/* is any handler of this thread remembered? */
static _Bool any(const struct counting *c)
{
	uintptr_t self = thread_self(c);

	for (unsigned i = 0; i < INTERRUPTIONS; i++)
		if (c->interruption[i].thread == self)
			return 1;
	return 0;
}

/* a place of this thread's, NULL: there is none */
static struct interruption *take(struct counting *c)
{
	for (unsigned i = 0; i < INTERRUPTIONS; i++) {
		uintptr_t none = 0;

		if (__atomic_compare_exchange_n(&c->interruption[i].thread,
						&none, thread_self(c), 0,
						__ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return &c->interruption[i];
	}
	return NULL;
}

/* is the record among those from f on, before `end`? */
static _Bool is_before(const struct counting *c, const struct frame *f,
		       const struct frame *end, const struct frame *record)
{
	if (!ARCH_FRAME_RECORDS)
		return record >= f && (!end || record < end);
	for (unsigned i = 0; i < RECORDS && f != end && is_readable(c, f);
	     i++, f = f->next)
		if (f == record)
			return 1;
	return 0;
}

/* forgets this thread's handlers that have returned */
static void drop_returned(struct counting *c, const struct frame *f)
{
	unsigned long context[ARCH_UC_WORDS];
	uintptr_t self = thread_self(c);

	for (unsigned i = 0; i < INTERRUPTIONS; i++)
		if (c->interruption[i].thread == self &&
		    !(is_before(c, f, NULL, c->interruption[i].record) &&
		      handler_is_intact(c, &c->interruption[i], context)))
			c->interruption[i].thread = 0;
}

void handler_begins(struct counting *c, const void *context,
		    const struct frame *record)
{
	struct interruption *x = find(c, record);

	if (!ARCH_NOTES_ENDS || !c->process || c->confined)
		return;
	if (!x)
		x = take(c);
	if (!x) {
		drop_returned(c, record);
		x = take(c);
	}
	if (!x) {
		note_begins(c->process); /* and never ends */
		return;
	}
	x->context = context;
	x->pc = arch_pc(context);
	x->shown = 0;
	x->was = *record;
	x->record = record; /* the last: from now on it is found */
}

void handler_sees(struct counting *c, const struct frame *record,
		  uintptr_t shown)
{
	struct interruption *x = find(c, record);

	if (x)
		x->shown = shown;
}

/* forgets all of a thread, or (0) of all */
static void forget(struct counting *c, uintptr_t thread)
{
	for (unsigned i = 0; i < INTERRUPTIONS; i++)
		if (!thread || c->interruption[i].thread == thread)
			c->interruption[i].thread = 0;
}

/* a handler is left, if it has not returned */
static void end_handler(struct counting *c, struct interruption *x)
{
	unsigned long context[ARCH_UC_WORDS];

	if (handler_is_intact(c, x, context)) {
		if (ARCH_FRAME_RECORDS || ARCH_SEES_RETURNS)
			place_note(c, thread_self(c), context, 1);
		else
			note_begins(c->process); /* and never ends */
	}
	x->thread = 0;
}

static void end_records(struct counting *c, const struct frame *f,
			const struct frame *end)
{
	struct interruption *x;

	for (unsigned i = 0; i < RECORDS && f != end && is_readable(c, f);
	     i++, f = f->next)
		if ((x = find(c, f)))
			end_handler(c, x);
}

static void end_between(struct counting *c, const struct frame *f,
			const struct frame *end)
{
	uintptr_t self = thread_self(c);

	/* a thread's end leaves all handlers, on whichever stack they are */
	for (unsigned i = 0; i < INTERRUPTIONS; i++)
		if (c->interruption[i].thread == self &&
		    ((!end && ARCH_SEES_RETURNS) ||
		     is_before(c, f, end, c->interruption[i].record)))
			end_handler(c, &c->interruption[i]);
}

void handlers_end(struct counting *c, const struct frame *f,
		  const struct frame *end)
{
	if (!any(c) || !process_is_own(c))
		return;
	note_begins(c->process);
	/* not a caller's frame: what the jump leaves is not known */
	if (end && !is_before(c, f, NULL, end))
		return;
	if (ARCH_FRAME_RECORDS)
		end_records(c, f, end);
	else
		end_between(c, f, end);
	if (!end)
		forget(c, thread_self(c));
	note_ends(c->process);
}

void handler_returned(struct counting *c, const struct frame *record)
{
	struct interruption *x = find(c, record);

	if (x)
		x->thread = 0;
}

void handler_noted(struct counting *c, const void *context)
{
	uintptr_t self = thread_self(c);

	for (unsigned i = 0; i < INTERRUPTIONS; i++)
		if (c->interruption[i].thread == self &&
		    c->interruption[i].context == context)
			c->interruption[i].thread = 0;
}

void handlers_forget(struct counting *c)
{
	forget(c, 0);
}

void counting_on_jump(struct arch_hook *g, const struct launch_env *h)
{
	const uintptr_t *buffer = (const void *)g->arg[0];
	uintptr_t f = arch_hook_frame(g);

	if (h->counting && !h->counting->confined && any(h->counting) &&
	    sys_readable(buffer + ARCH_JUMP_FRAME))
		handlers_end(h->counting, (const void *)f,
			     (const void *)arch_jump_frame(
				     buffer[ARCH_JUMP_FRAME], f));
}
