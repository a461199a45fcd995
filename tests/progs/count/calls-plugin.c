/* calls-plugin: a library that calls back, and has pointers of its own. */
typedef int (*step)(int);

__attribute__((noipa)) static int own(int n)
{
	return n % 97;
}

static step volatile mine = own;

int each(step f, int times)
{
	int n = 1;

	for (int i = 0; i < times; i++)
		n = mine(f(n));
	return n;
}
