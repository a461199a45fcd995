/*
 * What decode() says of memory, floating point and vectors, instruction by
 * instruction, as doc/events.md defines it. A row has the assembler's text and
 * bytes, and
 *
 *	rN wN     bytes read and written, ? if the encoding does not tell
 *	atomic    MEM_ATOMIC, MEM_EXCL_LOAD, MEM_EXCL_STORE
 *	fp vector struct insn's fp and packed
 *
 * tests/e2e/isa/effects.t asks others about many more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "isa/isa.h"

enum { BYTES_MAX = 16 };

struct row {
	const char *text, *hex, *effects;
};

static const struct row a64_rows[] = {
	/* loads and stores */
	{"ldr x1, [x2]", "410040f9", "r8"},
	{"ldrb w1, [x2, #1]", "41044039", "r1"},
	{"ldrsw x1, [x2, x3, lsl #2]", "4178a3b8", "r4"},
	{"ldr x1, .+64", "01020058", "r8"},
	{"prfm pldl1keep, [x1]", "200080f9", ""},
	{"prfm pldl1keep, .+64", "000200d8", ""},
	{"ldp x1, x2, [sp]", "e10b40a9", "r16"},
	{"ldpsw x1, x2, [x3]", "61084069", "r8"},
	{"stp w1, w2, [x3, #8]!", "61088129", "w8"},
	{"str wzr, [x1], #4", "3f4400b8", "w4"},
	{"ldxr w1, [x2]", "417c5f88", "r4 atomic"},
	{"ldaxp x1, x2, [x3]", "61887fc8", "r16 atomic"},
	{"stxr w1, x2, [x3]", "627c01c8", "w8 atomic"},
	{"stlxp w1, x2, x3, [x4]", "828c21c8", "w16 atomic"},
	{"ldar x1, [x2]", "41fcdfc8", "r8"},
	{"stlrb w1, [x2]", "41fc9f08", "w1"},
	{"ldapur w1, [x2, #1]", "41104099", "r4"},
	{"cas x1, x2, [x3]", "627ca1c8", "r8 w8 atomic"},
	{"caspal x2, x3, x4, x5, [x6]", "c4fc6248", "r16 w16 atomic"},
	{"ldaddal w1, w2, [x3]", "6200e1b8", "r4 w4 atomic"},
	{"stadd x1, [x2]", "5f0021f8", "r8 w8 atomic"},
	{"swpb w1, w2, [x3]", "62802138", "r1 w1 atomic"},
	{"ldraa x1, [x2]", "410420f8", "r8"},
	{"ld64b x0, [x8]", "00d13ff8", "r64"},
	{"st64bv x1, x2, [x8]", "02b121f8", "w64"},
	{"dc zva, x1", "21740bd5", "w?"},
	{"dc gva, x1", "61740bd5", ""},
	{"dc gzva, x1", "81740bd5", "w?"},
	{"dc civac, x1", "217e0bd5", ""},
	{"ic ivau, x1", "21750bd5", ""},
	{"stg x1, [x2]", "410820d9", ""},
	{"st2g x1, [x2]", "4108a0d9", ""},
	{"stzg x1, [x2]", "410860d9", "w16"},
	{"stz2g x1, [x2]", "4108e0d9", "w32"},
	{"stgp x1, x2, [x3]", "61080069", "w16"},
	{"ldg x1, [x2]", "410060d9", ""},
	{"cpyfp [x1]!, [x2]!, x3!", "61040219", "r? w?"},
	{"setp [x1]!, x2!, x3", "4104c319", "w?"},
	{"nop", "1f2003d5", ""},
	{"add x1, x2, x3", "4100038b", ""},
	/* vector loads and stores */
	{"ldr b1, [x2]", "4100403d", "r1"},
	{"ldr d1, [x2]", "410040fd", "r8"},
	{"ldr d1, .+64", "0102005c", "r8"},
	{"ldr q1, .+64", "0102009c", "r16 vector"},
	{"str q1, [x2, #16]", "4104803d", "w16 vector"},
	{"ldp d1, d2, [x3]", "6108406d", "r16"},
	{"stp q1, q2, [x3]", "610800ad", "w32 vector"},
	{"ld1 {v0.8b}, [x1]", "2070400c", "r8 vector"},
	{"ld4 {v0.4s-v3.4s}, [x1], #64", "2008df4c", "r64 vector"},
	{"st1 {v0.b}[3], [x1]", "200c000d", "w1 vector"},
	{"ld2r {v0.8h, v1.8h}, [x1]", "20c4604d", "r4 vector"},
	{"ld1w {z0.s}, p0/z, [x1]", "20a040a5", "r? vector"},
	{"st1d {z0.d}, p0, [x1, z2.d]", "20a082e5", "w? vector"},
	{"ldr z0, [x1]", "20408085", "r? vector"},
	{"str p0, [x1]", "200080e5", "w? vector"},
	{"prfb pldl1keep, p0, [x1, x2]", "20c00284", "vector"},
	{"ldr za[w12, #0], [x1]", "200000e1", "r? vector"},
	/* floating point */
	{"fadd d1, d2, d3", "4128631e", "fp"},
	{"fmadd s1, s2, s3, s4", "4110031f", "fp"},
	{"fabs d1, d2", "41c0601e", "fp"},
	{"fneg v1.2d, v2.2d", "41f8e06e", "fp vector"},
	{"fsqrt v1.4s, v2.4s", "41f8a16e", "fp vector"},
	{"frintn d1, d2", "4140641e", "fp"},
	{"fcvt d1, s2", "41c0221e", "fp"},
	{"fcvtzs x1, d2", "4100789e", "fp"},
	{"fcvtzs d1, d2", "41b8e15e", "fp"},
	{"fcvtzu w1, s2, #3", "41f4191e", "fp"},
	{"scvtf d1, x2", "4100629e", "fp"},
	{"ucvtf v1.4s, v2.4s, #3", "41e43d6f", "fp vector"},
	{"fjcvtzs w1, d2", "41007e1e", "fp"},
	{"fcmp d1, #0.0", "2820601e", "fp"},
	{"fccmp d1, d2, #0, eq", "2004621e", "fp"},
	{"fcmgt v1.4s, v2.4s, #0.0", "41c8a04e", "fp vector"},
	{"facge s1, s2, s3", "41ec237e", "fp"},
	{"frecpe d1, d2", "41d8e15e", "fp"},
	{"urecpe v1.4s, v2.4s", "41c8a14e", "vector"},
	{"ursqrte v1.2s, v2.2s", "41c8a12e", "vector"},
	{"fmaxnmv s1, v2.4s", "41c8306e", "fp vector"},
	{"faddp d1, v2.2d", "41d8707e", "fp vector"},
	{"fmla v1.2d, v2.2d, v3.d[1]", "4118c34f", "fp vector"},
	{"fmul d1, d2, v3.d[1]", "4198c35f", "fp"},
	{"fmlal v1.4s, v2.4h, v3.4h", "41ec234e", "fp vector"},
	{"fmlal2 v1.4s, v2.4h, v3.h[1]", "4180936f", "fp vector"},
	{"fcmla v1.4s, v2.4s, v3.4s, #90", "41cc836e", "fp vector"},
	{"fcadd v1.2d, v2.2d, v3.2d, #90", "41e4c36e", "fp vector"},
	{"bfdot v1.4s, v2.8h, v3.8h", "41fc436e", "fp vector"},
	{"bfdot v1.4s, v2.8h, v3.2h[1]", "41f0634f", "fp vector"},
	{"bfmmla v1.4s, v2.8h, v3.8h", "41ec436e", "fp vector"},
	{"bfcvt h1, s2", "4140631e", "fp"},
	{"fadd v1.8h, v2.8h, v3.8h", "4114434e", "fp vector"},
	{"fabd h1, h2, h3", "4114c37e", "fp"},
	{"fmov d1, d2", "4140601e", ""},
	{"fmov d1, #1.0", "01106e1e", ""},
	{"fmov x1, d2", "4100669e", ""},
	{"fmov x1, v2.d[1]", "4100ae9e", ""},
	{"fmov v1.4s, #1.0", "01f6034f", "vector"},
	{"fcsel d1, d2, d3, eq", "410c631e", ""},
	/* vectors of integers, moves */
	{"add v1.4s, v2.4s, v3.4s", "4184a34e", "vector"},
	{"add d1, d2, d3", "4184e35e", ""},
	{"addp d1, v2.2d", "41b8f15e", "vector"},
	{"addv b1, v2.16b", "41b8314e", "vector"},
	{"sqdmlal s1, h2, h3", "4190635e", ""},
	{"movi v1.16b, #0", "01e4004f", "vector"},
	{"movi d1, #0", "01e4002f", ""},
	{"movi v1.2d, #0", "01e4006f", "vector"},
	{"mov v1.16b, v2.16b", "411ca24e", "vector"},
	{"mov d1, v2.d[1]", "4104185e", ""},
	{"mov v1.s[2], w3", "611c144e", "vector"},
	{"umov w1, v2.b[3]", "413c070e", "vector"},
	{"dup v1.4s, w3", "610c044e", "vector"},
	{"ext v1.16b, v2.16b, v3.16b, #3", "4118036e", "vector"},
	{"tbl v1.16b, {v2.16b}, v3.16b", "4100034e", "vector"},
	{"sdot v1.4s, v2.16b, v3.16b", "4194834e", "vector"},
	{"usdot v1.4s, v2.16b, v3.4b[1]", "41f0a34f", "vector"},
	{"aese v1.16b, v2.16b", "4148284e", "vector"},
	{"sha256h q1, q2, v3.4s", "4140035e", "vector"},
	{"sha1h s1, s2", "4108285e", "vector"},
	{"sha1c q1, s2, v3.4s", "4100035e", "vector"},
	{"eor3 v1.16b, v2.16b, v3.16b, v4.16b", "411003ce", "vector"},
	{"pmull v1.1q, v2.1d, v3.1d", "41e0e30e", "vector"},
	{"crc32x w1, w2, x3", "414cc39a", ""},
	/* SVE and SME */
	{"fadd z0.s, z1.s, z2.s", "20008265", "fp vector"},
	{"fabs z0.d, p0/m, z1.d", "20a0dc04", "fp vector"},
	{"fneg z0.s, p0/m, z1.s", "20a09d04", "fp vector"},
	{"abs z0.s, p0/m, z1.s", "20a09604", "vector"},
	{"not z0.s, p0/m, z1.s", "20a09e04", "vector"},
	{"fexpa z0.s, z1.s", "20b8a004", "fp vector"},
	{"ftssel z0.s, z1.s, z2.s", "20b0a204", "fp vector"},
	{"add z0.s, z1.s, z2.s", "2000a204", "vector"},
	{"fmov z0.s, #1.0", "00ceb925", "vector"},
	{"fmov z0.s, p0/m, #1.0", "00ce9005", "vector"},
	{"fcmeq p0.s, p1/z, z1.s, z2.s", "20648265", "fp vector"},
	{"ptrue p0.b", "e0e31825", "vector"},
	{"whilelo p0.b, x1, x2", "201c2225", "vector"},
	{"cntp x1, p0, p1.b", "21802025", "vector"},
	{"cntd x1", "e1e3e004", ""},
	{"addvl x1, x2, #1", "21502204", ""},
	{"ctermeq x1, x2", "2020e225", ""},
	{"fmopa za0.s, p0/m, p1/m, z1.s, z2.s", "20208280", "fp vector"},
	{"smopa za0.s, p0/m, p1/m, z1.b, z2.b", "202082a0", "vector"},
	{"zero {za}", "ff0008c0", "vector"},
	{"svc #0", "010000d4", "r? w?"},
	{"movprfx z0, z1", "20bc2004", "vector"},
};

