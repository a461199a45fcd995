/*
 * elf/image: images made by hand: what is refused and how it is called, what
 * lying headers lead to, and the questions one can ask of an image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf_build.h"

/* the bytes are refused with a message that has this in it */
static void assert_refused(const void *bytes, size_t n, const char *text)
{
	struct image im;
	struct err e = {0};

	assert_int_equal(image_parse(&im, "F", bytes, n, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_int_equal(strncmp(e.text, "F: at offset 0x", 15), 0);
	if (!strstr(e.text, text))
		fail_msg("'%s' does not say '%s'", e.text, text);
}

/* what was built is refused */
static void assert_build_refused(struct elf_build *b, const char *text)
{
	if (!b->phdr[0].p_filesz)
		b->phdr[0].p_filesz = b->phdr[0].p_memsz = b->n;
	assert_refused(b->bytes, b->n, text);
}

static void test_foreign(void **state)
{
	(void)state;
	assert_refused("", 0, "empty");
	assert_refused("\x7f" "EL", 3, "not an ELF file");
	assert_refused("#!/bin/sh\n", 10, "script");
	assert_refused("!<arch>\nx", 9, "archive");
	assert_refused("hello", 5, "not an ELF file");
	assert_refused("\x7f" "ELF", 4, "truncated");
	assert_refused("\x7f" "ELF\1\1", 6, "32-bit");
	assert_refused("\x7f" "ELF\2\2", 6, "big-endian");
	assert_refused("\x7f" "ELF\2\1", 6, "truncated");
}

static void test_kinds(void **state)
{
	struct elf_build b;

	(void)state;
	elf_begin(&b, ET_REL, EM_X86_64);
	assert_build_refused(&b, "relocatable object");
	elf_begin(&b, ET_CORE, EM_AARCH64);
	assert_build_refused(&b, "core file");
	elf_begin(&b, 77, EM_AARCH64);
	assert_build_refused(&b, "unknown ELF file type 77");
	elf_begin(&b, ET_DYN, EM_RISCV);
	assert_build_refused(&b, "RISC-V");
	elf_begin(&b, ET_DYN, 9999);
	assert_build_refused(&b, "machine 9999");
}

static void test_program_headers(void **state)
{
	struct elf_build b;

	(void)state;
	elf_begin(&b, ET_DYN, EM_X86_64);
	b.header->e_phnum = 0;
	assert_build_refused(&b, "no program headers");
	b.header->e_phnum = 0xfffe;
	assert_build_refused(&b, "do not fit");
	b.header->e_phnum = 1;
	b.header->e_phentsize = 32;
	assert_build_refused(&b, "32 bytes instead of 56");
	b.header->e_phentsize = 56;
	b.phdr[0].p_filesz++;
	assert_build_refused(&b, "larger in the file");
	b.phdr[0].p_memsz++;
	assert_build_refused(&b, "truncated: segment 0");
	b.phdr[0].p_vaddr = UINT64_MAX - 8;
	assert_build_refused(&b, "wraps around");
	b.phdr[0].p_type = PT_NOTE;
	assert_build_refused(&b, "no loadable segment");
	elf_begin(&b, ET_DYN, EM_X86_64);
	elf_add_phdr(&b, PT_LOAD, ELF_BASE + 8, 8);
	assert_build_refused(&b, "overlap");
	elf_begin(&b, ET_DYN, EM_X86_64);
	elf_add_phdr(&b, PT_INTERP, ELF_BASE, 4);
	assert_build_refused(&b, "interpreter");
}

/* PN_XNUM and e_shnum 0: the numbers are in section header 0 */
static void test_extended_numbers(void **state)
{
	struct elf_build b;
	struct image im;
	struct err e;
	Elf64_Shdr sh[3] = {{.sh_info = 1, .sh_size = 3, .sh_link = 2}};

	(void)state;
	elf_begin(&b, ET_DYN, EM_X86_64);
	sh[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = b.n,
			     .sh_size = 6, .sh_name = 1};
	elf_append(&b, "\0.str", 6);
	elf_align(&b, 8);
	b.header->e_phnum = PN_XNUM;
	b.header->e_shstrndx = SHN_XINDEX;
	b.header->e_shoff = elf_append(&b, sh, sizeof sh) - ELF_BASE;
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_int_equal(im.nsegment, 1);
	assert_int_equal(im.nsection, 2);
	assert_non_null(image_section(&im, ".str"));
	image_close(&im);
	b.header->e_shoff = b.n - 8;
	assert_build_refused(&b, "number of program headers");
}

/* sections: [1] consistent, [2] wrong address, [3] beyond the file */
static void test_lying_sections(void **state)
{
	struct elf_build b;
	struct image im;
	struct err e;
	Elf64_Shdr sh[4] = {{0}};

	(void)state;
	elf_begin(&b, ET_DYN, EM_AARCH64);
	sh[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = ELF_BASE + b.n,
			     .sh_offset = b.n, .sh_size = 64,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR};
	sh[2] = sh[1];
	sh[2].sh_addr += 16;
	sh[3] = sh[1];
	sh[3].sh_size = UINT64_MAX;
	b.n += 128;
	b.header->e_shnum = 4;
	b.header->e_shoff = elf_append(&b, sh, sizeof sh) - ELF_BASE;
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_true(im.has_sections);
	assert_int_equal(im.nsection, 3);
	assert_int_equal(im.section[1].type, SHT_NULL);
	assert_int_equal(im.section[2].type, SHT_NULL);
	assert_int_equal(im.ncode, 1);
	assert_int_equal(im.code[0].end - im.code[0].start, 64);
	image_close(&im);
	/* the only code section lies: the segment is all we know */
	((Elf64_Shdr *)(b.bytes + b.header->e_shoff))[1].sh_offset = 8;
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_false(im.has_sections);
	assert_int_equal(im.code[0].start, ELF_BASE);
	image_close(&im);
	/* the table itself is beyond the file */
	b.header->e_shoff = b.n;
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_int_equal(im.nsection, 0);
	image_close(&im);
}

/* a second, writable segment of 64 bytes of which 32 are in the file */
static void add_data(struct elf_build *b)
{
	Elf64_Phdr *p = elf_add_phdr(b, PT_LOAD, ELF_BASE + 0x8000, 32);

	p->p_offset = ELF_DATA;
	p->p_memsz = 64;
	p->p_flags = PF_R | PF_W;
}

static void test_lookup(void **state)
{
	struct elf_build b;
	struct image im;
	struct err e;
	uint64_t data = ELF_BASE + 0x8000, v;
	size_t avail;

	(void)state;
	elf_begin(&b, ET_EXEC, EM_X86_64);
	for (uint64_t i = 0; i < 8; i++)
		elf_append_uint(&b, 8, 0x1111 * i);
	add_data(&b);
	elf_add_phdr(&b, PT_GNU_RELRO, data, 16);
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_null(image_segment(&im, ELF_BASE - 1));
	assert_ptr_equal(image_segment(&im, ELF_BASE), &im.segment[0]);
	assert_ptr_equal(image_segment(&im, data + 63), &im.segment[1]);
	assert_null(image_segment(&im, data + 64));
	assert_non_null(image_at(&im, data + 31, &avail));
	assert_int_equal(avail, 1);
	assert_null(image_at(&im, data + 32, &avail));
	assert_int_equal(avail, 0);
	assert_true(image_read(&im, data + 8, 2, &v));
	assert_int_equal(v, 0x1111);
	assert_false(image_read(&im, data + 28, 8, &v));
	assert_true(image_pointer(&im, data + 16, &v));
	assert_int_equal(v, 0x2222);
	assert_false(image_pointer(&im, data + 32, &v));
	assert_true(image_constant(&im, data, 16));
	assert_false(image_constant(&im, data, 17));
	assert_false(image_constant(&im, data + 8, UINT64_MAX));
	assert_true(image_constant(&im, ELF_BASE, 8));
	assert_true(image_is_code(&im, ELF_BASE));
	assert_false(image_is_code(&im, data));
	image_close(&im);
}

/* appends PT_DYNAMIC with n entries */
static void add_dynamic(struct elf_build *b, const Elf64_Dyn *d, size_t n)
{
	uint64_t at;

	elf_align(b, 8);
	at = elf_append(b, d, n * sizeof *d);
	elf_add_phdr(b, PT_DYNAMIC, at, n * sizeof *d);
}

/* a DT_GNU_HASH over symbols [first, first + n) in one bucket */
static uint64_t add_gnu_hash(struct elf_build *b, uint32_t first, uint32_t n)
{
	uint64_t at;

	elf_align(b, 8);
	at = elf_append_uint(b, 4, 1);
	elf_append_uint(b, 4, first);
	elf_append_uint(b, 4, 1);
	elf_append_uint(b, 4, 0);
	elf_append_uint(b, 8, UINT64_MAX);
	elf_append_uint(b, 4, first);
	for (uint32_t i = 0; i < n; i++)
		elf_append_uint(b, 4, i + 1 == n);
	return at;
}

/* symbols and relocations without section headers */
static void test_dynamic(void **state)
{
	static const char strings[] = "\0here\0there\0lib.so";
	struct elf_build b;
	struct image im;
	struct err e;
	const struct reloc *r;
	uint64_t v, place, syms, strs, rela, hash;

	(void)state;
	elf_begin(&b, ET_DYN, EM_AARCH64);
	place = elf_append(&b, &(uint64_t[6]){0}, 48);
	Elf64_Sym sym[3] = {
		{0},
		{.st_name = 6, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
		{.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		 .st_shndx = 1, .st_value = place + 8, .st_size = UINT64_MAX},
	};
	Elf64_Rela rel[] = {
		{place + 24, ELF64_R_INFO(2, R_AARCH64_ABS64), 4},
		{place + 16, ELF64_R_INFO(1, R_AARCH64_GLOB_DAT), 0},
		{place, ELF64_R_INFO(0, R_AARCH64_RELATIVE), ELF_BASE + 5},
		{place + 8, ELF64_R_INFO(0, R_AARCH64_IRELATIVE), ELF_BASE},
		{1, ELF64_R_INFO(0, R_AARCH64_RELATIVE), ELF_BASE},
	};
	syms = elf_append(&b, sym, sizeof sym);
	strs = elf_append(&b, strings, sizeof strings);
	elf_align(&b, 8);
	rela = elf_append(&b, rel, sizeof rel);
	hash = add_gnu_hash(&b, 2, 1);
	Elf64_Dyn dyn[] = {
		{DT_SYMTAB, {syms}},	 {DT_STRTAB, {strs}},
		{DT_STRSZ, {UINT64_MAX}}, {DT_GNU_HASH, {hash}},
		{DT_RELA, {rela}},	 {DT_RELASZ, {sizeof rel}},
		{DT_JMPREL, {rela}},	 {DT_PLTRELSZ, {sizeof *rel}},
		{DT_INIT_ARRAY, {place}}, {DT_INIT_ARRAYSZ, {24}},
		{DT_SONAME, {12}},	 {DT_NULL, {0}},
	};
	add_dynamic(&b, dyn, sizeof dyn / sizeof *dyn);
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_string_equal(im.soname, "lib.so");
	assert_int_equal(im.nsymbol, 1);
	assert_string_equal(im.symbol[0].name, "here");
	assert_int_equal(im.symbol[0].size, im.segment[0].end - place - 8);
	assert_ptr_equal(image_symbol_at(&im, place + 8), im.symbol);
	assert_null(image_symbol_at(&im, place + 9));
	assert_int_equal(im.nreloc, 4);
	assert_true(image_pointer(&im, place, &v));
	assert_int_equal(v, ELF_BASE + 5);
	assert_false(image_pointer(&im, place + 8, &v));
	assert_false(image_pointer(&im, place + 16, &v));
	assert_true(image_pointer(&im, place + 24, &v));
	assert_int_equal(v, place + 12);
	assert_false(image_pointer(&im, place + 32, &v));
	r = image_reloc(&im, place + 16);
	assert_string_equal(r->symbol, "there");
	assert_false(r->local);
	assert_int_equal(image_reloc_from(&im, place + 9), 2);
	assert_int_equal(im.nctor, 1);
	assert_int_equal(im.ctor[0], ELF_BASE + 5);
	image_close(&im);
}

/* slots for ifuncs, thread-local symbols, and REL tables with addends */
static void test_odd_relocs(void **state)
{
	struct elf_build b;
	struct image im;
	struct err e;
	uint64_t v, place, syms, rela, rel_at;

	(void)state;
	elf_begin(&b, ET_DYN, EM_X86_64);
	place = elf_append_uint(&b, 8, ELF_BASE + 3);
	elf_append(&b, &(uint64_t[3]){0}, 24);
	Elf64_Sym sym[3] = {
		{0},
		{.st_info = STT_GNU_IFUNC, .st_shndx = 1, .st_value = place},
		{.st_info = STT_TLS, .st_shndx = 1, .st_value = 8},
	};
	Elf64_Rela rela_table[] = {
		{place + 8, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0},
		{place + 16, ELF64_R_INFO(2, R_X86_64_TPOFF64), 4},
		{place + 24, ELF64_R_INFO(99999, R_X86_64_GLOB_DAT), 0},
	};
	Elf64_Rel rel_table = {place, ELF64_R_INFO(0, R_X86_64_RELATIVE)};
	syms = elf_append(&b, sym, sizeof sym);
	rela = elf_append(&b, rela_table, sizeof rela_table);
	rel_at = elf_append(&b, &rel_table, sizeof rel_table);
	Elf64_Dyn dyn[] = {
		{DT_SYMTAB, {syms}}, {DT_RELA, {rela}},
		{DT_RELASZ, {sizeof rela_table}}, {DT_REL, {rel_at}},
		{DT_RELSZ, {sizeof rel_table}},
	};
	add_dynamic(&b, dyn, sizeof dyn / sizeof *dyn);
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_int_equal(im.nreloc, 4);
	assert_true(image_pointer(&im, place, &v));
	assert_int_equal(v, ELF_BASE + 3);
	assert_int_equal(im.reloc[1].kind, RELOC_IRELATIVE);
	assert_int_equal(im.reloc[1].value, place);
	assert_int_equal(im.reloc[2].kind, RELOC_OTHER);
	assert_int_equal(im.reloc[2].value, 4);
	assert_false(im.reloc[2].local);
	assert_null(im.reloc[3].symbol);
	for (unsigned i = 1; i < 4; i++)
		assert_false(image_pointer(&im, place + 8 * i, &v));
	image_close(&im);
}

/* RELR: an address, then two bitmaps */
static void test_relr(void **state)
{
	struct elf_build b;
	struct image im;
	struct err e;
	uint64_t place, table;

	(void)state;
	elf_begin(&b, ET_DYN, EM_X86_64);
	place = ELF_BASE + b.n;
	for (uint64_t i = 0; i < 160; i++)
		elf_append_uint(&b, 8, ELF_BASE + i);
	table = elf_append_uint(&b, 8, place);
	elf_append_uint(&b, 8, 1 | 1 << 2);		  /* place + 16 */
	elf_append_uint(&b, 8, 1 | (uint64_t)1 << 63);	  /* the last of 63 */
	Elf64_Dyn dyn[] = {{36, {table}}, {35, {24}}, {DT_NULL, {0}}};
	add_dynamic(&b, dyn, 3);
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_int_equal(im.nreloc, 3);
	assert_int_equal(im.reloc[0].place, place);
	assert_int_equal(im.reloc[1].place, place + 16);
	assert_int_equal(im.reloc[1].value, ELF_BASE + 2);
	assert_int_equal(im.reloc[2].place, place + 8 + 63 * 8 + 62 * 8);
	image_close(&im);
}

static void test_build_id(void **state)
{
	struct elf_build b;
	struct image im;
	struct err e;
	uint64_t at;

	(void)state;
	elf_begin(&b, ET_DYN, EM_X86_64);
	at = elf_append(&b, "\4\0\0\0\2\0\0\0\1\0\0\0GNU\0ab\0\0", 20);
	elf_append(&b, "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\xaa\xbb\xcc", 19);
	elf_add_phdr(&b, PT_NOTE, at, 39)->p_align = 4;
	assert_int_equal(elf_open(&b, &im, &e), 0);
	assert_int_equal(im.build_id_len, 3);
	assert_memory_equal(im.build_id, "\xaa\xbb\xcc", 3);
	image_close(&im);
}

/* what open(2) and fstat(2) tell */
static void test_files(void **state)
{
	char dir[] = "/tmp/elf_image.XXXXXX", fifo[64];
	struct image im;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(image_open(&im, dir, &e), -1);
	assert_non_null(strstr(e.text, "is a directory"));
	snprintf(fifo, sizeof fifo, "%s/fifo", dir);
	assert_int_equal(image_open(&im, fifo, &e), -1);
	assert_non_null(strstr(e.text, "No such file"));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(image_open(&im, fifo, &e), -1);
	assert_non_null(strstr(e.text, "not a regular file"));
	assert_int_equal(e.code, ERR_INPUT);
	unlink(fifo);
	rmdir(dir);
	assert_int_equal(image_open(&im, "/proc/self/exe", &e), 0);
	assert_true(im.nsegment > 0);
	image_close(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_program_headers),
		cmocka_unit_test(test_extended_numbers),
		cmocka_unit_test(test_lying_sections),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_odd_relocs),
		cmocka_unit_test(test_relr),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
