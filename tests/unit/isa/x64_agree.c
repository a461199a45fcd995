/*
 * scan, decode and lift of x86-64 must not contradict each other.
 *
 * Checked on three kinds of bytes: every combination of prefix, REX, opcode,
 * ModRM and SIB of the maps that scan()'s fast path takes; random bytes, plain
 * and shaped like vector encodings; and the machine's own programs, where they
 * are x86-64. On each: scan() equals decode() in the first part of struct
 * insn; the fast path's fields equal Zydis's, and so does what common.c
 * decodes by hand; what decode() says is written is
 * a destination in lift(); its accesses are as many bytes as decode() says;
 * nothing past the given length is read.
 *
 * TALLY_TEST_EVERY=n takes only every n-th case, for emulators; a prime n is
 * in step with none of the loops.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "isa/x64/x64_int.h"
#include "access_rules.h"
#include "lift_rules.h"
#include "sample.h"
#include "splitmix.h"
#include "uses_frame.h"

enum { WINDOW = 16 };

static uint64_t seed;

static uint64_t next_random(void)
{
	return splitmix(&seed);
}

/* whether it is the turn of the next case */
static bool its_turn(void)
{
	static unsigned count;

	return count++ % sample_every() == 0;
}

/* prints the bytes of a failing case and stops the test */
static void fail_at(const uint8_t *code, const char *what)
{
	char hex[3 * WINDOW + 1] = "";

	for (int i = 0; i < WINDOW - 1; i++)
		sprintf(hex + 3 * i, "%02x ", code[i]);
	fail_msg("%s: %s", what, hex);
}

/* scan() and decode() of the same bytes must say the same */
static void check_scan(const uint8_t *code, size_t avail, uint64_t addr,
		       const struct insn *d)
{
	struct insn s;

	isa_x64.scan(code, avail, addr, &s);
	if (s.kind != d->kind || s.len != d->len || s.addr != d->addr)
		fail_at(code, "kind or length");
	if (s.target != d->target)
		fail_at(code, "target");
	if (s.ref_kind != d->ref_kind || s.ref != d->ref)
		fail_at(code, "reference");
	if (s.ref_size != 0 && s.ref_size != d->ref_size)
		fail_at(code, "size of reference");
	if (s.has_imm != d->has_imm || s.imm != d->imm || s.pad != d->pad)
		fail_at(code, "constant or padding");
	if ((d->kind == INSN_BAD) != (d->len == 0) || d->len > 15)
		fail_at(code, "length 0 is INSN_BAD");
}

/* what an instruction does with its rip-relative operand, by Zydis */
static enum insn_ref reference_of(const struct x64_full *full)
{
	for (unsigned i = 0; i < full->in.operand_count; i++) {
		const ZydisDecodedOperand *op = &full->op[i];

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    (op->mem.base != ZYDIS_REGISTER_RIP &&
		     op->mem.base != ZYDIS_REGISTER_EIP))
			continue;
		if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    op->mem.segment == ZYDIS_REGISTER_FS ||
		    op->mem.segment == ZYDIS_REGISTER_GS)
			return REF_ADDRESS;
		if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return REF_STORE;
		return REF_LOAD;
	}
	return REF_NONE;
}

/* the reference that the opcode tells must be what the operands do */
static void check_reference(const uint8_t *code, size_t avail)
{
	struct x64_full full;
	struct insn d;
	bool bad;

	if (!x64_decode_full(code, avail, 0, &full, &d))
		return;
	if (d.ref_kind == REF_HINT)
		bad = d.mem_read || d.mem_write;
	else
		bad = d.ref_kind != reference_of(&full);
	if (bad)
		fail_at(code, "kind of reference");
}

/* lift_scanned() says what lift() and scan() say */
static void check_lift_scanned(const uint8_t *code, size_t avail,
			       uint64_t addr, const struct uop *u, unsigned n)
{
	struct uop v[UOP_MAX];
	struct insn s, t;

	isa_x64.scan(code, avail, addr, &s);
	if (isa_x64.lift_scanned(code, avail, addr, &t, v) != n ||
	    memcmp(u, v, n * sizeof *u))
		fail_at(code, "the uops of lift_scanned()");
	if (s.len != t.len || s.kind != t.kind)
		fail_at(code, "length or kind of lift_scanned()");
}

