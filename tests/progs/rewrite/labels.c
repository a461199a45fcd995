/*
 * labels: tables of labels that may be made to lead elsewhere, and tables of
 * which the program could tell. What it prints is the same wherever the code
 * lies: it compares addresses of labels, and tells how far apart they are.
 */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

/* nobody could tell */
NOINLINE static int plain(const unsigned char *pc)
{
	static const void *const at[] = {&&add, &&sub, &&twice, &&stop};
	int n = 1;

#define NEXT goto *at[*pc++ & 3]
	NEXT;
add: n += 3; NEXT;
sub: n -= 1; sink = n; NEXT;
twice: n *= 2; NEXT;
stop: return n;
}

/* compares an entry with the label */
NOINLINE static int compared(const unsigned char *pc)
{
	static const void *const at[] = {&&add, &&sub, &&twice, &&stop};
	int n = 1;

	if (at[*pc & 3] == &&twice)
		puts("twice comes first");
	NEXT;
add: n += 3; NEXT;
sub: n -= 1; sink = n; NEXT;
twice: n *= 2; NEXT;
stop: return n;
}

/* a label's address is in a variable as well */
NOINLINE static int stored(const unsigned char *pc)
{
	static const void *const at[] = {&&add, &&sub, &&twice, &&stop};
	static const void *volatile last = &&stop;
	int n = 1;

	if (at[*pc & 3] == last)
		puts("stop comes first");
	NEXT;
add: n += 3; NEXT;
sub: n -= 1; sink = n; NEXT;
twice: n *= 2; NEXT;
stop: return n;
}

/* another table has some of the labels, and its address is data */
NOINLINE static int shared(const unsigned char *pc)
{
	static const void *const at[] = {&&add, &&sub, &&twice, &&stop};
	static const void *const other[] = {&&stop, &&add};
	static const void *const *volatile where = other;
	int n = 1;

	if (at[*pc & 3] == where[1])
		puts("add comes first");
	NEXT;
add: n += 3; NEXT;
sub: n -= 1; sink = n; NEXT;
twice: n *= 2; NEXT;
stop: return n;
}

/* the table's address is data: how far apart are its labels? */
NOINLINE static int shown(const unsigned char *pc)
{
	static const char *const at[] = {&&add, &&sub, &&twice, &&stop};
	static const char *const *volatile where = at;
	int n = 1;

	printf("%d apart\n", (int)((where[2] - where[0]) / 4));
	NEXT;
add: n += 3; NEXT;
sub: n -= 1; sink = n; NEXT;
twice: n *= 2; NEXT;
stop: return n;
}

static const char *expected;

/* the next call will be from just before the label; never true */
__attribute__((noipa)) static int expect(const char *label)
{
	expected = label;
	return sink == 12345;
}

NOINLINE static void look(void)
{
	const char *back = __builtin_return_address(0);

	sink = back <= expected && expected <= back + 16;
}

/* the label is where a call returns to: recover() of gccgo needs that */
NOINLINE static int behind(void)
{
	if (__builtin_expect(expect(&&label), 0))
		goto label;
	look();
label:
	return sink;
}

int main(void)
{
	static const unsigned char code[][8] = {
		{0, 1, 2, 0, 3}, {2, 0, 1, 3}, {3}, {1, 1, 2, 3}};

	for (int i = 0; i < 4; i++)
		printf("%d %d %d %d %d %d\n", plain(code[i]),
		       compared(code[i]), stored(code[i]), shared(code[i]),
		       shown(code[i]), behind());
	return 0;
}
