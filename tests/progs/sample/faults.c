/* faults: touches so many pages for the first time, again and again. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void touch(volatile char *p, size_t n, size_t page)
{
	for (size_t i = 0; i < n; i++)
		p[i * page] = 1;
}

int main(int argc, char **argv)
{
	size_t n = 1000, page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	madvise(p, n * page, MADV_NOHUGEPAGE);
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		touch(p, n, page);
		madvise(p, n * page, MADV_DONTNEED);
	}
	return 0;
}
