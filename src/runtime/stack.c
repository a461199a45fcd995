/*
 * stack: the program's initial stack, as the kernel laid it out, made to look
 * as if tally had never been there.
 *
 *	argc, argv[0] .. NULL, envp[0] .. NULL, {type, value} .. {AT_NULL, 0}
 *
 * ld.so keeps pointers into all of it, so that nothing may move: entries of
 * envp close ranks, and the two places that come free behind them become one
 * more entry of the auxiliary vector, of the type that everybody skips.
 */
#include "runtime/audit_int.h"

enum { AUX_NULL = 0, AUX_IGNORE = 1, AUX_EXECFN = 31, PRCTL_SET_NAME = 15 };

enum { TEXT_MAX = 65536 }; /* fields, decoded; and our two variables */

struct handover tally_handover = {.version = 1};
static char decoded[TEXT_MAX], kept[2 * TEXT_MAX];
static char *first, *last; /* where our variables were */

/* the value of a hexadecimal digit, or 16 */
static unsigned hex(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* decodes one field; where it ends in the variable, or NULL if wrong */
static const char *decode_field(const char *s, struct text *t)
{
	for (; *s && *s != ' '; s++) {
		char c = *s;

		if (c == '%') {
			if (!s[1] || s[1] == ' ')
				continue; /* an empty field */
			if (hex(s[1]) > 15 || hex(s[2]) > 15)
				return NULL;
			c = (char)(hex(s[1]) << 4 | hex(s[2]));
			s += 2;
		}
		text_add_n(t, &c, 1);
	}
	return s;
}

/* reads all fields; false if they are not for us */
static _Bool decode(const char *s)
{
	struct handover *h = &tally_handover;
	struct text t = {.at = decoded, .max = sizeof decoded};

	while (h->nfield < HANDOVER_N) {
		h->field[h->nfield] = t.at + t.n;
		s = decode_field(s, &t);
		if (!s || t.full || t.n + 1 >= t.max)
			return 0;
		t.at[++t.n] = 0;
		h->nfield++;
		if (*s != ' ')
			break;
		s++;
	}
	return h->nfield == HANDOVER_N &&
	       str_equal(h->field[HANDOVER_VERSION], HANDOVER_FORMAT);
}

/* a copy of a variable of ours for execve() stubs; the original is erased */
static const char *keep(struct text *t, char *s)
{
	const char *copy = t->at + t->n;

	text_add(t, s);
	t->n++;
	if (!first || s < first)
		first = s;
	for (; *s; s++)
		*s = 0;
	if (s + 1 > last)
		last = s + 1;
	return t->full ? NULL : copy;
}

/* the entries of envp that are the program's own close ranks */
static char **close_ranks(char **envp, struct text *t)
{
	char **out = envp;

	for (char **in = envp; *in; in++)
		if (str_after(*in, HANDOVER_VARIABLE "="))
			tally_handover.launch = keep(t, *in);
		else if (str_after(*in, "LD_AUDIT="))
			tally_handover.audit = keep(t, *in);
		else
			*out++ = *in;
	return out;
}

/* a user's LD_AUDIT gets its name back */
static void rename_back(char **envp)
{
	for (; *envp; envp++)
		if (str_after(*envp, "XD_AUDIT="))
			(*envp)[0] = 'L';
}

/* the name that the program was executed by is the original's again */
static void correct_execfn(uintptr_t *value)
{
	const char *name = tally_handover.field[HANDOVER_EXECFN];
	char *old = (char *)*value;

	if (!*name)
		return;
	if (!str_equal(str_base(old), str_base(name)))
		arch_call(SYS_PRCTL, PRCTL_SET_NAME, (long)str_base(name), 0,
			  0, 0);
	/* in place if it fits: /proc/self/auxv points there, too */
	if (str_len(name) <= str_len(old))
		__builtin_memcpy(old, name, str_len(name) + 1);
	else
		*value = (uintptr_t)name;
}

static _Bool has_flag(char c)
{
	for (const char *f = tally_handover.field[HANDOVER_FLAGS]; *f; f++)
		if (*f == c)
			return 1;
	return 0;
}

/* one of the two variables is there: its value, or NULL */
static const char *find_launch(char **envp)
{
	for (; *envp; envp++) {
		const char *value = str_after(*envp, HANDOVER_VARIABLE "=");

		if (value)
			return value;
	}
	return NULL;
}

_Bool stack_clean(uintptr_t *start)
{
	struct text t = {.at = kept, .max = sizeof kept};
	const char *launch;
	uintptr_t *end;
	char **envp, **out;

	if (!start || start < (uintptr_t *)&t)
		return 0;
	envp = (char **)start + 1 + start[0] + 1;
	if (start[0] > INT32_MAX || envp[-1] ||
	    !(launch = find_launch(envp)))
		return 0;
	if (!decode(launch))
		tally_handover.nfield = 0;
	for (end = (uintptr_t *)envp; *end; end++)
		;
	out = close_ranks(envp, &t);
	*out++ = NULL;
	for (; (uintptr_t *)out < end; out += 2) {
		out[0] = (char *)AUX_IGNORE;
		out[1] = NULL;
	}
	environ_end((uintptr_t)first, (uintptr_t)last);
	if (!tally_handover.nfield)
		return 0;
	if (has_flag('a'))
		rename_back(envp);
	for (uintptr_t *aux = end + 1; aux[0] != AUX_NULL; aux += 2)
		if (aux[0] == AUX_EXECFN)
			correct_execfn(&aux[1]);
	return 1;
}
