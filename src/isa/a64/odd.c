/* odd: what struct isa says of is_odd. */
#include "isa/a64/a64.h"

/* op1 of a system instruction: the privilege it needs; 3: none (EL0) */
static unsigned privilege(uint32_t w)
{
	return w >> 16 & 7;
}

bool a64_is_odd(const uint8_t *code, size_t avail)
{
	uint32_t w;

	if (avail < 4)
		return true;
	w = a64_word(code);
	/* exceptions other than svc and brk: hvc, smc, hlt, dcps */
	if ((w & 0xff000000) == 0xd4000000)
		return (w & 0x00e0001f) != 1 && (w & 0x00e0001f) != 0x00200000;
	/* eret, drps */
	if ((w & 0xff9f0000) == 0xd69f0000)
		return true;
	/* sys, sysl, msr and mrs */
	if ((w & 0xffd80000) == 0xd5080000 || (w & 0xffd00000) == 0xd5100000)
		return privilege(w) != 3;
	return false;
}
