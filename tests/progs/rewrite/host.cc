/*
 * host: opens plugin.so, whose path is its argument, in a loop.
 */
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <stdexcept>

#include "trace.h"

static int callback(int n)
{
	if (n == 5)
		throw std::out_of_range("from the host");
	if (n == 6)
		trace_print("callback");
	return n * 2;
}

static int objects(struct dl_phdr_info *, size_t, void *n)
{
	++*static_cast<int *>(n);
	return 0;
}

static void *need(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		printf("no %s: %s\n", name, dlerror());
		exit(1);
	}
	return p;
}

static void use(const char *path, int round)
{
	void *lib = dlopen(path, round % 2 ? RTLD_NOW : RTLD_LAZY);

	if (!lib) {
		printf("%s\n", dlerror());
		exit(1);
	}
	auto work = reinterpret_cast<int (*)(int, int (*)(int))>(
		need(lib, "plugin_work"));
	auto raise = reinterpret_cast<void (*)(int)>(need(lib, "plugin_throw"));
	auto loads = reinterpret_cast<int (*)()>(need(lib, "plugin_loads"));
	Dl_info info;

	for (int n = 0; n < 8; n++)
		try {
			if (n != 6 || round == 0)
				printf(" %d", work(n, callback));
		} catch (const std::out_of_range &e) {
			printf(" (%s)", e.what());
		}
	try {
		raise(round);
	} catch (const std::logic_error &e) {
		printf(" %s", e.what());
	}
	printf(" loads %d", loads());
	if (dladdr(reinterpret_cast<void *>(work), &info) && info.dli_sname)
		printf(" named %s", info.dli_sname);
	printf("\n");
	dlclose(lib);
}

/* the same library once more, with libraries of its own */
static void another_world(const char *path)
{
	void *lib = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);

	if (!lib) {
		printf("%s\n", dlerror());
		return;
	}
	auto work = reinterpret_cast<int (*)(int, int (*)(int))>(
		need(lib, "plugin_work"));

	printf("another world: %d %d\n", work(3, callback), work(4, callback));
	dlclose(lib);
}

int main(int, char **argv)
{
	int before = 0, after = 0;

	dl_iterate_phdr(objects, &before);
	for (int round = 0; round < 6; round++)
		use(argv[1], round);
	dl_iterate_phdr(objects, &after);
	printf("objects %d\n", after - before);
	fflush(stdout);
	another_world(argv[1]);
	return 0;
}
