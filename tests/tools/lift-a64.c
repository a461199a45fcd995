/*
 * lift-a64: do micro-operations compute what the machine computes?
 *
 *	lift-a64 make SEED COUNT >TRIALS
 *	a64-run <TRIALS >RESULTS              (on AArch64, or under qemu)
 *	lift-a64 check SEED COUNT <RESULTS
 *
 * `make` draws instructions at random from the classes below and gives each
 * random registers and flags. `check` draws the same again, runs the uops of
 * lift() in an interpreter, and compares with what the machine left. What
 * lift() calls unknown is not compared, everything else is: registers, flags,
 * memory, whether a branch was taken, and that nothing else has changed.
 *
 * Each instruction is tried twice. The second time, the registers and flags
 * that decode() does not call read hold other values; what is written must
 * come out the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "a64_state.h"
#include "isa/isa.h"
#include "splitmix.h"
#include "uop_compute.h"

enum {
	MIDDLE = A64_DATA + A64_DATA_SIZE / 2, /* what base registers hold */
	OTHER_SP = MIDDLE + 1024,
	/* registers that instructions may use: x0 to x15, sp */
	USABLE = INT32_MIN | 0xffff,
};

/* a class of instructions: the bits of `mask` are those of `value` */
struct form {
	const char *name;
	uint32_t mask, value;
	bool base; /* accesses memory at Rn */
};

static const struct form forms[] = {
	{"add imm", 0x1f800000, 0x11000000, false},
	{"logic imm", 0x1f800000, 0x12000000, false},
	{"move wide", 0x1f800000, 0x12800000, false},
	{"bitfield", 0x1f800000, 0x13000000, false},
	{"extract", 0x1f800000, 0x13800000, false},
	{"adr", 0x1f000000, 0x10000000, false},
	{"logic", 0x1f000000, 0x0a000000, false},
	{"add", 0x1f200000, 0x0b000000, false},
	{"add extended", 0x1fe00000, 0x0b200000, false},
	{"adc rmif", 0x1fe00000, 0x1a000000, false},
	{"ccmp", 0x3fe00410, 0x3a400000, false},
	{"csel", 0x3fe00800, 0x1a800000, false},
	{"two sources", 0x7fe00000, 0x1ac00000, false},
	{"one source", 0x7ffe0000, 0x5ac00000, false},
	{"madd", 0x7f000000, 0x1b000000, false},
	{"cbz", 0x7effffe0, 0x34000060, false},
	{"tbz", 0x7e07ffe0, 0x36000060, false},
	{"b.cond", 0xfffffff0, 0x54000060, false},
	{"fp to int", 0x7f20fc00, 0x1e200000, false},
	{"fcmp", 0xff203c00, 0x1e202000, false},
	{"fccmp", 0xff200c00, 0x1e200400, false},
	{"lane moves", 0xbfe08400, 0x0e000400, false},
	{"ldr literal", 0x3bffff00, 0x18000000, false},
	{"ldr offset", 0x3b200000, 0x39000000, true},
	{"ldr imm9", 0x3b200000, 0x38000000, true},
	{"ldr register", 0x3b200c00, 0x38200800, true},
	{"ldp", 0x3a000000, 0x28000000, true},
	{"exclusive", 0x3f000000, 0x08000000, true},
	{"ldapur", 0x3f207c00, 0x19000000, true},
	{"atomic", 0x3f200c00, 0x38200000, true},
	{"ld1", 0xbf200000, 0x0c000000, true},
	{"ld1 lane", 0xbf000000, 0x0d000000, true},
};

enum { NFORMS = sizeof(forms) / sizeof(forms[0]) };

/* a register's value: often one at the edge of something */
static uint64_t random_value(uint64_t *seed)
{
	static const uint64_t edges[] = {
		0,
		1,
		UINT64_MAX,
		INT64_MAX,
		(uint64_t)INT64_MIN,
		INT32_MAX,
		UINT32_MAX,
		0x80000000,
		0xffffffff80000000,
		0x7f,
		0x80,
		0x8000,
	};
	uint64_t r = splitmix(seed);

	if (r % 3 == 0)
		return edges[(r >> 8) % (sizeof(edges) / sizeof(edges[0]))];
	if (r % 3 == 1)
		return (r >> 8) % 64;
	return splitmix(seed);
}

