/*
 * tls: thread-local variables of the program and of a library, in many
 * threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tls.h"

static __thread int own = 5;
static __thread char zeroed[300];
__thread long global = 9;

static void *run(void *arg)
{
	long n = (long)arg, sum = 0;

	for (int i = 0; i < 300; i++) {
		own += i & 3;
		zeroed[i] = (char)n;
		global += own;
		tls_shared += zeroed[i];
		*tls_library(i) += 1;
		errno = 0;
		close(-1);
		sum += errno == EBADF;
	}
	return (void *)(sum + own + global + tls_sum());
}

int main(void)
{
	pthread_t t[6];
	void *r;

	for (long i = 0; i < 6; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 6; i++) {
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	printf("%ld\n", (long)run((void *)3));
	printf("%d %ld %d\n", own, global, tls_shared);
	return 0;
}
