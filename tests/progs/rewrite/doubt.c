/*
 * doubt: calls what doubt-x86_64.S has, by a pointer and directly.
 */
#include <stdio.h>

int doubt_entry(void), doubt_jump(void);

static int (*volatile by_pointer)(void) = doubt_entry;

int main(void)
{
	printf("%d %d\n", by_pointer(), doubt_jump());
	return 0;
}