/* does w use its base register in a way that has no defined result? */
static bool is_unpredictable(uint32_t w)
{
	unsigned rd = w & 31, rn = w >> 5 & 31, ra = w >> 10 & 31;
	unsigned rm = w >> 16 & 31;
	bool indexed = (w & 0x3b200400) == 0x38000400;
	bool pair = (w & 0x3a000000) == 0x28000000;
	bool exclusive = (w & 0x3f000000) == 0x08000000;

	if (indexed && rd == rn)
		return true;
	if (pair && ((w >> 23 & 1 && (rd == rn || ra == rn)) || rd == ra))
		return true;
	if (exclusive && (rd == rm || rn == rm || rd == ra))
		return true;
	return false;
}

/* an instruction of form f that decode() knows and a trial can hold */
static uint32_t random_word(const struct form *f, uint64_t *seed, uint64_t addr,
			    struct insn *in)
{
	uint32_t w;
	uint8_t code[4];

	for (;;) {
		w = f->value | ((uint32_t)splitmix(seed) & ~f->mask);
		if (f->base && !strcmp(f->name, "ldr offset"))
			w &= ~UINT32_C(0x00380000); /* imm12 below 512 */
		memcpy(code, &w, sizeof(w));
		isa_a64.decode(code, 4, addr, in);
		if (in->kind == INSN_UNKNOWN || is_unpredictable(w))
			continue;
		if ((in->reads | in->writes) & ~(regset)USABLE)
			continue;
		/* an index register must not be the base */
		if (f->base && (w >> 5 & 31) == (w >> 16 & 31))
			continue;
		return w;
	}
}

/* the value of index register Rm: small, with rubbish above 32 bits */
static uint64_t random_index(uint32_t w, uint64_t *seed)
{
	unsigned option = w >> 13 & 7;
	uint64_t r = splitmix(seed), value = r % 64;

	if (option & 4)
		value -= 32;
	if (!(option & 1))
		value = (uint32_t)value | r << 32;
	return value;
}

/* draw trial number i of the sequence */
static void make_trial(uint64_t *seed, size_t i, struct a64_trial *t,
		       struct insn *in, const char **name)
{
	const struct form *f = &forms[(i / 2) % NFORMS];
	uint64_t addr = A64_CODE + i * A64_SLOT;
	uint32_t w = random_word(f, seed, addr, in);

	*name = f->name;
	for (unsigned k = 0; k < A64_SLOT / 4; k++)
		t->slot[k] = (uint32_t)splitmix(seed);
	t->slot[0] = w;
	t->slot[1] = 0xd280001b; /* mov x27, #0 */
	t->slot[2] = 0xd65f03c0; /* ret */
	t->slot[3] = 0xd280003b; /* mov x27, #1 */
	t->slot[4] = 0xd65f03c0;
	for (unsigned r = 0; r < A64_NREGS; r++)
		t->x[r] = random_value(seed);
	t->nzcv = (splitmix(seed) & 15) << 28;
	t->sp = MIDDLE;
	if (!f->base)
		return;
	if (!strcmp(f->name, "ldr register") && (w >> 16 & 31) < 31)
		t->x[w >> 16 & 31] = random_index(w, seed);
	if ((w >> 5 & 31) < 31)
		t->x[w >> 5 & 31] = MIDDLE;
}

/* NZCV of the machine's register (bits 31:28) as FLAG_ bits, and back */
static uint64_t flags_of(uint64_t nzcv)
{
	return (nzcv >> 31 & 1 ? FLAG_N : 0) | (nzcv >> 30 & 1 ? FLAG_Z : 0) |
	       (nzcv >> 29 & 1 ? FLAG_C : 0) | (nzcv >> 28 & 1 ? FLAG_V : 0);
}

