/*
 * isa->accesses() of both machines, instruction by instruction: tables of
 * encodings (the GNU assembler's) with the accesses as text,
 *
 *	KIND [HOW] SIZE[/ELEMENT] [SEGMENT] [e] BASE + [EXTEND]
 *	INDEX<<SHIFT + DISP
 *
 * where `e` is an address of 32 bits; and what access_address() makes of each
 * part of an address. That sizes agree with decode() on everything else is
 * tested by a64.c and x64_agree.c, addresses by tests/e2e/isa/accesses.t.
 *
 * All instructions lie at 0x1000.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "access_rules.h"

enum { SIZE = 512, ADDR = 0x1000 };

static const struct expected {
	const char *text, *hex, *accesses;
} table_x64[] = {
	{"mov 8(%rax, %rcx, 4), %rdx", "48 8b 54 88 08",
	 "load 8 rax + rcx<<2 + 0x8"},
	{"mov %ax, -2(%r13)", "66 41 89 45 fe", "store 2 r13 - 0x2"},
	{"add %eax, (%r12)", "41 01 04 24", "modify 4 r12"},
	{"lea 8(%rax), %rbx", "48 8d 58 08", ""},
	{"mov 0x10(%rip), %eax", "8b 05 10 00 00 00", "load 4 + 0x1016"},
	{"mov 0x12345678, %al", "8a 04 25 78 56 34 12", "load 1 + 0x12345678"},
	{"movabs %al, 0x1122334455667788", "a2 88 77 66 55 44 33 22 11",
	 "store 1 + 0x1122334455667788"},
	{"mov %fs:0x28, %rax", "64 48 8b 04 25 28 00 00 00",
	 "load 8 fs: + 0x28"},
	{"mov %gs:(%rbx, %r12, 8), %r10d", "65 46 8b 14 e3",
	 "load 4 gs: rbx + r12<<3"},
	{"mov 8(%ebx, %esi, 2), %eax", "67 8b 44 73 08",
	 "load 4 e rbx + rsi<<1 + 0x8"},
	{"mov 0x10(%eip), %eax", "67 8b 05 10 00 00 00", "load 4 e + 0x1017"},
	{"nopl 8(%rax)", "0f 1f 40 08", ""},
	{"prefetcht0 (%rax)", "0f 18 08", ""},
	{"clflush (%rax)", "0f ae 38", ""},
	{"clzero", "0f 01 fc", "store unknown 64 rax"},
	{"push %rax", "50", "store 8 rsp - 0x8"},
	{"push 16(%rsp)", "ff 74 24 10",
	 "load 8 rsp + 0x10; store 8 rsp - 0x8"},
	{"pushw 16(%rsp)", "66 ff 74 24 10",
	 "load 2 rsp + 0x10; store 2 rsp - 0x2"},
	{"pop %rbx", "5b", "load 8 rsp"},
	{"pop 16(%rsp)", "8f 44 24 10", "load 8 rsp; store 8 rsp + 0x18"},
	{"pop 16(%rax)", "8f 40 10", "load 8 rsp; store 8 rax + 0x10"},
	{"popw 2(%rsp)", "66 8f 44 24 02", "load 2 rsp; store 2 rsp + 0x4"},
	{"pop 16(%esp)", "67 8f 44 24 10", "load 8 rsp; store 8 e rsp + 0x18"},
	{"call .", "e8 fb ff ff ff", "store 8 rsp - 0x8"},
	{"call *8(%rax)", "ff 50 08", "load 8 rax + 0x8; store 8 rsp - 0x8"},
	{"call *8(%rsp)", "ff 54 24 08", "load 8 rsp + 0x8; store 8 rsp - 0x8"},
	{"rex.w lcall *(%rax)", "48 ff 18",
	 "load 10 rax; store 16/8 rsp - 0x10"},
	{"jmp *(%rax, %rdx, 8)", "ff 24 d0", "load 8 rax + rdx<<3"},
	{"ret", "c3", "load 8 rsp"},
	{"ret $16", "c2 10 00", "load 8 rsp"},
	{"lretq", "48 cb", "load 16/8 rsp"},
	{"iretq", "48 cf", "load 40/8 rsp"},
	{"leave", "c9", "load 8 rbp"},
	{"enter $16, $0", "c8 10 00 00", "store 8 rsp - 0x8"},
	{"enter $16, $2", "c8 10 00 02", "load unknown rbp; store unknown rsp"},
	{"pushfq", "9c", "store 8 rsp - 0x8"},
	{"cmovne (%rax), %ebx", "0f 45 18", "load 4 rax"},
	{"xchg %eax, (%rbx)", "87 03", "modify atomic 4 rbx"},
	{"xchg %eax, %ebx", "93", ""},
	{"lock xadd %eax, (%rbx)", "f0 0f c1 03", "modify atomic 4 rbx"},
	{"xadd %eax, (%rbx)", "0f c1 03", "modify 4 rbx"},
	{"lock cmpxchg16b (%rdi)", "f0 48 0f c7 0f", "modify atomic 16 rdi"},
	{"cmpxchg8b (%rdi)", "0f c7 0f", "modify 8 rdi"},
	{"movsb", "a4", "load 1 rsi; store 1 rdi"},
	{"rep movsq", "f3 48 a5", "load string 8 rsi; store string 8 rdi"},
	{"rep movsb (%esi), %es:(%edi)", "67 f3 a4",
	 "load string 1 e rsi; store string 1 e rdi"},
	{"fs movsb", "64 a4", "load 1 fs: rsi; store 1 rdi"},
	{"repe cmpsb", "f3 a6", "load until 1 rsi; load until 1 rdi"},
	{"cmpsw", "66 a7", "load 2 rsi; load 2 rdi"},
	{"repne scasl", "f2 af", "load until 4 rdi"},
	{"stosq", "48 ab", "store 8 rdi"},
	{"rep lodsb", "f3 ac", "load string 1 rsi"},
	{"xlat", "d7", "load 1 rbx + uxtb rax<<0"},
	{"fs xlat %fs:(%rbx)", "64 d7", "load 1 fs: rbx + uxtb rax<<0"},
	{"btl %eax, (%rbx)", "0f a3 03", "load unknown 4 rbx"},
	{"btl $70, (%rbx)", "0f ba 23 46", "load 4 rbx"},
	{"lock bts %rax, 8(%rbx)", "f0 48 0f ab 43 08",
	 "modify unknown 8 rbx + 0x8"},
	{"movups (%rax), %xmm1", "0f 10 08", "load 16 rax"},
	{"vmovaps 0x40(%rax), %zmm1", "62 f1 7c 48 28 48 01",
	 "load 64 rax + 0x40"},
	{"vaddps 0x4(%rax){1to16}, %zmm1, %zmm2", "62 f1 74 58 58 50 01",
	 "load 4 rax + 0x4"},
	{"vmovups 0x40(%rax), %zmm1{%k1}", "62 f1 7c 49 10 48 01",
	 "load masked 64 rax + 0x40"},
	{"vmovups %ymm1, (%rax){%k2}", "62 f1 7c 2a 11 08",
	 "store masked 32 rax"},
	{"vpgatherdd %ymm1, 8(%rax, %ymm2, 4), %ymm3",
	 "c4 e2 75 90 5c 90 08",
	 "load gather/4 rax + 0x8"},
	{"vpscatterqq %zmm1, 8(%rax, %zmm2, 8){%k1}",
	 "62 f2 fd 49 a1 4c d0 01",
	 "store gather/8 rax + 0x8"},
	{"maskmovdqu %xmm0, %xmm1", "66 0f f7 c8", "store masked 16 rdi"},
	{"vmaskmovps (%rax), %ymm1, %ymm2", "c4 e2 75 2c 10",
	 "load masked 32 rax"},
	{"fxsave (%rax)", "0f ae 00", "store masked 512 rax"},
	{"xsave (%rax)", "0f ae 20", "modify unknown rax"},
	{"fldt (%rax)", "db 28", "load 10 rax"},
	{"fnsave (%rax)", "dd 30", "store 108 rax"},
	{"fistpll (%rax)", "df 38", "store 8 rax"},
	{"movdir64b (%rax), %rbx", "66 0f 38 f8 18",
	 "load 64 rax; store 64 rbx"},
	{"enqcmd (%rax), %rbx", "f2 0f 38 f8 18", "load 64 rax; store 64 rbx"},
	{"syscall", "0f 05", ""},
	{"cvtsi2sdl (%rax), %xmm0", "f2 0f 2a 00", "load 4 rax"},
	{"rep xcrypt-cbc", "f3 0f a7 d0", "modify unknown"},
}, table_a64[] = {
	{"ldr x0, [x1, #8]", "20 04 40 f9", "load 8 x1 + 0x8"},
	{"ldr x0, [x1], #8", "20 84 40 f8", "load 8 x1"},
	{"ldr x0, [x1, #8]!", "20 8c 40 f8", "load 8 x1 + 0x8"},
	{"str w0, [sp, #-16]!", "e0 0f 1f b8", "store 4 sp - 0x10"},
	{"ldur x0, [x1, #-9]", "20 70 5f f8", "load 8 x1 - 0x9"},
	{"strb w0, [x1, x2]", "20 68 22 38", "store 1 x1 + x2<<0"},
	{"ldrh w0, [x1, w2, uxtw #1]", "20 58 62 78", "load 2 x1 + uxtw x2<<1"},
	{"ldr x0, [x1, w2, sxtw #3]", "20 d8 62 f8", "load 8 x1 + sxtw x2<<3"},
	{"ldr x0, [x1, x2, sxtx]", "20 e8 62 f8", "load 8 x1 + x2<<0"},
	{"ldr q0, [x1, x2, lsl #4]", "20 78 e2 3c", "load 16 x1 + x2<<4"},
	{"ldr x0, [x1, xzr]", "20 68 7f f8", "load 8 x1"},
	{"ldr x0, .+64", "00 02 00 58", "load 8 + 0x1040"},
	{"ldr q0, .-64", "00 fe ff 9c", "load 16 + 0xfc0"},
	{"ldrsw x0, .+8", "40 00 00 98", "load 4 + 0x1008"},
	{"ldr q0, [x1, #32]", "20 08 c0 3d", "load 16 x1 + 0x20"},
	{"ldr b0, [sp, #3]", "e0 0f 40 3d", "load 1 sp + 0x3"},
	{"ldp x0, x1, [x2], #16", "40 04 c1 a8", "load 16/8 x2"},
	{"ldp w0, w1, [x2, #-8]", "40 04 7f 29", "load 8/4 x2 - 0x8"},
	{"stp q0, q1, [sp, #-64]!", "e0 07 be ad", "store 32/16 sp - 0x40"},
	{"ldpsw x0, x1, [x2, #4]", "40 84 40 69", "load 8/4 x2 + 0x4"},
	{"stgp x0, x1, [x2, #32]", "40 04 01 69", "store 16/8 x2 + 0x20"},
	{"ldnp d0, d1, [x2, #16]", "40 04 41 6c", "load 16/8 x2 + 0x10"},
	{"ldxr w0, [x1]", "20 7c 5f 88", "load exclusive 4 x1"},
	{"stlxr w0, x1, [sp]", "e1 ff 00 c8", "store exclusive 8 sp"},
	{"ldaxp x0, x1, [x2]", "40 84 7f c8", "load exclusive 16/8 x2"},
	{"stxp w0, w1, w2, [x3]", "61 08 20 88", "store exclusive 8/4 x3"},
	{"ldar x0, [x1]", "20 fc df c8", "load 8 x1"},
	{"stlrb w0, [x1]", "20 fc 9f 08", "store 1 x1"},
	{"cas x0, x1, [x2]", "41 7c a0 c8", "modify atomic 8 x2"},
	{"casp x0, x1, x2, x3, [x4]", "82 7c 20 48", "modify atomic 16/8 x4"},
	{"ldaddal w0, w1, [x2]", "41 00 e0 b8", "modify atomic 4 x2"},
	{"swpb w0, w1, [x2]", "41 80 20 38", "modify atomic 1 x2"},
	{"stset x0, [x1]", "3f 30 20 f8", "modify atomic 8 x1"},
	{"ldapr x0, [x1]", "20 c0 bf f8", "load 8 x1"},
	{"ldapur x0, [x1, #-8]", "20 80 5f d9", "load 8 x1 - 0x8"},
	{"ldraa x0, [x1, #-16]", "20 e4 7f f8", "load unknown 8 x1 - 0x10"},
	{"ldraa x0, [x1, #16]!", "20 2c 20 f8", "load unknown 8 x1 + 0x10"},
	{"ld1 {v0.16b-v3.16b}, [x0]", "00 20 40 4c", "load 64/1 x0"},
	{"ld3 {v0.4h-v2.4h}, [x0], #24", "00 44 df 0c", "load 24/2 x0"},
	{"ld2 {v0.s, v1.s}[1], [sp], x2", "e0 93 e2 0d", "load 8/4 sp"},
	{"ld4r {v0.2d-v3.2d}, [x0]", "00 ec 60 4d", "load 32/8 x0"},
	{"st1 {v0.b}[3], [x0]", "00 0c 00 0d", "store 1 x0"},
	{"dc zva, x3", "23 74 0b d5", "store block x3"},
	{"dc civac, x3", "23 7e 0b d5", ""},
	{"prfm pldl1keep, [x0]", "00 00 80 f9", ""},
	{"svc #0", "01 00 00 d4", ""},
	{"ldtr x0, [x1, #8]", "20 88 40 f8", "load 8 x1 + 0x8"},
	{"stzg x0, [x1, #16]", "20 18 60 d9", "store 16 x1 + 0x10"},
	{"st2g x0, [x1, #16]", "20 18 a0 d9", ""},
	{"stz2g x0, [x1], #32", "20 24 e0 d9", "store 32 x1"},
	{"cpyfp [x0]!, [x1]!, x2!", "40 04 01 19",
	 "load unknown x1; store unknown x0"},
	{"setp [x0]!, x1!, x2", "20 04 c2 19", "store unknown x0"},
	{"ld1b {z0.b}, p0/z, [x0, x1]", "00 40 01 a4", "load unknown x0"},
	{"ldr z0, [x1, #1, mul vl]", "20 44 80 85", "load unknown x1"},
	{"ld1w {z0.s}, p0/z, [z1.s]", "20 c0 20 85", "load unknown"},
	{"adr x0, .", "00 00 00 10", ""},
	{"ret", "c0 03 5f d6", ""},
};

/* the access as text, into s */
static void print_access(char *s, const struct isa *isa, const struct access *a)
{
	static const char *const kinds[] = {"load", "store", "modify"};
	static const char *const hows[] = {
		"", " atomic", " exclusive", " string", " until", " gather",
		" masked", " unknown", " block",
	};
	static const char *const extends[] = {"", "uxtw ", "sxtw ", "uxtb "};
	static const char *const segments[] = {"", " fs:", " gs:"};

	s += sprintf(s, "%s%s", kinds[a->kind], hows[a->how]);
	if (a->size != MEM_SIZE_UNKNOWN)
		s += sprintf(s, " %u", a->size);
	if (a->element != a->size)
		s += sprintf(s, "/%u", a->element);
	s += sprintf(s, "%s%s", segments[a->segment], a->narrow ? " e" : "");
	if (a->base != ISA_NO_REG)
		s += sprintf(s, " %s", isa->reg_name(a->base));
	if (a->index != ISA_NO_REG)
		s += sprintf(s, " + %s%s<<%u", extends[a->extend],
			     isa->reg_name(a->index), a->shift);
	if (a->disp)
		sprintf(s, a->disp < 0 ? " - %#" PRIx64 : " + %#" PRIx64,
			a->disp < 0 ? -(uint64_t)a->disp : (uint64_t)a->disp);
}

