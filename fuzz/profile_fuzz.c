/*
 * profile_fuzz: a libFuzzer target for profiles, live and finished, and all
 * that is told of them. How to run it: fuzz/README.md.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void tell(const char *path)
{
	struct told t;
	struct rows r;
	struct err e;

	if (told_open(&t, &path, 1, &e))
		return;
	for (int by = 0; by <= BY_LINE; by++)
		if (!rows_make(&r, &t, (enum rows_by)by, true, &e))
			rows_free(&r);
	told_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		tell(path);
	close(fd);
	return 0;
}
