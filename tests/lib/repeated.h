/*
 * repeated: string instructions of x86-64 that repeat. Debuggers and emulators
 * see each round; the instruction is one, however often it goes round.
 */
#ifndef TEST_REPEATED_H
#define TEST_REPEATED_H

#include <stdbool.h>
#include <stdint.h>

/* rep or repne, perhaps REX or an operand size, and a string instruction */
static inline bool x64_is_repeated(const uint8_t *c)
{
	bool rep = false;

	for (; *c == 0xf2 || *c == 0xf3 || *c == 0x66 || *c >> 4 == 4; c++)
		rep |= *c >> 4 == 0xf;
	return rep && ((*c >= 0x6c && *c <= 0x6f) ||
		       (*c >= 0xa4 && *c <= 0xa7) ||
		       (*c >= 0xaa && *c <= 0xaf));
}

#endif
