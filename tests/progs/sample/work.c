/*
 * work: a library of one procedure. With N from 0 to 2 it is in another place of
 * a library that is as large: loaded where another was, a sample that is taken
 * for the other's is not in its procedure, but before or behind.
 */
#include <stdint.h>

#ifndef N
#define N 0
#endif
#define TEXT(x) #x
#define PAD(name, pages)                                    \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n" \
		#name ":\n.skip 4096 * (" TEXT(pages) ")\n.size " #name \
		", . - " #name "\n")

PAD(before, 1 + N);

__attribute__((no_reorder)) uint64_t work(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

PAD(behind, 3 - N);
