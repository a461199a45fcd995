/*
 * embedded: see embedded.h. Only the section headers are looked at, and read,
 * not mapped: a cache may replace the file meanwhile.
 */
#include "count/profile/embedded.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* the file's header, if it is one that tally writes */
static int read_header(const struct file *f, Elf64_Ehdr *h, struct err *e)
{
	if (file_read(f, 0, h, sizeof *h, e))
		return -1;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return err_set(e, ERR_INPUT,
			       "%s: not a file that tally has "
			       "rewritten",
			       f->name);
	return 0;
}

/* the whole section, to be freed; NULL and *e if it is not in the file */
static uint8_t *read_bytes(const struct file *f, const Elf64_Shdr *s,
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

/* the header of the section of that name; -1 if there is none */
static int find_section(const struct file *f, const Elf64_Ehdr *h,
			const Elf64_Shdr *all, const char *name,
			Elf64_Shdr *found, struct err *e)
{
	const Elf64_Shdr *strings = &all[h->e_shstrndx];
	char *names = (char *)read_bytes(f, strings, e);
	bool there = false;

	if (!names)
		return -1;
	for (unsigned i = 0; !there && i < h->e_shnum; i++) {
		there = all[i].sh_name < strings->sh_size &&
			!strcmp(names + all[i].sh_name, name);
		*found = all[i];
	}
	mem_free(names);
	return there ? 0
		     : err_set(e, ERR_INPUT,
			       "%s: there is no section %s "
			       "in it",
			       f->name, name);
}

static uint8_t *read_named(const struct file *f, const char *name, size_t *size,
			   struct err *e)
{
	Elf64_Ehdr h;
	Elf64_Shdr *all, found;
	uint8_t *bytes = NULL;

	if (read_header(f, &h, e))
		return NULL;
	all = NEW_ARRAY(Elf64_Shdr, h.e_shnum);
	if (!file_read(f, h.e_shoff, all, h.e_shnum * sizeof *all, e) &&
	    !find_section(f, &h, all, name, &found, e))
		bytes = read_bytes(f, &found, e);
	*size = bytes ? found.sh_size : 0;
	mem_free(all);
	return bytes;
}

uint8_t *embedded_read(const char *file, const char *name, size_t *size,
		       struct err *e)
{
	struct file f;
	uint8_t *bytes;

	if (file_open(&f, file, e))
		return NULL;
	bytes = read_named(&f, name, size, e);
	file_close(&f);
	return bytes;
}
