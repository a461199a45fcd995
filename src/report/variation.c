/* variation: see variation.h. */
#include "report/variation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "report/by_line.h"
#include "report/content.h"

/* the run that is being added */
struct adder {
	struct variation *v;
	const struct told *t;
	uint32_t run;	/* number, from 1 */
	bool common;	/* something of it was in a run before */
	buffer key;	/* of what is added, as it is built */
};

/* the number of what is called so, for the again-th time in an image */
static uint32_t number_of(struct adder *a, const char *image, const char *key,
			  uint32_t line, uint32_t again)
{
	char text[32];

	a->key.n = 0;
	buffer_bytes(&a->key, image, strlen(image));
	snprintf(text, sizeof text, "\n%" PRIu32 "\n%" PRIu32 "\n", again,
		 line);
	buffer_bytes(&a->key, text, strlen(text));
	buffer_bytes(&a->key, key, strlen(key) + 1);
	return intern(&a->v->key, (const char *)a->key.at);
}

/* what is called so; a second one in the same run is another one */
static struct varied *find(struct adder *a, const char *image,
			   const char *key, const char *name, uint32_t line)
{
	struct variation *v = a->v;
	struct varied new = {.line = line};
	uint32_t number = number_of(a, image, key, line, 0);

	if (number < v->v.n) {
		struct varied *first = &v->v.at[number];

		if (first->last != a->run) {
			first->again = 0;
			return first;
		}
		number = number_of(a, image, key, line, ++first->again);
	}
	if (number == v->v.n) {
		new.image = intern_string(&v->text, image);
		new.name = intern_string(&v->text, name);
		vec_push(&v->v, new);
	}
	return &v->v.at[number];
}

void varied_put(struct varied *x, uint64_t n)
{
	double off = (double)n - x->mean;

	x->min = !x->runs || n < x->min ? n : x->min;
	x->max = n > x->max ? n : x->max;
	x->runs++;
	/* mean and squares are kept up to date (Welford '62) */
	x->mean += off / x->runs;
	x->squares += off * ((double)n - x->mean);
	/* no more than those of all runs */
	x->sum += n;
}

static void put(struct adder *a, struct varied *x, bool known, uint64_t n)
{
	a->common |= x->last != 0;
	x->last = a->run;
	if (known)
		varied_put(x, n);
	else
		x->unknown++;
}

/* what a procedure is known by in every build, or in this one */
static const char *key_of(const struct told_image *m, uint32_t proc,
			  char *text, size_t size)
{
	const char *name = content_name(m, proc);

	if (name)
		return name;
	snprintf(text, size, "%" PRIx64 " %" PRIx64, m->map->file_sum,
		 m->map->proc.at[proc].entry);
	return text;
}

static void add_procedures(struct adder *a, const struct told_image *m)
{
	for (uint32_t p = 0; p < m->map->proc.n; p++) {
		char text[64];
		uint64_t n;
		bool known = told_instructions(m, p, &n);

		put(a, find(a, m->name, key_of(m, p, text, sizeof text),
			    legend_procedure(m->legend, p), 0), known, n);
	}
}

static void add_lines(struct adder *a)
{
	struct line_counts c;

	line_counts_make(&c, a->t);
	for (size_t i = 0; i < c.v.n; i++) {
		const struct line_count *l = &c.v.at[i];
		const char *file = c.file.string.at[l->file];

		put(a, find(a, a->t->image[l->image].name, file, file,
			    l->line), l->known, l->instructions);
	}
	line_counts_free(&c);
}

static void add_all(struct adder *a)
{
	struct variation_run one = {a->t->instructions, true};

	for (uint32_t i = 0; i < a->t->nimage; i++) {
		const struct told_image *m = &a->t->image[i];
		bool known = !m->missing && !m->solved.unknown_procs;

		one.complete &= known;
		if (a->v->by == BY_PROCEDURE)
			add_procedures(a, m);
		else if (a->v->by == BY_IMAGE)
			put(a, find(a, m->name, "", "", 0), known,
			    m->solved.instructions);
	}
	if (a->v->by == BY_LINE)
		add_lines(a);
	vec_push(&a->v->run, one);
}

int variation_add(struct variation *v, const struct told *t, struct err *e)
{
	struct adder a = {.v = v, .t = t, .run = (uint32_t)v->run.n + 1};

	if (__builtin_add_overflow(v->sum, t->instructions, &v->sum))
		return err_set(e, ERR_INPUT, "%s: instructions of all runs "
			       "add up to more than 64 bits",
			       t->profile.file.name);
	v->first = v->first ? v->first : t->profile.file.name;
	add_all(&a);
	vec_free(&a.key);
	if (a.run > 1 && !a.common)
		return err_set(e, ERR_INPUT, "%s and %s have nothing in "
			       "common", v->first, t->profile.file.name);
	return 0;
}

void variation_of_samples(struct variation *v, const struct sampled_runs *r)
{
	for (size_t i = 0; i < r->total.n; i++) {
		struct variation_run one = {r->total.at[i], true};

		vec_push(&v->run, one);
		v->sum += r->total.at[i];
	}
	for (size_t i = 0; i < r->part.n; i++) {
		const struct sampled_part *p = &r->part.at[i];
		const struct sampled_thing *t = &r->thing.at[p->thing];
		struct varied new = {.image = t->image, .name = t->name,
				     .line = t->line};

		if (!i || p[-1].thing != p->thing)
			vec_push(&v->v, new);
		varied_put(&v->v.at[v->v.n - 1], p->samples);
	}
	for (size_t i = 0; i < v->v.n; i++)
		while (v->v.at[i].runs < r->total.n)
			varied_put(&v->v.at[i], 0);
}

double varied_range(const struct varied *x)
{
	return x->sum ? (double)(x->max - x->min) / (double)x->sum : 0;
}

double varied_deviation(const struct varied *x)
{
	return x->runs > 1 ? sqrt(x->squares / (x->runs - 1)) : 0;
}

static int by_range(const void *a, const void *b)
{
	const struct varied *p = a, *q = b;
	double x = varied_range(p), y = varied_range(q);
	int order;

	if (x != y)
		return x > y ? -1 : 1;
	if (p->sum != q->sum)
		return p->sum > q->sum ? -1 : 1;
	order = strcmp(p->image, q->image);
	order = order ? order : strcmp(p->name, q->name);
	return order ? order : p->line < q->line ? -1 : p->line > q->line;
}

void variation_sort(struct variation *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->v.n; i++)
		if (v->v.at[i].sum)
			v->v.at[n++] = v->v.at[i];
	v->v.n = n;
	if (n)
		qsort(v->v.at, n, sizeof *v->v.at, by_range);
}

void variation_free(struct variation *v)
{
	vec_free(&v->run);
	vec_free(&v->v);
	intern_free(&v->key);
	intern_free(&v->text);
}