/* every register, flag and byte of memory that changes is told by lift() */
static void check_lift(const uint8_t *code, size_t avail, uint64_t addr,
		       const struct insn *d)
{
	struct uop u[UOP_MAX];
	unsigned n = isa_x64.lift(code, avail, addr, u);
	bool call = d->kind == INSN_CALL || d->kind == INSN_ICALL;
	regset written = 0;
	bool flags = false, stores = false;

	if (n > UOP_MAX)
		fail_at(code, "too many uops");
	check_lift_scanned(code, avail, addr, u, n);
	if (!lift_ends_well(d, u, n))
		fail_at(code, "the last uop");
	for (unsigned i = 0; i < n; i++) {
		if (u[i].dst < X64_NREGS)
			written |= REG(u[i].dst);
		flags |= u[i].dst == UOP_FLAGS;
		stores |= u[i].code == UOP_STORE || u[i].code == UOP_CLOBBER;
		if (uop_shifts(&u[i]) && !lift_shift_is_short(u, i))
			fail_at(code, "a shift by its width or more");
		if (u[i].a == UOP_IMM && u[i].b == UOP_IMM)
			fail_at(code, "two immediates");
	}
	if (d->writes & ~written & ~(call ? REG(RSP) : 0))
		fail_at(code, "a written register is not lifted");
	if (d->kind != INSN_UNKNOWN && written & ~d->writes)
		fail_at(code, "lift writes more than decode");
	if (d->flags_written && !flags)
		fail_at(code, "flags are not lifted");
	if (!call && d->kind != INSN_BAD && (d->mem_write != 0) != stores)
		fail_at(code, "a store is not lifted");
	if (!isa_x64.uses_frame(code, avail) &&
	    insn_uses_frame(&isa_x64, d, u, n))
		fail_at(code, "the frame is used");
}

/* what is decoded by hand must be what Zydis's operands tell */
static void check_common(const uint8_t *code, size_t avail, uint64_t addr)
{
	struct x64_full full;
	struct insn hand, slow;

	if (!x64_decode_common(code, avail, addr, &hand))
		return;
	x64_decode_full(code, avail, addr, &full, &slow);
	if (memcmp(&hand, &slow, sizeof hand) != 0)
		fail_at(code, "decoded by hand differs");
}

/* what is lifted without Zydis must be what is lifted with it */
static void check_operands(const uint8_t *code, size_t avail, uint64_t addr)
{
	struct uop hand[UOP_MAX], slow[UOP_MAX];
	unsigned n = x64_lift(code, avail, addr, hand);

	if (n != x64_lift_full(code, avail, addr, slow) ||
	    memcmp(hand, slow, n * sizeof *hand) != 0)
		fail_at(code, "lifted by hand differs");
}

/* where memory is accessed must agree with how much */
static void check_accesses(const uint8_t *code, size_t avail, uint64_t addr)
{
	const char *wrong = access_disagrees(&isa_x64, code, avail, addr);

	if (wrong)
		fail_at(code, wrong);
}

/* all checks on the bytes of one window; returns the length */
static unsigned check_all(const uint8_t *code, size_t avail, uint64_t addr)
{
	struct insn d;

	isa_x64.decode(code, avail, addr, &d);
	check_common(code, avail, addr);
	check_scan(code, avail, addr, &d);
	check_reference(code, avail);
	check_lift(code, avail, addr, &d);
	check_operands(code, avail, addr);
	check_accesses(code, avail, addr);
	return d.len;
}

/* the fast path's parts must be Zydis's, and what is made of them */
static void check_fast(const uint8_t *code)
{
	const uint64_t addr = 0x10000;
	struct x64_parts fast, slow;

	if (!x64_parts_fast(code, WINDOW, &fast))
		return;
	if (!x64_parts_slow(code, WINDOW, &slow))
		fail_at(code, "fast path takes a bad instruction");
	if (memcmp(&fast, &slow, sizeof fast) != 0)
		fail_at(code, "fast path differs");
	check_common(code, WINDOW, addr);
	check_operands(code, WINDOW, addr);
	check_accesses(code, WINDOW, addr);
}

