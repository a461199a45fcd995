/* rebind: see rebind.h. */
#include "runtime/rebind.h"

enum {
	AUX_NULL = 0,
	AUX_PHDR = 3,
	AUX_PHNUM = 5,
	SYMBOL_TYPE = 15, /* bits of elf_symbol.info */
	VERSION_HIDDEN = 0x8000,
	SYMBOL_DATA = 1,
	SYMBOL_FUNCTION = 2,
	MEMORY_READ = 1, /* PROT_ bits */
	MEMORY_WRITE = 2,
	MEMORY_EXEC = 4,
};

/* --- symbols */

/* an object's symbols and one of the two tables that they are found by */
struct symbols {
	struct elf_symbol *at;
	const char *names;
	const uint32_t *gnu, *sysv;
	const uint16_t *version; /* NULL: they have none */
};

static struct symbols symbols_of(const struct elf_dynamic *d, uintptr_t base)
{
	return (struct symbols){
		(void *)dynamic_address(d, base, DYNAMIC_SYMTAB),
		(const char *)dynamic_address(d, base, DYNAMIC_STRTAB),
		(const uint32_t *)dynamic_address(d, base, DYNAMIC_GNU_HASH),
		(const uint32_t *)dynamic_address(d, base, DYNAMIC_HASH),
		(const uint16_t *)dynamic_address(d, base, DYNAMIC_VERSYM),
	};
}

static uint32_t hash_gnu(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (uint8_t)*name;
	return h;
}

static uint32_t hash_sysv(const char *name)
{
	uint32_t h = 0;

	for (; *name; name++) {
		h = (h << 4) + (uint8_t)*name;
		h = (h ^ (h >> 24 & 0xf0)) & 0xfffffff;
	}
	return h;
}

/* the parts of a table for glibc: {buckets, first symbol, words, shift} */
static const uint32_t *gnu_buckets(const uint32_t *gnu)
{
	return gnu + 4 + 2 * gnu[2];
}

/* the first symbol whose name may be that one; 0: none */
static uint32_t chain_first(const struct symbols *s, const char *name)
{
	if (!s->at || !s->names)
		return 0;
	if (s->gnu && s->gnu[0])
		return gnu_buckets(s->gnu)[hash_gnu(name) % s->gnu[0]];
	if (s->sysv && s->sysv[0])
		return s->sysv[2 + hash_sysv(name) % s->sysv[0]];
	return 0;
}

/* and the one behind it */
static uint32_t chain_next(const struct symbols *s, uint32_t i)
{
	if (!s->gnu || !s->gnu[0])
		return s->sysv[2 + s->sysv[0] + i];
	return gnu_buckets(s->gnu)[s->gnu[0] + i - s->gnu[1]] & 1 ? 0 : i + 1;
}

/* is it what the object has by that name, of that type? */
static _Bool defines(const struct symbols *s, uint32_t i, const char *name,
		     unsigned type)
{
	return s->at[i].section && s->at[i].value &&
	       (s->at[i].info & SYMBOL_TYPE) == type &&
	       str_equal(s->names + s->at[i].name, name);
}

/* is it of a version that only old programs ask for? */
static _Bool is_old(const struct symbols *s, uint32_t i)
{
	return s->version && s->version[i] & VERSION_HIDDEN;
}

/* where an object has something of that name and type, or 0 */
static uintptr_t find_symbol(const struct elf_dynamic *d, uintptr_t base,
			     const char *name, unsigned type)
{
	struct symbols s = symbols_of(d, base);

	for (uint32_t i = chain_first(&s, name); i; i = chain_next(&s, i))
		if (defines(&s, i, name, type) && !is_old(&s, i))
			return base + s.at[i].value;
	return 0;
}

/* --- objects */

static const struct object *object_of(const struct list *l, uint32_t i)
{
	return (const struct object *)l->at + i;
}

