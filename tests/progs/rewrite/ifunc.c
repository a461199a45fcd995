/*
 * ifunc: functions that a resolver chooses before anything else runs.
 */
#include <stdio.h>
#include <string.h>

static int plain(int n)
{
	return n + 1;
}

static int special(int n)
{
	return n * 2;
}

/* runs before this object is relocated: nothing but constants may be used */
static int (*choose(void))(int)
{
	unsigned long n = sizeof(void *);

	switch (n) {
	case 4: return plain;
	case 8: return special;
	}
	return plain;
}

int chosen(int n) __attribute__((ifunc("choose")));
static int local(int n) __attribute__((ifunc("choose")));

static int (*volatile pointer)(int) = chosen;

int main(void)
{
	char text[40] = "resolved in the C library too";

	printf("%d %d %d\n", chosen(20), local(30), pointer(40));
	printf("%d\n", pointer == chosen);
	printf("%zu %s\n", strlen(text), strchr(text, 'C'));
	memset(text, 'x', 10);
	printf("%s\n", text);
	return chosen(3);
}
