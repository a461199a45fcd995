/* reload: a library that is loaded, works and is unloaded, many times. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t x = 1;

	for (int i = 0; i < 40; i++) {
		void *lib = dlopen(argv[1 + i % (argc - 1)], RTLD_NOW);
		uint64_t (*work)(uint64_t, uint64_t) =
			(uint64_t (*)(uint64_t, uint64_t))dlsym(lib, "work");

		x = work(x, 4000000);
		dlclose(lib);
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
