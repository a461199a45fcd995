/* sharers: threads that make many calls at the same time */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 6, TURNS = 3000 };

__attribute__((noinline)) static long depth(long n)
{
	return n < 2 ? n : depth(n - 1) + depth(n - 2);
}

static long (*volatile pointer)(long) = depth;

static void *work(void *arg)
{
	long sum = 0;

	for (int i = 0; i < TURNS; i++)
		sum += pointer(8) + depth(3);
	*(long *)arg = sum;
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	long result[THREADS], sum = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, &result[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += result[i];
	}
	printf("%ld\n", sum);
	return 0;
}
