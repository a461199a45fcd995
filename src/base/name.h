/*
 * name: symbol names as they may be shown. A file can call its symbols what
 * it likes, terminal control sequences included.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints s; as %NN: bytes of control characters (also those of eight bits and
 * those that turn the direction of text), those that are no UTF-8, and those in
 * `also`.
 */
void name_print(FILE *to, const char *s, const char *also);
/* what name_print() prints, to be freed with mem_free() */
char *name_text(const char *s, const char *also);
/*
 * name_print() with all but ASCII as %NN; if s is longer than max bytes, "..."
 * stands for its middle: long names of C++ differ at the end.
 */
void name_print_ascii(FILE *to, const char *s, size_t max, const char *also);

/* utf8: what is a character and what is not, and which may be shown. */

/* bytes of the character that s begins with; 0: it is none */
static inline unsigned utf8_bytes(const unsigned char *s)
{
	unsigned n = s[0] < 0x80		   ? 1
		     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* the number of a character of so many bytes */
static inline uint32_t utf8_value(const unsigned char *s, unsigned bytes)
{
	uint32_t c = bytes > 1 ? s[0] & (0xffu >> (bytes + 1)) : s[0];

	for (unsigned i = 1; i < bytes; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/*
 * Whether it does something to what is shown around it: controls, also those
 * of eight bits; what turns the direction of text; what ends a line.
 */
static inline bool utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* bytes of a character that may be shown as it is; 0: it may not */
static inline unsigned utf8_plain(const unsigned char *s)
{
	unsigned n = utf8_bytes(s);

	return n && !utf8_is_control(utf8_value(s, n)) ? n : 0;
}

#endif
