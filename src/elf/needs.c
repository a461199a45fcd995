/*
 * needs: see needs.h. The checks of header.c and the notes of note.c are used
 * on a mapping of the whole file, of which a few pages are touched.
 */
#include "elf/needs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/regular.h"
#include "elf/image_int.h"

#ifdef __x86_64__
enum { HOST = EM_X86_64 };
#else
enum { HOST = EM_AARCH64 };
#endif

/* cache_flags: FLAG_ELF_LIBC6 and the machine, of glibc's ldconfig.h */
static const struct machine machines[] = {
	{EM_X86_64, "x86-64", "x86_64", "x86_64-linux-gnu", "x86_64",
	 "qemu-x86_64", 0x0303, 64, HOST == EM_X86_64},
	{EM_AARCH64, "AArch64", "aarch64", "aarch64-linux-gnu", "aarch64",
	 "qemu-aarch64", 0x0a03, 16, HOST == EM_AARCH64},
};

/* names that a hostile file may ask for, at most */
enum { NEEDED_MAX = 65536 };

const struct machine *machine_of(uint16_t id)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i].id == id)
			return &machines[i];
	return NULL;
}

/* a copy of the string, "" if it does not end inside its table */
static const char *needs_string(struct needs *n, struct bytes names,
				uint64_t at)
{
	const char *s = (const char *)names.p + at;
	size_t len;

	if (at >= names.n)
		return "";
	len = strnlen(s, names.n - at);
	return len < names.n - at ? arena_string(&n->arena, s, len) : "";
}

/* takes one entry of PT_DYNAMIC that names a string or flags */
static void needs_entry(struct needs *n, struct bytes names, uint64_t tag,
			uint64_t value)
{
	switch (tag) {
	case DT_NEEDED:
		if (n->needed.n < NEEDED_MAX)
			vec_push(&n->needed, needs_string(n, names, value));
		break;
	case DT_SONAME:
		n->soname = needs_string(n, names, value);
		break;
	case DT_RPATH:
		n->rpath = needs_string(n, names, value);
		break;
	case DT_RUNPATH:
		n->runpath = needs_string(n, names, value);
		break;
	case DT_BIND_NOW:
		n->binds_now = true;
		break;
	case DT_FLAGS:
		n->binds_now |= (value & DF_BIND_NOW) != 0;
		break;
	case DT_FLAGS_1:
		n->binds_now |= (value & DF_1_NOW) != 0;
		n->no_default = value & DF_1_NODEFLIB;
		n->program |= (value & DF_1_PIE) != 0;
		break;
	}
}

/* the next entry of PT_DYNAMIC; false at its end */
static bool next_entry(struct bytes *b, uint64_t *tag, uint64_t *value)
{
	if (bytes_left(b) < sizeof(Elf64_Dyn))
		return false;
	*tag = bytes_uint(b, 8);
	*value = bytes_uint(b, 8);
	return *tag != DT_NULL;
}

/* reads PT_DYNAMIC: its strings first, then what points to them */
static void needs_dynamic(struct needs *n, const struct reading *r)
{
	uint64_t start = r->dynamic_at.start, tag, value, strings = 0;
	size_t avail;
	const uint8_t *p = image_at(r->im, start, &avail);
	struct bytes b = bytes_window(p, avail, start), all, names;

	if (r->dynamic_at.end - start < b.n)
		b.n = r->dynamic_at.end - start;
	all = b;
	while (next_entry(&b, &tag, &value))
		if (tag == DT_STRTAB)
			strings = value;
	p = image_at(r->im, strings, &avail);
	names = bytes_window(p, avail, strings);
	while (next_entry(&all, &tag, &value))
		needs_entry(n, names, tag, value);
}

/* PT_TLS */
static void needs_tls(struct needs *n, const struct image *im)
{
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr h = phdr_at(im, i);

		if (h.p_type != PT_TLS)
			continue;
		n->tls = h.p_memsz + h.p_align;
		n->tls_align = h.p_align;
	}
}

/* everything, once the bytes are there */
static int needs_parse(struct needs *n, struct image *im, struct err *e)
{
	struct reading r = {.im = im, .e = e};

	if (header_read(&r))
		return -1;
	note_read(&r);
	n->machine = machine_of(im->machine);
	n->dynamic = im->dynamic;
	n->program = im->type == ET_EXEC;
	if (im->interp) {
		n->loads = true;
		n->interp = arena_string(&n->arena, im->interp,
					 strlen(im->interp));
	}
	memcpy(n->build_id, im->build_id, im->build_id_len);
	n->build_id_len = im->build_id_len;
	if (n->dynamic)
		needs_dynamic(n, &r);
	needs_tls(n, im);
	return 0;
}

/* maps the open file; 0, or -1 and *e */
static int needs_map(struct image *im, int fd, size_t size, struct err *e)
{
	void *p;

	if (!size)
		return err_set(e, ERR_INPUT, "%s: the file is empty",
			       im->path);
	p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_set(e, ERR_INPUT, "%s: cannot map: %s", im->path,
			       strerror(errno));
	im->bytes = im->mapped = p;
	im->size = size;
	return 0;
}

int needs_read(struct needs *n, const char *path, struct err *e)
{
	struct stat st;
	int fd = regular_open(path, 0, &st, e), status;
	struct image im = {.path = path};

	*n = (struct needs){.interp = "", .soname = "", .rpath = "",
			    .runpath = ""};
	if (fd < 0)
		return -1;
	status = needs_map(&im, fd, (size_t)st.st_size, e);
	close(fd);
	if (!status)
		status = needs_parse(n, &im, e);
	image_close(&im);
	if (status)
		needs_free(n);
	return status;
}

void needs_free(struct needs *n)
{
	vec_free(&n->needed);
	arena_free(&n->arena);
	*n = (struct needs){0};
}

bool needs_audits(const struct needs *n)
{
	return n->loads && n->needed.n && !needs_is_musl(n);
}

bool needs_is_musl(const struct needs *n)
{
	const char *base = strrchr(n->interp, '/');

	return !strncmp(base ? base + 1 : n->interp, "ld-musl", 7);
}
