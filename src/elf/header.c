/*
 * header: what kind of file this is, and its program headers.
 *
 * Only what tally can work with passes: 64-bit little-endian executables and
 * shared objects of x86-64 and AArch64 that have their code in them. All else
 * is refused with a message that says what the file is instead. PT_LOADs
 * become im->segment: inside the file, sorted, disjoint; a file that breaks
 * this could not be loaded either.
 */
#include "elf/image_int.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* files that people pass by mistake, by their first bytes */
static const struct magic {
	const char *bytes;
	uint8_t n;
	const char *what;
} magics[] = {
	{"#!", 2, "a script; give the interpreter it names instead"},
	{"!<arch>\n", 8, "an archive (.a) of object files"},
	{"!<thin>\n", 8, "a thin archive (.a) of object files"},
	{"BC\xc0\xde", 4, "LLVM bitcode"},
	{"MZ", 2, "a Windows or EFI executable"},
	{"\xcf\xfa\xed\xfe", 4, "a Mach-O file"},
	{"\x1f\x8b", 2, "gzip data"},
	{"\xfd" "7zXZ", 5, "xz data"},
};

static const struct machine_name {
	uint16_t machine;
	const char *name;
} machine_names[] = {
	{EM_386, "i386"},	{EM_ARM, "32-bit ARM"},
	{EM_PPC64, "PowerPC"},	{EM_S390, "S/390"},
	{EM_RISCV, "RISC-V"},	{EM_MIPS, "MIPS"},
	{EM_BPF, "BPF"},	{EM_LOONGARCH, "LoongArch"},
};

/* fails at an offset of the file being read */
#define refuse(r, offset, ...) \
	err_at((r)->e, (r)->im->path, (offset), __VA_ARGS__)

/* refuses what does not start like an ELF file */
static int header_check_magic(struct reading *r)
{
	const struct image *im = r->im;

	if (!im->size)
		return refuse(r, 0, "the file is empty");
	if (im->size >= SELFMAG && !memcmp(im->bytes, ELFMAG, SELFMAG))
		return 0;
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (im->size >= magics[i].n &&
		    !memcmp(im->bytes, magics[i].bytes, magics[i].n))
			return refuse(r, 0, "not an ELF file but %s",
				      magics[i].what);
	return refuse(r, 0, "not an ELF file");
}

/* refuses other word sizes and byte orders; the header must be complete */
static int header_check_ident(struct reading *r)
{
	const struct image *im = r->im;
	uint8_t class = im->size > EI_CLASS ? im->bytes[EI_CLASS] : 0;
	uint8_t data = im->size > EI_DATA ? im->bytes[EI_DATA] : 0;

	if (class == ELFCLASS32)
		return refuse(r, EI_CLASS, "a 32-bit ELF file; only 64-bit "
			      "x86-64 and AArch64 are supported");
	if (data == ELFDATA2MSB)
		return refuse(r, EI_DATA, "a big-endian ELF file; only "
			      "little-endian ones are supported");
	if (im->size < sizeof r->header)
		return refuse(r, im->size, "truncated: the file ends inside "
			      "the ELF header");
	if (class != ELFCLASS64)
		return refuse(r, EI_CLASS, "unknown ELF class %u", class);
	if (data != ELFDATA2LSB)
		return refuse(r, EI_DATA, "unknown ELF byte order %u", data);
	memcpy(&r->header, im->bytes, sizeof r->header);
	return 0;
}

/* refuses object and core files */
static int header_check_type(struct reading *r)
{
	uint64_t at = offsetof(Elf64_Ehdr, e_type);

	switch (r->header.e_type) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	case ET_REL:
		return refuse(r, at, "a relocatable object (.o); link it into "
			      "a program or shared library first");
	case ET_CORE:
		return refuse(r, at, "a core file, not a program");
	default:
		return refuse(r, at, "unknown ELF file type %u",
			      r->header.e_type);
	}
}

/* refuses other machines, by name if we know it */
static int header_check_machine(struct reading *r)
{
	uint64_t at = offsetof(Elf64_Ehdr, e_machine);
	uint16_t m = r->header.e_machine;

	if (m == EM_X86_64 || m == EM_AARCH64)
		return 0;
	for (size_t i = 0; i < sizeof machine_names / sizeof *machine_names;
	     i++)
		if (machine_names[i].machine == m)
			return refuse(r, at, "made for %s; only x86-64 and "
				      "AArch64 are supported",
				      machine_names[i].name);
	return refuse(r, at, "made for machine %u; only x86-64 and AArch64 "
		      "are supported", m);
}

/* refuses what debuggers read beside a program */
static int header_check_debug(struct reading *r)
{
	if (!section_code_elsewhere(r))
		return 0;
	return refuse(r, r->header.e_shoff, "a separate debug file, without "
		      "code; give the program or library it belongs to");
}

