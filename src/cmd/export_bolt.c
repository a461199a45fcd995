/*
 * export_bolt: for LLVM's BOLT (llvm-bolt -data), the text that perf2bolt
 * makes of branch records (.fdata): of each branch where from and where to, as
 * function and distance in it, how often it was mispredicted (nobody measured
 * that: 0), and how often it happened.
 *
 *	1 main 2a 1 step/2 0 0 1000
 *	0 [unknown] 0 1 main 0 0 1
 *
 * It is about one file. BOLT takes what is not there for never executed, and
 * has no word for code that was not measured.
 */
#include <inttypes.h>

#include "base/bisect.h"
#include "cmd/export_format.h"
#include "report/branches.h"
#include "source/bolt_names.h"

struct bolt {
	const struct told_image *m;
	struct bolt_names names;
	FILE *to;
};

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
	size_t i;

	bisect(i, m->proc.n, m->proc.at[i].entry < addr);
	return i < m->proc.n && m->proc.at[i].entry == addr &&
	       m->proc.at[i].stub ? m->proc.at[i].name : NULL;
}

/* f NULL: it is none of its functions */
static void write_place(const struct bolt *x, const struct bolt_function *f,
			uint64_t addr)
{
	const char *stub = f ? NULL : stub_at(x->m->map, addr);

	if (!f && !stub) {
		fputs("0 [unknown] 0 ", x->to);
		return;
	}
	fputs("1 ", x->to);
	if (f)
		write_name(f->name, strlen(f->name), x->to);
	else
		write_name(stub, strcspn(stub, "@"), x->to);
	fprintf(x->to, "%s %" PRIx64 " ", f ? "" : "@PLT",
		f ? addr - f->start : 0);
}

static void write_branch(const struct bolt *x, const struct branch *b)
{
	const struct bolt_function *from =
		b->has_from ? bolt_names_find(&x->names, b->from) : NULL;
	const struct bolt_function *to =
		b->has_to ? bolt_names_find(&x->names, b->to) : NULL;

	/* what falls into another function does not branch */
	if (b->falls && from != to)
		from = NULL;
	if (!from && !to)
		return;
	write_place(x, from, from ? b->from : 0);
	write_place(x, to, b->has_to ? b->to : 0);
	fprintf(x->to, "0 %" PRIu64 "\n", b->count);
}

int export_bolt(const struct told *t, uint32_t image, FILE *to, struct err *e)
{
	struct bolt x = {.m = &t->image[image], .to = to};
	struct branches b;

	if (!legend_open(x.m->legend)) {
		*e = x.m->legend->why;
		return -1;
	}
	bolt_names_read(&x.names, &x.m->legend->object);
	if (!x.names.v.n)
		return err_set(e, ERR_INPUT, "%s: it has no symbol table, and "
			       "BOLT knows functions by their symbols",
			       x.m->map->path);
	branches_make(&b, t, x.m);
	for (size_t i = 0; i < b.v.n; i++)
		write_branch(&x, &b.v.at[i]);
	branches_free(&b);
	bolt_names_free(&x.names);
	return 0;
}
