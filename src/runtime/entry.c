/*
 * entry: what runs first in a rewritten program that no audit module is loaded
 * with: static programs, and those of musl, whose loader knows none. It does
 * the module's part that such a program needs: the stack is cleaned, and the
 * gates get somebody to ask. Libraries are not its business.
 *
 * It lies in the rewritten file, where it is nobody's object: made of code and
 * constants alone, which know each other by their distance (entry.ld). What it
 * has to remember is mapped.
 */
#include "runtime/hooks.h"

struct memory {
	struct told told;
	struct counting counting;
};

/*
 * `loaded`: by a C library, which is as it was. `stack`: as the kernel left
 * it, or clean.
 */
static void begin(struct memory *m, const struct passport *p, _Bool loaded,
		  uintptr_t *stack)
{
	struct handover *h = &m->told.handover;

	h->on_call = world_on_call;
	h->after_call = counting_after_call;
	h->on_jump = counting_on_jump;
	h->on_indirect = pairs_on_indirect;
	*(struct handover **)((char *)p + p->word) = h;
	counting_begin(&m->counting, h);
	if (!h->counting || !p->ncounter)
		return;
	image_opened(h->counting, p, h->field[HANDOVER_COPY]);
	if (!loaded)
		signals_begin(h->counting);
	else if (!hooks_begin(h, stack))
		ledger_trouble(h->counting, TROUBLE_UNSEEN);
}

/* entry.S: what tally fills in, the passport's distance first */
extern const int64_t distances[] __attribute__((visibility("hidden")));
extern const char entry_end[] __attribute__((visibility("hidden")));

struct counting *counting_here(void)
{
	const struct passport *p = (void *)((char *)distances + distances[0]);

	return (*(struct handover **)((char *)p + p->word))->counting;
}

void counting_own_code(struct counting *c)
{
	c->own_code = (uintptr_t)distances;
	c->own_code_end = (uintptr_t)entry_end;
}

void enter(uintptr_t *stack, const struct passport *p)
{
	struct memory *m = sys_map(sizeof *m);
	_Bool loaded = arch_thread(0);

	/* nobody has set it yet: a thread whose slot, if it has one, is 0 */
	if (!loaded)
		arch_set_thread((char *)p + p->word);
	if (!m)
		return;
	if (stack_clean(stack, &m->told))
		begin(m, p, loaded, stack);
	else if (p->ncounter && by_hand(stack, &m->told))
		begin(m, p, m->counting.late = loaded, stack);
	else
		sys_unmap(m, sizeof *m);
}