static const struct row x64_rows[] = {
	/* loads and stores */
	{"mov (%rsi), %rax", "488b06", "r8"},
	{"movb $1, (%rdi)", "c60701", "w1"},
	{"mov %rax, %fs:16", "644889042510000000", "w8"},
	{"lea (%rsi), %rax", "488d06", ""},
	{"addl $1, (%rdi)", "830701", "r4 w4"},
	{"cmpl $1, (%rdi)", "833f01", "r4"},
	{"lock addl $1, (%rdi)", "f0830701", "r4 w4 atomic"},
	{"xadd %eax, (%rdi)", "0fc107", "r4 w4"},
	{"lock xadd %eax, (%rdi)", "f00fc107", "r4 w4 atomic"},
	{"xchg %rax, (%rdi)", "488707", "r8 w8 atomic"},
	{"cmpxchg %ecx, (%rdi)", "0fb10f", "r4 w4"},
	{"lock cmpxchg16b (%rdi)", "f0480fc70f", "r16 w16 atomic"},
	{"push %rax", "50", "w8"},
	{"push (%rdi)", "ff37", "r8 w8"},
	{"pop %rax", "58", "r8"},
	{"pop (%rdi)", "8f07", "r8 w8"},
	{"pushfq", "9c", "w8"},
	{"call .+64", "e83b000000", "w8"},
	{"call *(%rax)", "ff10", "r8 w8"},
	{"ret", "c3", "r8"},
	{"jmp *(%rax)", "ff20", "r8"},
	{"leave", "c9", "r8"},
	{"enter $16, $0", "c8100000", "w8"},
	{"movsq", "48a5", "r8 w8"},
	{"cmpsl", "a7", "r8"},
	{"lodsb", "ac", "r1"},
	{"rep movsb", "f3a4", "r? w?"},
	{"rep stosq", "f348ab", "w?"},
	{"repne scasb", "f2ae", "r?"},
	{"xlat", "d7", "r1"},
	{"bt %eax, (%rdi)", "0fa307", "r4"},
	{"bts %rax, (%rdi)", "480fab07", "r8 w8"},
	{"movnti %eax, (%rdi)", "0fc307", "w4"},
	{"prefetcht0 (%rdi)", "0f180f", ""},
	{"prefetchw (%rdi)", "0f0d0f", ""},
	{"clflush (%rdi)", "0fae3f", ""},
	{"clflushopt (%rdi)", "660fae3f", ""},
	{"clwb (%rdi)", "660fae37", ""},
	{"nopl (%rax)", "0f1f00", ""},
	{"movdir64b (%rsi), %rdi", "660f38f83e", "r64 w64"},
	{"fxsave (%rdi)", "0fae07", "w?"},
	{"xsave (%rdi)", "0fae27", "r? w?"},
	{"xrstor (%rdi)", "0fae2f", "r?"},
	{"xsavec (%rdi)", "0fc727", "w?"},
	{"ldmxcsr (%rdi)", "0fae17", "r4"},
	{"fnstenv (%rdi)", "d937", "w28"},
	{"fnstcw (%rdi)", "d93f", "w2"},
	{"fldt (%rdi)", "db2f", "r10"},
	{"fstpl (%rdi)", "dd1f", "w8"},
	{"syscall", "0f05", "r? w?"},
	/* SSE and AVX */
	{"movaps (%rdi), %xmm0", "0f2807", "r16 vector"},
	{"movups %xmm0, (%rdi)", "0f1107", "w16 vector"},
	{"movsd (%rdi), %xmm0", "f20f1007", "r8"},
	{"movss %xmm0, (%rdi)", "f30f1107", "w4"},
	{"movd %eax, %xmm0", "660f6ec0", ""},
	{"movd (%rdi), %mm0", "0f6e07", "r4"},
	{"movq %xmm0, %rax", "66480f7ec0", ""},
	{"movq (%rdi), %xmm0", "f30f7e07", "r8"},
	{"movq %mm0, (%rdi)", "0f7f07", "w8 vector"},
	{"movq %rax, %mm0", "480f6ec0", ""},
	{"movlps (%rdi), %xmm0", "0f1207", "r8 vector"},
	{"movhpd %xmm0, (%rdi)", "660f1707", "w8 vector"},
	{"movddup (%rdi), %xmm0", "f20f1207", "r8 vector"},
	{"movmskps %xmm0, %eax", "0f50c0", "vector"},
	{"pmovmskb %xmm0, %eax", "660fd7c0", "vector"},
	{"pxor %xmm0, %xmm0", "660fefc0", "vector"},
	{"xorps %xmm0, %xmm0", "0f57c0", "vector"},
	{"paddd (%rdi), %xmm0", "660ffe07", "r16 vector"},
	{"paddd (%rdi), %mm0", "0ffe07", "r8 vector"},
	{"punpcklbw (%rdi), %mm0", "0f6007", "r4 vector"},
	{"pmovzxbw (%rdi), %xmm0", "660f383007", "r8 vector"},
	{"pinsrd $1, (%rdi), %xmm0", "660f3a220701", "r4 vector"},
	{"pextrb $1, %xmm0, (%rdi)", "660f3a140701", "w1 vector"},
	{"insertps $16, (%rdi), %xmm0", "660f3a210710", "r4 vector"},
	{"shufps $1, %xmm1, %xmm0", "0fc6c101", "vector"},
	{"addps (%rdi), %xmm0", "0f5807", "r16 fp vector"},
	{"addsd (%rdi), %xmm0", "f20f5807", "r8 fp"},
	{"addss %xmm1, %xmm0", "f30f58c1", "fp"},
	{"sqrtsd %xmm1, %xmm0", "f20f51c1", "fp"},
	{"cvtsi2sdl (%rdi), %xmm0", "f20f2a07", "r4 fp"},
	{"cvttsd2si (%rdi), %eax", "f20f2c07", "r8 fp"},
	{"cvttsd2si %xmm0, %rax", "f2480f2cc0", "fp"},
	{"cvtdq2pd (%rdi), %xmm0", "f30fe607", "r8 fp vector"},
	{"cvtps2pi %xmm0, %mm0", "0f2dc0", "fp vector"},
	{"ucomisd (%rdi), %xmm0", "660f2e07", "r8 fp"},
	{"cmpsd $1, %xmm1, %xmm0", "f20fc2c101", "fp"},
	{"cmpps $1, %xmm1, %xmm0", "0fc2c101", "fp vector"},
	{"maxsd %xmm1, %xmm0", "f20f5fc1", "fp"},
	{"roundsd $1, %xmm1, %xmm0", "660f3a0bc101", "fp"},
	{"rcpss %xmm1, %xmm0", "f30f53c1", "fp"},
	{"dpps $1, %xmm1, %xmm0", "660f3a40c101", "fp vector"},
	{"maskmovdqu %xmm1, %xmm0", "660ff7c1", "w? vector"},
	{"lddqu (%rdi), %xmm0", "f20ff007", "r16 vector"},
	{"aesenc (%rdi), %xmm0", "660f38dc07", "r16 vector"},
	{"pclmulqdq $1, %xmm1, %xmm0", "660f3a44c101", "vector"},
	{"sha256rnds2 %xmm1, %xmm2", "0f38cbd1", "vector"},
	{"crc32q %rax, %rcx", "f2480f38f1c8", ""},
	{"emms", "0f77", ""},
	{"vzeroupper", "c5f877", "vector"},
	{"vmovdqu (%rdi), %ymm0", "c5fe6f07", "r32 vector"},
	{"vpaddd %ymm0, %ymm1, %ymm2", "c5f5fed0", "vector"},
	{"vpsllq (%rdi), %ymm1, %ymm2", "c5f5f317", "r16 vector"},
	{"vfmadd231sd (%rdi), %xmm1, %xmm2", "c4e2f1b917", "r8 fp"},
	{"vfmadd231ps (%rdi), %ymm1, %ymm2", "c4e275b817", "r32 fp vector"},
	{"vcvtph2ps (%rdi), %ymm0", "c4e27d1307", "r16 fp vector"},
	{"vbroadcastss (%rdi), %ymm0", "c4e27d1807", "r4 vector"},
	{"vpermilps $1, %ymm0, %ymm1", "c4e37d04c801", "vector"},
	{"vtestps %ymm0, %ymm1", "c4e27d0ec8", "vector"},
	{"vmaskmovps (%rdi), %ymm0, %ymm1", "c4e27d2c0f", "r? vector"},
	{"vpmaskmovd %ymm0, %ymm1, (%rdi)", "c4e2758e07", "w? vector"},
	{"vpgatherdd %xmm0, (%rdi,%xmm1,4), %xmm2",
	 "c4e27990148f", "r? vector"},
	{"vblendvps %xmm0, %xmm1, %xmm2, %xmm3", "c4e3694ad900", "vector"},
	{"{vex} vpdpbusd (%rdi), %ymm1, %ymm2", "c4e2755017", "r32 vector"},
	/* AVX-512 */
	{"vmovdqu64 (%rdi), %zmm0", "62f1fe486f07", "r64 vector"},
	{"vmovdqu64 (%rdi), %zmm0{%k1}", "62f1fe496f07", "r? vector"},
	{"vmovdqu8 %zmm0, (%rdi){%k1}", "62f17f497f07", "w? vector"},
	{"vaddpd (%rdi){1to8}, %zmm0, %zmm1", "62f1fd58580f", "r8 fp vector"},
	{"vaddss (%rdi), %xmm1, %xmm2{%k1}", "62f176095817", "r? fp"},
	{"vpcmpeqb (%rdi), %zmm0, %k1", "62f17d48740f", "r64 vector"},
	{"vpscatterdd %zmm0, (%rdi,%zmm1,4){%k1}",
	 "62f27d49a0048f", "w? vector"},
	{"vpmovqb %zmm0, (%rdi)", "62f27e483207", "w8 vector"},
	{"vcvtsd2usi %xmm0, %rax", "62f1ff0879c0", "fp"},
	{"vdpbf16ps %zmm0, %zmm1, %zmm2", "62f2764852d0", "fp vector"},
	{"vpopcntd %zmm0, %zmm1", "62f27d4855c8", "vector"},
	{"kmovw %k1, %eax", "c5f893c1", ""},
	{"kmovq (%rdi), %k1", "c4e1f8900f", "r8 vector"},
	{"kandw %k0, %k1, %k2", "c5f441d0", "vector"},
	/* x87 */
	{"fadds (%rdi)", "d807", "r4 fp"},
	{"faddp", "dec1", "fp"},
	{"fld %st(1)", "d9c1", ""},
	{"fld1", "d9e8", ""},
	{"fxch", "d9c9", ""},
	{"fchs", "d9e0", "fp"},
	{"fildl (%rdi)", "db07", "r4 fp"},
	{"fistpq (%rdi)", "df3f", "w8 fp"},
	{"fbld (%rdi)", "df27", "r10 fp"},
	{"fucomip %st(1), %st", "dfe9", "fp"},
	{"fcmove %st(1), %st", "dac9", ""},
	{"fsin", "d9fe", "fp"},
	{"fnstsw %ax", "dfe0", ""},
};

