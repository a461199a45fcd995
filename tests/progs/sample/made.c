/*
 * made: makes code and runs it, three times as long in one place as in another,
 * until it is killed, and tells what it is as runtimes do, in
 * /tmp/perf-PID.map: first something else, which the code takes the place of,
 * and lines that are none.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "effort.h"
#include "spin.h"

volatile uint64_t sink;

int main(void)
{
	size_t n = (size_t)(__stop_spins - __start_spins);
	char path[64], *code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE |
				    PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS,
				    -1, 0);
	uint64_t (*one)(uint64_t), (*two)(uint64_t), rounds = effort(300000);
	FILE *f;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, __start_spins, n);
	memcpy(code + 4096, __start_spins, n);
	__builtin___clear_cache(code, code + 8192);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f)
		return 1;
	fprintf(f, "%lx %x gone\nno line\n\n%lx zz bad\n", (long)code, 1 << 16,
		(long)code);
	fprintf(f, "%lx %zx the first\n", (long)code, n);
	fprintf(f, "%lx %zx the second\n", (long)code + 4096, n);
	fclose(f);
	memcpy(&one, &code, sizeof one);
	code += 4096;
	memcpy(&two, &code, sizeof two);
	for (;;) {
		sink = one(3 * rounds);
		sink = two(rounds);
	}
}
