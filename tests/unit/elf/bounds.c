/*
 * elf/bounds: files built to make a reader slow or greedy: tables that are
 * claimed many times over, names inside names, entries inside entries. Each
 * has a few megabytes; reading one must take a small multiple of the memory of
 * its size, and time in proportion to it, even with sanitizers: as that of
 * looking at every byte of it so many times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "elf_walk.h"

enum {
	SIZE = 4 << 20,
	HALF = SIZE / 2,
	BASE = 0x400000,
	LOOKS = 5000,
	PASSES = 16, /* that are measured */
};

static uint8_t *file;
static Elf64_Ehdr *header;
static Elf64_Phdr *phdr;

/* starts a file of zeroes, all of it mapped at BASE */
static int begin(void **state)
{
	(void)state;
	file = calloc(1, SIZE);
	header = (Elf64_Ehdr *)file;
	phdr = (Elf64_Phdr *)(file + sizeof *header);
	*header = (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
		.e_type = ET_EXEC, .e_machine = EM_X86_64,
		.e_phoff = sizeof *header, .e_phentsize = sizeof *phdr,
		.e_shentsize = sizeof(Elf64_Shdr), .e_phnum = 1,
	};
	phdr[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			       .p_vaddr = BASE, .p_filesz = SIZE,
			       .p_memsz = SIZE};
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(file);
	return 0;
}

/* CPU time that LOOKS at every byte take on this machine; measured once */
static clock_t most_time(void)
{
	static clock_t most;
	volatile const uint8_t *byte = file;
	clock_t start = clock();

	if (most)
		return most;
	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < SIZE; i++)
			(void)byte[i];
	most = (clock() - start) * (LOOKS / PASSES);
	return most;
}

/* reads all of it, in time; returns whether it was refused */
static int read_in_time(void)
{
	clock_t most = most_time(), start = clock();
	int ret = walk_image("big", file, SIZE);

	assert_true(clock() - start < most);
	return ret;
}

/* as many program headers of a type as fit, each the second half */
static void many_segments(uint32_t type)
{
	uint16_t n = 0xfff0;

	header->e_phnum = n;
	for (unsigned i = 1; i < n && (i + 2) * sizeof *phdr < HALF; i++)
		phdr[i] = (Elf64_Phdr){.p_type = type, .p_offset = HALF,
				       .p_filesz = HALF, .p_memsz = HALF};
}

static void test_notes(void **state)
{
	(void)state;
	many_segments(PT_NOTE);
	assert_int_equal(read_in_time(), 0);
}

static void test_interpreters(void **state)
{
	(void)state;
	many_segments(PT_INTERP);
	memset(file + HALF, 'x', HALF);
	assert_int_equal(read_in_time(), -1);
}

/* as many section headers as fit, each the second half */
static void many_sections(uint32_t type, uint64_t flags)
{
	Elf64_Shdr *sh = (Elf64_Shdr *)(file + 4096);

	header->e_shoff = 4096;
	header->e_shnum = 0;
	sh[0].sh_size = (HALF - 4096) / sizeof *sh;
	for (size_t i = 1; i < sh[0].sh_size; i++)
		sh[i] = (Elf64_Shdr){.sh_type = type, .sh_flags = flags,
				     .sh_addr = BASE + HALF, .sh_offset = HALF,
				     .sh_size = HALF, .sh_info = 1,
				     .sh_link = 1};
}

/* every table of relocations is for every section */
static void test_reloc_sections(void **state)
{
	Elf64_Rela *r = (Elf64_Rela *)(file + HALF);

	(void)state;
	many_sections(SHT_RELA, 0);
	((Elf64_Shdr *)(file + 4096))[1].sh_flags = SHF_ALLOC;
	for (size_t i = 0; i < HALF / sizeof *r; i++)
		r[i] = (Elf64_Rela){BASE + i, R_X86_64_64, 0};
	assert_int_equal(read_in_time(), 0);
}

static void test_code_sections(void **state)
{
	(void)state;
	many_sections(SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR);
	assert_int_equal(read_in_time(), 0);
}

