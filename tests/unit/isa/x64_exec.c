/*
 * decode() and lift() of x86-64 against the processor.
 *
 * Random integer instructions run natively, between code that loads all
 * sixteen registers and the flags and code that stores them; operands in
 * memory lie in a small arena. The same instruction's micro-operations run in
 * an interpreter that also knows "unknown". Then:
 *
 *   - what the interpreter knows must be what the processor did, in
 *     registers, memory, and every condition that the flags decide;
 *   - a register, or the flags, that lift() does not name has not changed;
 *   - a register or flag outside decode()'s reads, changed before a second
 *     run, changes nothing else afterwards, nor itself if it is written.
 *
 * Skipped on other machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "isa/x64/x64_int.h"
#include "splitmix.h"
#include "uop_compute.h"
#include "x64_only.h"

#ifdef __x86_64__

enum {
	ARENA = 65536,	/* room for a signal frame below rsp */
	MIDDLE = 32768,
	WATCHED = 1024, /* bytes around the middle that are compared */
	STATUS = 0x8d5, /* OF SF ZF AF PF CF */
	DIRECTION = 0x400,
};

struct machine {
	uint64_t reg[16];
	uint64_t flags;
};

/* below 2 GB, so that code can name it without a register */
struct shared {
	struct machine in, out;
	uint64_t host_sp;
	uint8_t code[1024];
	_Alignas(64) uint8_t arena[ARENA];
};

static struct shared *sh;
static uint64_t seed;

static uint64_t next_random(void)
{
	return splitmix(&seed);
}

static unsigned below(unsigned n)
{
	return next_random() % n;
}

static uint8_t *watched(void)
{
	return sh->arena + MIDDLE - WATCHED / 2;
}

/* a random instruction, and the register values that it needs */
struct sample {
	uint8_t code[16];
	unsigned len;
	struct machine in;
};

/* appends `op reg, abs32` with REX.W: mov to or from shared memory */
static uint8_t *put_abs(uint8_t *c, uint8_t op, unsigned reg, const void *at)
{
	uint32_t abs = (uintptr_t)at;

	*c++ = 0x48 | (reg >> 3) << 2;
	*c++ = op;
	*c++ = 0x04 | (reg & 7) << 3;
	*c++ = 0x25;
	memcpy(c, &abs, 4);
	return c + 4;
}

static uint8_t *put(uint8_t *c, const void *bytes, size_t n)
{
	memcpy(c, bytes, n);
	return c + n;
}

/*
 * The function that runs one instruction:
 *
 *	push rbx rbp r12-r15; save rsp; push in.flags; popfq
 *	load all registers; INSTRUCTION; store all registers
 *	restore rsp; pushfq; pop out.flags; cld; pop r15-r12 rbp rbx; ret
 */
