/*
 * object_fuzz: a libFuzzer target for what a report reads of a sampled program:
 * symbols, segments and lines, with libdw. How to run it: fuzz/README.md.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "profile/lines/lines.h"
#include "profile/symbols/names.h"
#include "profile/symbols/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct object_id id = {.path = "/proc/self/nowhere"};
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct segments segments;
	struct line_place at;
	struct object object;
	struct names names;
	struct lines lines;
	struct err e;

	if (write(fd, data, size) == (ssize_t)size &&
	    !object_open_fd(&object, &id, fd, &e)) {
		names_read(&names, &object);
		segments_read(&segments, &object);
		lines_open(&lines, &object);
		for (size_t i = 0; i < names.v.n && i < 64; i++)
			lines_find(&lines, names.v.at[i].start, &at);
		lines_close(&lines);
		names_free(&names);
		object_close(&object);
	}
	close(fd);
	return 0;
}