/* every opcode of both maps with every ModRM, under prefixes and REX */
static void test_fast_path(void **state)
{
	static const uint8_t prefix[][3] = {
		{0},	   {0x66},	 {0xf2},       {0xf3},
		{0x2e},	   {0x64},	 {0x66, 0x66}, {0x66, 0xf2},
		{0xf3, 0x66}, {0xf2, 0xf3}, {0x66, 0x2e}, {0xf0},
	};
	static const uint8_t rex[] = {0,    0x40, 0x41, 0x42, 0x44,
				      0x48, 0x49, 0x4c, 0x4f};
	static const uint8_t sib[] = {0x00, 0x24, 0x25, 0xad, 0xe5, 0xff};
	uint8_t code[WINDOW];

	(void)state;
	for (unsigned i = 0; i < sizeof prefix / sizeof *prefix; i++)
	for (unsigned r = 0; r < sizeof rex; r++)
	for (unsigned op = 0; op < 512; op++)
	for (unsigned modrm = 0; modrm < 256; modrm++) {
		bool has_sib = modrm < 0xc0 && (modrm & 7) == 4;

		for (unsigned s = 0; s < (has_sib ? sizeof sib : 1); s++) {
			uint8_t *c = code;

			if (!its_turn())
				continue;
			for (int k = 0; k < WINDOW; k++)
				code[k] = 0x81 + k;
			for (int k = 0; prefix[i][k]; k++)
				*c++ = prefix[i][k];
			if (rex[r])
				*c++ = rex[r];
			if (op > 255)
				*c++ = 0x0f;
			*c++ = op;
			*c++ = modrm;
			*c++ = sib[s];
			check_fast(code);
		}
	}
}

/* every opcode of every map with a rip-relative operand */
static void test_references(void **state)
{
	static const uint8_t pre[] = {0, 0x66, 0xf2, 0xf3};
	uint8_t code[WINDOW];

	(void)state;
	for (unsigned op = 0; op < 256; op++)
	for (unsigned reg = 0; reg < 8; reg++)
	for (unsigned pp = 0; pp < 4; pp++)
	for (unsigned map = 0; map < 12; map++)
	for (unsigned w = 0; w < 2; w++)
	for (unsigned len = 0; len < 3; len++) {
		uint8_t *c = code;

		if (!its_turn())
			continue;
		memset(code, 0, sizeof code);
		if (map < 4) { /* legacy */
			static const uint8_t escape[] = {0, 0, 0x38, 0x3a};

			if (pre[pp])
				*c++ = pre[pp];
			if (w)
				*c++ = 0x48;
			if (map)
				*c++ = 0x0f;
			if (map > 1)
				*c++ = escape[map];
		} else if (map < 7) { /* VEX */
			*c++ = 0xc4;
			*c++ = 0xe0 | (map - 3);
			*c++ = w << 7 | 0x78 | (len & 1) << 2 |
			       (unsigned[]){0, 1, 3, 2}[pp];
		} else { /* EVEX, maps 1 2 3 5 6 */
			*c++ = 0x62;
			*c++ = 0xf0 | (unsigned[]){1, 2, 3, 5, 6}[map - 7];
			*c++ = w << 7 | 0x7c |
			       (unsigned[]){0, 1, 3, 2}[pp];
			*c++ = 0x08 | len << 5;
		}
		*c++ = op;
		*c++ = 0x05 | reg << 3;
		check_all(code, WINDOW, 0x1000);
	}
}

/* random bytes, every second time behind a prefix of interest */
static void test_random(void **state)
{
	static const uint8_t lead[] = {0x62, 0xc4, 0xc5, 0x0f, 0xf0,
				       0x66, 0xf2, 0xf3, 0x48, 0x8f};
	unsigned rounds = 2000000 / sample_every();
	uint8_t code[WINDOW];

	(void)state;
	seed = 1;
	for (unsigned i = 0; i < rounds; i++) {
		for (int k = 0; k < WINDOW; k += 8) {
			uint64_t x = next_random();

			memcpy(code + k, &x, 8);
		}
		if (i & 1)
			code[0] = lead[i / 2 % sizeof lead];
		if ((i & 6) == 2)
			code[1] = lead[i / 16 % sizeof lead];
		check_all(code, WINDOW, next_random());
		check_fast(code);
	}
}