/* all accesses of the instruction as text, into s */
static void print_accesses(char *s, const struct isa *isa, const uint8_t *code,
			   size_t len)
{
	struct access a[ACCESS_MOST];
	unsigned n = isa->accesses(code, len, ADDR, a);

	*s = 0;
	for (unsigned i = 0; i < n; i++) {
		if (i)
			s += sprintf(s, "; ");
		print_access(s, isa, &a[i]);
		s += strlen(s);
	}
}

/* the bytes of a row; returns how many */
static size_t read_bytes(const char *hex, uint8_t *code)
{
	unsigned byte;
	size_t n = 0;
	int at;

	for (; sscanf(hex, "%2x%n", &byte, &at) == 1; hex += at)
		code[n++] = (uint8_t)byte;
	return n;
}

/* every row says what accesses() does; returns how many do not */
static int check_table(const struct isa *isa, const struct expected *rows,
		       size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t code[16];
		size_t len = read_bytes(rows[i].hex, code);
		const char *wrong = access_disagrees(isa, code, len, ADDR);
		char text[SIZE];

		print_accesses(text, isa, code, len);
		if (!wrong && !strcmp(text, rows[i].accesses))
			continue;
		print_error("%s: %s, not %s (%s)\n", rows[i].text, text,
			    rows[i].accesses, wrong ? wrong : "");
		bad++;
	}
	return bad;
}

