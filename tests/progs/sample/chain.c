/*
 * chain: works, then executes the next program of its arguments with the rest
 * of them, and so on.
 */
#include <stdint.h>
#include <unistd.h>

volatile uint64_t sink;

int main(int argc, char **argv)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < 60000000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
	if (argc > 1)
		execv(argv[1], argv + 1);
	return argc > 1;
}