static size_t read_bytes(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[n++] = (uint8_t)byte;
	return n;
}

/* appends the size of an access, if there is one */
static void print_size(char *s, char which, uint16_t bytes)
{
	s += strlen(s);
	if (bytes == MEM_SIZE_UNKNOWN)
		sprintf(s, " %c?", which);
	else if (bytes)
		sprintf(s, " %c%u", which, bytes);
}

static void print_effects(char *s, const struct insn *i)
{
	bool atomic = i->mem_class == MEM_ATOMIC ||
		      i->mem_class == MEM_EXCL_LOAD ||
		      i->mem_class == MEM_EXCL_STORE;

	*s = 0;
	print_size(s, 'r', i->mem_read);
	print_size(s, 'w', i->mem_write);
	strcat(s, atomic ? " atomic" : "");
	strcat(s, i->fp ? " fp" : "");
	strcat(s, i->packed ? " vector" : "");
}

static void check_rows(const struct isa *isa, const struct row *row, size_t n)
{
	for (size_t k = 0; k < n; k++, row++) {
		uint8_t bytes[BYTES_MAX];
		size_t len = read_bytes(row->hex, bytes);
		char effects[64];
		struct insn i;

		isa->decode(bytes, len, 0x1000, &i);
		print_effects(effects, &i);
		if (i.len != len || strcmp(*effects ? effects + 1 : "",
					   row->effects))
			fail_msg("%s:%s, not %s", row->text, effects,
				 row->effects);
	}
}

static void test_a64(void **state)
{
	(void)state;
	check_rows(&isa_a64, a64_rows, sizeof a64_rows / sizeof *a64_rows);
}

static void test_x64(void **state)
{
	(void)state;
	check_rows(&isa_x64, x64_rows, sizeof x64_rows / sizeof *x64_rows);
}

/* what is not known is neither, whatever it may be */
static void test_unknown(void **state)
{
	static const struct row a64 = {"?", "ffffffff", "r? w?"};
	static const struct row x64 = {"vmcall", "0f01c1", "r? w?"};

	(void)state;
	check_rows(&isa_a64, &a64, 1);
	check_rows(&isa_x64, &x64, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a64),
		cmocka_unit_test(test_x64),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests_name("isa_effects", tests, NULL, NULL);
}
