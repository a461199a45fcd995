/*
 * rules_x64: what x86-64 instructions do beyond what their text shows.
 *
 * For compare-x64: by mnemonic, without the suffix that tells the size, how
 * the operands are used, which flags are read, which are certainly and which
 * may be written, and registers that are used without being named. Written
 * from the processors' manuals, so that it can judge a decoder.
 */
#ifndef RULES_X64_H
#define RULES_X64_H

#include <stdint.h>

#include "isa/isa.h"

enum {
	N = FLAG_N,
	Z = FLAG_Z,
	C = FLAG_C,
	V = FLAG_V,
	P = FLAG_P,
	A = FLAG_A,
	D = FLAG_D,
	SIX = N | Z | C | V | P | A,
};

enum {
	AX = 1, CX = 2, DX = 4, BX = 8, SP = 16, BP = 32, SI = 64, DI = 128,
	R11 = 1 << 11,
	SYSARGS = AX | DI | SI | DX | SP | 7 << 8,
};

/* what an instruction does with its operands; the last is the destination */
enum role {
	WRITES,	   /* destination written, sources read: mov */
	UPDATES,   /* destination read and written: add */
	KEEPS,	   /* destination written or left as it was: cmov */
	READS,	   /* all operands read: cmp, push */
	SWAPS,	   /* all operands read and written: xchg */
	ADDRESS,   /* address computed: lea */
	HINTS,	   /* address computed, memory not accessed: prefetch */
	IGNORES,   /* operands mean nothing: nop */
	TWO,	   /* the last two are written: mulx */
	MULTIPLY,  /* by the number of operands: imul */
	UNCHECKED, /* registers and memory not compared */
};

struct rule {
	const char *name;
	enum role role;
	uint8_t flags_read, must_write, may_write;
	uint16_t reads, writes; /* registers that the text does not show */
};

#define ARITH SIX, SIX
#define LOGIC SIX, SIX
#define STEP SIX & ~C, SIX & ~C
#define SHIFT N | Z | C | P, SIX
#define NONE 0, 0

