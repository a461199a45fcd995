/*
 * entry: what runs first in a rewritten program that no audit module is loaded
 * with: static programs, and those of musl, whose loader knows none. It does
 * the module's part that such a program needs: the stack is cleaned, and the
 * hooks get functions to call. Libraries are not its business.
 *
 * It lies in the rewritten file, but no loader relocates it: it is made of code
 * and constants alone, which know each other by their distance (entry.ld). What
 * it has to remember is mapped.
 */
#include "runtime/altstack.h"
#include "runtime/interpose.h"

struct memory {
	struct counts launcher;
	struct counting counting;
};

/* entry.S, entry.ld: where code of ours begins and ends */
extern const int64_t distances[] __attribute__((visibility("hidden")));
extern const char entry_end[] __attribute__((visibility("hidden")));

/*
 * `loaded`: by a C library, which is as it was. `stack`: as the kernel left
 * it, or clean.
 */
static void begin(struct memory *m, const struct object_header *p, _Bool loaded,
		  uintptr_t *stack)
{
	struct launch_env *h = &m->launcher.launch_env;

	h->on_call = altstack_on_call;
	h->after_call = altstack_after_call;
	h->on_jump = counting_on_jump;
	h->on_indirect = pairs_on_indirect;
	h->on_resume = context_resume;
	h->on_calls = calls_asked;
	h->on_trace = trace_asked;
	h->on_syscall = trace_syscall;
	*(struct launch_env **)at_distance(p, p->word) = h;
	altstack_begin(h, p);
	m->counting.own_code = (uintptr_t)distances;
	m->counting.own_code_end = (uintptr_t)entry_end;
	counting_begin(&m->counting, h);
	if (!h->counting || !p->ncounter)
		return;
	client_bind(h->counting, p);
	image_opened(h->counting, p, h->field[LAUNCH_ENV_COPY]);
	if (!loaded)
		signals_begin(h->counting);
	else if (!interpose_begin(h, stack))
		live_profile_trouble(h->counting, TROUBLE_UNSEEN);
}

/* entry.S calls it first of all, with the stack that the kernel made */
void enter(uintptr_t *stack, const struct object_header *p);

void enter(uintptr_t *stack, const struct object_header *p)
{
	struct memory *m = sys_map(sizeof *m);
	const uint32_t go = OBJECT_HEADER_ALONE | OBJECT_HEADER_SMALL_STACKS;
	_Bool loaded = arch_thread(0) && !(p->flags & OBJECT_HEADER_ALONE);
	_Bool unused = (p->flags & go) == go;

	/* not set yet: it gets one whose slot, if there is one, is 0 */
	if (!arch_thread(0)) {
		arch_set_thread(at_distance(p, p->word));
		unused = 1;
	}
	if (!m)
		return;
	/* Go without C does not look where it leads, if a loader set it */
	if (unused)
		m->counting.lent = arch_thread(0);
	if (stack_clean(stack, &m->launcher))
		begin(m, p, loaded, stack);
	else if (p->ncounter && by_hand(stack, &m->launcher))
		begin(m, p, m->counting.late = loaded, stack);
	else
		sys_unmap(m, sizeof *m);
}
