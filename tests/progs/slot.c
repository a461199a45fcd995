/*
 * slot: a label kept in a static variable, where the next call goes on: what
 * protothreads do. The variable points to the first label from the start.
 */
int slot(int);
static int last;

__attribute__((noinline)) static int next(int n)
{
	return last += n + 1;
}

int slot(int n)
{
	static void *at = &&first;

	goto *at;
first:
	n += next(n);
	at = &&second;
	return n;
second:
	n ^= next(n + 1);
	at = &&third;
	return n;
third:
	n *= next(n + 2);
	at = &&first;
	return n;
}
