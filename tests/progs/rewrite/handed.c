/*
 * handed: calls a procedure written by hand (handed-*.S) that, without symbols,
 * nothing but a pointer leads to, and reads a table that looks like one.
 */
#include <stdint.h>
#include <stdio.h>

uint64_t handed_sum(const uint64_t *p, uint64_t n);
extern const uint8_t handed_table[], handed_table_end[];

static uint64_t (*volatile by_pointer)(const uint64_t *, uint64_t) =
	handed_sum;
static const uint8_t *volatile table = handed_table;

int main(void)
{
	static const uint64_t numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
	uint64_t check = 0;

	for (long i = 0; i < handed_table_end - handed_table; i++)
		check = check * 31 + table[i];
	printf("%llu %llu\n", (unsigned long long)by_pointer(numbers, 8),
	       (unsigned long long)check);
	return 0;
}
