/*
 * qemu-memory: what rewritten images hold in the memory of their plan when an
 * emulated program ends (qemu_plugin.h).
 *
 * That memory is the last segment, which has nothing in the file. For every
 * image that has one, FILE.PID.NAME gets its bytes, NAME the image's without
 * folders.
 */
#include "qemu_plugin.h"

/* the last segment to be loaded; false if it has bytes in the file */
static bool last_segment(const char *path, Elf64_Phdr *last)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;
	bool found = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (pread(fd, &h, sizeof h, 0) == sizeof h)
		for (int i = 0; i < h.e_phnum; i++) {
			if (pread(fd, &p, sizeof p, (off_t)(h.e_phoff +
				  (uint64_t)i * sizeof p)) != sizeof p)
				break;
			if (p.p_type != PT_LOAD)
				continue;
			*last = p;
			found = !p.p_filesz && p.p_memsz;
		}
	close(fd);
	return found;
}

static void save(const struct map *m)
{
	const char *slash = strrchr(m->path, '/');
	char name[2 * PATH_MAX];
	Elf64_Phdr p;
	FILE *f;

	if (!last_segment(m->path, &p))
		return;
	snprintf(name, sizeof name, "%s.%d.%s", plugin_out, getpid(), slash + 1);
	f = plugin_create(name);
	if (!f)
		return;
	fwrite((const void *)(uintptr_t)(p.p_vaddr + m->delta), 1, p.p_memsz,
	       f);
	fclose(f);
}

static void on_end(plugin_id id, void *data)
{
	struct maps maps = {0};

	(void)id, (void)data;
	maps_read(&maps, "/proc/self/maps");
	for (size_t i = 0; i < maps.n; i++)
		if (!i || strcmp(maps.at[i].path, maps.at[i - 1].path))
			save(&maps.at[i]);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	if (!plugin_option(argc, argv, "out", plugin_out))
		return 1;
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
