/*
 * noret: calls that never come back. Functions noret_* never return,
 * functions mayret_* do on some path.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "progs.h"

jmp_buf noret_buffer;

__attribute__((noreturn, noinline)) void noret_exit(int n)
{
	exit(use(n));
}
__attribute__((noreturn, noinline)) void noret_abort(void)
{
	abort();
}
/* through another one: the call is the last instruction */
__attribute__((noreturn, noinline)) void noret_own(int n)
{
	use(n);
	noret_exit(n + 1);
}
__attribute__((noreturn, noinline)) void noret_loop(int n)
{
	for (;;)
		n = use(n);
}
__attribute__((noreturn, noinline)) void noret_trap(void)
{
	__builtin_trap();
}
__attribute__((noreturn, noinline)) void noret_jump(int n)
{
	longjmp(noret_buffer, n);
}
/* recursion without an end */
__attribute__((noreturn, noinline)) void noret_deep(int n)
{
	noret_deep(use(n) + 1);
}
__attribute__((noreturn, noinline)) void noret_either(int n)
{
	if (n > 3)
		noret_own(n);
	else if (n > 2)
		_exit(n);
	noret_abort();
}
/* one that the analysis has to find out by itself */
__attribute__((noinline)) int noret_unsaid(int n)
{
	noret_either(n);
	return 1;
}
__attribute__((noinline)) int mayret_check(int n)
{
	if (n < 0)
		noret_own(n);
	return use(n);
}
__attribute__((noinline)) int mayret_switch(int n)
{
	switch (n) {
	case 0: return use(1);
	case 1: noret_abort();
	case 2: return use(3);
	case 3: noret_exit(4);
	case 4: return use(5);
	case 5: noret_loop(6);
	}
	return n;
}
__attribute__((noinline)) int mayret_jump(int n)
{
	if (setjmp(noret_buffer))
		return use(1);
	noret_jump(n);
}

int all_noret(int n, char **v)
{
	switch (n) {
	case 100: noret_exit(n);
	case 101: noret_abort();
	case 102: noret_own(n);
	case 103: noret_loop(n);
	case 104: noret_trap();
	case 106: noret_deep(n);
	case 107: noret_either(n);
	case 108: return noret_unsaid(n);
	}
	return mayret_check(n) + mayret_switch(n) + mayret_jump(v != 0);
}