static uint64_t nzcv_of(uint64_t flags)
{
	return (uint64_t)((flags & FLAG_N ? 8 : 0) | (flags & FLAG_Z ? 4 : 0) |
			  (flags & FLAG_C ? 2 : 0) | (flags & FLAG_V ? 1 : 0))
	       << 28;
}

/* the second try of a trial: change what is not read */
static void perturb(struct a64_trial *t, const struct insn *in, uint64_t *seed)
{
	uint64_t keep = nzcv_of(in->flags_read), r = splitmix(seed) << 28;

	for (unsigned i = 0; i < A64_NREGS; i++)
		if (!(in->reads >> i & 1))
			t->x[i] = random_value(seed);
	if (!(in->reads >> 31))
		t->sp = OTHER_SP;
	t->nzcv = (t->nzcv & keep) | (r & 0xf0000000 & ~keep);
}

/* the state of an interpreted trial */
struct machine {
	uint64_t value[UOP_NREGS];
	bool known[UOP_NREGS];
	uint8_t data[A64_DATA_SIZE];
	bool data_known;
	const struct a64_trial *trial;
	uint64_t addr;
	int taken; /* -1: not known */
	bool wild; /* an access outside of the trial's memory */
};

/* the bytes at address a, or NULL */
static const uint8_t *memory_at(struct machine *m, uint64_t a, unsigned size)
{
	if (a >= A64_DATA && a + size <= A64_DATA + A64_DATA_SIZE)
		return m->data + (a - A64_DATA);
	if (a >= m->addr && a + size <= m->addr + A64_SLOT)
		return (const uint8_t *)m->trial->slot + (a - m->addr);
	m->wild = true;
	return NULL;
}

/* flags of a - b (or of a & b) in `width` bits */
static uint64_t flags_compare(uint64_t a, uint64_t b, unsigned width, bool test)
{
	uint64_t r = truncate_to(test ? a & b : a - b, width);
	uint64_t sign = UINT64_C(1) << (width - 1);
	uint64_t flags = (r & sign ? FLAG_N : 0) | (r == 0 ? FLAG_Z : 0);

	if (test)
		return flags;
	if (a >= b)
		flags |= FLAG_C;
	if ((a ^ b) & (a ^ r) & sign)
		flags |= FLAG_V;
	return flags;
}

/* does cond hold for flags? -1 if that is not told */
static int cond_holds(unsigned cond, uint64_t flags)
{
	bool n = flags & FLAG_N, z = flags & FLAG_Z, c = flags & FLAG_C;
	bool v = flags & FLAG_V;

	switch (cond) {
	case COND_ALWAYS:
		return 1;
	case COND_EQ:
		return z;
	case COND_NE:
		return !z;
	case COND_ULT:
		return !c;
	case COND_ULE:
		return !c || z;
	case COND_UGT:
		return c && !z;
	case COND_UGE:
		return c;
	case COND_SLT:
		return n != v;
	case COND_SLE:
		return z || n != v;
	case COND_SGT:
		return !z && n == v;
	case COND_SGE:
		return n == v;
	case COND_NEG:
		return n;
	case COND_POS:
		return !n;
	default:
		return -1;
	}
}

/* value of an arithmetic uop or comparison on operands of its width */
static uint64_t compute(const struct uop *u, uint64_t a, uint64_t b)
{
	if (u->code == UOP_CMP || u->code == UOP_TEST)
		return flags_compare(a, b, u->width, u->code == UOP_TEST);
	return uop_compute(u, a, b);
}

/* is operand r known? its value in *v, modulo the uop's width */
static bool operand(const struct machine *m, const struct uop *u, unsigned r,
		    uint64_t *v)
{
	if (r == UOP_NONE)
		return false;
	*v = truncate_to(r == UOP_IMM ? (uint64_t)u->imm : m->value[r],
			 u->width);
	return r == UOP_IMM || m->known[r];
}

