/*
 * bolt: for LLVM's BOLT (llvm-bolt -data), the text that perf2bolt
 * makes of branch records (.fdata): of each branch where from and where to, as
 * function and distance in it, how often it was mispredicted (which is not
 * measured: 0), and how often it happened.
 *
 *	1 main 2a 1 step/2 0 0 1000
 *	0 [unknown] 0 1 main 0 0 1
 *
 * It is about one file. BOLT takes what is not there for never executed, but
 * leaves functions alone of which nothing is there. So a function is named only
 * if all of it is known: else branches from and to it have [unknown] instead.
 */
#include <inttypes.h>

#include "base/bisect.h"
#include "export/formats.h"
#include "report/branches.h"
#include "profile/symbols/bolt_names.h"

struct bolt {
	const struct counts_image *m;
	struct bolt_names names;
	bool *partial; /* by function: not all of it is known */
	FILE *to;
};

/* the function that is told of at an address, or NULL */
static const struct bolt_function *function_at(const struct bolt *x,
					       uint64_t addr)
{
	const struct bolt_function *f = bolt_names_find(&x->names, addr);

	return f && !x->partial[f - x->names.v.at] ? f : NULL;
}

/* functions with code that is not measured, or with unknown counts */
static void find_partial(struct bolt *x, const struct branches *b)
{
	const struct map *m = x->m->map;

	x->partial = NEW_ARRAY(bool, x->names.v.n);
	for (size_t i = 0; i < b->unknown.n; i++) {
		const struct bolt_function *f =
			bolt_names_find(&x->names, b->unknown.at[i]);

		if (f)
			x->partial[f - x->names.v.at] = true;
	}
	for (size_t i = 0; i < m->in_place.n; i++) {
		size_t k;

		bisect(k, x->names.v.n,
		       x->names.v.at[k].end <= m->in_place.at[i].start);
		for (; k < x->names.v.n &&
		       x->names.v.at[k].start < m->in_place.at[i].end; k++)
			x->partial[k] = true;
	}
}

/* 1, and *note says so, if some are left out */
static int note_partial(const struct bolt *x, struct err *note)
{
	uint32_t n = 0;

	for (size_t i = 0; i < x->names.v.n; i++)
		n += x->partial[i];
	if (n)
		err_set(note, ERR_INPUT, "%" PRIu32 " functions are left out: "
			"not all of their counts are known (see --calls)", n);
	return n > 0;
}

/* a blank ends a name */
static void write_name(const char *name, size_t n, FILE *to)
{
	for (size_t i = 0; i < n; i++) {
		if (name[i] == ' ' || name[i] == '\\')
			putc('\\', to);
		putc(name[i], to);
	}
}

/* what the stub of the linker at the address is for, or NULL */
static const char *stub_at(const struct map *m, uint64_t addr)
{
	uint32_t i = map_proc_at(m, addr);

	return i != MAP_NONE && m->proc.at[i].stub ? m->proc.at[i].name : NULL;
}

/* what is known of one end of a branch */
struct place {
	const struct bolt_function *f;
	const char *stub; /* else that of the linker */
	uint64_t addr;
};

static struct place place_of(const struct bolt *x, bool here, uint64_t addr)
{
	struct place p = {.addr = addr};

	if (here && !(p.f = function_at(x, addr)))
		p.stub = stub_at(x->m->map, addr);
	return p;
}

static void write_place(const struct place *p, FILE *to)
{
	if (p->f) {
		fputs("1 ", to);
		write_name(p->f->name, strlen(p->f->name), to);
		fprintf(to, " %" PRIx64 " ", p->addr - p->f->start);
	} else if (p->stub) {
		fputs("1 ", to);
		write_name(p->stub, strcspn(p->stub, "@"), to);
		fputs("@PLT 0 ", to);
	} else {
		fputs("0 [unknown] 0 ", to);
	}
}

static void write_branch(const struct bolt *x, const struct branch *b)
{
	struct place from = place_of(x, b->has_from, b->from);
	struct place to = place_of(x, b->has_to, b->to);

	/* what falls into another function does not branch */
	if (b->falls && from.f != to.f)
		from.f = NULL;
	if (!from.f && !to.f && !to.stub)
		return;
	write_place(&from, x->to);
	write_place(&to, x->to);
	fprintf(x->to, "0 %" PRIu64 "\n", b->count);
}

int export_bolt(const struct counts *t, uint32_t image, FILE *to, struct err *e)
{
	int status;
	struct bolt x = {.m = &t->image[image], .to = to};
	struct branches b;

	if (!symbolizer_open(x.m->symbolizer)) {
		*e = x.m->symbolizer->why;
		return -1;
	}
	bolt_names_read(&x.names, &x.m->symbolizer->object, x.m->map->path);
	if (!x.names.v.n)
		return err_set(e, ERR_INPUT, "%s: it has no symbols and no "
			       "unwind tables, by which BOLT knows functions",
			       x.m->map->path);
	branches_make(&b, t, x.m);
	find_partial(&x, &b);
	status = note_partial(&x, e);
	for (size_t i = 0; i < b.v.n; i++)
		write_branch(&x, &b.v.at[i]);
	branches_free(&b);
	mem_free(x.partial);
	bolt_names_free(&x.names);
	return status;
}