/* symbols at one address whose names are parts of one long name */
static void test_names(void **state)
{
	Elf64_Shdr *sh = (Elf64_Shdr *)(file + 4096);
	Elf64_Sym *sym = (Elf64_Sym *)(file + HALF);
	size_t n = HALF / 2 / sizeof *sym;

	(void)state;
	header->e_shoff = 4096;
	header->e_shnum = 3;
	sh[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_offset = HALF,
			     .sh_size = n * sizeof *sym, .sh_link = 2};
	sh[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = 65536,
			     .sh_size = HALF - 65536};
	memset(file + 65536, 'x', HALF - 65536 - 1);
	for (size_t i = 0; i < n; i++)
		sym[i] = (Elf64_Sym){.st_name = (uint32_t)(i * 7919 % n),
				     .st_info = STT_FUNC, .st_shndx = 1,
				     .st_value = BASE};
	assert_int_equal(read_in_time(), 0);
}

/* PT_DYNAMIC at 2048 with the given entries */
static void add_dynamic(const Elf64_Dyn *d, size_t n)
{
	memcpy(file + 2048, d, n * sizeof *d);
	phdr[header->e_phnum++] = (Elf64_Phdr){
		.p_type = PT_DYNAMIC, .p_vaddr = BASE + 2048,
		.p_filesz = n * sizeof *d, .p_memsz = n * sizeof *d};
}

/* bitmaps of all ones, each over the same words again */
static void test_relr(void **state)
{
	const Elf64_Dyn d[] = {{36, {BASE + HALF}}, {35, {HALF}}, {0, {0}}};
	uint64_t *word = (uint64_t *)(file + HALF);

	(void)state;
	for (size_t i = 0; i < HALF / 8; i++)
		word[i] = i % 8 ? UINT64_MAX : BASE;
	add_dynamic(d, 3);
	assert_int_equal(read_in_time(), 0);
}

/* where the next byte of a table goes */
static uint8_t *to;

static void put(unsigned size, uint64_t value)
{
	memcpy(to, &value, size);
	to += size;
}

/* an .eh_frame_hdr at 1024 for a table in the second half */
static void add_frames(void)
{
	to = file + 1024;
	put(4, 0xffff0301);
	put(4, BASE + HALF);
	phdr[header->e_phnum++] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_vaddr = BASE + 1024,
		.p_filesz = 8, .p_memsz = 8};
	to = file + HALF;
}

/* an entry's length, id 0 */
static void put_cie(uint32_t size)
{
	put(4, size);
	put(4, 0);
	put(1, 1);
}

/* FDEs inside each other, which share one exception table */
static void test_nested_frames(void **state)
{
	uint8_t *cie;

	(void)state;
	add_frames();
	cie = to;
	put_cie(20);
	memcpy(to, "zLR\0\1\x78\x10\2\3\3\0\0\0\0", 15);
	to += 15;
	for (uint32_t i = 0; to + 64 < file + SIZE; i++) {
		put(4, 20);
		put(4, (uint64_t)(to - cie));
		put(4, BASE + 4096 + i);
		put(4, HALF - 8192 - 2 * i);
		put(1, 4);
		put(4, BASE + 8192 + i % 2);
		put(3, 0);
	}
	memset(file + 8192, 1, HALF - 8192);
	memcpy(file + 8192, "\xff\xff\1\xff\xff\x3f", 6);
	assert_int_equal(read_in_time(), 0);
}

/* all FDEs have a CIE with a number of a megabyte, which has to be skipped */
static void test_long_cie(void **state)
{
	uint32_t size = HALF - 65536;
	uint8_t *cie = file + 16384;

	(void)state;
	add_frames();
	to = cie;
	put_cie(size);
	memset(to + 1, 0x80, size - 16);
	to = file + HALF;
	while (to + 64 < file + SIZE) {
		put(4, 20);
		put(4, (uint64_t)(to - cie));
		put(8, BASE + 4096);
		put(8, 16);
	}
	assert_int_equal(read_in_time(), 0);
}

#define BOUNDS_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOUNDS_TEST(test_notes),
		BOUNDS_TEST(test_interpreters),
		BOUNDS_TEST(test_reloc_sections),
		BOUNDS_TEST(test_code_sections),
		BOUNDS_TEST(test_names),
		BOUNDS_TEST(test_relr),
		BOUNDS_TEST(test_nested_frames),
		BOUNDS_TEST(test_long_cie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
