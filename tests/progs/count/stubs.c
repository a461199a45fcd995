/*
 * stubs: a program at fixed addresses, in which the address of a function of a
 * library is that of the linker's stub: called by that pointer and by name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*volatile compare)(const char *, const char *) = strcmp;

int main(void)
{
	char *words[] = {"b", "a", "c"};
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += compare(words[i % 3], "b") > 0;
	for (int i = 0; i < 7; i++)
		sum += abs(rand()) >= 0;
	printf("%d %d\n", sum, compare == strcmp);
	return 0;
}
