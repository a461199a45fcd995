/* uses_frame: what struct isa promises of it, by the register fields. */
#include "isa/a64/a64.h"

/* the field is 29 or 31, the latter perhaps for zero */
static bool is_frame(unsigned r)
{
	return r == A64_FP || r == A64_SP;
}

bool a64_uses_frame(const uint8_t *code, size_t avail)
{
	uint32_t w;

	if (avail < 4)
		return true;
	w = a64_word(code);
	if (is_frame(a64_rd(w)))
		return true;
	/* load and store, unsigned offset: the base is only an address */
	if ((w & 0x3b000000) == 0x39000000)
		return false;
	if (is_frame(a64_ra(w)))
		return true;
	/* the same of pairs, without write-back */
	if ((w & 0x3b800000) == 0x29000000)
		return false;
	return is_frame(a64_rn(w)) || is_frame(a64_rm(w));
}