static void test_x64(void **state)
{
	size_t n = sizeof table_x64 / sizeof *table_x64;

	(void)state;
	assert_int_equal(check_table(&isa_x64, table_x64, n), 0);
}

static void test_a64(void **state)
{
	size_t n = sizeof table_a64 / sizeof *table_a64;

	(void)state;
	assert_int_equal(check_table(&isa_a64, table_a64, n), 0);
}

/* cut off, or not at a multiple of four: nothing is known */
static void test_bad(void **state)
{
	static const uint8_t code[] = {0x48, 0x8b, 0x54, 0x88};
	static const struct {
		const struct isa *isa;
		size_t avail;
		uint64_t addr;
	} all[] = {
		{&isa_x64, 4, ADDR}, {&isa_x64, 0, ADDR}, {&isa_a64, 3, ADDR},
		{&isa_a64, 0, ADDR}, {&isa_a64, 4, ADDR + 2},
	};
	struct access a[ACCESS_MOST];

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_equal(all[i].isa->accesses(code, all[i].avail,
						      all[i].addr, a), 1);
		assert_int_equal(a->kind, ACCESS_MODIFY);
		assert_int_equal(a->how, ACCESS_UNKNOWN);
		assert_int_equal(a->size, MEM_SIZE_UNKNOWN);
		assert_int_equal(a->base, ISA_NO_REG);
	}
}

