/*
 * clone: see clone.h.
 */
#include "runtime/clone.h"

#include "runtime/audit_int.h"

/* words of struct clone_args */
enum {
	ARGS_FLAGS = 0,
	ARGS_STACK = 5,
	ARGS_TLS = 7,
};

_Bool clone_read(const struct arch_hook *g, _Bool trust, struct clone_call *x)
{
	const uint64_t *args = (const uint64_t *)g->arg[0];
	uintptr_t tls;

	if (arch_clone(g, &x->flags, &tls)) {
		x->tls = tls;
		x->stack = g->nr == SYS_CLONE && g->arg[1];
		return 1;
	}
	if (g->nr != SYS_CLONE3 ||
	    (!trust && (!sys_readable(args) || !sys_readable(args + ARGS_TLS))))
		return 0;
	x->flags = args[ARGS_FLAGS];
	x->tls = args[ARGS_TLS];
	x->stack = args[ARGS_STACK];
	return 1;
}
