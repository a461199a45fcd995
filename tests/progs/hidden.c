/*
 * hidden: a function that lies behind a call that does not return, and that
 * nothing but words of data lead to.
 */
int hidden(int);
static volatile int seen;

__attribute__((noinline)) static int add(int a)
{
	seen += a;
	return a + seen;
}

__attribute__((noreturn, noinline)) static void die(int c)
{
	seen = c;
	for (;;)
		if (seen == c + 1)
			__builtin_trap();
}

__attribute__((noinline)) static int first(int a)
{
	int x = add(a);

	if (x != 1 << 30)
		return add(x) + 1;
	die(x);
}

__attribute__((noinline)) static int second(int a)
{
	int sum = 0;

	for (int i = 0; i < a; i++)
		sum += add(i);
	return sum;
}

static const struct {
	const char *name;
	int (*fn)(int);
	long more;
} table[] = {{"first", first, 1}, {"second", second, 2}};

int hidden(int n)
{
	return table[n & 1].fn(n);
}
