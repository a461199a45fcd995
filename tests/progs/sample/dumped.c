/*
 * dumped: makes code and runs it, and tells what it is in ./jit-PID.dump, in the
 * format of perf's tools. One stays where it is for a while and is moved then;
 * one is loaded over another, and runs three times as long as that. Prints its
 * number.
 *
 *	dumped		all is told at once
 *	dumped late	all is told at the end
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "jitdump.h"
#include "spin.h"

static FILE *dump;
static size_t size;

static uint64_t clock_of(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void load(char *to, const char *name, uint64_t number)
{
	memcpy(to, __start_spins, size);
	__builtin___clear_cache(to, to + size);
	dump_load(dump, now(), (uint64_t)to, name, to, size, number);
}

/* for so many milliseconds of the processor's time */
static uint64_t run(char *code, uint64_t most)
{
	uint64_t (*f)(uint64_t), x = 0;
	uint64_t end = clock_of(CLOCK_PROCESS_CPUTIME_ID) + most * 1000000;

	memcpy(&f, &code, sizeof f);
	while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < end)
		x += f(1000000);
	return x;
}

int main(int argc, char **argv)
{
	int late = argc > 1 && !strcmp(argv[1], "late");
	char path[64], *code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE |
				    PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);
	uint64_t x;

	size = (size_t)(__stop_spins - __start_spins);
	snprintf(path, sizeof path, "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (code == MAP_FAILED || !dump)
		return 1;
	setvbuf(dump, NULL, late ? _IOFBF : _IONBF, 1 << 16);
	dump_header(dump, 0);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump),
		 0) == MAP_FAILED)
		return 1;
	load(code, "stays", 1);
	x = run(code, 1600);
	load(code + 8192, "below", 2);
	x += run(code + 8192, 400);
	load(code + 8192, "above", 3);
	x += run(code + 8192, 1200);
	memcpy(code + 16384, code, size);
	__builtin___clear_cache(code + 16384, code + 16384 + size);
	dump_move(dump, now(), (uint64_t)code, (uint64_t)code + 16384, size,
		  1);
	x += run(code + 16384, 400);
	dump_close(dump, now());
	fclose(dump);
	printf("%d %d\n", getpid(), (int)(x & 1));
	return 0;
}
