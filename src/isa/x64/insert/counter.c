/*
 * x64 counter: adds one to a counter in memory.
 *
 *	flags are dead			flags are live
 *	incq %gs:counter(%rip)		mov %gs:counter(%rip), r
 *					lea 1(r), r
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
	GS = 0x65,
	REX_W = 0x48,
	OP_INC = 0xff,
	OP_LOAD = 0x8b,
	OP_STORE = 0x89,
	OP_LEA = 0x8d,
	RIP = 5, /* mod and rm of disp32(%rip) */
	ACCESS = 8, /* bytes of an access to the counter */
	STEP = 4,   /* and of the lea */
};

/* an instruction with field `reg` and the counter as operands */
static bool put_access(uint8_t *out, uint64_t at, unsigned op, unsigned reg,
		       uint64_t counter)
{
	out[0] = GS;
	out[1] = (uint8_t)(REX_W | reg >> 3 << 2);
	out[2] = (uint8_t)op;
	out[3] = (uint8_t)((reg & 7) << 3 | RIP);
	return x64_put_distance(out + 4, at + ACCESS, counter);
}

bool x64_count(enum count_form f, uint64_t at, uint64_t counter,
	       const uint8_t *reg, uint8_t *out)
{
	unsigned r;

	if (f == COUNT_SPOILS)
		return put_access(out, at, OP_INC, 0, counter);
	r = reg[0];
	out[ACCESS] = (uint8_t)(REX_W | r >> 3 << 2 | r >> 3);
	out[ACCESS + 1] = OP_LEA;
	out[ACCESS + 2] = (uint8_t)(0x40 | (r & 7) << 3 | (r & 7));
	out[ACCESS + 3] = 1;
	return put_access(out, at, OP_LOAD, r, counter) &&
	       put_access(out + ACCESS + STEP, at + ACCESS + STEP, OP_STORE, r,
			  counter);
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

/* what is written for the register and counter that are seen is the same */
unsigned x64_count_match(const uint8_t *code, size_t size, uint64_t at,
			 uint64_t *counter)
{
	uint8_t out[X64_COUNT_KEEPING_SIZE], reg;
	enum count_form f;
	int32_t disp;
	unsigned n;

	if (size < ACCESS || code[0] != GS)
		return 0;
	f = code[2] == OP_INC ? COUNT_SPOILS : COUNT_KEEPS;
	n = f == COUNT_SPOILS ? X64_COUNT_SIZE : X64_COUNT_KEEPING_SIZE;
	reg = (uint8_t)((code[1] >> 2 & 1) << 3 | (code[3] >> 3 & 7));
	memcpy(&disp, code + 4, sizeof disp);
	*counter = at + ACCESS + (uint64_t)(int64_t)disp;
	return size >= n && x64_count(f, at, *counter, &reg, out) &&
			       !memcmp(out, code, n) ? n : 0;
}
