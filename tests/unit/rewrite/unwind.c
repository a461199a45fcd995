/*
 * rewrite/unwind: unwind tables for moved code, by hand and byte by byte:
 * what no compiler here writes, and what the new tables look like exactly.
 *
 * A file has 0x100 bytes of "code" at CODE. Its first procedure has 64 bytes
 * of it, and moves like this (bytes from its old and new beginning):
 *
 *	old	0 .. 16		16 .. 64
 *	new	0 .. 16  [gap]  32 .. 80  [stubs]
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf_build.h"
#include "moves_check.h"
#include "sample.h"

enum {
	CODE = ELF_BASE + ELF_DATA,
	CODE_SIZE = 0x100,
	OLD_SIZE = 64,
	NEW = 0x40000,
	NEW_SIZE = 80,
	GAP = 16, /* from 16 on */
	TABLES = 0x80000,
};

/* a file, one moved procedure, and its new tables */
struct world {
	struct elf_build b;
	uint64_t table; /* the first CIE */
	size_t entry;
	struct image im;
	struct unwind u;
	struct moves m;
	struct unwind_out out;
};

/* starts a file */
static void begin(struct world *w, uint16_t machine)
{
	memset(w, 0, sizeof *w);
	elf_begin(&w->b, ET_EXEC, machine);
	w->b.n += CODE_SIZE;
	w->table = ELF_BASE + w->b.n;
}

/* starts an entry; 0: a CIE, else an FDE of the CIE at that address */
static void entry_begin(struct world *w, uint64_t cie)
{
	w->entry = w->b.n;
	elf_append_uint(&w->b, 4, 0);
	elf_append_uint(&w->b, 4, cie ? ELF_BASE + w->b.n - cie : 0);
}

static void entry_end(struct world *w)
{
	uint32_t size = (uint32_t)(w->b.n - w->entry - 4);

	memcpy(w->b.bytes + w->entry, &size, 4);
}

/* a CIE with these letters and their data, and its instructions */
static uint64_t add_cie(struct world *w, const char *letters, const char *data,
			size_t n, const char *program, size_t size)
{
	bool a64 = w->b.header->e_machine == EM_AARCH64;
	uint64_t at = ELF_BASE + w->b.n;

	entry_begin(w, 0);
	elf_append_uint(&w->b, 1, 1);
	elf_append(&w->b, letters, strlen(letters) + 1);
	elf_append(&w->b, a64 ? "\4\x78\x1e" : "\1\x78\x10", 3);
	if (*letters == 'z')
		elf_append_uint(&w->b, 1, n);
	elf_append(&w->b, data, n);
	elf_append(&w->b, program, size);
	entry_end(w);
	return at;
}

/* the usual CIE: CFA = r7 + 8, r16 at CFA - 8 */
static uint64_t add_plain_cie(struct world *w)
{
	return add_cie(w, "zR", "\0", 1, "\x0c\7\x08\x90\1", 5);
}

/* an FDE of that CIE; lsda 0: it has no augmentation data */
static void add_fde(struct world *w, uint64_t cie, uint64_t start,
		    uint64_t size, uint64_t lsda, const char *program,
		    size_t n)
{
	entry_begin(w, cie);
	elf_append_uint(&w->b, 8, start);
	elf_append_uint(&w->b, 8, size);
	elf_append_uint(&w->b, 1, lsda ? 8 : 0);
	if (lsda)
		elf_append_uint(&w->b, 8, lsda);
	elf_append(&w->b, program, n);
	entry_end(w);
}

/* ends the table, adds its header and reads all */
static void read_all(struct world *w)
{
	struct err e;
	uint64_t at = elf_append_uint(&w->b, 4, 0);

	elf_align(&w->b, 4);
	at = elf_append(&w->b, "\1\x1b\xff\xff", 4);
	elf_append_uint(&w->b, 4, w->table - (at + 4));
	elf_add_phdr(&w->b, PT_GNU_EH_FRAME, at, 8);
	assert_int_equal(elf_open(&w->b, &w->im, &e), 0);
	unwind_read(&w->u, &w->im);
}

static struct span span_of(uint64_t old, uint64_t arrive, uint64_t start,
			   uint32_t size)
{
	return (struct span){.old = old, .arrive = arrive, .start = start,
			     .size = size, .new_size = size};
}

/* moves FDE 0 with a gap of `gap` bytes before offset 16 */
static void move_first(struct world *w, uint32_t gap)
{
	struct span a = span_of(CODE, NEW, NEW, 16);
	struct span b = span_of(CODE + 16, NEW + 16, NEW + 16 + gap,
				OLD_SIZE - 16);
	struct moved mv = {.old_start = CODE, .old_end = CODE + OLD_SIZE,
			   .start = NEW, .body_end = NEW + OLD_SIZE + gap,
			   .end = NEW + OLD_SIZE + gap};

	vec_push(&w->m.map.span, a);
	vec_push(&w->m.map.span, b);
	vec_push(&w->m.moved, mv);
}

