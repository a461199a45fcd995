/*
 * elf/unwind: unwind tables made by hand: pointer encodings, augmentations
 * and instructions that no compiler here writes.
 *
 * A file has 0x100 bytes of "code" at CODE, a table with one CIE and FDEs,
 * and a PT_GNU_EH_FRAME that points to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf_build.h"
#include "elf/unwind.h"

enum { CODE = ELF_BASE + ELF_DATA, CODE_SIZE = 0x100 };

struct table {
	struct elf_build b;
	uint64_t start; /* address of the table and of its first CIE */
	size_t entry;	/* where the entry being written begins */
};

/* starts a file */
static void table_begin(struct table *t, uint16_t type)
{
	elf_begin(&t->b, type, EM_X86_64);
	t->b.n += CODE_SIZE;
	t->start = ELF_BASE + t->b.n;
}

/* starts an entry; id 0: a CIE, else an FDE of the CIE at that address */
static void entry_begin(struct table *t, uint64_t cie)
{
	t->entry = t->b.n;
	elf_append_uint(&t->b, 4, 0);
	elf_append_uint(&t->b, 4, cie ? ELF_BASE + t->b.n - cie : 0);
}

/* sets the length of the entry that was begun */
static void entry_end(struct table *t)
{
	uint32_t size = (uint32_t)(t->b.n - t->entry - 4);

	memcpy(t->b.bytes + t->entry, &size, 4);
}

/* a CIE: augmentation with its data, CFA = r7 + 8 */
static uint64_t add_cie(struct table *t, const char *letters, const void *data,
			size_t n)
{
	uint64_t at = ELF_BASE + t->b.n;

	entry_begin(t, 0);
	elf_append_uint(&t->b, 1, 1);
	elf_append(&t->b, letters, strlen(letters) + 1);
	if (!strcmp(letters, "eh"))
		elf_append_uint(&t->b, 8, 0);
	elf_append(&t->b, "\1\x78\x10", 3);
	if (*letters == 'z')
		elf_append_uint(&t->b, 1, n);
	elf_append(&t->b, data, n);
	elf_append(&t->b, "\x0c\7\x08", 3);
	entry_end(t);
	return at;
}

/* the usual CIE: FDE addresses are 8 bytes, absolute */
static uint64_t add_plain_cie(struct table *t)
{
	return add_cie(t, "zR", "\0", 1);
}

/* an FDE of that CIE with instructions */
static void add_fde(struct table *t, uint64_t cie, uint64_t start,
		    uint64_t size, const void *program, size_t n)
{
	entry_begin(t, cie);
	elf_append_uint(&t->b, 8, start);
	elf_append_uint(&t->b, 8, size);
	elf_append_uint(&t->b, 1, 0);
	elf_append(&t->b, program, n);
	entry_end(t);
}

/* ends the table, adds its header and reads all */
static void table_read(struct table *t, struct image *im, struct unwind *u)
{
	struct err e;
	uint64_t at = elf_append_uint(&t->b, 4, 0);

	elf_align(&t->b, 4);
	at = elf_append(&t->b, "\1\x1b\xff\xff", 4);
	elf_append_uint(&t->b, 4, t->start - (at + 4));
	elf_add_phdr(&t->b, PT_GNU_EH_FRAME, at, 8);
	assert_int_equal(elf_open(&t->b, im, &e), 0);
	unwind_read(u, im);
}

/* frees both */
static void table_close(struct image *im, struct unwind *u)
{
	unwind_free(u);
	image_close(im);
}

