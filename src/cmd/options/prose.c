/* prose: see prose.h. */
#include "cmd/options/prose.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum { COLUMNS = 80 };

struct text {
	VEC(char) v;
};

static void put(struct text *t, const char *s, size_t n)
{
	vec_reserve(&t->v, n + 1);
	memcpy(t->v.at + t->v.n, s, n);
	t->v.n += n;
	t->v.at[t->v.n] = '\0';
}

char *prose_plain(const char *text)
{
	struct text t = {0};
	bool literal = false;

	for (put(&t, "", 0); *text; text++) {
		literal ^= *text == '`';
		if (literal || !strchr("<>", *text))
			put(&t, *text == '`' ? "'" : text, 1);
	}
	return t.v.at;
}

/* with dashes that troff does not take for hyphens */
static void put_bold(struct text *t, const char *s, size_t n)
{
	put(t, "\\fB", 3);
	for (; n; n--, s++)
		if (*s == '-')
			put(t, "\\-", 2);
		else
			put(t, s, 1);
	put(t, "\\fP", 3);
}

/* how many bytes from s on are an option, or the name of a page(1) */
static size_t bold_bytes(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz_-");

	if (s[0] == '-' && n > 1)
		return n;
	return n && s[n] == '(' && isdigit(s[n + 1]) && s[n + 2] == ')' ? n : 0;
}

/* what is at s, up to the end of a mark or word; how many bytes it was */
static size_t put_troff(struct text *t, const char *s, bool begins)
{
	size_t n = begins ? bold_bytes(s) : 0;
	const char *end = *s == '`' ? strchr(s + 1, '`') : NULL;

	if (n) {
		put_bold(t, s, n);
		return n;
	}
	if (end) {
		put_bold(t, s + 1, (size_t)(end - s - 1));
		return (size_t)(end - s + 1);
	}
	/* troff takes these two for its own at the beginning of a line */
	if (begins && strchr(".'", *s))
		put(t, "\\&", 2);
	if (*s == '<')
		put(t, "\\fI", 3);
	else if (*s == '>')
		put(t, "\\fP", 3);
	else if (*s == '\\')
		put(t, "\\e", 2);
	else
		put(t, s, 1);
	return 1;
}

char *prose_troff(const char *text)
{
	struct text t = {0};
	const char *s = text;

	put(&t, "", 0);
	while (*s)
		s += put_troff(&t, s, s == text || strchr(" ([", s[-1]));
	if (!bold_bytes(text))
		t.v.at[0] = (char)toupper(t.v.at[0]);
	if (t.v.n && t.v.at[t.v.n - 1] != '.')
		put(&t, ".", 1);
	return t.v.at;
}

void prose_wrap(FILE *to, const char *text, size_t column, size_t indent)
{
	size_t blanks = column < indent ? indent - column : 0;

	while (*text) {
		size_t n = strcspn(text, " \n");
		bool ends = text[n] == '\n';

		if (column > indent && column + blanks + n > COLUMNS) {
			putc('\n', to);
			column = 0;
			blanks = indent;
		}
		fprintf(to, "%*s%.*s%s", (int)blanks, "", (int)n, text,
			ends ? "\n\n" : "");
		column = ends ? 0 : column + blanks + n;
		blanks = ends ? indent : 1;
		text += n + (text[n] != '\0');
	}
	putc('\n', to);
}