uintptr_t object_symbol(const struct list *objects, const char *name,
			_Bool *own)
{
	uintptr_t found = 0;

	for (uint32_t i = 0; i < objects->n && !found; i++) {
		const struct object *o = object_of(objects, i);

		found = find_symbol(o->dynamic, o->base, name,
				    SYMBOL_FUNCTION);
		if (!i && found) {
			*own = 1;
			found = 0;
		}
	}
	return found;
}

const void *object_data(const struct list *objects, const char *name)
{
	uintptr_t found = 0;

	for (uint32_t i = 0; i < objects->n && !found; i++)
		found = find_symbol(object_of(objects, i)->dynamic,
				    object_of(objects, i)->base, name,
				    SYMBOL_DATA);
	return (const void *)found;
}

/*
 * The program's dynamic section, by the kernel's word for its headers. `base`
 * is added to addresses in them.
 */
static const struct elf_dynamic *own_dynamic(uintptr_t *stack, uintptr_t base)
{
	uintptr_t *aux = stack + 1 + stack[0] + 1, at = 0, n = 0;
	const struct elf_segment *s;

	while (*aux++)
		;
	for (; aux[0] != AUX_NULL; aux += 2)
		if (aux[0] == AUX_PHDR)
			at = aux[1];
		else if (aux[0] == AUX_PHNUM)
			n = aux[1];
	s = (const struct elf_segment *)at;
	for (uintptr_t i = 0; at && i < n; i++)
		if (s[i].type == SEGMENT_DYNAMIC)
			return (const void *)(base + s[i].vaddr);
	return NULL;
}

/* <link.h>'s, as far as we read it */
struct dl_phdr_info {
	uintptr_t addr;
	const char *name;
	const struct elf_segment *segment;
	uint16_t nsegment;
};

struct collection {
	struct counting *c;
	struct list *objects;
};

/* dl_iterate_phdr() tells of an object; not 0: stop */
static int collect(const struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct collection *x = ctx;
	struct list *l = x->objects;
	struct object *o;

	(void)size;
	if (!list_reach(x->c, l, l->n, sizeof *o))
		return -1;
	o = (struct object *)l->at + l->n;
	*o = (struct object){info->addr, info->segment, info->nsegment, NULL};
	for (uint32_t i = 0; i < o->nsegment; i++)
		if (o->segment[i].type == SEGMENT_DYNAMIC)
			o->dynamic = (const void *)(o->base +
						    o->segment[i].vaddr);
	l->n++;
	return 0;
}

_Bool objects_find(struct counting *c, uintptr_t *stack, struct list *objects)
{
	const struct elf_dynamic *d = own_dynamic(stack, image_of(c, 0)->base);
	const struct r_debug *debug =
		(const void *)dynamic_number(d, DYNAMIC_DEBUG);
	const struct link_map *m = debug ? debug->r_map : NULL;
	struct collection x = {c, objects};
	uintptr_t iterate = 0;

	for (; m && !iterate; m = m->l_next)
		iterate = find_symbol(m->l_ld, m->l_addr, "dl_iterate_phdr",
				      SYMBOL_FUNCTION);
	return iterate &&
	       !((int (*)(int (*)(const struct dl_phdr_info *, size_t, void *),
			  void *))iterate)(collect, &x) &&
	       objects->n > 1;
}

/* --- what is changed */

/* does [at, at + 8) lie in the segment? */
static _Bool holds(const struct object *o, const struct elf_segment *s,
		   uintptr_t at)
{
	return at - (o->base + s->vaddr) < s->memsz;
}

/* is the page of that word read-only since it was relocated? */
static _Bool is_relro(const struct counting *c, const struct object *o,
		      const struct elf_segment *s, uintptr_t at)
{
	uintptr_t from = (o->base + s->vaddr) & -(uintptr_t)c->page;
	uintptr_t to = (o->base + s->vaddr + s->memsz) & -(uintptr_t)c->page;

	return at >= from && at < to;
}

