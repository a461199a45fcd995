/* small: lives for a fraction of a millisecond. */
#include "effort.h"

int main(void)
{
	volatile uint64_t x = 0;

	for (uint64_t i = 0, n = effort(20000); i < n; i++)
		x += i;
	return 0;
}
