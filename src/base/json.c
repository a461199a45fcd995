/* json: see json.h. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>

/* length of the valid UTF-8 sequence at s, 0 if there is none */
static unsigned json_utf8(const unsigned char *s)
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

static void json_quote(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', to);
	while (*s) {
		unsigned n = json_utf8(s);

		if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(to, "\\u%04x", *s);
		else if (n)
			fwrite(s, 1, n, to);
		else
			fputs("\xef\xbf\xbd", to);
		s += n ? n : 1;
	}
	putc('"', to);
}

/* comma and line break as needed, then the key */
static void json_start(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth])
			putc(',', j->to);
		fprintf(j->to, "\n%*s", (int)j->depth, "");
		j->filled[j->depth] = true;
	}
	if (key) {
		json_quote(j->to, key);
		fputs(": ", j->to);
	}
}

static void json_open(struct json *j, const char *key, char open, char close)
{
	assert(j->depth + 1 < JSON_DEPTH);
	json_start(j, key);
	putc(open, j->to);
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
		fprintf(j->to, "\n%*s", (int)j->depth, "");
	putc(close, j->to);
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
	fprintf(j->to, "%" PRIu64, value);
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
	fprintf(j->to, "\"0x%" PRIx64 "\"", value);
}