/* a push at [start, end) from the new beginning */
static void add_push(struct world *w, uint64_t start, uint64_t end,
		     uint32_t bytes)
{
	struct push p = {NEW + start, NEW + end, bytes};

	vec_push(&w->m.push, p);
	w->m.moved.at[0].npush++;
}

/* a stub of 8 bytes behind what is there, like the old offset */
static void add_stub(struct world *w, uint64_t like)
{
	struct moved *mv = &w->m.moved.at[0];
	struct stub s = {mv->end, mv->end + 8, CODE + like};

	vec_push(&w->m.stub, s);
	mv->end += 8;
	mv->nstub++;
}

/* makes the tables */
static void make(struct world *w)
{
	struct err e;

	assert_int_equal(unwind_out_make(&w->out, TABLES, &w->im, &w->u, &w->m,
					 &e), 0);
}

static void end(struct world *w)
{
	unwind_out_free(&w->out);
	vec_free(&w->m.moved);
	vec_free(&w->m.stub);
	vec_free(&w->m.push);
	vec_free(&w->m.map.span);
	unwind_free(&w->u);
	image_close(&w->im);
}

/* entry number i of the new .eh_frame */
static struct bytes entry(const struct world *w, unsigned i)
{
	size_t at = w->out.frame - w->out.addr;
	struct bytes b = bytes_window(w->out.bytes.at + at, w->out.frame_size,
				      w->out.frame);

	while (i--)
		bytes_sub(&b, bytes_uint(&b, 4));
	return bytes_sub(&b, bytes_uint(&b, 4));
}

/* the entry's bytes from `skip` on are these and then zeroes, fewer than 4 */
static void assert_entry(const struct world *w, unsigned i, size_t skip,
			 const char *want, size_t n)
{
	struct bytes b = entry(w, i);

	bytes_take(&b, skip);
	assert_false(b.bad);
	assert_in_range(bytes_left(&b), n, n + 3);
	assert_memory_equal(b.p + b.at, want, n);
	bytes_take(&b, n);
	while (bytes_left(&b))
		assert_int_equal(bytes_u8(&b), 0);
}

/* bytes of an FDE before its instructions: id, start, size, no LSDA */
enum { FDE_HEAD = 13 };

/* one procedure with these instructions, read and moved, nothing made yet */
static void one(struct world *w, const char *program, size_t n)
{
	begin(w, EM_X86_64);
	add_fde(w, add_plain_cie(w), CODE, OLD_SIZE, 0, program, n);
	read_all(w);
	assert_int_equal(w->u.nfde, 1);
	assert_null(moves_all(&w->im, &w->u.fde[0]));
	move_first(w, GAP);
}

#define ONE(w, program) one(w, program, sizeof(program) - 1)

/* makes the tables; the new instructions are these */
#define ASSERT_PROGRAM(w, want) \
	do { \
		make(w); \
		assert_entry(w, 1, FDE_HEAD, want, sizeof(want) - 1); \
		end(w); \
	} while (0)

/* rows begin where what was inserted before their instruction begins */
static void test_rows(void **state)
{
	struct world w;

	(void)state;
	/* rows at 4, 16 and 20 go to 4, 16 and 36 */
	ONE(&w, "\x44\x0e\x10\x4c\x0e\x18\x44\x0e\x20");
	ASSERT_PROGRAM(&w, "\x44\x0e\x10\x4c\x0e\x18\x54\x0e\x20");
	/* every form of advance, set_loc; nops go, several become one */
	ONE(&w, "\x02\4\x0e\x10\3\4\0\0\4\4\0\0\0\0\x0e\x18"
		"\x1d\4\0\0\0\0\0\0\0\x0e\x20\1\x20\2\1\0\0\0\0\0\x0e\x28");
	ASSERT_PROGRAM(&w, "\x44\x0e\x10\x48\x0e\x18\x44\x0e\x20\x60\x0e\x28");
	/* at the end there is nothing to describe, but that is legal */
	ONE(&w, "\x7f\x41\x0e\x10");
	ASSERT_PROGRAM(&w, "\2\x50\x0e\x10");
}

/* distances take the shortest form that holds them */
static void test_advance(void **state)
{
	static const struct {
		uint32_t gap;
		const char *want;
		size_t n;
	} cases[] = {
		{0, "\x54\x0e\x10", 3},
		{43, "\x7f\x0e\x10", 3},
		{44, "\2\x40\x0e\x10", 4},
		{235, "\2\xff\x0e\x10", 4},
		{236, "\3\0\1\x0e\x10", 5},
		{65515, "\3\xff\xff\x0e\x10", 5},
		{65516, "\4\0\0\1\0\x0e\x10", 7},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world w;

		begin(&w, EM_X86_64);
		/* a row at 20, in the second span */
		add_fde(&w, add_plain_cie(&w), CODE, OLD_SIZE, 0,
			"\x54\x0e\x10", 3);
		read_all(&w);
		move_first(&w, cases[i].gap);
		make(&w);
		assert_entry(&w, 1, FDE_HEAD, cases[i].want, cases[i].n);
		end(&w);
	}
}

