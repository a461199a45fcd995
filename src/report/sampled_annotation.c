/* sampled_annotation: see sampled_annotation.h. */
#include "report/sampled_annotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "report/wanted.h"

/* a procedure that may be meant */
struct candidate {
	uint32_t image;
	struct sampled_place of;
	uint64_t samples; /* of all events */
};

typedef VEC(struct candidate) candidates;

static bool is_meant(const struct wanted *w, const struct sampled_place *p)
{
	if (w->is_address)
		return w->address == p->address || w->address == p->start ||
		       (w->address > p->start && w->address < p->end);
	return wanted_is_name(w, p->procedure);
}

static void add_candidate(candidates *v, uint32_t image,
			  const struct sampled_place *p, uint64_t n)
{
	struct candidate c = {image, *p, n};

	for (size_t i = 0; i < v->n; i++)
		if (v->at[i].image == image && v->at[i].of.start == p->start) {
			v->at[i].samples += n;
			return;
		}
	vec_push(v, c);
}

static void list_candidates(candidates *v, struct sampled *s, uint32_t image,
			    const struct wanted *w)
{
	struct sampled_image *m = &s->image.at[image];

	for (size_t e = 0; e < s->event.n; e++)
		for (size_t i = 0; i < m->samples[e].n; i++) {
			const struct hit *h = &m->samples[e].at[i];
			struct sampled_place p;

			sampled_find(m, h->offset, false, &p);
			if (is_meant(w, &p))
				add_candidate(v, image, &p, h->count);
		}
}

static int find(struct sampled_annotation *a, struct sampled *s,
		const char *word, const char *image, struct err *e)
{
	struct wanted w = wanted_of(word);
	const struct candidate *best = NULL;
	candidates v = {0};
	bool there = !image;

	for (uint32_t i = 0; i < s->image.n; i++)
		if (!image || !strcmp(image, s->image.at[i].name)) {
			there = true;
			list_candidates(&v, s, i, &w);
		}
	for (size_t i = 0; i < v.n; i++)
		if (!best || v.at[i].samples > best->samples)
			best = &v.at[i];
	if (best) {
		a->m = &s->image.at[best->image];
		a->of = best->of;
		a->others = (uint32_t)(v.n - 1);
	}
	vec_free(&v);
	if (a->m)
		return 0;
	return there ? err_set(e, ERR_INPUT, "no procedure called '%s' has "
			       "samples", word) :
		       err_set(e, ERR_INPUT, "no image called '%s' has "
			       "samples", image);
}

/* the instruction at the address, made if the disassembly has none there */
static struct sampled_noted *noted_at(struct sampled_annotation *a,
				      uint64_t addr)
{
	struct sampled_noted new = {.addr = addr};
	size_t i;

	bisect(i, a->v.n, a->v.at[i].addr < addr);
	if (i < a->v.n && a->v.at[i].addr == addr)
		return &a->v.at[i];
	vec_push(&a->v, new);
	memmove(&a->v.at[i + 1], &a->v.at[i], (a->v.n - 1 - i) * sizeof new);
	a->v.at[i] = new;
	return &a->v.at[i];
}

static void read_code(struct sampled_annotation *a)
{
	const struct isa *isa = sampled_isa(a->m);
	struct disassembly *d = &a->disassembly;

	if (!isa || a->of.end <= a->of.start)
		return;
	disassembly_init(d, isa, a->m->is.path);
	disassembly_read(d, a->of.start, a->of.end);
	for (size_t i = 0; i < d->v.n; i++)
		noted_at(a, d->v.at[i].addr)->text = d->v.at[i].text;
}

static void add_samples(struct sampled_annotation *a, unsigned event)
{
	const run *r = &a->m->samples[event];

	for (size_t i = 0; i < r->n; i++) {
		struct sampled_place p;

		sampled_find(a->m, r->at[i].offset, false, &p);
		if (p.start != a->of.start)
			continue;
		noted_at(a, p.address)->samples[event] += r->at[i].count;
		a->total[event] += r->at[i].count;
	}
}

int sampled_annotation_make(struct sampled_annotation *a, struct sampled *s,
			    const char *word, const char *image,
			    struct err *e)
{
	*a = (struct sampled_annotation){0};
	if (find(a, s, word, image, e))
		return -1;
	read_code(a);
	for (unsigned v = 0; v < s->event.n; v++)
		add_samples(a, v);
	for (size_t i = 0; i < a->v.n; i++)
		if (!sampled_line(a->m, a->v.at[i].addr, &a->v.at[i].place))
			a->v.at[i].place = (struct line_place){0};
	return 0;
}

void sampled_annotation_free(struct sampled_annotation *a)
{
	vec_free(&a->v);
	disassembly_free(&a->disassembly);
}
