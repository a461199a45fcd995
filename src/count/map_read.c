/*
 * map_read: finds the map in a rewritten file. Only the section headers are
 * looked at, and read, not mapped: a cache may replace the file meanwhile.
 */
#include <elf.h>

#include "count/file.h"
#include "count/map.h"

/* the file's header, if it is one that tally writes */
static int read_header(const struct file *f, Elf64_Ehdr *h, struct err *e)
{
	if (file_read(f, 0, h, sizeof *h, e))
		return -1;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return err_set(e, ERR_INPUT, "%s: not a file that tally has "
			       "rewritten", f->name);
	return 0;
}

/* the whole section, to be freed; NULL and *e if it is not in the file */
static uint8_t *read_section(const struct file *f, const Elf64_Shdr *s,
			     struct err *e)
{
	uint8_t *bytes;

	if (file_has(f, s->sh_offset, s->sh_size, e))
		return NULL;
	bytes = mem_alloc(s->sh_size + 1);
	if (file_read(f, s->sh_offset, bytes, s->sh_size, e)) {
		mem_free(bytes);
		return NULL;
	}
	bytes[s->sh_size] = '\0';
	return bytes;
}

/* the header of the section that holds the map; -1 if there is none */
static int find_section(const struct file *f, const Elf64_Ehdr *h,
			const Elf64_Shdr *all, Elf64_Shdr *found,
			struct err *e)
{
	const Elf64_Shdr *strings = &all[h->e_shstrndx];
	char *names = (char *)read_section(f, strings, e);
	bool there = false;

	if (!names)
		return -1;
	for (unsigned i = 0; !there && i < h->e_shnum; i++) {
		there = all[i].sh_name < strings->sh_size &&
			!strcmp(names + all[i].sh_name, MAP_SECTION);
		*found = all[i];
	}
	mem_free(names);
	return there ? 0 : err_set(e, ERR_INPUT, "%s: there is no map of "
				   "counters in it", f->name);
}

static int read_map(const struct file *f, struct map *m, struct err *e)
{
	Elf64_Ehdr h;
	Elf64_Shdr *all, found;
	uint8_t *bytes = NULL;
	int status = -1;

	if (read_header(f, &h, e))
		return -1;
	all = NEW_ARRAY(Elf64_Shdr, h.e_shnum);
	if (!file_read(f, h.e_shoff, all, h.e_shnum * sizeof *all, e) &&
	    !find_section(f, &h, all, &found, e))
		bytes = read_section(f, &found, e);
	if (bytes)
		status = map_unpack(m, bytes, found.sh_size, f->name, e);
	mem_free(bytes);
	mem_free(all);
	return status;
}

int map_read(struct map *m, const char *file, struct err *e)
{
	struct file f;
	int status;

	if (file_open(&f, file, e))
		return -1;
	status = read_map(&f, m, e);
	file_close(&f);
	return status;
}