static void run_load(struct machine *m, const struct uop *u)
{
	const uint8_t *p;
	uint64_t a = 0, v = 0;
	bool known = operand(m, u, u->a, &a) && m->data_known;

	p = known ? memory_at(m, a, u->size) : NULL;
	if (p)
		memcpy(&v, p, u->size);
	m->value[u->dst] = v;
	m->known[u->dst] = known;
}

static void run_store(struct machine *m, const struct uop *u)
{
	uint64_t a = 0, b = 0;
	bool known_a = operand(m, u, u->a, &a);
	bool known_b = operand(m, u, u->b, &b);

	if (!known_a || !known_b)
		m->data_known = false;
	else if (memory_at(m, a, u->size) && a < A64_CODE)
		memcpy(m->data + (a - A64_DATA), &b, u->size);
}

/* ccmp and select: the condition first, then one of two values */
static void run_cond(struct machine *m, const struct uop *u)
{
	uint64_t a = 0, b = 0, v;
	int holds = m->known[UOP_FLAGS]
			    ? cond_holds(u->cond, m->value[UOP_FLAGS])
			    : -1;
	bool known_a = operand(m, u, u->a, &a);
	bool known_b = operand(m, u, u->b, &b);

	if (u->cond == COND_ALWAYS)
		holds = 1;
	if (u->code == UOP_CCMP) {
		v = holds ? flags_compare(a, b, u->width, false) : u->nzcv;
		m->known[u->dst] =
			holds == 0 || (holds == 1 && known_a && known_b);
	} else {
		v = holds ? a : b;
		m->known[u->dst] = holds >= 0 && (holds ? known_a : known_b);
	}
	m->value[u->dst] = v;
}

/* run one uop */
static void run_uop(struct machine *m, const struct uop *u)
{
	uint64_t a = 0, b = 0;
	bool known;

	switch (u->code) {
	case UOP_OTHER:
		m->known[u->dst] = false;
		return;
	case UOP_CLOBBER:
		m->data_known = false;
		return;
	case UOP_LOAD:
		run_load(m, u);
		return;
	case UOP_STORE:
		run_store(m, u);
		return;
	case UOP_CCMP:
	case UOP_SELECT:
		run_cond(m, u);
		return;
	case UOP_BRANCH:
		m->taken = m->known[u->a] ? cond_holds(u->cond, m->value[u->a])
					  : -1;
		return;
	}
	known = operand(m, u, u->a, &a);
	if (u->b != UOP_NONE)
		known &= operand(m, u, u->b, &b);
	m->value[u->dst] = truncate_to(compute(u, a, b), u->width);
	m->known[u->dst] = known;
}

/* run the uops of trial t, whose code lies at addr */
static void interpret(struct machine *m, const struct a64_trial *t,
		      uint64_t addr)
{
	struct uop u[UOP_MAX];
	struct insn in;
	unsigned n;

	memset(m->known, true, sizeof(m->known));
	memcpy(m->value, t->x, sizeof(t->x));
	for (unsigned r = A64_NREGS; r < UOP_NREGS; r++)
		m->value[r] = 0;
	m->value[isa_a64.sp] = t->sp;
	m->value[UOP_FLAGS] = flags_of(t->nzcv);
	for (unsigned i = 0; i < A64_DATA_SIZE; i++)
		m->data[i] = a64_data_byte(i);
	m->data_known = true;
	m->trial = t;
	m->addr = addr;
	m->wild = false;
	isa_a64.scan((const uint8_t *)t->slot, 4, addr, &in);
	m->taken = in.kind == INSN_JUMP;
	n = isa_a64.lift((const uint8_t *)t->slot, 4, addr, u);
	for (unsigned i = 0; i < n; i++)
		run_uop(m, &u[i]);
	m->value[A64_TAKEN] = (uint64_t)m->taken;
	m->known[A64_TAKEN] = m->taken >= 0;
}

static unsigned failures;

