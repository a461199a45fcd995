/*
 * autofdo: LLVM's sample profile as text, for clang
 * -fprofile-sample-use and llvm-profdata merge --sample:
 *
 *	main:184019:1             function: instructions run: calls
 *	 4: 534                   line, from that of the function: count
 *	 4.2: 534                 another block of that line
 *	 5: 1075 step:1075        with the function it called
 *	 7: inlined:27            a call that was inlined: instructions run
 *	  1: 9                    a line in it
 *
 * Of a function that ran, lines that did not have 0; lines that are not known
 * are left out, and so are functions of which it is not known how often they
 * were called (a comment says so).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "export/formats.h"
#include "base/name.h"
#include "report/autofdo.h"

/* what is written under something, in that order */
struct entry {
	uint32_t under, place, rank; /* the keys */
	uint32_t index;
};

struct text {
	struct autofdo s;
	struct entry *node;   /* under their parents */
	struct entry *body;   /* under their nodes */
	struct entry *target; /* under their bodies */
	FILE *to;
};

static int by_keys(const void *a, const void *b)
{
	const struct entry *p = a, *q = b;

	if (p->under != q->under)
		return p->under < q->under ? -1 : 1;
	if (p->place != q->place)
		return p->place < q->place ? -1 : 1;
	return p->rank < q->rank ? -1 : p->rank > q->rank;
}

struct named {
	const char *name;
	uint32_t index;
};

static int by_name(const void *a, const void *b)
{
	const struct named *p = a, *q = b;

	return strcmp(p->name, q->name);
}

/* by name: its place in the alphabet; free it */
static uint32_t *rank_names(const struct autofdo *s)
{
	struct named *all = NEW_ARRAY(struct named, s->name.string.n + 1);
	uint32_t *rank = NEW_ARRAY(uint32_t, s->name.string.n + 1);

	for (uint32_t i = 0; i < s->name.string.n; i++)
		all[i] = (struct named){s->name.string.at[i], i};
	mem_sort(all, s->name.string.n, sizeof *all, by_name);
	for (uint32_t i = 0; i < s->name.string.n; i++)
		rank[all[i].index] = i;
	mem_free(all);
	return rank;
}

static void sort_all(struct text *x)
{
	const struct autofdo *s = &x->s;
	uint32_t *rank = rank_names(s);

	x->node = NEW_ARRAY(struct entry, s->node.n + 1);
	x->body = NEW_ARRAY(struct entry, s->body.n + 1);
	x->target = NEW_ARRAY(struct entry, s->target.n + 1);
	for (uint32_t i = 0; i < s->node.n; i++)
		x->node[i] = (struct entry){s->node.at[i].parent,
					    s->node.at[i].place,
					    rank[s->node.at[i].function], i};
	for (uint32_t i = 0; i < s->body.n; i++)
		x->body[i] = (struct entry){s->body.at[i].node,
					    s->body.at[i].place, 0, i};
	for (uint32_t i = 0; i < s->target.n; i++)
		x->target[i] = (struct entry){s->target.at[i].body, 0,
					      rank[s->target.at[i].function],
					      i};
	mem_sort(x->node, s->node.n, sizeof *x->node, by_keys);
	mem_sort(x->body, s->body.n, sizeof *x->body, by_keys);
	mem_sort(x->target, s->target.n, sizeof *x->target, by_keys);
	mem_free(rank);
}

/* the first of those under something */
static size_t first_under(const struct entry *v, size_t n, uint32_t under)
{
	size_t i;

	bisect(i, n, v[i].under < under);
	return i;
}

/* in a name only the last colons count, but a blank ends it */
static void write_name(const struct text *x, uint32_t function)
{
	name_print(x->to, x->s.name.string.at[function], " ");
}

/* " 4.2: " as deep as the node is */
static void write_place(const struct text *x, uint32_t place, unsigned depth)
{
	fprintf(x->to, "%*s%" PRIu32, (int)depth, "", autofdo_line(place));
	if (autofdo_block(place))
		fprintf(x->to, ".%" PRIu32, autofdo_block(place));
	fputs(": ", x->to);
}

static void write_body(const struct text *x, uint32_t number, unsigned depth)
{
	const struct autofdo *s = &x->s;
	const struct autofdo_body *b = &s->body.at[number];
	size_t i = first_under(x->target, s->target.n, number);

	if (!b->known)
		return;
	write_place(x, b->place, depth);
	fprintf(x->to, "%" PRIu64, b->count);
	for (; i < s->target.n && x->target[i].under == number; i++) {
		const struct autofdo_target *t =
			&s->target.at[x->target[i].index];

		if (!t->count)
			continue;
		putc(' ', x->to);
		write_name(x, t->function);
		fprintf(x->to, ":%" PRIu64, t->count);
	}
	putc('\n', x->to);
}

/* what is in a function or an inlined call */
static void write_inside(const struct text *x, uint32_t number, unsigned depth)
{
	const struct autofdo *s = &x->s;
	size_t i = first_under(x->body, s->body.n, number);

	for (; i < s->body.n && x->body[i].under == number; i++)
		write_body(x, x->body[i].index, depth);
	i = first_under(x->node, s->node.n, number);
	for (; i < s->node.n && x->node[i].under == number; i++) {
		const struct autofdo_node *n = &s->node.at[x->node[i].index];

		if (!n->known)
			continue;
		write_place(x, n->place, depth);
		write_name(x, n->function);
		fprintf(x->to, ":%" PRIu64 "\n", n->total);
		write_inside(x, x->node[i].index, depth + 1);
	}
}

static void write_function(const struct text *x, uint32_t number)
{
	const struct autofdo_node *n = &x->s.node.at[number];

	if (!n->total)
		return;
	if (!n->calls_known) {
		fputs("# not known how often it was called: ", x->to);
		write_name(x, n->function);
		putc('\n', x->to);
		return;
	}
	write_name(x, n->function);
	fprintf(x->to, ":%" PRIu64 ":%" PRIu64 "\n", n->total, n->calls);
	write_inside(x, number, 1);
}

/* and frees what it is of */
static void write_all(struct autofdo *s, FILE *to)
{
	struct text x = {.s = *s, .to = to};
	size_t i;

	sort_all(&x);
	i = first_under(x.node, x.s.node.n, AUTOFDO_NONE);
	for (; i < x.s.node.n; i++)
		write_function(&x, x.node[i].index);
	mem_free(x.node);
	mem_free(x.body);
	mem_free(x.target);
	autofdo_free(&x.s);
}

/* samples of the first event */
struct autofdo_sink {
	struct row_sink is;
	struct autofdo all;
};

static void take(struct row_sink *to, const struct rows *r,
		 const struct row *row)
{
	struct autofdo_sink *x = (struct autofdo_sink *)to;
	uint64_t n = row_samples(r, row, 0);
	struct line_frame f[LINE_FRAMES];

	if (n)
		autofdo_add(&x->all, f,
			    samples_frames(row_sampled(r, row), row->addr, f),
			    n);
}

int export_autofdo(struct dataset *d, FILE *to, struct err *e)
{
	struct autofdo_sink x = {.is.take = take};
	bool empty;

	if (d->counts)
		autofdo_make(&x.all, d->counts);
	else if (rows_each(d, BY_INSTRUCTION, &x.is, e))
		return -1;
	empty = !d->counts && !x.all.node.n;
	if (empty)
		err_set(e, ERR_INPUT, "no image has debug information that its "
			"file still has: nothing is in this profile");
	write_all(&x.all, to);
	return empty;
}
