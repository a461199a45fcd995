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
#include <string.h>

#include "isa/a64/a64.h"
#include "isa/a64/a64_move.h"

enum {
	OP_ADRP_X16 = 0x90000010,
	OP_LDR_X17 = 0xf9400211, /* ldr x17, [x16, #imm12 * 8] */
	OP_ADD_X16 = 0x91000210, /* add x16, x16, #imm12 */
	OP_BR_X17 = 0xd61f0220,
	OP_ADR_X16 = 0x10000010,
	IMM12 = 0xfff << 10,
};

uint64_t a64_link_match(const uint8_t *code, size_t size, uint64_t addr)
{
	uint32_t w[4];
	uint64_t low;
	int64_t pages;

	if (size < sizeof w)
		return 0;
	for (unsigned i = 0; i < 4; i++)
		w[i] = a64_word(code + 4 * i);
	low = (uint64_t)a64_bits(w[1], 21, 10) * 8;
	pages = a64_sbits(w[0], 23, 5) * 4 + a64_bits(w[0], 30, 29);
	if ((w[0] & 0x9f00001f) != OP_ADRP_X16 ||
	    (w[1] & ~(uint32_t)IMM12) != OP_LDR_X17 ||
	    (w[2] & ~(uint32_t)IMM12) != OP_ADD_X16 || w[3] != OP_BR_X17 ||
	    a64_bits(w[2], 21, 10) != low)
		return 0;
	return (addr & ~UINT64_C(0xfff)) + (uint64_t)pages * 0x1000 + low;
}

bool a64_link_write(uint64_t at, uint64_t word, uint8_t *out)
{
	int64_t d = (int64_t)(word - at);
	uint32_t w[3] = {
		OP_ADR_X16 | (uint32_t)(d & 3) << 29 |
			((uint32_t)(d >> 2) & 0x7ffff) << 5,
		OP_LDR_X17,
		OP_BR_X17,
	};

	memcpy(out, w, sizeof w);
	return d >= -(1 << 20) && d < 1 << 20;
}