/* sorted by name; operand-size suffixes are left out */
static const struct rule rules[] = {
	{"adc", UPDATES, C, ARITH, 0, 0},
	{"adcx", UPDATES, C, C, C, 0, 0},
	{"add", UPDATES, 0, ARITH, 0, 0},
	{"adox", UPDATES, V, V, V, 0, 0},
	{"and", UPDATES, 0, LOGIC, 0, 0},
	{"andn", WRITES, 0, N | Z | C | V, SIX, 0, 0},
	{"bextr", WRITES, 0, Z | C | V, SIX, 0, 0},
	{"blsi", WRITES, 0, N | Z | C | V, SIX, 0, 0},
	{"blsmsk", WRITES, 0, N | Z | C | V, SIX, 0, 0},
	{"blsr", WRITES, 0, N | Z | C | V, SIX, 0, 0},
	{"bsf", KEEPS, 0, Z, SIX, 0, 0},
	{"bsr", KEEPS, 0, Z, SIX, 0, 0},
	{"bswap", UPDATES, 0, NONE, 0, 0},
	{"bt", READS, 0, C, SIX & ~Z, 0, 0},
	{"btc", UPDATES, 0, C, SIX & ~Z, 0, 0},
	{"btr", UPDATES, 0, C, SIX & ~Z, 0, 0},
	{"bts", UPDATES, 0, C, SIX & ~Z, 0, 0},
	{"bzhi", WRITES, 0, N | Z | C | V, SIX, 0, 0},
	{"cbtw", READS, 0, NONE, AX, AX},
	{"clc", READS, 0, C, C, 0, 0},
	{"cld", READS, 0, D, D, 0, 0},
	{"cldemote", HINTS, 0, NONE, 0, 0},
	{"clflush", READS, 0, NONE, 0, 0},
	{"clflushopt", READS, 0, NONE, 0, 0},
	{"cltd", READS, 0, NONE, AX, DX},
	{"cltq", READS, 0, NONE, AX, AX},
	{"clwb", READS, 0, NONE, 0, 0},
	{"clzero", UNCHECKED, 0, NONE, 0, 0},
	{"cmc", READS, C, C, C, 0, 0},
	{"cmp", READS, 0, ARITH, 0, 0},
	{"cmpxchg", UPDATES, 0, ARITH, AX, AX},
	{"cmpxchg16b", UPDATES, 0, Z, Z, AX | DX | CX | BX, AX | DX},
	{"cmpxchg8b", UPDATES, 0, Z, Z, AX | DX | CX | BX, AX | DX},
	{"comisd", READS, 0, SIX, SIX, 0, 0},
	{"comiss", READS, 0, SIX, SIX, 0, 0},
	{"cpuid", READS, 0, NONE, AX | CX, AX | BX | CX | DX},
	{"cqto", READS, 0, NONE, AX, DX},
	{"crc32", UPDATES, 0, NONE, 0, 0},
	{"cwtd", READS, 0, NONE, AX | DX, DX},
	{"cwtl", READS, 0, NONE, AX, AX},
	{"dec", UPDATES, 0, STEP, 0, 0},
	{"div", READS, 0, 0, SIX, AX | DX, AX | DX},
	{"emms", READS, 0, NONE, 0, 0},
	{"endbr32", READS, 0, NONE, 0, 0},
	{"endbr64", READS, 0, NONE, 0, 0},
	{"enter", UNCHECKED, 0, NONE, 0, 0},
	{"fadd", READS, 0, NONE, 0, 0},
	{"fbld", READS, 0, NONE, 0, 0},
	{"fcmovb", READS, C, NONE, 0, 0},
	{"fcmovbe", READS, C | Z, NONE, 0, 0},
	{"fcmove", READS, Z, NONE, 0, 0},
	{"fcmovnb", READS, C, NONE, 0, 0},
	{"fcmovnbe", READS, C | Z, NONE, 0, 0},
	{"fcmovne", READS, Z, NONE, 0, 0},
	{"fcmovnu", READS, P, NONE, 0, 0},
	{"fcmovu", READS, P, NONE, 0, 0},
	{"fcom", READS, 0, NONE, 0, 0},
	{"fcomi", READS, 0, Z | P | C, SIX, 0, 0},
	{"fcomip", READS, 0, Z | P | C, SIX, 0, 0},
	{"fcomp", READS, 0, NONE, 0, 0},
	{"fdiv", READS, 0, NONE, 0, 0},
	{"fdivr", READS, 0, NONE, 0, 0},
	{"fiadd", READS, 0, NONE, 0, 0},
	{"ficom", READS, 0, NONE, 0, 0},
	{"ficomp", READS, 0, NONE, 0, 0},
	{"fidiv", READS, 0, NONE, 0, 0},
	{"fidivr", READS, 0, NONE, 0, 0},
	{"fild", READS, 0, NONE, 0, 0},
	{"fimul", READS, 0, NONE, 0, 0},
	{"fisub", READS, 0, NONE, 0, 0},
	{"fisubr", READS, 0, NONE, 0, 0},
	{"fld", READS, 0, NONE, 0, 0},
	{"fldcw", READS, 0, NONE, 0, 0},
	{"fldenv", READS, 0, NONE, 0, 0},
	{"fldt", READS, 0, NONE, 0, 0},
	{"fmul", READS, 0, NONE, 0, 0},
	{"frstor", READS, 0, NONE, 0, 0},
	{"fsub", READS, 0, NONE, 0, 0},
	{"fsubr", READS, 0, NONE, 0, 0},
	{"fucomi", READS, 0, Z | P | C, SIX, 0, 0},
	{"fucomip", READS, 0, Z | P | C, SIX, 0, 0},
	{"fxrstor", READS, 0, NONE, 0, 0},
	{"fxrstor64", READS, 0, NONE, 0, 0},
	{"idiv", READS, 0, 0, SIX, AX | DX, AX | DX},
	{"imul", MULTIPLY, 0, C | V, SIX, 0, 0},
	{"in", UNCHECKED, 0, NONE, 0, 0},
	{"inc", UPDATES, 0, STEP, 0, 0},
	{"incssp", READS, 0, NONE, 0, 0},
	{"invd", UNCHECKED, 0, NONE, 0, 0},
	{"kortestb", READS, 0, SIX, SIX, 0, 0},
	{"kortestd", READS, 0, SIX, SIX, 0, 0},
	{"kortestq", READS, 0, SIX, SIX, 0, 0},
	{"kortestw", READS, 0, SIX, SIX, 0, 0},
	{"ktestb", READS, 0, SIX, SIX, 0, 0},
	{"ktestd", READS, 0, SIX, SIX, 0, 0},
	{"ktestq", READS, 0, SIX, SIX, 0, 0},
	{"ktestw", READS, 0, SIX, SIX, 0, 0},
	{"lahf", READS, N | Z | A | P | C, NONE, AX, AX},
	{"lar", KEEPS, 0, Z, Z, 0, 0},
	{"ldmxcsr", READS, 0, NONE, 0, 0},
	{"lds", UNCHECKED, 0, NONE, 0, 0},
	{"lea", ADDRESS, 0, NONE, 0, 0},
	{"leave", READS, 0, NONE, SP | BP, SP | BP},
	{"les", UNCHECKED, 0, NONE, 0, 0},
	{"lfence", READS, 0, NONE, 0, 0},
	{"lfs", UNCHECKED, 0, NONE, 0, 0},
	{"lgdt", READS, 0, NONE, 0, 0},
	{"lgs", UNCHECKED, 0, NONE, 0, 0},
	{"lidt", READS, 0, NONE, 0, 0},
	{"lldt", READS, 0, NONE, 0, 0},
	{"lmsw", READS, 0, NONE, 0, 0},
	{"lsl", KEEPS, 0, Z, Z, 0, 0},
	{"lss", UNCHECKED, 0, NONE, 0, 0},
	{"ltr", READS, 0, NONE, 0, 0},
	{"lzcnt", KEEPS, 0, Z | C, SIX, 0, 0},
	{"maskmovdqu", UNCHECKED, 0, NONE, 0, 0},
	{"maskmovq", UNCHECKED, 0, NONE, 0, 0},
	{"mov", WRITES, 0, NONE, 0, 0},
	{"movdir64b", UNCHECKED, 0, NONE, 0, 0},
	{"mul", READS, 0, C | V, SIX, AX, AX | DX},
	{"mulx", TWO, 0, NONE, DX, 0},
	{"neg", UPDATES, 0, ARITH, 0, 0},
	{"nop", IGNORES, 0, NONE, 0, 0},
	{"not", UPDATES, 0, NONE, 0, 0},
	{"or", UPDATES, 0, LOGIC, 0, 0},
	{"out", UNCHECKED, 0, NONE, 0, 0},
	{"pause", READS, 0, NONE, 0, 0},
	{"pcmpestri", READS, 0, SIX, SIX, AX | DX, CX},
	{"pcmpestrm", READS, 0, SIX, SIX, AX | DX, 0},
	{"pcmpistri", READS, 0, SIX, SIX, 0, CX},
	{"pcmpistrm", READS, 0, SIX, SIX, 0, 0},
	{"pop", WRITES, 0, NONE, SP, SP},
	{"popcnt", WRITES, 0, SIX, SIX, 0, 0},
	{"popf", READS, 0, SIX | D, SIX | D, SP, SP},
	{"prefetch", HINTS, 0, NONE, 0, 0},
	{"prefetchnta", HINTS, 0, NONE, 0, 0},
	{"prefetcht0", HINTS, 0, NONE, 0, 0},
	{"prefetcht1", HINTS, 0, NONE, 0, 0},
	{"prefetcht2", HINTS, 0, NONE, 0, 0},
	{"prefetchw", HINTS, 0, NONE, 0, 0},
	{"prefetchwt1", HINTS, 0, NONE, 0, 0},
	{"ptest", READS, 0, SIX, SIX, 0, 0},
	{"ptwrite", READS, 0, NONE, 0, 0},
	{"push", READS, 0, NONE, SP, SP},
	{"pushf", READS, SIX | D, NONE, SP, SP},
	{"rcl", UPDATES, C, C, C | V, 0, 0},
	{"rcr", UPDATES, C, C, C | V, 0, 0},
	{"rdmsr", READS, 0, NONE, CX, AX | DX},
	{"rdpkru", READS, 0, NONE, CX, AX | DX},
	{"rdpmc", READS, 0, NONE, CX, AX | DX},
	{"rdrand", WRITES, 0, SIX, SIX, 0, 0},
	{"rdseed", WRITES, 0, SIX, SIX, 0, 0},
	{"rdsspd", KEEPS, 0, NONE, 0, 0},
	{"rdsspq", KEEPS, 0, NONE, 0, 0},
	{"rdtsc", READS, 0, NONE, 0, AX | DX},
	{"rdtscp", READS, 0, NONE, 0, AX | CX | DX},
	{"rol", UPDATES, 0, C, C | V, 0, 0},
	{"ror", UPDATES, 0, C, C | V, 0, 0},
	{"rstorssp", UNCHECKED, 0, NONE, 0, 0},
	{"sahf", READS, 0, N | Z | A | P | C, N | Z | A | P | C, AX, 0},
	{"sal", UPDATES, 0, SHIFT, 0, 0},
	{"sar", UPDATES, 0, SHIFT, 0, 0},
	{"sbb", UPDATES, C, ARITH, 0, 0},
	{"sfence", READS, 0, NONE, 0, 0},
	{"shl", UPDATES, 0, SHIFT, 0, 0},
	{"shld", UPDATES, 0, SHIFT, 0, 0},
	{"shr", UPDATES, 0, SHIFT, 0, 0},
	{"shrd", UPDATES, 0, SHIFT, 0, 0},
	{"smsw", UNCHECKED, 0, NONE, 0, 0},
	{"stc", READS, 0, C, C, 0, 0},
	{"std", READS, 0, D, D, 0, 0},
	{"sub", UPDATES, 0, ARITH, 0, 0},
	{"test", READS, 0, LOGIC, 0, 0},
	{"tzcnt", KEEPS, 0, Z | C, SIX, 0, 0},
	{"ucomisd", READS, 0, SIX, SIX, 0, 0},
	{"ucomiss", READS, 0, SIX, SIX, 0, 0},
	{"vcomisd", READS, 0, SIX, SIX, 0, 0},
	{"vcomish", READS, 0, SIX, SIX, 0, 0},
	{"vcomiss", READS, 0, SIX, SIX, 0, 0},
	{"verr", READS, 0, Z, Z, 0, 0},
	{"verw", READS, 0, Z, Z, 0, 0},
	{"vldmxcsr", READS, 0, NONE, 0, 0},
	{"vmaskmovdqu", UNCHECKED, 0, NONE, 0, 0},
	{"vmread", WRITES, 0, SIX, SIX, 0, 0},
	{"vmwrite", READS, 0, SIX, SIX, 0, 0},
	{"vpcmpestri", READS, 0, SIX, SIX, AX | DX, CX},
	{"vpcmpestrm", READS, 0, SIX, SIX, AX | DX, 0},
	{"vpcmpistri", READS, 0, SIX, SIX, 0, CX},
	{"vpcmpistrm", READS, 0, SIX, SIX, 0, 0},
	{"vptest", READS, 0, SIX, SIX, 0, 0},
	{"vtestpd", READS, 0, SIX, SIX, 0, 0},
	{"vtestps", READS, 0, SIX, SIX, 0, 0},
	{"vucomisd", READS, 0, SIX, SIX, 0, 0},
	{"vucomish", READS, 0, SIX, SIX, 0, 0},
	{"vucomiss", READS, 0, SIX, SIX, 0, 0},
	{"wrfsbase", READS, 0, NONE, 0, 0},
	{"wrgsbase", READS, 0, NONE, 0, 0},
	{"wrmsr", READS, 0, NONE, AX | CX | DX, 0},
	{"wrpkru", READS, 0, NONE, AX | CX | DX, 0},
	{"xabort", UNCHECKED, 0, NONE, 0, 0},
	{"xadd", SWAPS, 0, ARITH, 0, 0},
	{"xchg", SWAPS, 0, NONE, 0, 0},
	{"xgetbv", READS, 0, NONE, CX, AX | DX},
	{"xlat", READS, 0, NONE, AX | BX, AX},
	{"xor", UPDATES, 0, LOGIC, 0, 0},
	{"xrstor", READS, 0, NONE, AX | DX, 0},
	{"xrstor64", READS, 0, NONE, AX | DX, 0},
	{"xrstors", READS, 0, NONE, AX | DX, 0},
	{"xrstors64", READS, 0, NONE, AX | DX, 0},
	{"xsave", WRITES, 0, NONE, AX | DX, 0},
	{"xsave64", WRITES, 0, NONE, AX | DX, 0},
	{"xsavec", WRITES, 0, NONE, AX | DX, 0},
	{"xsavec64", WRITES, 0, NONE, AX | DX, 0},
	{"xsaveopt", WRITES, 0, NONE, AX | DX, 0},
	{"xsaveopt64", WRITES, 0, NONE, AX | DX, 0},
	{"xsaves", WRITES, 0, NONE, AX | DX, 0},
	{"xsaves64", WRITES, 0, NONE, AX | DX, 0},
	{"xsetbv", READS, 0, NONE, AX | CX | DX, 0},
	{"xtest", READS, 0, SIX, SIX, 0, 0},
};

/* instructions outside the table: the last operand is written */
static const struct rule other_rule = {"", WRITES, 0, NONE, 0, 0};

#endif
