/*
 * stranger: what a user may do to a daemon of root's, by its first argument.
 *
 *	shrink FILE	maps a file, and makes it short and long again, for ever
 *	names N		calls itself by N names
 *	images DIR N	maps N files, one after the other, and removes them
 *	tears DIR N	maps one file over another, N times
 *	mapped DIR N	maps a file N times, side by side, and waits
 *	grow BYTES	runs code of its own and tells of it in short lines, of
 *			which there are that many once it has been seen
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

/* its program headers are far behind its first page */
static void shrink(const char *file)
{
	int fd = open(file, O_RDWR);
	uint64_t far = 1 << 20;
	char bytes[4096];

	if (fd < 0 || pread(fd, bytes, sizeof bytes, 0) != sizeof bytes ||
	    pwrite(fd, bytes + 64, 1024, (off_t)far) != 1024 ||
	    pwrite(fd, &far, sizeof far, 32) != sizeof far ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
		    MAP_FAILED)
		exit(1);
	puts("ready");
	fflush(stdout);
	for (;;)
		if (ftruncate(fd, 4096) || ftruncate(fd, 2 << 20))
			exit(1);
}

static void names(int n)
{
	char name[16];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "stranger%d", i);
		prctl(PR_SET_NAME, name);
	}
}

static int new_file(const char *dir, int i)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/an-image-with-a-long-name-%d-%d", dir,
		 getpid(), i);
	fd = open(path, O_RDWR | O_CREAT, 0700);
	if (fd < 0 || ftruncate(fd, 4096))
		exit(1);
	unlink(path);
	return fd;
}

static void images(const char *dir, int n)
{
	for (int i = 0; i < n; i++) {
		int fd = new_file(dir, i);
		void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			       fd, 0);

		munmap(p, 4096);
		close(fd);
	}
}

static void tears(const char *dir, int n)
{
	int fd[2] = {new_file(dir, 0), new_file(dir, 1)};
	void *p = NULL;

	for (int i = 0; i < n; i++)
		p = mmap(p, 4096, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | (p ? MAP_FIXED : 0), fd[i & 1], 0);
}

static void mapped(const char *dir, int n)
{
	int fd = new_file(dir, 0);

	/* a page apart, or the kernel makes one of two */
	for (int i = 0; i < n; i++)
		if (mmap(NULL, 4096, i & 1 ? PROT_NONE : PROT_READ | PROT_EXEC,
			 MAP_PRIVATE, fd, 0) == MAP_FAILED)
			break;
	puts("ready");
	fflush(stdout);
	pause();
}

/* for so many seconds, but leaves most of them to others */
static void work(uint64_t (*f)(uint64_t), int seconds)
{
	for (time_t end = time(NULL) + seconds; time(NULL) < end;
	     usleep(1000))
		f(100000);
}

static void grow(long bytes)
{
	size_t n = (size_t)(__stop_spins - __start_spins);
	char path[64], lines[1 << 16], *code;
	uint64_t (*f)(uint64_t);
	int fd, at = 0;

	code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memcpy(code, __start_spins, n);
	__builtin___clear_cache(code, code + n);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	dprintf(fd, "%lx %zx named\n", (long)code, n);
	memcpy(&f, &code, sizeof f);
	work(f, 4);
	for (size_t i = 0; i + 16 < sizeof lines; i += 6)
		at += sprintf(lines + at, "%x 1 a\n", (unsigned)(i / 6 % 10));
	for (; bytes > 0; bytes -= at)
		if (write(fd, lines, (size_t)at) != at)
			break;
	puts("ready");
	fflush(stdout);
	work(f, 3);
	unlink(path);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	long n = argc > 3 ? atol(argv[3]) : argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(what, "shrink"))
		shrink(argv[2]);
	else if (!strcmp(what, "names"))
		names((int)n);
	else if (!strcmp(what, "images"))
		images(argv[2], (int)n);
	else if (!strcmp(what, "tears"))
		tears(argv[2], (int)n);
	else if (!strcmp(what, "mapped"))
		mapped(argv[2], (int)n);
	else if (!strcmp(what, "grow"))
		grow(n);
	else
		return 2;
	return 0;
}
