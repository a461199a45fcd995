/*
 * pinned: files whose runtimes know addresses of code. Seen by the structures
 * that those runtimes read:
 *
 *	OCaml and	tables of frames: pointers to where calls return, one
 *	others like it	behind the other. Programs in C have hardly any.
 *	Go		the table of functions (elf/pclntab.h). Its runtime
 *			knows where any call of theirs returns.
 *
 * Code of these may move, if calls leave the old addresses (cfg->kept,
 * cfg->go). In all others it has to stay where it is:
 *
 *	Haskell		info tables: every pointer to code leads behind some
 *			words of data in the text
 *	Mono		the symbol by which its runtime asks for tables of
 *			code that was compiled ahead of time
 *	GraalVM		the section of the heap that is linked in
 *	V8		code without unwind tables, that only addresses lead
 *			to; the names of its builtins are in the file
 *
 * Pointers are those of relocations or, in files at fixed addresses, words that
 * could be. They are tested in batches, so that a table is seen among many
 * pointers of other kinds.
 */
#include "cfg/build.h"

#include <elf.h>

#include "base/bisect.h"
#include "elf/pclntab.h"

enum {
	BATCH = 128,	  /* pointers that are tested together */
	BATCH_LEAST = 96, /* of those, so many of one kind are a table */
	INFO_TYPES = 64,  /* kinds of closures */
	WORD = 8,
};

/* what pointers to code have been seen to lead to */
struct pointers {
	const struct image *im;
	const struct isa *isa;
	unsigned n, returns, infos; /* in this batch */
	bool return_table, info_table; /* in some batch */
	VEC(uint64_t) kept; /* all return addresses */
};

/* an instruction of that length ends at addr, and is a call */
static bool call_ends(const struct pointers *p, uint64_t addr, unsigned len)
{
	size_t avail;
	const uint8_t *code = image_at(p->im, addr - len, &avail);
	struct insn i;

	if (!code)
		return false;
	p->isa->scan(code, avail, addr - len, &i);
	return i.len == len && (i.kind == INSN_CALL || i.kind == INSN_ICALL);
}

/* a call returns to addr */
static bool is_return(const struct pointers *p, uint64_t addr)
{
	unsigned least = p->isa->align > 1 ? p->isa->align : 2;

	for (unsigned len = least; len <= p->isa->max_len && len <= 8; len++)
		if (call_ends(p, addr, len))
			return true;
	return false;
}

/* layout, kind of closure and what else it needs lie before addr */
static bool is_info(const struct pointers *p, uint64_t addr)
{
	uint64_t layout, type;

	return image_read(p->im, addr - 2 * WORD, 4, &layout) &&
	       image_read(p->im, addr - WORD, 4, &type) &&
	       layout <= UINT16_MAX && type && type < INFO_TYPES;
}

/* one more pointer to code */
static void see_pointer(struct pointers *p, uint64_t addr)
{
	if (is_return(p, addr)) {
		p->returns++;
		vec_push(&p->kept, addr);
	}
	p->infos += is_info(p, addr);
	if (++p->n < BATCH)
		return;
	p->return_table |= p->returns >= BATCH_LEAST;
	p->info_table |= p->infos >= BATCH_LEAST;
	p->n = p->returns = p->infos = 0;
}

static bool leads_to_code(const struct pointers *p, uint64_t addr)
{
	return addr % p->isa->align == 0 && image_is_code(p->im, addr);
}

static void see_relocations(struct pointers *p)
{
	for (size_t i = 0; i < p->im->nreloc; i++) {
		const struct reloc *r = &p->im->reloc[i];

		if (r->kind == RELOC_RELATIVE && !r->text &&
		    leads_to_code(p, r->value))
			see_pointer(p, r->value);
	}
}

/* files at fixed addresses: every word that could be one */
static void see_words(struct pointers *p)
{
	for (size_t i = 0; i < p->im->nsegment; i++) {
		uint64_t at = p->im->segment[i].start;
		size_t avail;
		const uint8_t *b;

		at = (at + WORD - 1) & -(uint64_t)WORD;
		b = image_at(p->im, at, &avail);
		for (size_t k = 0; b && k + WORD <= avail; k += WORD) {
			uint64_t value;

			memcpy(&value, b + k, sizeof value);
			if (value - p->im->code[0].start <
				    p->im->code[p->im->ncode - 1].end &&
			    leads_to_code(p, value))
				see_pointer(p, value);
		}
	}
}

/* the file has a symbol of that name for other files to find */
static bool exports(const struct image *im, const char *name)
{
	for (size_t i = 0; i < im->nsymbol; i++)
		if (im->symbol[i].dynamic && !strcmp(im->symbol[i].name, name))
			return true;
	return false;
}

/* the names of V8's builtins; in two parts, so that they are not in here */
static bool is_v8(const struct image *im)
{
	static const char first[] = "I", rest[] = "nterpreterEntryTrampoline";
	const uint8_t *at = im->bytes, *end = at + im->size;

	while ((at = memmem(at, (size_t)(end - at), rest, sizeof rest - 1))) {
		if (at > im->bytes && at[-1] == (uint8_t)first[0])
			return true;
		at++;
	}
	return false;
}