/* instructions that are not about addresses stay what they are */
static void test_instructions(void **state)
{
	static const char all[] =
		"\x83\2\xc3\5\x50\1\6\x50\7\1\x08\1\x09\1\2"
		"\x0a\x0b\x0c\6\x10\x0d\7\x0e\x18\x0f\2\x76\0\x10\1\2\x76\0"
		"\x11\1\x7e\x12\6\x7e\x13\x7e\x14\1\1\x15\1\x7f"
		"\x16\1\2\x76\0\x2d\x2e\x80\1\x2f\1\1";
	struct world w;

	(void)state;
	one(&w, all, sizeof all - 1);
	make(&w);
	assert_entry(&w, 1, FDE_HEAD, all, sizeof all - 1);
	end(&w);
}

/* AArch64: code in units of 4, signed return addresses */
static void test_units(void **state)
{
	struct world w;

	(void)state;
	begin(&w, EM_AARCH64);
	add_fde(&w, add_cie(&w, "zRB", "\0", 1, "\x0c\x1f\0", 3), CODE,
		OLD_SIZE, 0, "\x41\x2d\x44\x0e\x10\x9d\2\x42\x2d\x0e\0", 11);
	read_all(&w);
	assert_null(moves_all(&w.im, &w.u.fde[0]));
	move_first(&w, GAP);
	add_stub(&w, 24); /* signed, 16 */
	add_stub(&w, 0);  /* as at the beginning */
	make(&w);
	/* rows at 4, 20, 28: 4, 36, 44; stubs at 80 and 88 */
	assert_entry(&w, 1, FDE_HEAD,
		     "\x41\x2d\x48\x0e\x10\x9d\2\x42\x2d\x0e\0"
		     "\x49\x0e\x10\x2d\x42\x0e\0\xdd\x2d", 20);
	assert_string_equal((const char *)entry(&w, 0).p + 5, "zRB");
	end(&w);
}

/* pushes make rows where the stack pointer tells the CFA */
static void test_pushes(void **state)
{
	struct world w;

	(void)state;
	ONE(&w, "\x50\x0e\x10");
	add_push(&w, 20, 28, 16);
	ASSERT_PROGRAM(&w, "\x50\x0e\x10\x44\x0e\x20\x48\x0e\x10");
	/* two, one right behind the other; before the first row */
	ONE(&w, "");
	add_push(&w, 20, 24, 128);
	add_push(&w, 24, 28, 136);
	ASSERT_PROGRAM(&w, "\x54\x0e\x88\1\x44\x0e\x08\x0e\x90\1"
			   "\x44\x0e\x08");
	/* the frame pointer tells it */
	ONE(&w, "\x44\x0e\x10\x86\2\x44\x0d\6");
	add_push(&w, 20, 28, 16);
	ASSERT_PROGRAM(&w, "\x44\x0e\x10\x86\2\x44\x0d\6");
	/* an expression does: what it adds to r7 grows; other ones stay */
	ONE(&w, "\x0f\3\x77\x08\6\x10\3\3\x77\x7c\6\x10\4\2\x76\x08");
	add_push(&w, 20, 28, 64);
	ASSERT_PROGRAM(&w, "\x0f\3\x77\x08\6\x10\3\3\x77\x7c\6\x10\4\2\x76\x08"
			   "\x54\x0f\4\x77\xc8\0\6\x10\3\3\x77\x3c\6"
			   "\x48\x0f\3\x77\x08\6\x10\3\3\x77\x7c\6");
	/* in a stub, with that stub's state */
	ONE(&w, "\x50\x0e\x10\x44\x0e\x18");
	add_stub(&w, 16);
	add_push(&w, 82, 84, 8);
	ASSERT_PROGRAM(&w, "\x50\x0e\x10\x54\x0e\x18\x6c\x0e\x10"
			   "\x42\x0e\x18\x42\x0e\x10");
}

