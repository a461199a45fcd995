/*
 * hand-omp: threads of OpenMP, which its library makes. What each of them does
 * is told beforehand: no loop waits or is shared out while it runs.
 */
#include <omp.h>

__attribute__((noinline)) static void work(volatile long *x)
{
	++*x;
}

int main(void)
{
	long sum = 0;

	omp_set_dynamic(0);
	for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel num_threads(6) reduction(+ : sum)
		{
			volatile long x = 0;

#pragma omp for schedule(static)
			for (int i = 0; i < 30000; i++)
				work(&x);
			sum += x;
		}
	}
	return sum == 90000 ? 0 : 1;
}
