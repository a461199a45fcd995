/*
 * x64 counter: adds constants to counters in memory.
 *
 *	flags are dead			flags are live
 *	addq $c, %gs:counter(%rip)	mov %gs:counter(%rip), r
 *					lea c(r), r
 *					mov r, %gs:counter(%rip)
 *
 * Nothing else uses %gs in user space. Its base is the distance to the
 * thread's own counters, 0 for the first thread, and costs nothing: the same
 * code counts for one thread and for many. The base is set by the thread
 * itself (runtime/threads.c).
 */
#include <string.h>

#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"

enum {
	REX_W = 0x48,
	OP_INC = 0xff,
	OP_ADD_BYTE = 0x83, /* a constant of one byte, of four */
	OP_ADD = 0x81,
	OP_LEA = 0x8d,
	ACCESS = X64_ACCESS, /* without a constant */
	LEA = 3,    /* of the lea, without one */
	JS = 0x78,
	INT3 = 0xcc,
	TRAP = 3, /* bytes: js over an int3 */
};

static bool is_byte(int64_t constant)
{
	return constant >= INT8_MIN && constant <= INT8_MAX;
}

bool x64_add_fits(int64_t constant)
{
	return constant >= INT32_MIN && constant <= INT32_MAX;
}

bool x64_put_access(uint8_t *out, uint64_t at, unsigned op, unsigned reg,
		    uint64_t word, unsigned more)
{
	enum { GS = 0x65, RIP = 5 /* mod and rm of disp32(%rip) */ };

	out[0] = GS;
	out[1] = (uint8_t)(REX_W | reg >> 3 << 2);
	out[2] = (uint8_t)op;
	out[3] = (uint8_t)((reg & 7) << 3 | RIP);
	return x64_put_distance(out + 4, at + ACCESS + more, word);
}

static unsigned put_constant(uint8_t *out, int64_t constant)
{
	int32_t k = (int32_t)constant;
	unsigned n = is_byte(constant) ? 1 : 4;

	memcpy(out, &k, n);
	return n;
}

/* a thread that trapped is behind the instruction */
int x64_trapped(const uint8_t *code)
{
	return code[-1] == INT3 && code[-2] == 1 && code[-3] == JS ? 0 : -1;
}

static unsigned put_trap(uint8_t *out, const struct addition *x)
{
	static const uint8_t trap[TRAP] = {JS, 1, INT3};

	if (!x->traps)
		return 0;
	memcpy(out, trap, sizeof trap);
	return TRAP;
}

/* where flags may change; bytes, 0: out of reach */
static unsigned put_spoiling(uint8_t *out, uint64_t at,
			     const struct addition *x)
{
	unsigned n = 0, op = OP_INC;

	if (x->constant != 1) {
		n = put_constant(out + ACCESS, x->constant);
		op = n == 1 ? OP_ADD_BYTE : OP_ADD;
	}
	if (!x64_put_access(out, at, op, 0, x->counter, n))
		return 0;
	n += ACCESS;
	return n + put_trap(out + n, x);
}

/* where they may not */
static unsigned put_keeping(uint8_t *out, uint64_t at, unsigned r,
			    const struct addition *x)
{
	uint8_t *p = out + ACCESS;
	unsigned n;

	p[0] = (uint8_t)(REX_W | r >> 3 << 2 | r >> 3);
	p[1] = OP_LEA;
	p[2] = (uint8_t)((is_byte(x->constant) ? 0x40 : 0x80) | (r & 7) << 3 |
			 (r & 7));
	n = LEA + put_constant(p + LEA, x->constant);
	return x64_put_access(out, at, X64_LOAD, r, x->counter, 0) &&
	       x64_put_access(p + n, at + ACCESS + n, X64_STORE, r, x->counter,
			      0) ?
		       ACCESS + n + ACCESS : 0;
}

static unsigned put_addition(enum count_form f, uint8_t *out, uint64_t at,
			     const uint8_t *reg, const struct addition *x)
{
	return f == COUNT_SPOILS ? put_spoiling(out, at, x) :
				   put_keeping(out, at, reg[0], x);
}

unsigned x64_add_size(enum count_form f, const struct addition *x, unsigned n)
{
	unsigned size = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned c = is_byte(x[i].constant) ? 1 : 4;

		if (f == COUNT_SPOILS)
			size += ACCESS + (x[i].constant == 1 ? 0 : c) +
				(x[i].traps ? TRAP : 0);
		else
			size += ACCESS + LEA + c + ACCESS;
	}
	return size;
}

bool x64_add(enum count_form f, uint64_t at, const struct addition *x,
	     unsigned n, const uint8_t *reg, uint8_t *out)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned size = put_addition(f, out, at, reg, &x[i]);

		if (!size)
			return false;
		out += size;
		at += size;
	}
	return true;
}

/* wrgsbase, and mov to gs */
bool x64_takes_slot(const uint8_t *code, const struct insn *in)
{
	const uint8_t *end = code + in->len, *p = code;
	bool repeat = false;

	for (; p < end && (*p == 0x66 || *p >> 1 == 0xf2 >> 1 ||
			   *p >> 4 == 4); p++)
		repeat |= *p == 0xf3;
	if (end - p >= 2 && p[0] == 0x8e)
		return (p[1] >> 3 & 7) == 5;
	return end - p == 3 && repeat && p[0] == 0x0f && p[1] == 0xae &&
	       p[2] >= 0xd8 && p[2] <= 0xdf;
}

/* a constant that begins at code[at], of one byte or four */
static int64_t constant_at(const uint8_t *code, size_t size, unsigned at,
			   bool byte)
{
	int32_t k = 0;

	if (size < at + (byte ? 1 : 4))
		return 0;
	if (byte)
		return (int8_t)code[at];
	memcpy(&k, code + at, sizeof k);
	return k;
}

/* what is written for the register, counter and constant that are seen is the
   same */
static unsigned match_addition(const uint8_t *code, size_t size, uint64_t at,
			       struct addition *x)
{
	uint8_t out[X64_ADD_MAX], reg;
	enum count_form f = COUNT_SPOILS;
	unsigned n, more = 0;
	int32_t disp;

	if (size < ACCESS)
		return 0;
	reg = (uint8_t)((code[1] >> 2 & 1) << 3 | (code[3] >> 3 & 7));
	x->constant = 1;
	if (code[2] == OP_ADD_BYTE || code[2] == OP_ADD) {
		more = code[2] == OP_ADD_BYTE ? 1 : 4;
		x->constant = constant_at(code, size, ACCESS, more == 1);
	} else if (code[2] != OP_INC) {
		f = COUNT_KEEPS;
		x->constant = constant_at(code, size, ACCESS + LEA,
					  size > ACCESS + 2 &&
						  code[ACCESS + 2] >> 6 == 1);
	}
	memcpy(&disp, code + 4, sizeof disp);
	x->counter = at + ACCESS + more + (uint64_t)(int64_t)disp;
	n = ACCESS + more;
	x->traps = f == COUNT_SPOILS && size >= n + TRAP && code[n] == JS &&
		   code[n + 1] == 1 && code[n + 2] == INT3;
	n = put_addition(f, out, at, &reg, x);
	return n && size >= n && !memcmp(out, code, n) ? n : 0;
}

unsigned x64_add_match(const uint8_t *code, size_t size, uint64_t at,
		       struct addition_seen seen[ADD_MAX], unsigned *n)
{
	unsigned len = match_addition(code, size, at, &seen[0].is);

	seen[0].end = len - (len && seen[0].is.traps ? TRAP : 0);
	*n = len > 0;
	return len;
}
