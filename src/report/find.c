/* find: see find.h. */
#include "report/find.h"

#include "base/sandbox.h"
#include "report/proc_query.h"

struct finder {
	struct proc_query wanted;
	struct found found;
	uint64_t most;
	bool any;
};

static bool covers(const struct map *m, uint32_t proc, uint64_t address)
{
	const struct map_proc *p = &m->proc.at[proc];

	if (!map_may_hold(m, proc, address))
		return false;
	map_turn(m, proc);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		if (address >= m->block.at[i].start &&
		    address - m->block.at[i].start < m->block.at[i].size)
			return true;
	return p->entry == address;
}

static bool is_meant(const struct proc_query *w, const struct counts_image *m,
		     uint32_t p)
{
	if (w->is_address)
		return covers(m->map, p, w->address);
	return !strcmp(symbolizer_symbol(m->symbolizer, p), w->word) ||
	       proc_query_names(w, symbolizer_procedure(m->symbolizer, p));
}

static bool is_meant_there(const struct proc_query *w,
			   const struct samples_place *p)
{
	if (w->is_address)
		return w->address == p->address || w->address == p->start ||
		       (w->address > p->start && w->address < p->end);
	return proc_query_names(w, p->procedure);
}

/* one more that is meant; the first of those with most is taken */
static void consider(struct finder *f, struct found found, uint64_t n)
{
	uint32_t others = f->found.others + f->any;

	if (!f->any || n > f->most) {
		f->found = found;
		f->most = n;
	}
	f->found.others = others;
	f->any = true;
}

static void consider_counted(struct finder *f, const struct dataset *d,
			     uint32_t image)
{
	const struct counts_image *m = d->image.at[image].counts;

	for (uint32_t p = 0; m && !m->missing && p < m->map->proc.n; p++)
		if (is_meant(&f->wanted, m, p)) {
			struct found found = {.image = image, .proc = p};
			uint64_t n;

			counts_instructions(m, p, &n);
			consider(f, found, n);
		}
}

/* one of several symbols at its place, by which it is not shown */
static void consider_alias(struct finder *f, const struct dataset *d,
			   uint32_t image)
{
	const struct counts_image *m = d->image.at[image].counts;
	struct proc_query named = f->wanted;

	if (!m || m->missing || !symbolizer_open(m->symbolizer) ||
	    !names_address(&m->symbolizer->object, named.word,
			   &f->wanted.address))
		return;
	f->wanted.is_address = true;
	consider_counted(f, d, image);
	f->wanted = named;
}

static uint64_t samples_of(const struct dataset *d, const struct point *p)
{
	uint64_t n = 0;

	for (size_t v = 0; v < d->samples->event.n; v++)
		n += p->samples[v];
	return n;
}

/* procedures with samples that are in no map */
static void consider_sampled(struct finder *f, struct dataset *d,
			     uint32_t image)
{
	const struct points *points;
	size_t i, end;

	if (!d->image.at[image].samples)
		return;
	points = dataset_points(d, image, false);
	bisect(i, points->v.n, points->v.at[i].proc != MAP_NONE);
	for (; i < points->v.n; i = end) {
		struct found found = {.image = image, .proc = MAP_NONE,
				      .at = points->v.at[i].at};
		bool meant = false;
		uint64_t n = 0;

		for (end = i; end < points->v.n && points->v.at[end].at.start
						   == found.at.start; end++)
			if (is_meant_there(&f->wanted, &points->v.at[end].at)) {
				if (!meant)
					found.at = points->v.at[end].at;
				meant = true;
				n += samples_of(d, &points->v.at[end]);
			}
		if (meant)
			consider(f, found, n);
	}
}

bool find_is(const struct counts_image *m, uint32_t p, const char *word)
{
	struct proc_query w = proc_query_of(word);

	return is_meant(&w, m, p);
}

static int none(const struct dataset *d, bool there, const char *word,
		const char *image, struct err *e)
{
	if (!d->counts)
		return there ? err_set(e, ERR_INPUT, "no procedure called "
				       "'%s' has samples", word) :
			       err_set(e, ERR_INPUT, "no image called '%s' "
				       "has samples", image);
	return there ? err_set(e, ERR_INPUT, "%s: no procedure called '%s' "
			       "was measured", d->counts->profile.file.name,
			       word) :
		       err_set(e, ERR_INPUT, "%s: no image called '%s' was "
			       "measured", d->counts->profile.file.name,
			       image);
}

int find_procedure(struct found *out, struct dataset *d, const char *word,
		   const char *image, struct err *e)
{
	struct finder f = {.wanted = proc_query_of(word)};
	bool there = !image, counted;

	for (uint32_t i = 0; i < d->image.n; i++) {
		const struct dataset_image *m = &d->image.at[i];

		if (image && strcmp(image, m->name))
			continue;
		there |= (m->counts && !m->counts->missing) || m->samples;
		consider_counted(&f, d, i);
	}
	for (uint32_t i = 0; !f.any && !f.wanted.is_address &&
	     i < d->image.n; i++)
		if (!image || !strcmp(image, d->image.at[i].name))
			consider_alias(&f, d, i);
	counted = f.any;
	for (uint32_t i = 0; !counted && i < d->image.n; i++)
		if (!image || !strcmp(image, d->image.at[i].name))
			consider_sampled(&f, d, i);
	if (!f.any)
		return none(d, there, word, image, e);
	*out = f.found;
	return 0;
}

int found_become_owner(const struct found *f, const struct dataset *d,
		       struct err *e)
{
	const struct samples_image *m = d->image.at[f->image].samples;

	return m && m->is.kind == IMAGE_FILE ?
		       sandbox_become_owner(m->is.path, e) : 0;
}
