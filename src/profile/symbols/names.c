/* names: see names.h. */
#include "profile/symbols/names.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

struct candidate {
	struct name name;
	uint8_t rank; /* of several at one place the lowest is taken */
};

struct candidates {
	VEC(struct candidate) v;
};

/*
 * Symbols with a size come before those without; of these global ones before
 * weak ones, and those before local ones.
 */
static uint8_t rank_of(const GElf_Sym *sym)
{
	unsigned bind = GELF_ST_BIND(sym->st_info);
	uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;

	return (uint8_t)(rank + (sym->st_size ? 0 : 4));
}

/* AArch64's $x and $d only say where code and data begin */
static bool is_code(const GElf_Sym *sym, const char *symbol)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && *symbol && *symbol != '$' &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC ||
		type == STT_NOTYPE);
}

bool names_address(const struct object *o, const char *symbol, uint64_t *out)
{
	int n = dwfl_module_getsymtab(o->module);

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *s = dwfl_module_getsym_info(o->module, i, &sym, &at,
							NULL, NULL, NULL);

		if (s && is_code(&sym, s) && !strcmp(s, symbol)) {
			*out = at;
			return true;
		}
	}
	return false;
}

static void collect(struct candidates *c, Dwfl_Module *m)
{
	int n = dwfl_module_getsymtab(m);

	for (int i = 1; i < n; i++) {
		GElf_Sym sym;
		GElf_Addr at;
		const char *s = dwfl_module_getsym_info(m, i, &sym, &at, NULL,
							NULL, NULL);
		struct candidate x;

		if (!s || !is_code(&sym, s))
			continue;
		x = (struct candidate){{at, at + sym.st_size, s},
				       rank_of(&sym)};
		vec_push(&c->v, x);
	}
}

static unsigned underscores(const char *s)
{
	return (unsigned)strspn(s, "_");
}

/* the last resort: the plainer name, then the alphabet */
static int by_place(const void *a, const void *b)
{
	const struct candidate *p = a, *q = b;
	unsigned u, v;

	if (p->name.start != q->name.start)
		return p->name.start < q->name.start ? -1 : 1;
	if (p->rank != q->rank)
		return p->rank < q->rank ? -1 : 1;
	u = underscores(p->name.symbol);
	v = underscores(q->name.symbol);
	if (u != v)
		return u < v ? -1 : 1;
	return strcmp(p->name.symbol, q->name.symbol);
}

/* a name without a size reaches to the next one */
static void keep_first(struct names *n, const struct candidates *c)
{
	for (size_t i = 0; i < c->v.n; i++) {
		struct name x = c->v.at[i].name;

		if (n->v.n && n->v.at[n->v.n - 1].start == x.start)
			continue;
		vec_push(&n->v, x);
	}
	for (size_t i = 0; i < n->v.n; i++) {
		struct name *x = &n->v.at[i];

		if (x->end == x->start)
			x->end = i + 1 < n->v.n ? x[1].start : UINT64_MAX;
	}
}

void names_read(struct names *n, const struct object *o)
{
	struct candidates c = {0};

	*n = (struct names){0};
	collect(&c, o->module);
	if (c.v.n)
		qsort(c.v.at, c.v.n, sizeof *c.v.at, by_place);
	keep_first(n, &c);
	vec_free(&c.v);
}

void names_free(struct names *n)
{
	vec_free(&n->v);
}

const struct name *names_find(const struct names *n, uint64_t addr)
{
	size_t i;

	bisect(i, n->v.n, n->v.at[i].start <= addr);
	return i && addr < n->v.at[i - 1].end ? &n->v.at[i - 1] : NULL;
}

/* --- demangle */

char *name_demangle(const char *symbol)
{
	const char *at = strchr(symbol, '@');
	char *plain, *out;

	/* what is mangled begins so, in both languages and all versions */
	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
		return NULL;
	plain = strndup(symbol, at ? (size_t)(at - symbol) : strlen(symbol));
	out = plain ? cplus_demangle(plain, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO)
		    : NULL;
	free(plain);
	return out;
}
