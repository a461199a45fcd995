/*
 * plugins keep|close N LIBRARY...: opens them in turns, N times each, calls what
 * they have, and closes them (or not), as a rule by what the library calls
 * itself. Of plugin.c.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **library;
static int rounds, nlibrary, flags = RTLD_NOW;

__attribute__((noinline)) static long use(void *object, int leave)
{
	long (*work)(long) = (long (*)(long))dlsym(object, "work");
	int (*last)(void *) = (int (*)(void *))dlsym(object, "leave");
	long n = work(9);

	return n + (leave ? last(object) : dlclose(object));
}

static void *run(void *arg)
{
	long sum = 0;

	for (int i = 0; i < rounds * nlibrary; i++) {
		void *object = dlopen(library[i % nlibrary], flags);

		if (!object) {
			fprintf(stderr, "%s\n", dlerror());
			exit(99);
		}
		sum += use(object, i / nlibrary % 2);
	}
	*(long *)arg = sum;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	long sum, more;

	if (argc < 4)
		return 99;
	if (!strcmp(argv[1], "keep"))
		flags |= RTLD_NODELETE;
	rounds = atoi(argv[2]);
	library = argv + 3;
	nlibrary = argc - 3;
	run(&sum);
	pthread_create(&thread, NULL, run, &more);
	pthread_join(thread, NULL);
	printf("%ld %ld\n", sum, more);
	return 0;
}
