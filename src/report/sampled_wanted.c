/* sampled_wanted: see sampled_wanted.h. */
#include "report/sampled_wanted.h"

#include <string.h>

#include "base/sandbox.h"
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

int sampled_wanted(struct sampled_found *f, struct sampled *s,
		   const char *word, const char *image, struct err *e)
{
	struct wanted w = wanted_of(word);
	const struct candidate *best = NULL;
	candidates v = {0};
	bool there = !image;

	*f = (struct sampled_found){0};
	for (uint32_t i = 0; i < s->image.n; i++)
		if (!image || !strcmp(image, s->image.at[i].name)) {
			there = true;
			list_candidates(&v, s, i, &w);
		}
	for (size_t i = 0; i < v.n; i++)
		if (!best || v.at[i].samples > best->samples)
			best = &v.at[i];
	if (best) {
		f->m = &s->image.at[best->image];
		f->of = best->of;
		f->others = (uint32_t)(v.n - 1);
	}
	vec_free(&v);
	if (f->m)
		return 0;
	return there ? err_set(e, ERR_INPUT, "no procedure called '%s' has "
			       "samples", word) :
		       err_set(e, ERR_INPUT, "no image called '%s' has "
			       "samples", image);
}

int sampled_become_owner(const struct sampled_found *f, struct err *e)
{
	return f->m->is.kind == IMAGE_FILE ?
		       sandbox_become_owner(f->m->is.path, e) : 0;
}
