/*
 * baddump: runs code that it has made, beside a jit-PID.dump that is not what it
 * should be, by its argument.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "effort.h"
#include "jitdump.h"
#include "spin.h"

/* what is in the file */
static void fill(FILE *f, const char *how, uint64_t code, size_t n)
{
	if (!strcmp(how, "empty"))
		return;
	if (!strcmp(how, "magic")) {
		fprintf(f, "%0100d", 0);
		return;
	}
	dump_header(f, 0);
	if (!strcmp(how, "none")) {
		dump_prefix(f, 0, 0, 0); /* a record that never ends */
	} else if (!strcmp(how, "huge")) {
		dump_prefix(f, 0, 64, 0);
		dump_who(f, code);
		dump_long(f, code);
		dump_long(f, UINT64_MAX - 5);
		dump_long(f, 1);
		dump_long(f, 0);
	} else if (!strcmp(how, "short")) {
		dump_load(f, 1, code, "named", __start_spins, n, 1);
		dump_prefix(f, 0, 1000000, 2);
	} else {
		dump_load(f, 1, code, "named", __start_spins, n, 1);
	}
}

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_spins - __start_spins);
	const char *how = argc > 1 ? argv[1] : "";
	char path[64], *code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE |
				    PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
	uint64_t (*f)(uint64_t), x = 0;
	FILE *dump;

	snprintf(path, sizeof path, "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (code == MAP_FAILED || !dump)
		return 1;
	memcpy(code, __start_spins, n);
	__builtin___clear_cache(code, code + n);
	fill(dump, how, (uint64_t)code, n);
	fflush(dump);
	if (!strcmp(how, "owner") && fchown(fileno(dump), 12345, 12345))
		return 1;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump),
		 0) == MAP_FAILED)
		return 1;
	if (!strcmp(how, "link") &&
	    (rename(path, "elsewhere") || symlink("elsewhere", path)))
		return 1;
	if (!strcmp(how, "other")) {
		remove(path);
		fclose(fopen(path, "w"));
	}
	memcpy(&f, &code, sizeof f);
	for (uint64_t i = effort(100); i; i--)
		x += f(1000000);
	if (!strcmp(how, "owner"))
		pause(); /* a process that is gone has no owner: it is killed */
	return x == 1;
}