/* what may be done with the memory there: PROT_ bits */
static long protection(const struct counting *c, const struct object *o,
		       uintptr_t at)
{
	long may = 0;

	for (uint32_t i = 0; i < o->nsegment; i++) {
		const struct elf_segment *s = &o->segment[i];

		if (s->type == SEGMENT_LOAD && holds(o, s, at))
			may = (s->flags & SEGMENT_READ ? MEMORY_READ : 0) |
			      (s->flags & SEGMENT_WRITE ? MEMORY_WRITE : 0) |
			      (s->flags & SEGMENT_EXEC ? MEMORY_EXEC : 0);
	}
	for (uint32_t i = 0; i < o->nsegment; i++)
		if (o->segment[i].type == SEGMENT_RELRO &&
		    is_relro(c, o, &o->segment[i], at))
			may &= ~MEMORY_WRITE;
	return may;
}

/* writes a word of an object's, wherever it lies; others may read it */
static _Bool put_word(const struct counting *c, const struct object *o,
		      uint64_t *at, uint64_t value)
{
	long may = protection(c, o, (uintptr_t)at);
	long page = (long)((uintptr_t)at & -(uintptr_t)c->page);
	_Bool open = may & MEMORY_WRITE;

	if (!may || (!open && arch_call(SYS_MPROTECT, page, (long)c->page,
					may | MEMORY_WRITE, 0, 0)))
		return 0;
	__atomic_store_n(at, value, __ATOMIC_RELAXED);
	if (!open)
		arch_call(SYS_MPROTECT, page, (long)c->page, may, 0, 0);
	return 1;
}

/* all symbols of the object that lead to the function lead to ours */
static _Bool rebind_symbol(const struct counting *c, const struct object *o,
			   const struct binding *b)
{
	struct symbols s = symbols_of(o->dynamic, o->base);
	_Bool good = 1;

	for (uint32_t i = chain_first(&s, b->name); i; i = chain_next(&s, i))
		if (defines(&s, i, b->name, SYMBOL_FUNCTION) &&
		    o->base + s.at[i].value == b->real)
			good &= put_word(c, o, &s.at[i].value,
					 b->ours - o->base);
	return good;
}

/* and so do the words that n bytes of relocations have made its address */
static _Bool rebind_words(const struct counting *c, const struct object *o,
			  const struct elf_rela *r, uint64_t size,
			  const struct binding *b, unsigned n)
{
	const struct elf_rela *end = r + size / sizeof *r;
	_Bool good = 1;

	for (; r && r < end; r++) {
		uint64_t *at = (uint64_t *)(o->base + r->offset);

		if (r->type != ARCH_RELOC_WORD && r->type != ARCH_RELOC_DATA &&
		    r->type != ARCH_RELOC_CALL)
			continue;
		for (unsigned i = 0; i < n; i++)
			if (b[i].real && *at == b[i].real)
				good &= put_word(c, o, at, b[i].ours);
	}
	return good;
}

/* all relocations of an object */
static _Bool rebind_object(const struct counting *c, const struct object *o,
			   const struct binding *b, unsigned n)
{
	static const uint8_t table[2][2] = {
		{DYNAMIC_RELA, DYNAMIC_RELASZ},
		{DYNAMIC_JMPREL, DYNAMIC_PLTRELSZ},
	};
	_Bool good = 1;

	for (unsigned i = 0; i < 2; i++)
		good &= rebind_words(
			c, o,
			(const void *)dynamic_address(o->dynamic, o->base,
						      table[i][0]),
			dynamic_number(o->dynamic, table[i][1]), b, n);
	return good;
}

_Bool rebind(const struct counting *c, const struct list *objects,
	     const struct binding *b, unsigned n)
{
	_Bool good = 1;

	for (uint32_t i = 0; i < objects->n; i++) {
		const struct object *o = object_of(objects, i);

		for (unsigned k = 0; k < n; k++)
			if (b[k].real)
				good &= rebind_symbol(c, o, &b[k]);
		good &= rebind_object(c, o, b, n);
	}
	return good;
}
