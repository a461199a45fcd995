/*
 * apart: the cold half of work() lies far from the rest, and between the two
 * are others, among them code that only a pointer leads to.
 */
#include <stdlib.h>

asm(".text\n"
    ".fill 1500, 4, 0\n"
    ".Lonly: ret\n"
    ".data\n"
    ".quad .Lonly\n"
    ".text\n");

__attribute__((cold, noinline)) static void odd(int n)
{
	if (n > 1000)
		abort();
}

__attribute__((noinline)) int work(int n)
{
	if (__builtin_expect(n == 3, 0)) {
		odd(n);
		odd(n + 1);
		odd(n + 2);
	}
	return n * 3;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += work(i);
	return sum == 30 ? 0 : 1;
}
