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

#include "cmd/export_format.h"
#include "report/branches.h"
#include "source/bolt_names.h"

struct bolt {
	const struct told_image *m;
	struct bolt_names names;
	FILE *to;
};

/* a blank ends a name */
static void write_name(const char *name, FILE *to)
{
	for (; *name; name++) {
		if (*name == ' ' || *name == '\\')
			putc('\\', to);
		putc(*name, to);
	}
}

/* f NULL: somewhere else */
static void write_place(const struct bolt_function *f, uint64_t addr,
			FILE *to)
{
	if (!f) {
		fputs("0 [unknown] 0 ", to);
		return;
	}
	fputs("1 ", to);
	write_name(f->name, to);
	fprintf(to, " %" PRIx64 " ", addr - f->start);
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
	write_place(from, b->from, x->to);
	write_place(to, b->to, x->to);
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
