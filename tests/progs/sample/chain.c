/*
 * chain: works, as long as every other of its kind, then executes the next
 * program of its arguments with the rest of them, and so on.
 */
#include <unistd.h>

#include "effort.h"

volatile uint64_t sink;

static uint64_t work(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

int main(int argc, char **argv)
{
	sink = effort_for(work, 1, 10);
	if (argc > 1)
		execv(argv[1], argv + 1);
	return argc > 1;
}