/* what is told of the first n bytes: nothing, unless they are lock alone */
static unsigned cut_length(const uint8_t *code, size_t n, unsigned whole)
{
	if (n == 1 && whole != 1 && *code == 0xf0)
		return 1;
	return n < whole ? 0 : whole;
}

/* a copy cut at every length: INSN_BAD, or the same; ASan watches the end */
static void test_truncated(void **state)
{
	unsigned rounds = 40000 / sample_every();
	uint8_t code[WINDOW];
	struct insn whole, part;

	(void)state;
	seed = 2;
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t x = next_random(), y = next_random();

		memcpy(code, &x, 8);
		memcpy(code + 8, &y, 8);
		isa_x64.decode(code, WINDOW, 0, &whole);
		for (size_t n = 0; n < WINDOW; n++) {
			uint8_t *cut = malloc(n ? n : 1);

			memcpy(cut, code, n);
			isa_x64.decode(cut, n, 0, &part);
			assert_int_equal(part.len,
					 cut_length(code, n, whole.len));
			assert_true(part.len != 1 || *code != 0xf0 ||
				    part.kind == INSN_UNKNOWN);
			check_scan(cut, n, 0, &part);
			if (part.len)
				check_lift(cut, n, 0, &part);
			check_accesses(cut, n, 0);
			free(cut);
		}
	}
}

/* checks one executable section, from its start, at most `limit` bytes */
static size_t check_section(const uint8_t *text, size_t size, uint64_t addr,
			    size_t limit)
{
	size_t at = 0, count = 0;

	if (size > limit)
		size = limit;
	while (at + WINDOW < size) {
		unsigned len = check_all(text + at, size - at, addr + at);

		check_fast(text + at);
		at += len ? len : 1;
		count++;
	}
	return count;
}

/* the whole file at path, or NULL if it is not an x86-64 ELF file */
static uint8_t *read_program(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *image;
	Elf64_Ehdr h;
	long end;

	if (!f)
		return NULL;
	if (fread(&h, sizeof h, 1, f) != 1 || h.e_machine != EM_X86_64 ||
	    fseek(f, 0, SEEK_END) != 0) {
		fclose(f);
		return NULL;
	}
	end = ftell(f);
	rewind(f);
	*size = end > 0 ? (size_t)end : 0;
	image = malloc(*size + 1);
	*size = fread(image, 1, *size, f);
	fclose(f);
	return image;
}

/* checks the executable sections of the program at path */
static size_t check_program(const char *path, size_t limit)
{
	size_t size, count = 0;
	uint8_t *image = read_program(path, &size);
	const Elf64_Shdr *sh;
	Elf64_Ehdr h;

	if (!image)
		return 0;
	memcpy(&h, image, sizeof h);
	sh = (const void *)(image + h.e_shoff);
	for (int i = 0; i < h.e_shnum && h.e_shoff < size; i++)
		if (sh[i].sh_flags & SHF_EXECINSTR &&
		    sh[i].sh_type == SHT_PROGBITS)
			count += check_section(image + sh[i].sh_offset,
					       sh[i].sh_size, sh[i].sh_addr,
					       limit);
	free(image);
	return count;
}

/* programs and libraries for x86-64: of this machine, or to link with */
static void test_programs(void **state)
{
	static const char *const path[] = {
		"/bin/bash", "/bin/tar", "/usr/bin/perl",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/x86_64-linux-gnu/lib/libc.so.6",
		"/usr/x86_64-linux-gnu/lib/libstdc++.so.6",
	};
	size_t limit = (1 << 20) / sample_every(), count = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof path / sizeof *path; i++)
		count += check_program(path[i], limit);
	if (count == 0)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fast_path),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
