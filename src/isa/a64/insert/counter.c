/*
 * a64 counter: adds constants to counters in memory. No flag changes, and only
 * two registers do:
 *
 *	adrp a, page			adrp a, page
 *	ldr  b, [a, #low]		mrs  b, tpidr_el0
 *	add  b, b, #constant		ldr  b, [b, #8]
 *	str  b, [a, #low]		add  a, a, b		or sub
 *	ldr  b, [a, #low2]		ldr  b, [a, #low]
 *	..				..
 *
 * To the right, the word behind the thread pointer's own holds a difference
 * that leads to the thread's counters; it is 0 for the first thread (rewriting.
 * md 5.1). runtime/aarch64/arch.h turns the left into a jump to the right.
 */
#include <string.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	OP_MRS_TPIDR = 0xd53bd040,
	OP_ADD_REG = 0x8b000000,
	OP_SUB_REG = 0xcb000000,
	OP_ADD_IMM = 0x91000000, /* add xd, xn, #imm12 */
	OP_SUB_IMM = 0xd1000000,
	IMM_SHIFT = 1 << 22, /* imm12 is shifted by 12 */
	OP_LDR = 0xf9400000, /* ldr xt, [xn, #imm12 * 8] */
	OP_STR = 0xf9000000,
	OP_ADRP = 0x90000000,
	SLOT = 8, /* of the thread pointer */
	OP_TBNZ_63 = 0xb7f80040, /* tbnz xt, #63, 8 bytes on */
	OP_BRK = 0xd42f4220,     /* brk #0x7a11 */
	ADD_STEPS = 2, /* instructions that add a constant, at most */
};

static uint32_t memory_op(uint32_t op, unsigned t, unsigned n, unsigned offset)
{
	return op | offset / 8 << 10 | n << 5 | t;
}

bool a64_add_fits(int64_t constant)
{
	return constant > -(1 << 24) && constant < 1 << 24;
}

/* instructions that add the constant to register b; how many */
static unsigned put_constant(uint32_t w[ADD_STEPS], unsigned b,
			     int64_t constant)
{
	uint32_t op = constant < 0 ? OP_SUB_IMM : OP_ADD_IMM;
	uint32_t k = (uint32_t)(constant < 0 ? -constant : constant);
	unsigned n = 0;

	op |= b << 5 | b;
	if (k >> 12)
		w[n++] = op | IMM_SHIFT | k >> 12 << 10;
	if (k & 0xfff || !n)
		w[n++] = op | (k & 0xfff) << 10;
	return n;
}

int a64_trapped(const uint8_t *code)
{
	uint32_t w;

	memcpy(&w, code, sizeof w);
	return w == OP_BRK ? 4 : -1;
}

/* ldr, add, str, and perhaps tbnz, brk; bytes */
static unsigned put_addition(uint8_t *out, unsigned a, unsigned b,
			     const struct addition *x)
{
	uint32_t w[ADD_STEPS + 4];
	unsigned low = x->counter & 0xfff, n;

	w[0] = memory_op(OP_LDR, b, a, low);
	n = 1 + put_constant(w + 1, b, x->constant);
	w[n++] = memory_op(OP_STR, b, a, low);
	if (x->traps) {
		w[n++] = OP_TBNZ_63 | b;
		w[n++] = OP_BRK;
	}
	memcpy(out, w, n * sizeof *w);
	return n * (unsigned)sizeof *w;
}

static void put_additions(uint8_t *out, const uint8_t reg[2],
			  const struct addition *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		out += put_addition(out, reg[0], reg[1], &x[i]);
}

unsigned a64_add_size(enum count_form f, const struct addition *x, unsigned n)
{
	unsigned words = 1;
	uint32_t w[ADD_STEPS];

	(void)f; /* flags are never in the way */
	for (unsigned i = 0; i < n; i++)
		words += 2 + put_constant(w, 0, x[i].constant) +
			 (x[i].traps ? 2 : 0);
	return words * (unsigned)sizeof *w;
}

bool a64_add(enum count_form f, uint64_t at, const struct addition *x,
	     unsigned n, const uint8_t *reg, uint8_t *out)
{
	(void)f;
	if (!a64_put_adrp(out, reg[0], at, x->counter))
		return false;
	put_additions(out + 4, reg, x, n);
	return true;
}

bool a64_add_thread(uint64_t at, const struct addition *x, unsigned n,
		    const uint8_t reg[2], bool subtract, uint8_t *out)
{
	unsigned a = reg[0], b = reg[1];
	uint32_t w[A64_ADD_THREAD_SIZE / 4] = {
		OP_MRS_TPIDR | b,
		memory_op(OP_LDR, b, b, SLOT),
		(subtract ? OP_SUB_REG : OP_ADD_REG) | b << 16 | a << 5 | a,
	};

	if (!a64_put_adrp(out, a, at, x->counter))
		return false;
	memcpy(out + 4, w, sizeof w);
	put_additions(out + 4 + sizeof w, reg, x, n);
	return true;
}

