/* original: see original.h. */
#include "launch/original.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "abi/hash.h"

/* e_entry of a file, 0 if it has none */
static uint64_t entry_of(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr h = {.e_entry = 0};

	if (fd < 0)
		return 0;
	if (read(fd, &h, sizeof h) != sizeof h)
		h.e_entry = 0;
	close(fd);
	return h.e_entry;
}

bool original_enters(const char *original, const char *copy)
{
	uint64_t entry = entry_of(original), new = entry_of(copy);

	return entry && new &&new != entry;
}

static bool leads_to(const char *link, const char *file)
{
	char there[PATH_MAX];
	ssize_t n = readlink(link, there, sizeof there - 1);

	return n > 0 && (size_t)n == strlen(file) &&
	       !memcmp(there, file, (size_t)n);
}

char *original_link(struct arena *a, const char *dir, const char *file)
{
	size_t room = strlen(dir) + 64;
	char *name = arena_alloc(a, room), *fresh = arena_alloc(a, room);

	snprintf(name, room, "%s/x-%016llx", dir,
		 (unsigned long long)hash_bytes(file, strlen(file), 0));
	if (leads_to(name, file))
		return name;
	snprintf(fresh, room, "%s.%ld", name, (long)getpid());
	if (symlink(file, fresh) || rename(fresh, name)) {
		unlink(fresh);
		return NULL;
	}
	return name;
}
