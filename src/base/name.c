/* name: see name.h. */
#include "base/name.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* c means nothing here that it should not: it is none of `also` */
static bool is_plain(unsigned char c, const char *also)
{
	return !*also || !strchr(also, c);
}

/* how many bytes from s on are a character that is shown as it is */
static unsigned plain_bytes(const char *s, const char *also)
{
	const unsigned char *c = (const unsigned char *)s;

	return is_plain(*c, also) ? utf8_plain(c) : 0;
}

void name_print(FILE *to, const char *s, const char *also)
{
	while (*s) {
		unsigned n = plain_bytes(s, also);

		if (n)
			fwrite(s, 1, n, to);
		else
			fprintf(to, "%%%02x", (unsigned char)*s);
		s += n ? n : 1;
	}
}

char *name_text(const char *s, const char *also)
{
	char *text = mem_alloc(3 * strlen(s) + 1), *at = text;

	while (*s) {
		unsigned n = plain_bytes(s, also);

		if (n)
			at = mempcpy(at, s, n);
		else
			at += sprintf(at, "%%%02x", (unsigned char)*s);
		s += n ? n : 1;
	}
	*at = '\0';
	return text;
}

void name_print_ascii(FILE *to, const char *s, size_t max, const char *also)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c < 0x7f && is_plain(c, also))
			putc(c, to);
		else
			fprintf(to, "%%%02x", c);
		if (n > max && i == max / 2) {
			fputs("...", to);
			i = n - max / 2;
		}
	}
}
