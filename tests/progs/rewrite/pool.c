/*
 * pool: calls what pool-aarch64.S has.
 */
#include <stdio.h>

unsigned long pool_words(long n);
double pool_floats(double d);
long pool_addresses(void), pool_table(unsigned n), pool_veneer(const long *p);
void pool_returns(void);
long pool_br_lr(long n), pool_always(long n), pool_falls(long n);
long pool_into(long n), pool_inside(long n), pool_hidden(void);

int main(void)
{
	long five = 5;

	printf("words %lx\n", pool_words(3));
	printf("hidden %ld\n", pool_hidden());
	printf("floats %g\n", pool_floats(1.5));
	printf("addresses %ld\n", pool_addresses());
	for (unsigned i = 0; i < 6; i++)
		printf("table %ld\n", pool_table(i));
	printf("veneer %ld\n", pool_veneer(&five));
	pool_returns();
	printf("returns %ld\n", pool_br_lr(4));
	for (long i = -2; i < 3; i++)
		printf("always %ld\n", pool_always(i));
	printf("falls %ld %ld\n", pool_falls(1), pool_into(1));
	printf("inside %ld %ld\n", pool_inside(0), pool_inside(1));
	return 0;
}
