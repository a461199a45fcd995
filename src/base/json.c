/* json: see json.h. */
#include "base/json.h"

#include <assert.h>

#include "base/name.h"

/* how many characters from s on mean themselves */
static size_t json_plain(const unsigned char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void json_quote(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc_unlocked('"', to);
	for (;;) {
		size_t plain = json_plain(s);
		unsigned n;

		fwrite_unlocked(s, 1, plain, to);
		s += plain;
		if (!*s)
			break;
		n = utf8_bytes(s);

		if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if (n && utf8_is_control(utf8_value(s, n)))
			fprintf(to, "\\u%04x", utf8_value(s, n));
		else if (n)
			fwrite(s, 1, n, to);
		else
			fputs("\xef\xbf\xbd", to);
		s += n ? n : 1;
	}
	putc_unlocked('"', to);
}

/* a listing may have millions of numbers, and printf() is slow */
static void json_digits(FILE *to, uint64_t n, unsigned base)
{
	char digits[24], *at = digits + sizeof digits;

	do
		*--at = "0123456789abcdef"[n % base];
	while (n /= base);
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof digits - at), to);
}

static void json_new_line(const struct json *j)
{
	if (j->lines)
		return;
	putc_unlocked('\n', j->to);
	for (unsigned i = 0; i < j->depth; i++)
		putc_unlocked(' ', j->to);
}

/* comma and line break as needed, then the key */
static void json_start(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth])
			putc_unlocked(',', j->to);
		json_new_line(j);
		j->filled[j->depth] = true;
	}
	if (key) {
		json_quote(j->to, key);
		fputs_unlocked(": ", j->to);
	}
}

static void json_open(struct json *j, const char *key, char open, char close)
{
	assert(j->depth + 1 < JSON_DEPTH);
	json_start(j, key);
	putc_unlocked(open, j->to);
	j->depth++;
	j->filled[j->depth] = false;
	j->close[j->depth] = close;
}

void json_object(struct json *j, const char *key)
{
	json_open(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	json_open(j, key, '[', ']');
}

void json_end(struct json *j)
{
	bool filled = j->filled[j->depth];
	char close = j->close[j->depth];

	assert(j->depth > 0);
	j->depth--;
	if (filled)
		json_new_line(j);
	putc_unlocked(close, j->to);
	if (!j->depth)
		putc('\n', j->to);
}

void json_string(struct json *j, const char *key, const char *value)
{
	json_start(j, key);
	json_quote(j->to, value);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	json_start(j, key);
	json_digits(j->to, value, 10);
}

void json_real(struct json *j, const char *key, double value)
{
	json_start(j, key);
	fprintf(j->to, "%.17g", value);
}

void json_null(struct json *j, const char *key)
{
	json_start(j, key);
	fputs("null", j->to);
}

void json_bool(struct json *j, const char *key, bool value)
{
	json_start(j, key);
	fputs(value ? "true" : "false", j->to);
}

void json_address(struct json *j, const char *key, uint64_t value)
{
	json_start(j, key);
	fputs_unlocked("\"0x", j->to);
	json_digits(j->to, value, 16);
	putc_unlocked('"', j->to);
}
