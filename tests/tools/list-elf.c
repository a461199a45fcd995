/*
 * list-elf: which of many files are programs and libraries for a machine.
 *
 *	find DIRECTORIES -type f | list-elf MACHINE
 *
 * Reads paths, and prints for every 64-bit ELF executable or shared object
 * with that e_machine: the bytes in its executable sections, an identity (the
 * build ID, else device and inode), and the path, with tabs between. Copies
 * and links share their identity; `sort -u -t TAB -k 2,2` drops them.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SECTIONS = 4096, MAX_NOTE = 256 };

/* n bytes at an offset of the file; false if they are not there */
static bool read_at(int fd, void *to, size_t n, uint64_t offset)
{
	return offset <= INT64_MAX &&
	       pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

/* the build ID in a note section, as hexadecimal digits in out */
static void read_build_id(int fd, const Elf64_Shdr *sh, char *out)
{
	uint8_t note[MAX_NOTE];
	Elf64_Nhdr h;

	if (sh->sh_size < 16 || sh->sh_size > sizeof note ||
	    !read_at(fd, note, sh->sh_size, sh->sh_offset))
		return;
	memcpy(&h, note, sizeof h);
	if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != 4 ||
	    memcmp(note + 12, "GNU", 4) != 0 || h.n_descsz > 64 ||
	    16 + h.n_descsz > sh->sh_size)
		return;
	for (unsigned i = 0; i < h.n_descsz; i++)
		sprintf(out + 2 * i, "%02x", note[16 + i]);
}

/* prints a file's line if it is an ELF file of that machine */
static void list_file(int fd, const char *path, unsigned machine)
{
	static Elf64_Shdr sh[MAX_SECTIONS];
	char id[160] = "";
	uint64_t text = 0;
	struct stat st;
	Elf64_Ehdr h;

	if (!read_at(fd, &h, sizeof h, 0) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != machine ||
	    (h.e_type != ET_EXEC && h.e_type != ET_DYN) ||
	    h.e_shnum > MAX_SECTIONS || fstat(fd, &st) != 0 ||
	    !read_at(fd, sh, h.e_shnum * sizeof *sh, h.e_shoff))
		return;
	snprintf(id, sizeof id, "%lx:%lx", (unsigned long)st.st_dev,
		 (unsigned long)st.st_ino);
	for (unsigned i = 0; i < h.e_shnum; i++) {
		if (sh[i].sh_type == SHT_NOTE)
			read_build_id(fd, &sh[i], id);
		if (sh[i].sh_type == SHT_PROGBITS &&
		    sh[i].sh_flags & SHF_EXECINSTR)
			text += sh[i].sh_size;
	}
	if (text)
		printf("%lu\t%s\t%s\n", (unsigned long)text, id, path);
}

int main(int argc, char **argv)
{
	char *path = NULL;
	size_t size = 0;
	ssize_t n;

	if (argc != 2) {
		fprintf(stderr, "usage: list-elf MACHINE <paths\n");
		return 2;
	}
	while ((n = getline(&path, &size, stdin)) > 0) {
		int fd;

		path[n - 1] = 0;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		list_file(fd, path, strtoul(argv[1], NULL, 0));
		close(fd);
	}
	free(path);
	return 0;
}
