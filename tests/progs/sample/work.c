/* work: a library of one procedure. */
#include <stdint.h>

uint64_t work(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
