/* crew: threads, one after the other; the later ones have what the earlier ones
   had. Some end deep inside. */
#include <pthread.h>
#include <stdio.h>

static unsigned long sum = 1;

__attribute__((noinline)) static void work(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sum = sum * 31 + i;
	if (n == 4)
		pthread_exit(NULL);
}

static void *one(void *n)
{
	work((unsigned long)n);
	return NULL;
}

static void *two(void *n)
{
	work((unsigned long)n + 1);
	return NULL;
}

int main(void)
{
	pthread_t t;

	for (unsigned long i = 0; i < 8; i++) {
		pthread_create(&t, NULL, i & 2 ? one : two, (void *)i);
		pthread_join(t, NULL);
	}
	printf("%lu\n", sum);
	return 0;
}
