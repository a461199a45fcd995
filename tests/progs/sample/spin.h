/*
 * spin: code that can be copied, and runs anywhere: n rounds, in [__start_spins,
 * __stop_spins).
 */
#include <stdint.h>

__attribute__((section("spins"), noinline)) uint64_t spin(uint64_t n)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

extern const char __start_spins[], __stop_spins[];
