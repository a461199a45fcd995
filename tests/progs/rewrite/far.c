/*
 * far: calls what far-aarch64.S and ../big.S have.
 */
#include <stdio.h>

long far_forward(long n), far_back(long n), far_bits(long n);
int big_code(int n);

int main(void)
{
	for (long i = 0; i < 3; i++)
		printf("%ld %ld %ld\n", far_forward(i), far_back(i),
		       far_bits(i));
	for (int i = 0; i < 5; i++)
		printf("%d\n", big_code(i));
	return 0;
}
