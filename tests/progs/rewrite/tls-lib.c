/*
 * tls-lib: thread-local variables of a shared library: by descriptor or by
 * call (-mtls-dialect), local dynamic, and fixed offset (initial-exec).
 */
#include "tls.h"

__thread int tls_shared = 40;
static __thread int hidden = 2, other[50];
__thread int early __attribute__((tls_model("initial-exec"))) = 7;

int *tls_library(int n)
{
	other[n % 50] += n;
	hidden++;
	early += 2;
	return &hidden;
}

int tls_sum(void)
{
	int sum = tls_shared + hidden + early;

	for (int i = 0; i < 50; i++)
		sum += other[i];
	return sum;
}