/* each part of an address, and what wraps around */
static void test_address(void **state)
{
	enum { NONE = ISA_NO_REG };
	static const uint64_t regs[32] = {
		[1] = 0x7fff00001000, [2] = 0xfffffffffffffff0,
		[3] = 0x12345678fffffff0, [4] = 0x1280,
	};
	static const uint64_t segments[ACCESS_SEGMENTS] = {
		[ACCESS_FS] = 0x700000000000, [ACCESS_GS] = 0x800000000000,
	};
	static const struct {
		struct access a;
		uint64_t address;
	} all[] = {
		{{.base = NONE, .index = NONE, .disp = 64}, 64},
		{{.base = 1, .index = NONE, .disp = -1}, 0x7fff00000fff},
		{{.base = 1, .index = 2, .shift = 3}, 0x7fff00000f80},
		{{.base = 1, .index = 3, .extend = ACCESS_SIGN32, .disp = 1},
		 0x7fff00000ff1},
		{{.base = 1, .index = 3, .extend = ACCESS_ZERO32, .shift = 1},
		 0x800100000fe0},
		{{.base = 1, .index = 4, .extend = ACCESS_ZERO8},
		 0x7fff00001080},
		{{.base = NONE, .index = 4, .shift = 2}, 0x4a00},
		{{.base = 3, .index = 4, .narrow = true}, 0x1270},
		{{.base = 3, .index = 4, .narrow = true,
		  .segment = ACCESS_FS}, 0x700000001270},
		{{.base = NONE, .index = NONE, .disp = -8,
		  .segment = ACCESS_GS}, 0x7ffffffffff8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		assert_int_equal(access_address(&all[i].a, regs, segments),
				 all[i].address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x64),
		cmocka_unit_test(test_a64),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_address),
	};

	return cmocka_run_group_tests_name("isa_accesses", tests, NULL, NULL);
}
