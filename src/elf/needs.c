/*
 * needs: see needs.h. The checks of header.c and the notes of note.c are used
 * on a mapping of the whole file, of which a few pages are touched.
 */
#include "elf/needs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "elf/image_int.h"

#ifdef __x86_64__
enum { HOST = EM_X86_64 };
#else
enum { HOST = EM_AARCH64 };
#endif

/* cache_flags: FLAG_ELF_LIBC6 and the machine, of glibc's ldconfig.h */
static const struct machine machines[] = {
	{EM_X86_64, "x86-64", "x86_64", "x86_64-linux-gnu", "x86_64",
	 "qemu-x86_64", 0x0303, HOST == EM_X86_64},
	{EM_AARCH64, "AArch64", "aarch64", "aarch64-linux-gnu", "aarch64",
	 "qemu-aarch64", 0x0a03, HOST == EM_AARCH64},
};

/* names that a hostile file may ask for, at most */
enum { NEEDED_MAX = 65536 };

static const struct machine *machine_of(uint16_t id)
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
	case DT_FLAGS_1:
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

/* the relocations that DT_RELA tells of */
struct rela {
	uint64_t start, size;
};

/* reads PT_DYNAMIC: its strings first, then what points to them */
static void needs_dynamic(struct needs *n, const struct reading *r,
			  struct rela *rela)
{
	uint64_t start = r->dynamic_at.start, tag, value, strings = 0;
	size_t avail;
	const uint8_t *p = image_at(r->im, start, &avail);
	struct bytes b = bytes_window(p, avail, start), all, names;

	if (r->dynamic_at.end - start < b.n)
		b.n = r->dynamic_at.end - start;
	all = b;
	while (next_entry(&b, &tag, &value)) {
		if (tag == DT_STRTAB)
			strings = value;
		rela->start = tag == DT_RELA ? value : rela->start;
		rela->size = tag == DT_RELASZ ? value : rela->size;
	}
	p = image_at(r->im, strings, &avail);
	names = bytes_window(p, avail, strings);
	while (next_entry(&all, &tag, &value))
		needs_entry(n, names, tag, value);
}

/* the variables that each thread has of its own, with room to align them */
static uint64_t tls_size(const struct image *im)
{
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr h = phdr_at(im, i);

		if (h.p_type == PT_TLS)
			return h.p_memsz + h.p_align;
	}
	return 0;
}

/*
 * Whether code knows the distance of such variables from the thread pointer
 * (the model "initial-exec"). DF_STATIC_TLS says so, but not on AArch64.
 */
static bool is_static(const struct image *im, const struct rela *rela)
{
	uint32_t wanted = im->machine == EM_AARCH64 ? R_AARCH64_TLS_TPREL :
						      R_X86_64_TPOFF64;
	size_t avail;
	const uint8_t *p = image_at(im, rela->start, &avail);
	struct bytes b = bytes_window(p, avail, rela->start);

	if (rela->size < b.n)
		b.n = rela->size;
	while (bytes_left(&b) >= sizeof(Elf64_Rela)) {
		uint64_t info;

		bytes_uint(&b, 8);
		info = bytes_uint(&b, 8);
		bytes_uint(&b, 8);
		if (ELF64_R_TYPE(info) == wanted)
			return true;
	}
	return false;
}

/* everything, once the bytes are there */
static int needs_parse(struct needs *n, struct image *im, struct err *e)
{
	struct reading r = {.im = im, .e = e};
	struct rela rela = {0};

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
		needs_dynamic(n, &r, &rela);
	if (rela.size && tls_size(im) && is_static(im, &rela))
		n->static_tls = tls_size(im);
	return 0;
}

/* maps the open file; 0, or -1 and *e */
static int needs_map(struct image *im, int fd, struct err *e)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st))
		return err_set(e, ERR_INPUT, "%s: %s", im->path,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INPUT, "%s: is not a regular file",
			       im->path);
	if (!st.st_size)
		return err_set(e, ERR_INPUT, "%s: the file is empty",
			       im->path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_set(e, ERR_INPUT, "%s: cannot map: %s", im->path,
			       strerror(errno));
	im->bytes = p;
	im->size = (size_t)st.st_size;
	im->mapped = true;
	return 0;
}

int needs_read(struct needs *n, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct image im = {.path = path};
	int status;

	*n = (struct needs){.interp = "", .soname = "", .rpath = "",
			    .runpath = ""};
	if (fd < 0)
		return err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
	status = needs_map(&im, fd, e);
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
