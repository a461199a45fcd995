/* object: see object.h. */
#include "profile/symbols/object.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"

/* whether the file has the module's build-id, or one of them has none */
static bool is_of_build(Dwfl_Module *m, int fd)
{
	const unsigned char *wanted = NULL;
	const void *there = NULL;
	GElf_Addr at;
	int n = dwfl_module_build_id(m, &wanted, &at);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ssize_t has = elf ? dwelf_elf_gnu_build_id(elf, &there) : -1;
	bool same = n <= 0 || has <= 0 ||
		    (has == n && !memcmp(there, wanted, (size_t)n));

	elf_end(elf);
	return same;
}

/*
 * libdw believes a server, and what lies at the build-id's place. When the
 * module has a debug file, what else is looked for are parts that it shares
 * with others (dwz), which have an identity of their own.
 */
static int find_debuginfo(Dwfl_Module *m, void **accepted, const char *name,
			  Dwarf_Addr base, const char *file, const char *link,
			  GElf_Word crc, char **found)
{
	static char yes;
	int fd = dwfl_standard_find_debuginfo(m, accepted, name, base, file,
					      link, crc, found);

	if (fd < 0)
		return fd;
	if (!*accepted && !is_of_build(m, fd)) {
		close(fd);
		free(*found);
		*found = NULL;
		return -1;
	}
	*accepted = &yes;
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

enum { BUILD_TEXT = 72 };

static const char *build_text(const uint8_t *id, int n, char text[BUILD_TEXT])
{
	strcpy(text, "without a build-id");
	for (int i = 0; i < n && 2 * i + 2 < BUILD_TEXT; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	return text;
}

/* it has the build-id that it should have, if that is known */
static int check_build(Dwfl_Module *m, const struct object_id *id,
		       struct err *e)
{
	const unsigned char *bits = NULL;
	char there[BUILD_TEXT], wanted[BUILD_TEXT];
	GElf_Addr at;
	int n;

	if (!id->build_id_len)
		return 0;
	n = dwfl_module_build_id(m, &bits, &at);
	if (n == (int)id->build_id_len &&
	    !memcmp(bits, id->build_id, id->build_id_len))
		return 0;
	return err_set(e, ERR_INPUT,
		       "%s: it is another build now, %s, than "
		       "was measured, %s",
		       id->path, build_text(bits, n, there),
		       build_text(id->build_id, (int)id->build_id_len, wanted));
}

/* it is the file that it should be, if that is known */
static int check_file(int fd, const struct object_id *id, struct err *e)
{
	struct file_id there;
	struct stat s;

	if (!id->file)
		return 0;
	if (fstat(fd, &s))
		return err_set(e, ERR_INPUT, "%s: %s", id->path,
			       strerror(errno));
	there = file_id_of(&s);
	if (file_id_same(&there, id->file))
		return 0;
	return err_set(e, ERR_INPUT,
		       "%s: it has changed since it was "
		       "measured, and has no build-id: its symbols are not "
		       "used",
		       id->path);
}

/* takes over the descriptor */
static int report(struct object *o, const struct object_id *id, int fd,
		  struct err *e)
{
	o->dwfl = dwfl_begin(&callbacks);
	/* at address 0: what it says of addresses is what the file says */
	o->module = o->dwfl ? dwfl_report_elf(o->dwfl, id->path, id->path, fd,
					      0, true)
			    : NULL;
	if (!o->module) {
		err_set(e, ERR_INPUT, "%s: %s", id->path, dwfl_errmsg(-1));
		close(fd);
		return -1;
	}
	dwfl_report_end(o->dwfl, NULL, NULL);
	return check_build(o->module, id, e);
}

int object_open_fd(struct object *o, const struct object_id *id, int fd,
		   struct err *e)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	*o = (struct object){0};
	if (own < 0)
		return err_set(e, ERR_INPUT, "%s: %s", id->path,
			       strerror(errno));
	if (check_file(own, id, e)) {
		close(own);
		return -1;
	}
	if (report(o, id, own, e)) {
		object_close(o);
		return -1;
	}
	return 0;
}

int object_open(struct object *o, const struct object_id *id, struct err *e)
{
	struct stat s;
	int fd = regular_open(id->path, 0, &s, e), status;

	*o = (struct object){0};
	if (fd < 0)
		return -1;
	status = object_open_fd(o, id, fd, e);
	close(fd);
	return status;
}

void object_close(struct object *o)
{
	if (o->dwfl)
		dwfl_end(o->dwfl);
	*o = (struct object){0};
}

/* --- segments */

enum { PAGE = 4096 };

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

void segments_read(struct segments *s, const struct object *o)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(o->module, &bias);
	size_t n;

	*s = (struct segments){0};
	if (!elf || elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && s->n < SEGMENTS; i++) {
		GElf_Phdr h;

		if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_LOAD ||
		    !(h.p_flags & PF_X))
			continue;
		s->at[s->n++] = (struct code_segment){
			page_of(h.p_vaddr),
			page_of(h.p_vaddr + h.p_memsz + PAGE - 1),
			page_of(h.p_offset),
		};
	}
}
