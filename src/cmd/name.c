/* name: see name.h. */
#include "cmd/name.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static void print_byte(FILE *to, unsigned char c, bool plain)
{
	if (plain)
		putc(c, to);
	else
		fprintf(to, "%%%02x", c);
}

/* c is no control byte, and none of `also` */
static bool is_plain(unsigned char c, const char *also)
{
	return c >= 0x20 && c != 0x7f && (!*also || !strchr(also, c));
}

void name_print(FILE *to, const char *s, const char *also)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		print_byte(to, c, is_plain(c, also));
	}
}

char *name_text(const char *s, const char *also)
{
	char *text = mem_alloc(3 * strlen(s) + 1), *at = text;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (is_plain(c, also))
			*at++ = (char)c;
		else
			at += sprintf(at, "%%%02x", c);
	}
	*at = '\0';
	return text;
}

void name_print_ascii(FILE *to, const char *s, size_t max, const char *also)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		print_byte(to, c, c < 0x80 && is_plain(c, also));
		if (n > max && i == max / 2) {
			fputs("...", to);
			i = n - max / 2;
		}
	}
}