/* report a difference in `what` */
static void complain(const struct a64_trial *t, const char *form,
		     const char *what, uint64_t have, uint64_t want)
{
	if (++failures <= 20)
		printf("# %08x (%s): %s is %" PRIx64
		       ", the machine says %" PRIx64 "\n",
		       t->slot[0], form, what, have, want);
}

/* compare the interpreted state with the machine's */
static void compare(const struct machine *m, const struct a64_trial *t,
		    const char *form, const struct a64_result *r)
{
	if (m->wild)
		complain(t, form, "access outside of memory", 1, 0);
	for (unsigned i = 0; i < A64_NREGS; i++)
		if (m->known[i] && m->value[i] != r->x[i])
			complain(t, form, isa_a64.reg_name(i), m->value[i],
				 r->x[i]);
	if (m->known[isa_a64.sp] && m->value[isa_a64.sp] != r->sp)
		complain(t, form, "sp", m->value[isa_a64.sp], r->sp);
	if (m->known[UOP_FLAGS] && nzcv_of(m->value[UOP_FLAGS]) != r->nzcv)
		complain(t, form, "nzcv", nzcv_of(m->value[UOP_FLAGS]),
			 r->nzcv);
	if (m->data_known && a64_sum(m->data, A64_DATA_SIZE) != r->data)
		complain(t, form, "memory", 1, 0);
}

/* what decode() says is written does not depend on what it says not read */
static void compare_tries(const struct a64_trial *t, const char *form,
			  const struct insn *in, const struct a64_result *a,
			  const struct a64_result *b)
{
	uint64_t flags = nzcv_of(in->flags_written);

	for (unsigned i = 0; i < A64_NREGS; i++)
		if ((in->writes >> i & 1) && a->x[i] != b->x[i])
			complain(t, form, "second try's result", b->x[i],
				 a->x[i]);
	if ((in->writes >> isa_a64.sp & 1) && a->sp != b->sp)
		complain(t, form, "second try's sp", b->sp, a->sp);
	if ((a->nzcv ^ b->nzcv) & flags)
		complain(t, form, "second try's nzcv", b->nzcv, a->nzcv);
	if (a->x[A64_TAKEN] != b->x[A64_TAKEN])
		complain(t, form, "second try's branch", b->x[A64_TAKEN],
			 a->x[A64_TAKEN]);
}

/* compare trial i with its result; false if the machine did not have it */
static bool check_trial(const struct a64_trial *t, size_t i, const char *form,
			const struct a64_result *r)
{
	static struct machine m;

	if (r->illegal)
		return false;
	interpret(&m, t, A64_CODE + i * A64_SLOT);
	compare(&m, t, form, r);
	return true;
}

int main(int argc, char **argv)
{
	bool check = argc == 4 && !strcmp(argv[1], "check");
	uint64_t seed;
	size_t count, checked = 0;
	struct a64_trial t;
	struct a64_result r[2];
	struct insn in;
	const char *form = "";

	if (argc != 4 || (!check && strcmp(argv[1], "make"))) {
		fprintf(stderr, "usage: lift-a64 make|check SEED COUNT\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0);
	count = strtoull(argv[3], NULL, 0) / 2 * 2;
	for (size_t i = 0; i < count; i++) {
		if (i % 2 == 0)
			make_trial(&seed, i, &t, &in, &form);
		else
			perturb(&t, &in, &seed);
		if (!check) {
			fwrite(&t, sizeof(t), 1, stdout);
			continue;
		}
		if (fread(&r[i % 2], sizeof(r[0]), 1, stdin) != 1) {
			printf("# results end after %zu trials\n", i);
			return 1;
		}
		checked += check_trial(&t, i, form, &r[i % 2]);
		/* adr and literals depend on the address, which is another;
		   vector registers are not part of a trial */
		if (i % 2 && !r[1].illegal && in.ref_kind == REF_NONE &&
		    !in.vector)
			compare_tries(&t, form, &in, &r[0], &r[1]);
	}
	if (check)
		printf("# %zu of %zu trials checked, %u differences\n", checked,
		       count, failures);
	return failures != 0;
}
