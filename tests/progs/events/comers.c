/*
 * comers: threads that come and go, one after the other and some at a time,
 * until there were enough. Then it waits for the end of its input.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 100, AT_ONCE = 3, WORK = 100000 };

static volatile unsigned long sink;

static void *work(void *arg)
{
	for (int i = 0; i < WORK; i++)
		sink++;
	return arg;
}

int main(void)
{
	pthread_t t[AT_ONCE];
	char c;

	puts("begins");
	fflush(stdout);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < AT_ONCE; k++)
			pthread_create(&t[k], NULL, work, NULL);
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(t[k], NULL);
		usleep(1000);
	}
	return read(0, &c, 1) != 0;
}