static void assemble(const struct sample *s)
{
	uint8_t *c = sh->code;

	c = put(c, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57", 10);
	c = put_abs(c, 0x89, RSP, &sh->host_sp);
	c = put_abs(c, 0xff, 6, &sh->in.flags);
	*c++ = 0x9d;
	for (unsigned r = 0; r < 16; r++)
		c = put_abs(c, 0x8b, r, &sh->in.reg[r]);
	c = put(c, s->code, s->len);
	for (unsigned r = 0; r < 16; r++)
		c = put_abs(c, 0x89, r, &sh->out.reg[r]);
	c = put_abs(c, 0x8b, RSP, &sh->host_sp);
	*c++ = 0x9c;
	c = put_abs(c, 0x8f, 0, &sh->out.flags);
	c = put(c, "\xfc\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3", 12);
}

/* runs the assembled instruction on `in`; results are in sh->out */
static void run_native(const struct machine *in)
{
	void (*run)(void);
	void *code = sh->code;

	sh->in = *in;
	memcpy(&run, &code, sizeof run);
	run();
}

/* opcodes to choose from: map 0 as they are, map 0f above 0x100 */
static const uint16_t with_modrm[] = {
	0x00, 0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11,
	0x12, 0x13, 0x18, 0x19, 0x1a, 0x1b, 0x20, 0x21, 0x22, 0x23,
	0x28, 0x29, 0x2a, 0x2b, 0x30, 0x31, 0x32, 0x33, 0x38, 0x39,
	0x3a, 0x3b, 0x63, 0x69, 0x6b, 0x80, 0x81, 0x83, 0x84, 0x85,
	0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8d, 0x8f, 0xc0, 0xc1,
	0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff,
	0x140, 0x142, 0x143, 0x144, 0x145, 0x146, 0x147, 0x148, 0x149, 0x14a,
	0x14c, 0x14d, 0x14e, 0x14f, 0x190, 0x192, 0x194, 0x197, 0x198, 0x19c,
	0x19f, 0x1a3, 0x1a4, 0x1a5, 0x1ab, 0x1ac, 0x1ad, 0x1af, 0x1b0, 0x1b1,
	0x1b3, 0x1b6, 0x1b7, 0x1ba, 0x1bb, 0x1bc, 0x1bd, 0x1be, 0x1bf, 0x1c0,
	0x1c1, 0x1c7,
};

static const uint16_t without_modrm[] = {
	0x04, 0x05, 0x0c, 0x0d, 0x24, 0x25, 0x2c, 0x2d, 0x34, 0x35,
	0x3c, 0x3d, 0x50, 0x51, 0x54, 0x57, 0x58, 0x5b, 0x5c, 0x5f,
	0x68, 0x6a, 0x90, 0x91, 0x93, 0x94, 0x98, 0x99, 0x9c, 0x9e,
	0x9f, 0xa8, 0xa9, 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac,
	0xad, 0xae, 0xaf, 0xb0, 0xb4, 0xb7, 0xb8, 0xbb, 0xbf, 0xc9,
	0xf5, 0xf8, 0xf9, 0xfc, 0xfd, 0x1c8, 0x1cf, 0xd7,
};

/* appends a memory operand, and sets registers so that it lies in the arena */
static uint8_t *put_memory(struct sample *s, uint8_t *c, uint8_t rex,
			   unsigned reg)
{
	unsigned base = below(8), index = below(8), scale = below(4);
	int32_t disp = (int32_t)next_random() >> below(30);
	uint64_t at = (uintptr_t)sh->arena + MIDDLE + 16 * below(8);

	/* rsp stays in the middle of the arena, and is no sum */
	if (base == RSP && !(rex & 1)) {
		if (rex & 2)
			return NULL;
		index = RSP;
		disp = (int32_t)(16 * below(4)); /* cmpxchg16b wants it */
	}
	*c++ = 0x84 | reg << 3;
	*c++ = scale << 6 | index << 3 | base;
	memcpy(c, &disp, 4);
	if (index == RSP && !(rex & 2))
		at -= (uint64_t)disp;
	else if ((index | (rex & 2u) << 2) == (base | (rex & 1u) << 3))
		return NULL;
	else
		at -= (uint64_t)disp +
		      (s->in.reg[index | (rex & 2u) << 2] << scale);
	if (base != RSP || rex & 1)
		s->in.reg[base | (rex & 1u) << 3] = at;
	return c + 4;
}

/* opcode extensions that would fault or leave; bit scans of no interest */
static bool is_excluded(unsigned op, unsigned reg, bool memory)
{
	switch (op) {
	case 0x8f:
	case 0xc6:
	case 0xc7:
		return reg != 0;
	case 0x8d:
		return !memory;
	case 0xf6:
	case 0xf7:
		return reg > 5;
	case 0xfe:
		return reg > 1;
	case 0xff:
		return reg > 1 && reg != 6;
	case 0x1a3: /* bit offsets leave the arena */
	case 0x1ab:
	case 0x1b3:
	case 0x1bb:
		return memory;
	case 0x1ba:
		return reg < 4;
	case 0x1c7:
		return reg != 1 || !memory;
	default:
		return false;
	}
}

/* values that make conditions and carries likely */
static uint64_t random_value(void)
{
	uint64_t x = next_random();

	switch (below(6)) {
	case 0:
		return x >> below(64);
	case 1:
		return (uint64_t)((int64_t)x >> below(64));
	case 2:
		return below(4);
	case 3:
		return UINT64_C(1) << below(64);
	default:
		return x;
	}
}

/* registers and flags for a sample; pointers where strings need them */
static void randomize(struct sample *s, unsigned op)
{
	uint64_t middle = (uintptr_t)sh->arena + MIDDLE;

	for (unsigned r = 0; r < 16; r++)
		s->in.reg[r] = random_value();
	s->in.reg[RSP] = middle;
	s->in.flags = 0x202 | (next_random() & (STATUS | DIRECTION));
	if (op >= 0xa4 && op <= 0xaf && op != 0xa8 && op != 0xa9) {
		s->in.reg[RSI] = middle + below(16);
		s->in.reg[RDI] = middle - below(16);
		s->in.reg[RCX] = below(5);
	}
	if (op == 0xc9)
		s->in.reg[RBP] = middle + 8;
	if (op == 0xd7)
		s->in.reg[RBX] = middle;
}

/* makes a random instruction; false: try again */
static bool make_sample(struct sample *s)
{
	bool modrm = below(4) != 0;
	unsigned op = modrm ? with_modrm[below(sizeof with_modrm / 2)]
			    : without_modrm[below(sizeof without_modrm / 2)];
	unsigned reg = below(8), pre = below(8);
	bool memory = modrm && below(2);
	uint8_t rex = below(2) ? 0x40 | below(16) : 0;
	uint8_t *c = s->code;
	struct insn d;

	memset(s->code, 0, sizeof s->code);
	randomize(s, op);
	if (modrm && is_excluded(op, reg, memory))
		return false;
	if (pre == 0)
		*c++ = 0x66;
	else if (pre == 1 && (!modrm || op > 0xff))
		*c++ = 0xf3;
	else if (pre == 2 && !modrm)
		*c++ = 0xf2;
	if (rex)
		*c++ = rex;
	if (op > 0xff)
		*c++ = 0x0f;
	*c++ = op;
	if (memory)
		c = put_memory(s, c, rex, reg);
	else if (modrm)
		*c++ = 0xc0 | reg << 3 | below(8);
	if (!c)
		return false;
	for (uint64_t x = next_random(); c < s->code + 15; x >>= 8)
		*c++ = x;
	isa_x64.decode(s->code, 15, 0, &d);
	s->len = d.len;
	return d.kind == INSN_SEQ;
}

/* ------------------------------------------------------------------ */

/* the state of the interpreter of micro-operations */
struct model {
	uint64_t reg[UOP_NREGS];
	bool known[UOP_NREGS];
	struct uop flags; /* the CMP or TEST that made the flags */
	uint64_t flag_a, flag_b;
	bool flags_told;  /* some uop wrote the flags */
	uint8_t mem[WATCHED];
	bool mem_known[WATCHED];
	bool mem_lost; /* a store went anywhere */
	struct machine in;
};

/* whether a condition holds after a comparison or test of a and b */
static bool holds(uint8_t cond, enum uop_code code, unsigned width,
		  uint64_t a, uint64_t b)
{
	int64_t sa = sign_extend(a, width), sb = sign_extend(b, width);
	uint64_t r = truncate_to(a - b, width);

	if (code == UOP_TEST) {
		a = r = a & b;
		sa = sign_extend(a, width);
		b = 0;
		sb = 0;
	}
	switch (cond) {
	case COND_EQ:
		return r == 0;
	case COND_NE:
		return r != 0;
	case COND_ULT:
		return a < b;
	case COND_ULE:
		return a <= b;
	case COND_UGT:
		return a > b;
	case COND_UGE:
		return a >= b;
	case COND_SLT:
		return sa < sb;
	case COND_SLE:
		return sa <= sb;
	case COND_SGT:
		return sa > sb;
	case COND_SGE:
		return sa >= sb;
	case COND_NEG:
		return sign_extend(r, width) < 0;
	default:
		return sign_extend(r, width) >= 0;
	}
}

/* whether a condition holds for rflags */
static bool flags_hold(uint8_t cond, uint64_t f)
{
	bool c = f & 1, z = f & 0x40, s = f & 0x80, o = f & 0x800;

	switch (cond) {
	case COND_EQ:
		return z;
	case COND_NE:
		return !z;
	case COND_ULT:
		return c;
	case COND_ULE:
		return c || z;
	case COND_UGT:
		return !c && !z;
	case COND_UGE:
		return !c;
	case COND_SLT:
		return s != o;
	case COND_SLE:
		return z || s != o;
	case COND_SGT:
		return !z && s == o;
	case COND_SGE:
		return s == o;
	case COND_NEG:
		return s;
	default:
		return !s;
	}
}

/* the value of an operand; *known is cleared if it has none */
static uint64_t operand(const struct model *m, const struct uop *u, uint8_t r,
			bool *known)
{
	if (r == UOP_IMM)
		return (uint64_t)u->imm;
	if (r == UOP_NONE)
		return 0;
	assert_true(r < UOP_NREGS && r != UOP_FLAGS);
	*known &= m->known[r];
	return m->reg[r];
}

/* where in the watched memory an address lies, or -1 */
static long offset_of(uint64_t addr, unsigned size)
{
	uint64_t at = addr - (uintptr_t)watched();

	return at <= WATCHED - size ? (long)at : -1;
}

/* reads or writes the model's memory */
static void run_memory(struct model *m, const struct uop *u, uint64_t a,
		       bool a_known, uint64_t b, bool b_known)
{
	long at = a_known ? offset_of(a, u->size) : -1;

	if (u->code == UOP_STORE) {
		if (u->a == UOP_NONE || !a_known) {
			m->mem_lost = true;
			return;
		}
		assert_true(at >= 0);
		for (unsigned i = 0; i < u->size; i++) {
			m->mem[at + i] = i < 8 ? b >> 8 * i : 0;
			m->mem_known[at + i] = b_known;
		}
		return;
	}
	m->reg[u->dst] = 0;
	m->known[u->dst] = at >= 0 && !m->mem_lost;
	for (unsigned i = 0; m->known[u->dst] && i < u->size; i++) {
		m->reg[u->dst] |= (uint64_t)m->mem[at + i] << 8 * i;
		m->known[u->dst] &= m->mem_known[at + i];
	}
}

/* cmov: by the flags before the instruction, which it does not change */
static bool selects(const struct model *m, const struct uop *u)
{
	assert_false(m->flags_told);
	return flags_hold(u->cond, m->in.flags);
}

/* runs one micro-operation */
static void run_uop(struct model *m, const struct uop *u)
{
	bool a_known = true, b_known = true;
	uint64_t a = operand(m, u, u->a, &a_known);
	uint64_t b = operand(m, u, u->b, &b_known);

	switch (u->code) {
	case UOP_CLOBBER:
		m->mem_lost = true;
		return;
	case UOP_LOAD:
	case UOP_STORE:
		run_memory(m, u, a, a_known, b, b_known);
		return;
	case UOP_OTHER:
		m->known[u->dst] = false;
		m->flags_told |= u->dst == UOP_FLAGS;
		return;
	case UOP_CMP:
	case UOP_TEST:
		m->flags_told = true;
		m->known[UOP_FLAGS] = a_known && b_known;
		m->flags = *u;
		m->flag_a = truncate_to(a, u->width);
		m->flag_b = truncate_to(b, u->width);
		return;
	case UOP_SELECT:
		m->known[u->dst] = a_known && b_known;
		m->reg[u->dst] =
			truncate_to(selects(m, u) ? a : b, u->width);
		return;
	}
	a = truncate_to(a, u->width);
	b = truncate_to(b, u->width);
	m->known[u->dst] = a_known && b_known;
	m->reg[u->dst] = truncate_to(uop_compute(u, a, b), u->width);
}

/* runs the micro-operations of a sample */
static void run_model(struct model *m, const struct sample *s)
{
	struct uop u[UOP_MAX];
	unsigned n = isa_x64.lift(s->code, s->len, 0, u);

	memset(m, 0, sizeof *m);
	m->in = s->in;
	for (unsigned r = 0; r < 16; r++) {
		m->reg[r] = s->in.reg[r];
		m->known[r] = true;
	}
	memcpy(m->mem, watched(), WATCHED);
	memset(m->mem_known, true, WATCHED);
	for (unsigned i = 0; i < n; i++)
		run_uop(m, &u[i]);
}

/* stops the test with the bytes of the sample */
static void fail_sample(const struct sample *s, const char *what, unsigned n)
{
	char hex[64] = "";

	for (unsigned i = 0; i < s->len; i++)
		sprintf(hex + 3 * i, "%02x ", s->code[i]);
	fail_msg("%s (%u): %s", what, n, hex);
}

/* compares the model with what the processor did */
static void compare(const struct model *m, const struct sample *s,
		    const struct machine *out)
{
	for (unsigned r = 0; r < 16; r++)
		if (m->known[r] && m->reg[r] != out->reg[r])
			fail_sample(s, "register", r);
	for (unsigned i = 0; !m->mem_lost && i < WATCHED; i++)
		if (m->mem_known[i] && m->mem[i] != watched()[i])
			fail_sample(s, "memory", i);
	if (!m->flags_told) {
		if ((s->in.flags ^ out->flags) & (STATUS | DIRECTION))
			fail_sample(s, "flags change", 0);
		return;
	}
	if (!m->known[UOP_FLAGS])
		return;
	for (unsigned c = COND_EQ; c < COND_OTHER; c++)
		if (holds(c, m->flags.code, m->flags.width, m->flag_a,
			  m->flag_b) != flags_hold(c, out->flags))
			fail_sample(s, "condition", c);
}

/* rflags bits of FLAG_ bits */
static uint64_t rflags_of(uint8_t f)
{
	return (f & FLAG_N ? 0x80 : 0) | (f & FLAG_Z ? 0x40 : 0) |
	       (f & FLAG_C ? 1 : 0) | (f & FLAG_V ? 0x800 : 0) |
	       (f & FLAG_P ? 4 : 0) | (f & FLAG_A ? 0x10 : 0) |
	       (f & FLAG_D ? DIRECTION : 0);
}

/* the bits of register r that are not read */
static uint64_t unread_bits(const struct insn *d, unsigned r)
{
	if (r == RSP)
		return 0;
	if (!(d->reads & REG(r)))
		return ~(uint64_t)0;
	if (!((d->byte_reads | d->byte_writes) & REG(r)))
		return 0;
	return d->byte_reads & REG(r) ? ~(uint64_t)0xff : ~(uint64_t)0;
}

/* the bits of register r that are written, whatever it held */
static uint64_t killed_bits(const struct insn *d, unsigned r)
{
	return !(d->writes & REG(r)) ? 0 :
	       d->byte_writes & REG(r) ? 0xff : ~(uint64_t)0;
}

/* what is not read, changed, must not matter; what is killed must be gone */
static void compare_unread(const struct sample *s, const uint8_t *before,
			   const struct machine *first, const uint8_t *after)
{
	struct machine in = s->in, out;
	uint64_t flip = 0;
	struct insn d;

	isa_x64.decode(s->code, s->len, 0, &d);
	for (unsigned r = 0; r < 16; r++)
		in.reg[r] ^= next_random() & unread_bits(&d, r);
	flip = (STATUS | DIRECTION) & ~rflags_of(d.flags_read) & next_random();
	in.flags ^= flip;
	memcpy(watched(), before, WATCHED);
	run_native(&in);
	out = sh->out;
	for (unsigned r = 0; r < 16; r++) {
		uint64_t killed = killed_bits(&d, r);

		if ((out.reg[r] ^ first->reg[r]) & killed ||
		    (out.reg[r] ^ in.reg[r]) & ~killed)
			fail_sample(s, "a register that is not read", r);
	}
	if (memcmp(watched(), after, WATCHED) != 0)
		fail_sample(s, "memory by what is not read", 0);
	/* flags that may be kept may show the flip, all others do not */
	flip &= ~rflags_of(d.flags_written);
	if ((out.flags ^ first->flags) & (STATUS | DIRECTION) & ~flip)
		fail_sample(s, "flags by what is not read", d.flags_written);
}

/* one random instruction through all comparisons */
static void check_sample(const struct sample *s)
{
	uint8_t before[WATCHED], after[WATCHED];
	struct machine out;
	struct model m;

	for (unsigned i = 0; i < WATCHED; i += 8) {
		uint64_t x = random_value();

		memcpy(watched() + i, &x, 8);
	}
	memcpy(before, watched(), WATCHED);
	run_model(&m, s);
	assemble(s);
	run_native(&s->in);
	out = sh->out;
	memcpy(after, watched(), WATCHED);
	compare(&m, s, &out);
	compare_unread(s, before, &out, after);
}

static void test_execution(void **state)
{
	enum { ROUNDS = 150000 };
	struct sample s;

	(void)state;
	sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE | PROT_EXEC,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (sh == MAP_FAILED) {
		print_message("no executable memory below 2 GB\n");
		skip();
	}
	seed = 3;
	for (int i = 0; i < ROUNDS;) {
		if (!make_sample(&s))
			continue;
		check_sample(&s);
		i++;
	}
	munmap(sh, sizeof *sh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_execution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