/* FDE addresses in every encoding */
static void test_encodings(void **state)
{
	static const struct {
		uint8_t encoding, size;
		bool pcrel, leb;
	} cases[] = {
		{0x00, 8, false, false}, {0x02, 2, false, false},
		{0x03, 4, false, false}, {0x04, 8, false, false},
		{0x0b, 4, false, false}, {0x0c, 8, false, false},
		{0x12, 2, true, false},	 {0x1a, 2, true, false},
		{0x1b, 4, true, false},	 {0x1c, 8, true, false},
		{0x10, 8, true, false},	 {0x20, 8, false, false},
		{0x30, 8, false, false}, {0x01, 3, false, true},
		{0x09, 3, false, true},	 {0x18, 8, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct table t;
		struct image im;
		struct unwind u;
		uint64_t cie, value = CODE + 16;

		table_begin(&t, ET_EXEC);
		cie = add_cie(&t, "zR", &cases[i].encoding, 1);
		entry_begin(&t, cie);
		if (cases[i].pcrel)
			value -= ELF_BASE + t.b.n;
		if (cases[i].leb)
			value = (value & 0x7f) | 0x80 |
				((value >> 7 & 0x7f) | 0x80) << 8 |
				(value >> 14 & 0x7f) << 16;
		elf_append_uint(&t.b, cases[i].size, value);
		elf_append_uint(&t.b, cases[i].leb ? 1 : cases[i].size, 32);
		elf_append_uint(&t.b, 1, 0);
		entry_end(&t);
		table_read(&t, &im, &u);
		if (cases[i].encoding == 0x02 || cases[i].encoding == 0x12) {
			/* code lies beyond what udata2 reaches */
			assert_int_equal(u.bad, 1);
		} else {
			assert_int_equal(u.nfde, 1);
			assert_int_equal(u.fde[0].start, CODE + 16);
			assert_int_equal(u.fde[0].end, CODE + 48);
		}
		table_close(&im, &u);
	}
}

/* "", "eh", aligned and indirect pointers, personality, signal frames */
static void test_augmentations(void **state)
{
	struct table t;
	struct image im;
	struct unwind u;
	uint64_t cie, slot;

	(void)state;
	table_begin(&t, ET_EXEC);
	slot = ELF_BASE + t.b.n;
	elf_append_uint(&t.b, 8, CODE + 64);
	t.start += 8;
	cie = add_cie(&t, "", "", 0);
	entry_begin(&t, cie);
	elf_append_uint(&t.b, 8, CODE);
	elf_append_uint(&t.b, 8, 4);
	entry_end(&t);
	cie = add_cie(&t, "eh", "", 0);
	entry_begin(&t, cie);
	elf_append_uint(&t.b, 8, CODE + 4);
	elf_append_uint(&t.b, 8, 4);
	entry_end(&t);
	cie = add_cie(&t, "zRS", "\x50", 1);
	entry_begin(&t, cie);
	elf_align(&t.b, 8);
	elf_append_uint(&t.b, 8, CODE + 8);
	elf_append_uint(&t.b, 8, 4);
	elf_append_uint(&t.b, 1, 0);
	entry_end(&t);
	cie = add_cie(&t, "zPLRB", "\x83\x04\x03\x02\x01\x03\x83", 7);
	entry_begin(&t, cie);
	elf_append_uint(&t.b, 4, slot);
	elf_append_uint(&t.b, 4, 4);
	elf_append_uint(&t.b, 1, 4);
	elf_append_uint(&t.b, 4, CODE + 128);
	entry_end(&t);
	add_cie(&t, "xyz", "", 0);
	table_read(&t, &im, &u);
	assert_int_equal(u.nfde, 4);
	assert_int_equal(u.fde[1].start, CODE + 4);
	assert_true(u.fde[2].signal_frame);
	assert_int_equal(u.fde[2].start, CODE + 8);
	assert_int_equal(u.fde[3].start, CODE + 64);
	assert_int_equal(u.fde[3].personality, 0x01020304);
	assert_int_equal(u.fde[3].lsda, CODE + 128);
	table_close(&im, &u);
}

/* 64-bit lengths, discarded and empty FDEs, wrong CIEs, overlaps */
static void test_entries(void **state)
{
	struct table t;
	struct image im;
	struct unwind u;
	uint64_t cie;

	(void)state;
	table_begin(&t, ET_EXEC);
	cie = add_plain_cie(&t);
	elf_append_uint(&t.b, 4, UINT32_MAX);
	elf_append_uint(&t.b, 8, 21);
	elf_append_uint(&t.b, 4, ELF_BASE + t.b.n - cie);
	elf_append_uint(&t.b, 8, CODE);
	elf_append_uint(&t.b, 8, 0x80);
	elf_append_uint(&t.b, 1, 0);
	add_fde(&t, cie, 0, 16, "", 0);
	add_fde(&t, cie, CODE + 8, 0, "", 0);
	add_fde(&t, cie + 1, CODE + 8, 8, "", 0);
	add_fde(&t, cie, CODE + 0x20, 8, "", 0);
	add_fde(&t, cie, CODE + 0x10, 8, "", 0);
	add_fde(&t, cie, UINT64_MAX, 8, "", 0);
	table_read(&t, &im, &u);
	assert_int_equal(u.nfde, 3);
	assert_int_equal(u.bad, 2);
	assert_int_equal(unwind_find(&u, CODE + 0x12)->start, CODE + 0x10);
	assert_int_equal(unwind_find(&u, CODE + 0x18)->start, CODE);
	assert_int_equal(unwind_find(&u, CODE + 0x28)->start, CODE);
	assert_null(unwind_find(&u, CODE + 0x80));
	assert_null(unwind_find(&u, CODE - 1));
	table_close(&im, &u);
}

/* adds section headers: code, and the table up to where the file ends now */
static void add_sections(struct table *t)
{
	static const char names[] = "\0.text\0.eh_frame";
	uint64_t end = ELF_BASE + t->b.n;
	Elf64_Shdr sh[4] = {
		{0},
		{.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = CODE,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = CODE_SIZE,
		 .sh_offset = CODE - ELF_BASE},
		{.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_addr = t->start,
		 .sh_flags = SHF_ALLOC, .sh_size = end - t->start,
		 .sh_offset = t->start - ELF_BASE},
		{.sh_type = SHT_STRTAB, .sh_offset = t->b.n,
		 .sh_size = sizeof names},
	};

	elf_append(&t->b, names, sizeof names);
	elf_align(&t->b, 8);
	t->b.header->e_shoff = elf_append(&t->b, sh, sizeof sh) - ELF_BASE;
	t->b.header->e_shnum = 4;
	t->b.header->e_shstrndx = 3;
}

/* a zero length ends the table, unless a section says that it goes on */
static void test_terminators(void **state)
{
	(void)state;
	for (unsigned sections = 0; sections < 2; sections++) {
		struct table t;
		struct image im;
		struct unwind u;
		uint64_t cie;

		table_begin(&t, ET_EXEC);
		cie = add_plain_cie(&t);
		add_fde(&t, cie, CODE, 8, "", 0);
		elf_append_uint(&t.b, 4, 0);
		add_fde(&t, cie, CODE + 8, 8, "", 0);
		/* only code is code once there are sections */
		add_fde(&t, cie, t.start, 8, "", 0);
		if (sections)
			add_sections(&t);
		table_read(&t, &im, &u);
		assert_int_equal(u.nfde, 1 + sections);
		assert_int_equal(u.bad, sections);
		table_close(&im, &u);
	}
}

/* without a table nothing is read, even if address 0 is mapped */
static void test_no_table(void **state)
{
	struct elf_build b;
	struct image im;
	struct unwind u;
	struct err e;

	(void)state;
	elf_begin(&b, ET_DYN, EM_X86_64);
	b.phdr[0].p_vaddr = 0;
	assert_int_equal(elf_open(&b, &im, &e), 0);
	unwind_read(&u, &im);
	assert_int_equal(u.nfde + u.bad, 0);
	table_close(&im, &u);
}

/* rows of an FDE of 64 bytes with these instructions; returns its result */
static int rows_of(const void *program, size_t n, cfa_rows *rows)
{
	struct table t;
	struct image im;
	struct unwind u;
	int ret;

	table_begin(&t, ET_EXEC);
	add_fde(&t, add_plain_cie(&t), CODE, 64, program, n);
	table_read(&t, &im, &u);
	assert_int_equal(u.nfde, 1);
	ret = unwind_rows(&im, &u.fde[0], rows);
	table_close(&im, &u);
	return ret;
}

#define ROWS(program, rows) rows_of(program, sizeof(program) - 1, rows)

/* row i is this */
static void assert_row(const cfa_rows *rows, size_t i, uint64_t start,
		       unsigned reg, int64_t offset)
{
	assert_true(i < rows->n);
	assert_int_equal(rows->at[i].start, CODE + start);
	assert_true(rows->at[i].known);
	assert_int_equal(rows->at[i].reg, reg);
	assert_int_equal(rows->at[i].offset, offset);
}

static void test_rows(void **state)
{
	cfa_rows rows = {0};

	(void)state;
	/* advance 1, offset 16, remember, advance1 4, r6, advance2, restore */
	assert_int_equal(ROWS("\x41\x0e\x10\x0a\x02\4\x0d\6\3\5\0\x0b", &rows),
			 0);
	assert_int_equal(rows.n, 4);
	assert_row(&rows, 0, 0, 7, 8);
	assert_row(&rows, 1, 1, 7, 16);
	assert_row(&rows, 2, 5, 6, 16);
	assert_row(&rows, 3, 10, 7, 16);
	/* every instruction that is not about the CFA, then one that is */
	assert_int_equal(ROWS("\0\x83\2\xc3\5\1\1\6\1\7\1\x08\1\x09\1\2"
			      "\x10\1\2xx\x11\1\1\x14\1\1\x15\1\1"
			      "\x16\1\2xx\x2d\x2e\x80\1\x2f\1\1"
			      "\x41\x12\6\x7e", &rows), 0);
	assert_int_equal(rows.n, 2);
	assert_row(&rows, 1, 1, 6, 16);
	/* set_loc; advance4, advance8; factored offset; expression */
	assert_int_equal(ROWS("\1\4\2\1\0\0\0\0\0\x13\x7c"
			      "\4\4\0\0\0\x0f\2xx"
			      "\x1d\4\0\0\0\0\0\0\0\x0c\7\x08", &rows), 0);
	assert_int_equal(rows.n, 4);
	assert_row(&rows, 1, 4, 7, 32);
	assert_false(rows.at[2].known);
	assert_row(&rows, 3, 12, 7, 8);
	/* a register after an expression: the offset is the last one given */
	assert_int_equal(ROWS("\x0e\x38\x41\x0f\2xx\x41\x0d\6", &rows), 0);
	assert_int_equal(rows.n, 3);
	assert_false(rows.at[1].known);
	assert_row(&rows, 2, 2, 6, 0x38);
	/* at the end of the FDE there is nothing left to describe */
	assert_int_equal(ROWS("\x7f\x41\x0e\x10\x40\x0e\x18", &rows), 0);
	assert_int_equal(rows.n, 1);
	vec_free(&rows);
}

/* what is not understood says so and keeps the rows before it */
static void test_bad_rows(void **state)
{
	static const char *const bad[] = {
		"\x42\x17", "\x42\x0b", "\x42\x7f\x7f", "\x42\x0e",
		"\x42\x0f\x7f", "\x42\3\1", "\x42\x3f",
	};
	char deep[80];
	cfa_rows rows = {0};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(rows_of(bad[i], strlen(bad[i]), &rows), -1);
		assert_int_equal(rows.n, 2);
		assert_row(&rows, 0, 0, 7, 8);
		assert_int_equal(rows.at[1].start, CODE + 2);
		assert_false(rows.at[1].known);
	}
	memset(deep, 0x0a, sizeof deep);
	assert_int_equal(rows_of(deep, sizeof deep, &rows), -1);
	vec_free(&rows);
}