/* stubs have the state of what they are like */
static void test_stubs(void **state)
{
	static const char body[] =
		"\x41\x0e\x10\x86\2\x43\x0d\6\x44\x83\3\x8c\4"
		"\x48\x0a\xc3\xcc\xc6\x0c\7\x08\x44\x0b";
	struct world w;

	(void)state;
	/* rows at 1, 4, 8, 16 (popped), 20 (restored) */
	one(&w, body, sizeof body - 1);
	add_stub(&w, 40); /* as the body ends: no row */
	add_stub(&w, 8);  /* the same */
	add_stub(&w, 16); /* popped */
	add_stub(&w, 19); /* the same */
	add_stub(&w, 2);  /* pushed only */
	add_stub(&w, 60); /* all of it again */
	ASSERT_PROGRAM(&w, "\x41\x0e\x10\x86\2\x43\x0d\6\x44\x83\3\x8c\4"
			   "\x48\x0a\xc3\xcc\xc6\x0c\7\x08\x54\x0b"
			   /* 96, 112, 120 */
			   "\x7c\x0c\7\x08\xc6\xc3\xcc"
			   "\x50\x0e\x10\x86\2"
			   "\x48\x0c\6\x10\x83\3\x8c\4");
	/* every kind of rule can be gone back to */
	ONE(&w, "\7\1\x08\2\x09\3\4\x10\5\2\x76\0\x16\6\2\x76\1\x14\x08\2"
		"\x15\x09\x7e\x11\x0a\x7d\5\x50\2\x2e\x20\x0f\2\x76\2"
		"\x44\xc1\xc2\xc3\xc5\xc6\xc8\xc9\xca\6\x50\x2e\0\x0c\7\x08");
	add_stub(&w, 0);
	ASSERT_PROGRAM(&w, "\7\1\x08\2\x09\3\4\x10\5\2\x76\0\x16\6\2\x76\1"
			   "\x14\x08\2\x15\x09\x7e\x11\x0a\x7d\5\x50\2"
			   "\x2e\x20\x0f\2\x76\2"
			   "\x44\xc1\xc2\xc3\xc5\xc6\xc8\xc9\xca\6\x50\x2e\0"
			   "\x0c\7\x08"
			   /* 80 */
			   "\2\x4c\x0f\2\x76\2\7\1\x08\2\x09\3\4\x10\5\2\x76\0"
			   "\x16\6\2\x76\1\x14\x08\2\x15\x09\x7e\x11\x0a\x7d"
			   "\5\x50\2\x2e\x20");
	/* what the CIE says is gone back to by restoring it */
	ONE(&w, "\x44\7\x10");
	add_stub(&w, 0);
	ASSERT_PROGRAM(&w, "\x44\7\x10\2\x4c\xd0");
}

/* a stub that is like an instruction of another part */
static void test_foreign_stub(void **state)
{
	struct world w;
	uint64_t cie;

	(void)state;
	begin(&w, EM_X86_64);
	cie = add_plain_cie(&w);
	add_fde(&w, cie, CODE, OLD_SIZE, 0, "\x44\x0e\x10", 3);
	add_fde(&w, cie, CODE + OLD_SIZE, 16, 0, "\x0e\x20\x83\3", 4);
	cie = add_cie(&w, "zR", "\0", 1, "\x0c\7\x10\x90\1", 5);
	add_fde(&w, cie, CODE + OLD_SIZE + 16, 16, 0, "", 0);
	read_all(&w);
	move_first(&w, GAP);
	add_stub(&w, OLD_SIZE + 4);
	add_stub(&w, OLD_SIZE + 20); /* another CIE: kept as before */
	add_stub(&w, 0x80);	     /* no FDE */
	make(&w);
	/* two CIEs, two copies of what stayed, then this one */
	assert_entry(&w, 4, FDE_HEAD, "\x44\x0e\x10\2\x4c\x0e\x20\x83\3", 9);
	end(&w);
}

/* GNU ld's entry for the stubs of x86-64: 16 bytes each, the first another */
#define PLT_PROGRAM "\x0e\x10\x46\x0e\x18\x4a\x0f\x0b" \
		    "\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22"
enum { PLT_SLOT = 16, PLT_PUSHED = 11, PLT_STUBS = 6 };

/* where the CFA is at an old address, in instructions for [from, end) */
static int64_t plt_offset(struct world *w, uint64_t from, uint64_t end,
			  uint64_t at)
{
	struct cfi c = {0};
	int64_t offset = 0;

	assert_true(cfi_open_part(&c, &w->im, &w->u.fde[0], from, end));
	while (c.at <= at) {
		offset = c.now.block ? -1 : c.now.offset;
		if (!cfi_more(&c))
			break;
		assert_true(cfi_step(&c));
		if (c.at <= at)
			offset = c.now.block ? -1 : c.now.offset;
	}
	assert_int_equal(c.now.reg, 7);
	cfi_free(&c);
	return offset;
}

