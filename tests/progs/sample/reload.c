/*
 * reload: libraries that are loaded, work and are unloaded, in turn, all of them
 * for as long.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "effort.h"

int main(int argc, char **argv)
{
	uint64_t x = 1;

	for (int i = 0; i < 12 * (argc - 1); i++) {
		void *lib = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
		uint64_t (*work)(uint64_t, uint64_t) =
			(uint64_t (*)(uint64_t, uint64_t))dlsym(lib, "work");

		x = effort_for(work, x, 8);
		dlclose(lib);
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