/* the page that the adrp at `at` makes the address of */
static uint64_t page_of(uint32_t w, uint64_t at)
{
	uint64_t pages = (w >> 29 & 3) | (uint64_t)(w >> 5 & 0x7ffff) << 2;

	return (at >> 12 << 12) + (((pages ^ 1 << 20) - (1 << 20)) << 12);
}

/* the constant that the instruction adds to b; false: it is another */
static bool constant_of(uint32_t w, unsigned b, int64_t *constant)
{
	int64_t k = w >> 10 & 0xfff;

	if ((w & 0xbf8003ff) != ((OP_ADD_IMM & 0xbf800000) | b << 5 | b))
		return false;
	k = w & IMM_SHIFT ? k << 12 : k;
	*constant = w & 1 << 30 ? -k : k;
	return true;
}

/* bytes of an addition by those registers, 0: it is none */
static unsigned match_addition(const uint8_t *code, size_t size, unsigned a,
			       unsigned b, uint64_t page, struct addition *x)
{
	uint32_t w[ADD_STEPS + 4] = {0};
	uint8_t out[sizeof w];
	unsigned n, store = 2;
	int64_t more;

	memcpy(w, code, size < sizeof w ? size : sizeof w);
	if (!constant_of(w[1], b, &x->constant))
		return 0;
	if (constant_of(w[2], b, &more)) {
		x->constant += more;
		store++;
	}
	x->counter = page + (w[0] >> 10 & 0xfff) * 8;
	x->traps = w[store + 1] == (OP_TBNZ_63 | b) && w[store + 2] == OP_BRK;
	n = put_addition(out, a, b, x);
	return size >= n && !memcmp(out, code, n) ? n : 0;
}

unsigned a64_add_match(const uint8_t *code, size_t size, uint64_t at,
		       struct addition_seen seen[ADD_MAX], unsigned *n)
{
	uint32_t w[1 + A64_ADD_THREAD_SIZE / 4] = {0};
	unsigned a, b, done = 4, len;
	uint64_t page;

	memcpy(w, code, size < sizeof w ? size : sizeof w);
	a = w[0] & 31;
	b = w[1] & 31;
	page = page_of(w[0], at);
	if (w[1] == (OP_MRS_TPIDR | b) &&
	    w[2] == memory_op(OP_LDR, b, b, SLOT) &&
	    (w[3] & ~(uint32_t)(OP_ADD_REG ^ OP_SUB_REG)) ==
		    (OP_ADD_REG | b << 16 | a << 5 | a))
		done += A64_ADD_THREAD_SIZE;
	*n = 0;
	while ((w[0] & 0x9f000000) == OP_ADRP && a != b && size > done &&
	       *n < ADD_MAX) {
		len = match_addition(code + done, size - done, a, b, page,
				     &seen[*n].is);
		if (!len)
			break;
		done += len;
		seen[*n].end = done - (seen[*n].is.traps ? 8 : 0);
		++*n;
	}
	return *n ? done : 0;
}

/*
 * a64 link: stubs of the linker.
 *
 *	stub    adrp x16, page           new    adr x16, word
 *	        ldr x17, [x16, #low]            ldr x17, [x16]
 *	        add x16, x16, #low              br x17
 *	        br x17
 *
 * Both leave the word's address in x16, by which the loader's binder knows
 * what to bind. Stubs of another form (with branch protection) are not known.
 */

enum {
	OP_ADRP_X16 = 0x90000010,
	OP_LDR_X17 = 0xf9400211, /* ldr x17, [x16, #imm12 * 8] */
	OP_ADD_X16 = 0x91000210, /* add x16, x16, #imm12 */
	OP_BR_X17 = 0xd61f0220,
	X16 = 16,
	IMM12 = 0xfff << 10,
};

uint64_t a64_link_match(const uint8_t *code, size_t size, uint64_t addr)
{
	uint32_t w[4];
	uint64_t low;

	if (size < sizeof w)
		return 0;
	for (unsigned i = 0; i < 4; i++)
		w[i] = a64_word(code + 4 * i);
	low = (uint64_t)a64_bits(w[1], 21, 10) * 8;
	if ((w[0] & 0x9f00001f) != OP_ADRP_X16 ||
	    (w[1] & ~(uint32_t)IMM12) != OP_LDR_X17 ||
	    (w[2] & ~(uint32_t)IMM12) != OP_ADD_X16 || w[3] != OP_BR_X17 ||
	    a64_bits(w[2], 21, 10) != low)
		return 0;
	return page_of(w[0], addr) + low;
}

bool a64_link_write(uint64_t at, uint64_t word, uint8_t *out)
{
	a64_put_word(out, 1, OP_LDR_X17);
	a64_put_word(out, 2, OP_BR_X17);
	return a64_put_near(out, X16, at, word);
}
