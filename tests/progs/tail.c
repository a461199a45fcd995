/*
 * tail: calls as the last thing. Functions tail_* whose only indirect jump
 * must be understood as leaving, at -O2 and above.
 */
#include "progs.h"

typedef int function(int);
static function *volatile pointer = use;

__attribute__((noinline)) static int first(int n)
{
	return use(n) + 1;
}
__attribute__((noinline)) static int second(int n)
{
	return use(n) + 2;
}
static function *const choice[] = {first, second, use, first};

int tail_direct(int n)
{
	return first(n + 1);
}
/* clang makes a conditional jump of it */
int tail_condition(int n)
{
	if (n > 3)
		return second(n);
	return use(n) * 2;
}
int tail_pointer(int n)
{
	return pointer(n);
}
int tail_argument(function *f, int n)
{
	return f(use(n));
}
int tail_table(int n)
{
	return choice[n & 3](n);
}
struct object {
	const struct methods { function *open, *close; } *methods;
	int n;
};
int tail_method(struct object *o)
{
	return o->methods->close(o->n);
}
/* with a frame to take down first */
int tail_frame(int n, int m)
{
	int a = use(n), b = use(m), c = use(a);

	return choice[(a + b + c) & 1](b);
}

int all_tail(int n, char **v)
{
	static const struct methods methods = {first, second};
	struct object o = {&methods, n};

	return tail_direct(n) + tail_condition(n) + tail_pointer(n) +
	       tail_argument((function *)use, n) + tail_table(n) +
	       tail_method(&o) + tail_frame(n, v != 0);
}