/* by their addresses: each of a few of them has rows of its own */
static void test_plt(void **state)
{
	const uint64_t end_of = CODE + PLT_STUBS * PLT_SLOT;
	struct world w;

	(void)state;
	begin(&w, EM_X86_64);
	add_fde(&w, add_plain_cie(&w), CODE, PLT_STUBS * PLT_SLOT, 0,
		PLT_PROGRAM, sizeof PLT_PROGRAM - 1);
	read_all(&w);
	for (uint64_t from = CODE; from < end_of; from += PLT_SLOT)
		for (uint64_t at = from; at < from + PLT_SLOT; at++) {
			int64_t want = from == CODE ?
					       (at < from + 6 ? 16 : 24) :
				       at < from + PLT_PUSHED ? 8 : 16;

			assert_int_equal(plt_offset(&w, from, from + PLT_SLOT,
						    at), want);
			assert_int_equal(plt_offset(&w, CODE, end_of, at),
					 want);
		}
	assert_null(unwind_can_move(&w.im, &w.u.fde[0], CODE + PLT_SLOT,
				    CODE + 2 * PLT_SLOT));
	end(&w);
	/* more than a few: the entry stays as it is */
	begin(&w, EM_X86_64);
	add_fde(&w, add_plain_cie(&w), CODE, CODE_SIZE, 0, PLT_PROGRAM,
		sizeof PLT_PROGRAM - 1);
	read_all(&w);
	assert_int_equal(w.u.nfde, 1);
	assert_int_equal(plt_offset(&w, CODE, CODE + 5000, CODE + 99), -1);
	end(&w);
}

/* what is said of a procedure that cannot move */
static const char *why(const char *letters, const char *data, size_t ndata,
		       const char *initial, size_t ninitial,
		       const char *program, size_t n, uint16_t machine)
{
	struct world w;
	const char *reason;

	begin(&w, machine);
	add_fde(&w, add_cie(&w, letters, data, ndata, initial, ninitial), CODE,
		OLD_SIZE, 0, program, n);
	read_all(&w);
	assert_int_equal(w.u.nfde, 1);
	reason = moves_all(&w.im, &w.u.fde[0]);
	end(&w);
	return reason;
}

#define WHY(program) \
	why("zR", "\0", 1, "\x0c\7\x08\x90\1", 5, program, \
	    sizeof(program) - 1, EM_X86_64)
#define WHY_CIE(letters, data, initial) \
	why(letters, data, sizeof(data) - 1, initial, sizeof(initial) - 1, \
	    "", 0, EM_X86_64)

static void test_reasons(void **state)
{
	(void)state;
	assert_null(WHY(""));
	assert_non_null(strstr(WHY("\x17"), "unknown instructions"));
	assert_non_null(strstr(WHY("\x44\x3c"), "unknown instructions"));
	assert_non_null(strstr(WHY("\x0b"), "unknown instructions"));
	assert_non_null(strstr(WHY("\x0e"), "unknown instructions"));
	assert_non_null(strstr(WHY("\x7f\x42"), "unknown instructions"));
	/* rip, an address, an unknown operation, none, a branch with rsp */
	assert_non_null(strstr(WHY("\x0f\2\x80\0"), "where its code is"));
	assert_non_null(strstr(WHY("\x0f\x09\3\1\2\3\4\5\6\7\x08"),
			       "where its code is"));
	assert_non_null(strstr(WHY("\x10\3\1\xa0"), "unknown expression"));
	assert_non_null(strstr(WHY("\x0f\0"), "unknown expression"));
	assert_non_null(strstr(WHY("\x0f\5\x77\0\x2f\0\0"),
			       "unknown expression"));
	assert_null(WHY("\x0f\5\x76\0\x2f\0\0"));
	assert_null(WHY("\x0f\3\x92\7\x08"));
	assert_non_null(strstr(WHY("\x09\3\7"), "stack pointer"));
	assert_non_null(strstr(WHY("\x13\1"), "below its register"));
	assert_non_null(strstr(why("zR", "\0", 1, "\x0c\x1f\0", 3, "\1\2\2\1"
				   "\0\0\0\0\0", 9, EM_AARCH64),
			       "inside an instruction"));
	/* augmentations */
	assert_null(WHY_CIE("", "", "\x0c\7\x08"));
	assert_null(WHY_CIE("zPR", "\3\1\2\3\4\0", "\x0c\7\x08"));
	assert_null(WHY_CIE("zP", "\x9b\1\2\3\4", "\x0c\7\x08"));
	assert_non_null(strstr(WHY_CIE("zRS", "\0", "\x0c\7\x08"), "signal"));
	assert_non_null(strstr(WHY_CIE("zRQ", "\0", "\x0c\7\x08"),
			       "augmentation"));
	assert_non_null(strstr(WHY_CIE("zRBB", "\0", "\x0c\7\x08"),
			       "augmentation"));
	assert_non_null(strstr(WHY_CIE("zR", "\0\1", "\x0c\7\x08"),
			       "augmentation"));
	assert_non_null(strstr(WHY_CIE("zPR", "\x33\1\2\3\4\0", "\x0c\7\x08"),
			       "unusual encoding"));
	assert_non_null(strstr(WHY_CIE("zR", "\0", "\x0f\2\x80\0"),
			       "where its code is"));
	assert_non_null(strstr(WHY_CIE("zR", "\0", "\x41"),
			       "unknown instructions"));
}

