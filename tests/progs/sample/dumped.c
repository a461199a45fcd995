/*
 * dumped: makes code and runs it, and tells what it is in ./jit-PID.dump, in the
 * format of perf's tools. One procedure is moved after a while; one is loaded
 * over another. Each runs until a byte arrives at stdin, or its end. Prints how
 * long each has run, in nanoseconds of CPU time.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "effort.h"
#include "jitdump.h"
#include "spin.h"

enum { CODE = 1 << 16, BESIDE = 8192, MOVED = 16384 };

static FILE *dump;
static size_t size;

static uint64_t now(void)
{
	return effort_clock(CLOCK_MONOTONIC);
}

static void copy(char *to, const char *from)
{
	memcpy(to, from, size);
	__builtin___clear_cache(to, to + size);
}

static void load(char *to, const char *name, uint64_t number)
{
	copy(to, __start_spins);
	dump_load(dump, now(), (uint64_t)to, name, to, size, number);
}

/* until it is told to stop */
static void run(char *code, const char *name)
{
	uint64_t (*f)(uint64_t), x = 0, began = effort_used();
	struct pollfd told = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;

	memcpy(&f, &code, sizeof f);
	while (!poll(&told, 1, 0))
		x += f(effort(200000));
	printf("%s %llu %d\n", name,
	       (unsigned long long)(effort_used() - began), (int)(x & 1));
	if (read(STDIN_FILENO, &byte, 1) < 0)
		perror("dumped");
}

/* the file that tells of it, which is mapped so that it is found; or -1 */
static int begin(void)
{
	char path[64];

	snprintf(path, sizeof path, "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	if (!dump)
		return -1;
	setvbuf(dump, NULL, _IONBF, 0);
	dump_header(dump, 0);
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
		    fileno(dump), 0) == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	char *code = mmap(NULL, CODE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	size = (size_t)(__stop_spins - __start_spins);
	if (code == MAP_FAILED || begin())
		return 1;
	load(code, "stays", 1);
	run(code, "stays");
	load(code + BESIDE, "below", 2);
	run(code + BESIDE, "below");
	load(code + BESIDE, "above", 3);
	run(code + BESIDE, "above");
	copy(code + MOVED, code);
	dump_move(dump, now(), (uint64_t)code, (uint64_t)code + MOVED, size,
		  1);
	run(code + MOVED, "stays");
	dump_close(dump, now());
	return fclose(dump) != 0;
}
