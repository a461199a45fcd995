/*
 * calls_signals: handlers of signals are called from a signal, and no part of
 * what they interrupted: counters are set back when they return. On the stack
 * there is a gap below a handler's entry, for what it interrupted may be
 * filling one, with what counters were.
 */
#include "runtime/calls_int.h"

uint64_t *calls_page(struct counting *c)
{
	int64_t slot = thread_slot(c);
	const struct running *x = c->calls ? running_of(c, slot) : NULL;

	return x ? x->at : NULL;
}

/*
 * What is called in a handler is not within what it interrupted: of that, down
 * to another handler, no procedure is active as long as it runs.
 */
static void set_active(const struct caller *t, struct call_entry *e, _Bool on)
{
	for (; e; e = e->sp & ENTRY_SIGNAL ? NULL : entry_below(t, e)) {
		uint64_t self = (uint64_t)(uintptr_t)e;
		uint64_t *active = e->active ? at_address(t, e->active) : NULL;

		if (!active || *active == ACTIVE_LOST)
			continue;
		if (on) /* the outermost one comes last */
			*active = self;
		else if (*active == self)
			*active = 0;
	}
}

void calls_handler_begins(struct counting *c, uint64_t signal,
			  struct signal_context *shown)
{
	struct caller t = caller_of(c, calls_page(c));
	struct call_entry *e;
	uint64_t record, *lanes;

	shown->calls = 0;
	if (!t.page || !t.page[CALLS_BASE] || !c->number)
		return;
	record = signal_record(&t, signal);
	t.page[CALLS_HANDLERS]++;
	e = record ? take_entries(&t, handler_gap(c->nevent) + 1) : NULL;
	if (!e) {
		t.page[CALLS_HANDLERS]--;
		return;
	}
	begin_entry(&t, e, arch_handler_sp(shown) | ENTRY_SIGNAL, record);
	record_at(&t, record)->self = record;
	lanes = lanes_below(&t, e);
	for (unsigned i = 0; i < c->nevent; i++) {
		lanes[2 * i] = t.page[running_event(i, RUNNING_PLAIN)];
		lanes[2 * i + 1] = t.page[running_event(i, RUNNING_LEAVES)];
	}
	set_active(&t, entry_below(&t, e), 0);
	__builtin_memcpy(lanes + 2 * c->nevent, &t.page[CALLS_LEAF_RECORD],
			 (1 + c->nevent) * sizeof *lanes);
	t.page[CALLS_LEAF_RECORD] = 0;
	shown->calls = (uint64_t)(uintptr_t)e - t.page[CALLS_BASE] + 1;
}

void set_aside(const struct caller *t, struct call_entry *e)
{
	const uint64_t *lanes = lanes_below(t, e);

	for (unsigned i = 0; i < t->c->nevent; i++) {
		uint64_t *a = &t->page[running_event(i, RUNNING_PLAIN)];
		uint64_t *b = &t->page[running_event(i, RUNNING_LEAVES)];

		t->page[RUNNING_HANDLED + i] += *a - lanes[2 * i] + *b -
						lanes[2 * i + 1];
		*a = lanes[2 * i];
		*b = lanes[2 * i + 1];
	}
	__builtin_memcpy(&t->page[CALLS_LEAF_RECORD],
			 lanes + 2 * t->c->nevent,
			 (1 + t->c->nevent) * sizeof *lanes);
}

void calls_handler_ends(struct counting *c, const struct signal_context *shown)
{
	struct caller t = caller_of(c, calls_page(c));
	struct call_entry *e, *top;

	if (!shown->calls || !t.page)
		return;
	e = (void *)(uintptr_t)(t.page[CALLS_BASE] + shown->calls - 1);
	top = top_of(&t);
	/* if it has been lost, so has all that it interrupted */
	if (!top || top < e || !(e->sp & ENTRY_SIGNAL)) {
		t.page[CALLS_HANDLERS] -= t.page[CALLS_HANDLERS] != 0;
		return;
	}
	for (; top > e; top = top_of(&t))
		close_entry(&t, top);
	if (top != e)
		return;
	close_entry(&t, e);
	set_active(&t, top_of(&t), 1);
	set_aside(&t, e);
}