/* code that stayed is described again; what we cannot read stays */
static void test_stayed(void **state)
{
	struct world w;
	uint64_t cie, old;
	int32_t line[8];
	uint32_t n;

	(void)state;
	begin(&w, EM_X86_64);
	cie = add_plain_cie(&w);
	add_fde(&w, cie, CODE, OLD_SIZE, 0, "", 0);
	/* set_loc is an address; a 64-bit length; nested; unknown */
	elf_append_uint(&w.b, 4, UINT32_MAX);
	elf_append_uint(&w.b, 8, 32);
	elf_append_uint(&w.b, 4, ELF_BASE + w.b.n - cie);
	elf_append_uint(&w.b, 8, CODE + 0x40);
	elf_append_uint(&w.b, 8, 0x20);
	elf_append(&w.b, "\0\1\x44\2\1\0\0\0\0\0\x0e\x10", 12);
	add_fde(&w, cie, CODE + 0x48, 8, 0, "\x41\x0e\x18", 3);
	old = ELF_BASE + w.b.n;
	add_fde(&w, cie, CODE + 0x80, 8, 0, "\x41\x3f", 2);
	read_all(&w);
	assert_int_equal(w.u.nfde, 4);
	move_first(&w, GAP);
	make(&w);
	assert_entry(&w, 1, FDE_HEAD, "\x44\x0e\x10", 3);
	assert_entry(&w, 2, FDE_HEAD, "\x41\x0e\x18", 3);
	memcpy(&n, w.out.bytes.at + 8, 4);
	assert_int_equal(n, 4);
	assert_int_equal(w.out.hdr_size, 12 + 8 * 4);
	memcpy(line, w.out.bytes.at + 12, sizeof line);
	assert_int_equal(TABLES + line[0], CODE + 0x40);
	assert_int_equal(TABLES + line[2], CODE + 0x48);
	assert_int_equal(TABLES + line[4], CODE + 0x80);
	assert_int_equal(TABLES + line[5], old);
	assert_int_equal(TABLES + line[6], NEW);
	assert_int_equal(TABLES + line[7], entry(&w, 3).addr - 4);
	end(&w);
}

/* an FDE of which only a part moved is needed for both */
static void test_part_of_fde(void **state)
{
	struct world w;

	(void)state;
	ONE(&w, "\x44\x0e\x10\x4c\x0e\x18\x44\x0e\x20");
	w.m.moved.at[0].old_start = CODE + 16;
	w.m.moved.at[0].start = NEW + 16;
	make(&w);
	assert_entry(&w, 1, FDE_HEAD,
		     "\x44\x0e\x10\x4c\x0e\x18\x44\x0e\x20", 9);
	assert_entry(&w, 2, FDE_HEAD, "\x0e\x10\x0e\x18\x54\x0e\x20", 7);
	end(&w);
}

/* no unwind table at all, and one without FDEs */
static void test_empty(void **state)
{
	struct world w;

	(void)state;
	begin(&w, EM_X86_64);
	read_all(&w);
	make(&w);
	assert_memory_equal(w.out.bytes.at, "\1\x1b\3\x3b", 4);
	assert_int_equal(w.out.hdr_size, 12);
	assert_int_equal(w.out.frame_size, 4);
	end(&w);
}

/* personality routines keep their encoding but for the place */
static void test_personality(void **state)
{
	struct world w;
	struct bytes b;

	(void)state;
	begin(&w, EM_X86_64);
	add_fde(&w, add_cie(&w, "zPR", "\x83\x10\x20\1\0\0", 6,
			    "\x0c\7\x08", 3), CODE, OLD_SIZE, 0, "", 0);
	read_all(&w);
	move_first(&w, GAP);
	make(&w);
	b = entry(&w, 0);
	assert_string_equal((const char *)b.p + 5, "zPR");
	bytes_take(&b, 13);
	assert_int_equal(bytes_u8(&b), 0x9b);
	assert_int_equal(bytes_addr(&b) + bytes_sint(&b, 4), 0x12010);
	assert_int_equal(bytes_u8(&b), 0x1b);
	end(&w);
}

/* the new exception table of the first procedure, given the old one */
static struct bytes lsda_of(struct world *w, const char *lsda, size_t n,
			    uint64_t other)
{
	uint64_t at, cie;
	struct moved second = {.old_start = CODE + OLD_SIZE,
			       .old_end = CODE + OLD_SIZE + 32,
			       .start = NEW + other, .fde = 1,
			       .body_end = NEW + other + 32,
			       .end = NEW + other + 32};
	struct span s = span_of(CODE + OLD_SIZE, NEW + other, NEW + other, 32);

	begin(w, EM_X86_64);
	at = elf_append(&w->b, lsda, n);
	w->table += n;
	cie = add_cie(w, "zLR", "\4\0", 2, "\x0c\7\x08", 3);
	add_fde(w, cie, CODE, OLD_SIZE, at, "", 0);
	add_fde(w, add_plain_cie(w), CODE + OLD_SIZE, 32, 0, "", 0);
	read_all(w);
	assert_int_equal(w->u.nfde, 2);
	assert_null(moves_all(&w->im, &w->u.fde[0]));
	move_first(w, GAP);
	vec_push(&w->m.map.span, s);
	vec_push(&w->m.moved, second);
	make(w);
	return bytes_window(w->out.bytes.at + (w->out.lsda - w->out.addr),
			    w->out.lsda_size, w->out.lsda);
}

