/* json: see json.h. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>

#include "base/utf8.h"

static void json_quote(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', to);
	while (*s) {
		unsigned n = utf8_bytes(s);

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