/* the call sites of an FDE at CODE with this exception table */
static int sites_of(const void *lsda, size_t n, call_sites *sites)
{
	struct table t;
	struct image im;
	struct unwind u;
	uint64_t cie, at;
	int ret;

	table_begin(&t, ET_EXEC);
	at = elf_append(&t.b, lsda, n);
	t.start += n;
	cie = add_cie(&t, "zLR", "\4\0", 2);
	entry_begin(&t, cie);
	elf_append_uint(&t.b, 8, CODE);
	elf_append_uint(&t.b, 8, 64);
	elf_append_uint(&t.b, 1, 8);
	elf_append_uint(&t.b, 8, at);
	entry_end(&t);
	table_read(&t, &im, &u);
	assert_int_equal(u.nfde, 1);
	ret = unwind_call_sites(&im, &u.fde[0], sites);
	table_close(&im, &u);
	return ret;
}

#define SITES(lsda, sites) sites_of(lsda, sizeof(lsda) - 1, sites)

static void test_call_sites(void **state)
{
	call_sites s = {0};

	(void)state;
	/* LPStart and types omitted; uleb: no pad, cleanup, catch */
	assert_int_equal(SITES("\xff\xff\1\x0c\0\4\0\0\4\4\x20\0\x08\4\x30\1",
			       &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.at[0].pad, 0);
	assert_int_equal(s.at[1].start, CODE + 4);
	assert_int_equal(s.at[1].end, CODE + 8);
	assert_int_equal(s.at[1].pad, CODE + 0x20);
	assert_false(s.at[1].catches);
	assert_true(s.at[2].catches);
	/* LPStart absolute udata4 (CODE + 0x10), types, udata2 call sites */
	assert_int_equal(SITES("\3\x10\2\1\0\x9b\x7f\2\7\4\0\x08\0\4\0\1",
			       &s), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at[0].end, CODE + 12);
	assert_int_equal(s.at[0].pad, CODE + 0x14);
	/* sdata4 call sites, a padded length */
	assert_int_equal(SITES("\xff\xff\x0b\x8d\x80\0\1\0\0\0\2\0\0\0"
			       "\3\0\0\0\0", &s), 0);
	assert_int_equal(s.at[0].pad, CODE + 3);
	vec_free(&s);
}

static void test_bad_call_sites(void **state)
{
	call_sites s = {0};

	(void)state;
	/* longer than the FDE, beyond it, pad not code, cut, bad encoding */
	assert_int_equal(SITES("\xff\xff\1\4\0\x41\0\0", &s), -1);
	assert_int_equal(SITES("\xff\xff\1\4\x41\0\0\0", &s), -1);
	assert_int_equal(SITES("\xff\xff\1\6\0\1\xff\xff\x3f\0", &s), -1);
	assert_int_equal(SITES("\xff\xff\1\3\0\1\0", &s), -1);
	assert_int_equal(SITES("\xff\xff\7\4\0\1\0\0", &s), -1);
	assert_int_equal(SITES("\xff\xff\1\xff\xff\xff\xff\x0f", &s), -1);
	assert_int_equal(s.n, 0);
	vec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_terminators),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_call_sites),
		cmocka_unit_test(test_bad_call_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