#define LSDA_OF(w, lsda, other) lsda_of(w, lsda, sizeof(lsda) - 1, other)
#define ASSERT_LSDA(b, want) \
	do { \
		assert_int_equal((b).n, sizeof(want) - 1); \
		assert_memory_equal((b).p, want, sizeof(want) - 1); \
	} while (0)

/* landing pads behind the start, before it, at it; sites without any */
static void test_lsda_forms(void **state)
{
	struct world w;
	struct bytes b;
	int32_t base;

	(void)state;
	/* sites 0..4, 12..20 (over the gap) with a pad at 24, 32..36; one
	   is empty */
	b = LSDA_OF(&w, "\xff\xff\1\x10\0\4\0\0\x08\0\x18\0\x0c\x08\x18\0"
			"\x20\4\0\0", 0x100);
	ASSERT_LSDA(b, "\xff\xff\1\x0c\0\4\0\0\x0c\x18\x28\0\x30\4\0\0");
	end(&w);
	/* the pad is in the other part, behind this one */
	b = LSDA_OF(&w, "\xff\xff\1\4\0\4\x44\0", 0x100);
	ASSERT_LSDA(b, "\xff\xff\1\5\0\4\x84\2\0");
	end(&w);
	/* and before this one */
	b = LSDA_OF(&w, "\xff\xff\1\4\0\4\x44\0", -UINT64_C(0x100));
	ASSERT_LSDA(b, "\xff\xff\x0b\x0d\0\0\0\0\4\0\0\0\4\xff\xff\xff\0");
	end(&w);
	/* at the very start: LPStart was given as an address, and is again */
	b = LSDA_OF(&w, "\3\xff\1\1\0\xff\1\x08\0\4\1\0\4\4\5\0", 0x100);
	assert_int_equal(b.p[0], 0x1b);
	memcpy(&base, b.p + 1, 4);
	assert_int_equal(b.addr + 1 + (uint64_t)base, NEW - 1);
	assert_memory_equal(b.p + 5, "\xff\3\x1a\0\0\0\0\4\0\0\0\1\0\0\0\0"
				     "\4\0\0\0\4\0\0\0\5\0\0\0\0", 29);
	end(&w);
}

/* types, chains of actions, lists of types */
static void test_lsda_types(void **state)
{
	struct world w;
	struct bytes b;
	int32_t type[3];

	(void)state;
	/*
	 * types 0x9b: three, the second 0; actions: 3 and back to 1, -1 (the
	 * list 1 3), 0; site 0..4 pad 8 action 3
	 */
	b = LSDA_OF(&w, "\xff\x9b\x19\1\4\0\4\x08\3"
			"\1\0\3\x7d\x7f\0\0"
			"\x10\0\0\0\0\0\0\0\x20\0\0\0\1\3\0", 0x100);
	/* only what the action leads to is there */
	assert_memory_equal(b.p, "\xff\x9b\x19\1\4\0\4\x08\3\1\0\3\x7d\0\0\0",
			    16);
	assert_int_equal(b.n, 16 + 12);
	end(&w);
	b = LSDA_OF(&w, "\xff\x9b\x1e\1\x08\0\4\x08\3\4\4\x08\5"
			"\1\0\3\x7d\x7f\0\0\0"
			"\x10\0\0\0\0\0\0\0\x20\0\0\0\1\3\0", 0x100);
	assert_memory_equal(b.p + 3, "\1\x08\0\4\x08\3\4\4\x08\5"
				     "\1\0\3\x7d\x7f\0", 16);
	assert_int_equal(b.p[2], b.n - 3 - 3);
	memcpy(type, b.p + b.n - 15, 12);
	assert_memory_equal(b.p + b.n - 3, "\1\3\0", 3);
	assert_int_equal((b.addr + b.n - 15) % 4, 0);
	/* where they point to */
	assert_int_equal(b.addr + b.n - 15 + (uint64_t)(int64_t)type[0],
			 CODE + CODE_SIZE + 21 + 0x10);
	assert_int_equal(type[1], 0);
	assert_int_equal(b.addr + b.n - 7 + (uint64_t)(int64_t)type[2],
			 CODE + CODE_SIZE + 29 + 0x20);
	end(&w);
	/* absolute ones are copied; two bytes and pcrel become four */
	b = LSDA_OF(&w, "\xff\3\x0d\1\4\0\4\x08\1\1\0\0\x44\x33\2\1", 0x100);
	assert_memory_equal(b.p + b.n - 4, "\x44\x33\2\1", 4);
	end(&w);
	b = LSDA_OF(&w, "\xff\x1a\x0a\1\4\0\4\x08\1\1\0\x10\0\0\0", 0x100);
	assert_int_equal(b.p[1], 0x1b);
	end(&w);
}