/* what pointers say: why the image is left as it is, or NULL */
static const char *test_pointers(struct cfg *c)
{
	struct pointers p = {.im = c->image, .isa = c->isa};

	if (p.im->type == ET_EXEC)
		see_words(&p);
	else
		see_relocations(&p);
	if (p.return_table && !p.info_table) {
		vec_sort(&p.kept, order_u64);
		vec_take(&c->kept, &p.kept);
	}
	vec_free(&p.kept);
	return p.info_table ? "Haskell: data lies next to code" : NULL;
}

const char *pinned_find(struct cfg *c)
{
	const struct image *im = c->image;

	if (is_v8(im))
		c->pinned = "V8: its runtime keys tables on return addresses";
	if (!im->ncode)
		return NULL;
	pclntab_read(&c->go, im);
	if (c->go.found && !c->go.known)
		return "Go: a form of its table of functions that is not read";
	if (exports(im, "mono_aot_file_info"))
		return "Mono: its runtime knows where compiled code lies";
	if (image_section(im, ".svm_heap"))
		return "GraalVM: its runtime keys tables on return addresses";
	return test_pointers(c);
}

bool pinned_is_kept(const struct cfg *c, uint64_t addr)
{
	size_t i;

	bisect(i, c->kept.n, c->kept.at[i] < addr);
	return i < c->kept.n && c->kept.at[i] == addr;
}

bool cfg_is_go(const struct cfg *c, uint64_t addr)
{
	const struct pclntab *t = &c->go;

	return t->n && t->func[0].start <= addr && addr < t->func[t->n - 1].end;
}

bool cfg_keeps(const struct cfg *c)
{
	return c->kept.n || c->go.n;
}

/* that name, perhaps with that of a calling convention behind it */
static bool is_named(const struct go_func *f, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(f->name, name, n) && (!f->name[n] || f->name[n] == '.');
}

/* the function of Go that is there, or NULL */
static const struct go_func *go_func_at(const struct cfg *c, uint64_t addr)
{
	const struct pclntab *t = &c->go;
	size_t i;

	bisect(i, t->n, t->func[i].start <= addr);
	return i && addr < t->func[i - 1].end ? &t->func[i - 1] : NULL;
}

/* is it in Go's function of that name? */
static bool in_go_func(const struct cfg *c, uint64_t addr, const char *name)
{
	const struct go_func *f = go_func_at(c, addr);

	return f && is_named(f, name);
}

bool cfg_go_barrier(const struct cfg *c, uint64_t addr)
{
	static const char name[] = "runtime.gcWriteBarrier"; /* 1, 2, ... */
	const struct go_func *f = go_func_at(c, addr);

	return f && !strncmp(f->name, name, sizeof name - 1);
}

/* name: of n characters; pattern: the same, or how it begins and a '*' */
static bool matches(const char *name, size_t n, const char *pattern)
{
	size_t same = strcspn(pattern, "*");

	return !strncmp(name, pattern, same) && (pattern[same] || n == same);
}

bool cfg_go_ends(const struct cfg *c, uint64_t addr)
{
	/* panicIndexU, panicSliceAlen, panicSliceB, panicdottypeE, ... */
	static const char *const all[] = {
		"panicIndex*", "panicSlice*", "goPanicIndex*", "goPanicSlice*",
		"panicdivide", "panicshift", "panicdottype*", "panicwrap",
		"gopanic", "throw", "fatalthrow",
	};
	static const char package[] = "runtime.";
	const struct go_func *f = go_func_at(c, addr);
	const char *name, *dot;

	if (!f || strncmp(f->name, package, sizeof package - 1))
		return false;
	name = f->name + sizeof package - 1;
	/* functions within them return: throw.func1 */
	dot = strchrnul(name, '.');
	if (*dot && strcmp(dot, ".abi0"))
		return false;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (matches(name, (size_t)(dot - name), all[i]))
			return true;
	return false;
}

static const char preempter[] = "runtime.asyncPreempt";

bool cfg_go_preempts(const struct cfg *c, uint64_t addr)
{
	return in_go_func(c, addr, preempter);
}

uint64_t cfg_go_preempter(const struct cfg *c)
{
	for (size_t i = 0; i < c->go.n; i++)
		if (is_named(&c->go.func[i], preempter))
			return c->go.func[i].start;
	return 0;
}

bool pinned_go_switches(const struct cfg *c, uint64_t addr)
{
	return in_go_func(c, addr, "gogo") ||
	       in_go_func(c, addr, "runtime.gogo");
}

const char *pinned_go_stays(const struct cfg *c, uint64_t addr)
{
	return in_go_func(c, addr, "runtime.goexit") ?
		       "stacks of goroutines lead into its middle" : NULL;
}

void pinned_mark_go(struct build *b)
{
	const struct pclntab *t = &b->cfg->go;

	for (size_t i = 0; i < t->n; i++) {
		const struct go_func *f = &t->func[i];

		code_lead(&b->code, b->code.entry,
			  code_offset(&b->code, f->start));
		if (f->deferreturn)
			code_lead(&b->code, b->code.entry,
				  code_offset(&b->code, f->deferreturn));
	}
}

void pinned_mark(struct cfg *c)
{
	for (uint32_t b = 0; cfg_keeps(c) && b < c->block.n; b++) {
		struct block *k = &c->block.at[b];

		if ((k->last == INSN_CALL || k->last == INSN_ICALL) &&
		    (pinned_is_kept(c, block_end(k)) ||
		     cfg_is_go(c, k->start)))
			k->flags |= BLOCK_KEPT;
	}
}
