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
#include "runtime/audit_int.h"
#include "runtime/passport.h"

void enter(uintptr_t *stack, const struct passport *p)
{
	struct told *told = sys_map(sizeof *told);

	if (!told)
		return;
	if (stack_clean(stack, told)) {
		told->handover.on_call = world_on_call;
		*(struct handover **)((char *)p + p->word) = &told->handover;
	} else {
		sys_unmap(told, sizeof *told);
	}
}