/* exception tables that keep their procedure where it is */
static void test_lsda_reasons(void **state)
{
	static const struct {
		const char *lsda;
		size_t n;
		const char *says;
	} cases[] = {
#define BAD(l, s) {l, sizeof(l) - 1, s}
		/* a site beyond the end, an action, a chain, a type, a list */
		BAD("\xff\xff\1\4\0\x41\0\0", "does not decode"),
		BAD("\xff\xff\1\5\0\4\x08\xff\x3f", "does not decode"),
		BAD("\xff\x9b\x08\1\4\0\4\x08\1\1\x80", "does not decode"),
		BAD("\xff\x9b\x0a\1\4\0\4\x08\1\2\0\0\0\0\0",
		    "does not decode"),
		BAD("\xff\x9b\x08\1\4\0\4\x08\1\x7f\0\x80\x80",
		    "does not decode"),
		BAD("\xff\xff\1\4\0\4\x08\1\1\0", "does not decode"),
		BAD("\xff\x33\x0a\1\4\0\4\x08\1\1\0\0\0\0\0",
		    "unusual encoding"),
		BAD("\xff\x09\x0a\1\4\0\4\x08\1\1\0\0\0\0\0",
		    "unusual encoding"),
#undef BAD
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world w;
		uint64_t at;
		const char *reason;

		begin(&w, EM_X86_64);
		/* the table is limited by the next one */
		at = elf_append(&w.b, cases[i].lsda, cases[i].n);
		w.table += cases[i].n;
		at = add_cie(&w, "zLR", "\4\0", 2, "\x0c\7\x08", 3) -
		     cases[i].n;
		add_fde(&w, w.table, CODE, OLD_SIZE, at, "", 0);
		add_fde(&w, w.table, CODE + OLD_SIZE, 32, w.table, "", 0);
		read_all(&w);
		assert_int_equal(w.u.nfde, 2);
		reason = moves_all(&w.im, &w.u.fde[0]);
		assert_non_null(reason);
		assert_non_null(strstr(reason, cases[i].says));
		end(&w);
	}
}

/* one table of two procedures, types that the loader writes */
static void test_lsda_shared(void **state)
{
	struct world w;
	uint64_t at;

	(void)state;
	begin(&w, EM_X86_64);
	at = elf_append(&w.b, "\xff\xff\1\4\0\4\0\0", 8);
	w.table += 8;
	add_cie(&w, "zLR", "\4\0", 2, "\x0c\7\x08", 3);
	add_fde(&w, w.table, CODE, OLD_SIZE, at, "", 0);
	add_fde(&w, w.table, CODE + OLD_SIZE, 32, at, "", 0);
	read_all(&w);
	assert_non_null(strstr(moves_all(&w.im, &w.u.fde[0]),
			       "another procedure's"));
	assert_null(moves_all(&w.im, &w.u.fde[1]));
	end(&w);
}

/* moves all code of a file and compares the tables */
static void check_file(const char *path, uint64_t seed)
{
	struct image im, new;
	struct unwind u;
	struct moves_build b;
	struct unwind_out out;
	struct check c;
	struct err e;
	buffer file = {0};

	assert_int_equal(image_open(&im, path, &e), 0);
	unwind_read(&u, &im);
	moves_build(&b, &im, &u, seed, 9, 1000);
	assert_int_equal(unwind_out_make(&out, moves_tables(&b), &im, &u, &b.m,
					 &e), 0);
	moved_file(&b, &out, &file);
	assert_int_equal(image_parse(&new, path, file.at, file.n, &e), 0);
	check_all(&c, &b, &new, &out);
	assert_int_equal(c.wrong, 0);
	assert_true(c.moved + c.stayed > 5);
	image_close(&new);
	vec_free(&file);
	unwind_out_free(&out);
	moves_build_free(&b);
	unwind_free(&u);
	image_close(&im);
}

/* the program itself and each library that it has loaded, or one of them */
static int check_loaded(struct dl_phdr_info *info, size_t size, void *seed)
{
	(void)size;
	if (!*info->dlpi_name)
		check_file("/proc/self/exe", (*(uint64_t *)seed)++);
	else if (*info->dlpi_name == '/')
		check_file(info->dlpi_name, (*(uint64_t *)seed)++);
	return sample_every() > 1;
}

static void test_real(void **state)
{
	uint64_t seed = 1;

	(void)state;
	dl_iterate_phdr(check_loaded, &seed);
	assert_true(seed > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_pushes),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_foreign_stub),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_stayed),
		cmocka_unit_test(test_part_of_fde),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_personality),
		cmocka_unit_test(test_lsda_forms),
		cmocka_unit_test(test_lsda_types),
		cmocka_unit_test(test_lsda_reasons),
		cmocka_unit_test(test_lsda_shared),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
