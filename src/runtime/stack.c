/*
 * stack: the program's initial stack, as the kernel laid it out, made to look
 * as if tally had never been there.
 *
 *	argc, argv[0] .. NULL, envp[0] .. NULL, {type, value} .. {AT_NULL, 0}
 *
 * ld.so keeps pointers into all of it, so that nothing may move: entries of
 * envp close ranks, and the places that come free behind them become entries
 * of the auxiliary vector, of the type that all readers skip (AT_IGNORE).
 */
#include "runtime/audit_int.h"

enum {
	AUX_NULL = 0,
	AUX_IGNORE = 1,
	AUX_PAGE = 6,
	AUX_HWCAP2 = 26,
	AUX_EXECFN = 31,
	PRCTL_SET_NAME = 15,
};

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
static _Bool decode(const char *s, struct counts *launcher)
{
	struct launch_env *h = &launcher->launch_env;
	struct text t = {.at = launcher->text, .max = sizeof launcher->text};

	h->version = 1;
	while (h->nfield < LAUNCH_ENV_N) {
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
	return h->nfield == LAUNCH_ENV_N &&
	       str_equal(h->field[LAUNCH_ENV_VERSION], LAUNCH_ENV_FORMAT);
}

/* where the strings of our variables were: erased */
struct erased {
	char *from, *to;
};

static void erase(struct erased *r, char *s)
{
	if (!r->from || s < r->from)
		r->from = s;
	for (; *s; s++)
		*s = 0;
	if (s + 1 > r->to)
		r->to = s + 1;
}

#define TUNABLES "GLIBC_TUNABLES="

/* the variable is the launcher's, see launch_env.h */
static _Bool is_ours(const char *v)
{
	return str_after(v, "LD_AUDIT=") || str_after(v, TUNABLES) ||
	       str_after(v, LAUNCH_ENV_FILLER "=");
}

/* ld.so has made a copy of the tunables; the original is among our strings */
static void erase_tunables(struct erased *r)
{
	for (char *s = r->from; s < r->to; s += str_len(s) + 1)
		if (str_after(s, TUNABLES))
			erase(r, s);
}

/* the entries of envp that are the program's own close ranks */
static char **close_ranks(char **envp, char **launch, struct erased *r)
{
	char **out = envp;

	for (char **in = envp; *in; in++)
		if (in != launch && !is_ours(*in))
			*out++ = *in;
		else if (!str_after(*in, TUNABLES))
			erase(r, *in);
	erase_tunables(r);
	return out;
}

/* a user's variable gets its name back: `name`, but for its first letter */
static void rename_back(char **envp, const char *name, char first)
{
	for (; *envp; envp++)
		if (str_after(*envp, name))
			(*envp)[0] = first;
}

/* the name that the program was executed by is the original's again */
static void correct_execfn(uintptr_t *value, const char *name)
{
	char *old = (char *)*value;

	if (!*name)
		return;
	/* executed by a descriptor, it is called like its file */
	if (!str_equal(str_base(old), str_base(name)) &&
	    !str_after(name, "/dev/fd/"))
		arch_call(SYS_PRCTL, PRCTL_SET_NAME, (long)str_base(name), 0,
			  0, 0);
	/* in place if it fits: /proc/self/auxv points there, too */
	if (str_len(name) <= str_len(old))
		__builtin_memcpy(old, name, str_len(name) + 1);
	else
		*value = (uintptr_t)name;
}

/* the last variable of that name is ours; NULL if there is none */
static char **find_launch(char **envp)
{
	char **found = NULL;

	for (; *envp; envp++)
		if (str_after(*envp, LAUNCH_ENV_VARIABLE "="))
			found = envp;
	return found;
}

_Bool stack_clean(uintptr_t *start, struct counts *launcher)
{
	struct launch_env *h = &launcher->launch_env;
	struct erased r = {NULL, NULL};
	uintptr_t *end;
	char **envp, **launch, **out;

	if (!start || start < (uintptr_t *)&r)
		return 0;
	envp = (char **)start + 1 + start[0] + 1;
	if (start[0] > INT32_MAX || envp[-1] ||
	    !(launch = find_launch(envp)))
		return 0;
	if (!decode(str_after(*launch, LAUNCH_ENV_VARIABLE "="), launcher))
		h->nfield = 0;
	for (end = (uintptr_t *)envp; *end; end++)
		;
	out = close_ranks(envp, launch, &r);
	*out++ = NULL;
	for (; (uintptr_t *)out < end; out += 2) {
		out[0] = (char *)AUX_IGNORE;
		out[1] = NULL;
	}
	environ_end((uintptr_t)r.from, (uintptr_t)r.to);
	if (!h->nfield)
		return 0;
	if (launch_env_has(h, 'a'))
		rename_back(envp, "XD_AUDIT=", 'L');
	if (launch_env_has(h, 't'))
		rename_back(envp, "XLIBC_TUNABLES=", 'G');
	for (uintptr_t *aux = end + 1; aux[0] != AUX_NULL; aux += 2)
		if (aux[0] == AUX_EXECFN)
			correct_execfn(&aux[1], h->field[LAUNCH_ENV_EXECFN]);
		else if (aux[0] == AUX_PAGE)
			h->page = aux[1];
		else if (aux[0] == AUX_HWCAP2)
			h->hwcap2 = aux[1];
	return 1;
}
