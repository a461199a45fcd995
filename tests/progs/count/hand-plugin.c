/*
 * hand-plugin: opened by a program, makes threads that call back into it. With
 * EARLY it has made one before the program begins.
 */
#include <pthread.h>
#include <stdlib.h>

#ifdef EARLY
static void *nothing(void *arg)
{
	return arg;
}

__attribute__((constructor)) static void early(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
		abort();
}
#endif

void plugin_run(void *(*routine)(void *), void *arg, int n)
{
	pthread_t *t = calloc((size_t)n, sizeof *t);

	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, routine, arg))
			abort();
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}
