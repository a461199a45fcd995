/*
 * plugins WORD LIBRARY...: one after the other is loaded, called and unloaded,
 * several times: each is where the one before was. "thread": every other one by
 * a thread, which then ends. The libraries: plugin.c.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static unsigned long sum = 1;
static void *library;

static unsigned long add(unsigned long v)
{
	sum = sum * 31 + v;
	return sum;
}

static void *load(void *path)
{
	library = dlopen((const char *)path, RTLD_LAZY);
	return NULL;
}

static void use(unsigned n)
{
	unsigned long (*run)(unsigned, unsigned long (*)(unsigned long));

	if (!library)
		return;
	*(void **)&run = dlsym(library, "run");
	add(run(n, add));
}

int main(int argc, char **argv)
{
	int threads = argc > 1 && !strcmp(argv[1], "thread");
	pthread_t t;

	for (int i = 0; argc > 2 && i < 12; i++) {
		char *path = argv[2 + i % (argc - 2)];

		if (threads && i & 1) {
			pthread_create(&t, NULL, load, path);
			pthread_join(t, NULL);
		} else {
			load(path);
		}
		use((unsigned)i + 3);
		if (library)
			dlclose(library);
	}
	printf("%lu\n", sum);
	return 0;
}