/* how many program headers; PN_XNUM: the number is in section header 0 */
static int header_count(struct reading *r)
{
	const Elf64_Ehdr *h = &r->header;
	uint64_t n = h->e_phnum;
	Elf64_Shdr first;

	if (n == PN_XNUM) {
		if (!image_in_file(r->im, h->e_shoff, sizeof first))
			return refuse(r, h->e_shoff, "the number of program "
				      "headers is beyond the end of the file");
		memcpy(&first, r->im->bytes + h->e_shoff, sizeof first);
		n = first.sh_info;
	}
	if (!n)
		return refuse(r, offsetof(Elf64_Ehdr, e_phnum),
			      "no program headers: nothing would be loaded");
	if (h->e_phentsize != sizeof(Elf64_Phdr))
		return refuse(r, offsetof(Elf64_Ehdr, e_phentsize),
			      "program headers of %u bytes instead of %zu",
			      h->e_phentsize, sizeof(Elf64_Phdr));
	if (!image_in_file(r->im, h->e_phoff, n * sizeof(Elf64_Phdr)))
		return refuse(r, h->e_phoff, "truncated: %" PRIu64 " program "
			      "headers do not fit into the file", n);
	r->im->nphdr = n;
	return 0;
}

/* the file offset of program header i */
static uint64_t header_offset(const struct reading *r, size_t i)
{
	return r->header.e_phoff + i * sizeof(Elf64_Phdr);
}

/* checks one PT_LOAD and adds it */
static int header_add_load(struct reading *r, size_t i, const Elf64_Phdr *p)
{
	struct image *im = r->im;
	struct segment *s = &im->segment[im->nsegment];
	uint64_t end;

	if (!p->p_memsz && !p->p_filesz)
		return 0;
	if (p->p_filesz > p->p_memsz)
		return refuse(r, header_offset(r, i), "segment %zu is larger "
			      "in the file than in memory", i);
	if (__builtin_add_overflow(p->p_vaddr, p->p_memsz, &end))
		return refuse(r, header_offset(r, i), "segment %zu wraps "
			      "around the address space", i);
	/* where nothing of a file lies does not matter */
	if (p->p_filesz && !image_in_file(im, p->p_offset, p->p_filesz))
		return refuse(r, header_offset(r, i), "truncated: segment %zu "
			      "reaches beyond the end of the file", i);
	*s = (struct segment){
		.start = p->p_vaddr,
		.file_end = p->p_vaddr + p->p_filesz,
		.end = end,
		.offset = p->p_offset < im->size ? p->p_offset : im->size,
		.read = p->p_flags & PF_R,
		.write = p->p_flags & PF_W,
		.exec = p->p_flags & PF_X,
	};
	im->nsegment++;
	return 0;
}

/* the path that PT_INTERP names; the kernel takes the first, up to PATH_MAX */
static int header_set_interp(struct reading *r, size_t i, const Elf64_Phdr *p)
{
	struct image *im = r->im;

	if (im->interp)
		return 0;
	if (!image_in_file(im, p->p_offset, p->p_filesz) || !p->p_filesz ||
	    p->p_filesz > PATH_MAX ||
	    !memchr(im->bytes + p->p_offset, 0, p->p_filesz))
		return refuse(r, header_offset(r, i), "the interpreter's name "
			      "is not a string inside the file");
	im->interp = (const char *)im->bytes + p->p_offset;
	return 0;
}

/* the addresses of p, empty if they wrap around */
static struct range header_range(const Elf64_Phdr *p)
{
	uint64_t end;

	if (__builtin_add_overflow(p->p_vaddr, p->p_memsz, &end))
		return (struct range){0};
	return (struct range){p->p_vaddr, end};
}

/* takes what program header i says */
static int header_add(struct reading *r, size_t i)
{
	Elf64_Phdr p = phdr_at(r->im, i);

	switch (p.p_type) {
	case PT_LOAD:
		return header_add_load(r, i, &p);
	case PT_INTERP:
		return header_set_interp(r, i, &p);
	case PT_DYNAMIC:
		r->im->dynamic = true;
		r->dynamic_at = header_range(&p);
		break;
	case PT_GNU_RELRO:
		r->im->relro = header_range(&p);
		break;
	case PT_GNU_EH_FRAME:
		r->im->eh_frame_hdr = header_range(&p);
		break;
	}
	return 0;
}

/* orders segments by address */
ORDER_BY(segment_compare, struct segment, start)

/* sorts segments; refuses none and overlapping ones */
static int header_sort(struct reading *r)
{
	struct image *im = r->im;

	if (!im->nsegment)
		return refuse(r, r->header.e_phoff, "no loadable segment");
	qsort(im->segment, im->nsegment, sizeof *im->segment, segment_compare);
	for (size_t i = 1; i < im->nsegment; i++)
		if (im->segment[i].start < im->segment[i - 1].end)
			return refuse(r, r->header.e_phoff, "the segments at "
				      "0x%" PRIx64 " and 0x%" PRIx64
				      " overlap", im->segment[i - 1].start,
				      im->segment[i].start);
	return 0;
}

int header_read(struct reading *r)
{
	struct image *im = r->im;

	if (header_check_magic(r) < 0 || header_check_ident(r) < 0 ||
	    header_check_type(r) < 0 || header_check_machine(r) < 0 ||
	    header_check_debug(r) < 0 || header_count(r) < 0)
		return -1;
	im->machine = r->header.e_machine;
	im->type = r->header.e_type;
	im->segment = ARENA_ARRAY(&im->arena, struct segment, im->nphdr);
	for (size_t i = 0; i < im->nphdr; i++)
		if (header_add(r, i) < 0)
			return -1;
	return header_sort(r);
}
