/* find: see find.h. */
#include "report/find.h"

#include "report/wanted.h"

struct finder {
	struct wanted wanted;
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

static bool is_meant(const struct wanted *w, const struct told_image *m,
		     uint32_t p)
{
	if (w->is_address)
		return covers(m->map, p, w->address);
	return !strcmp(legend_symbol(m->legend, p), w->word) ||
	       wanted_is_name(w, legend_procedure(m->legend, p));
}

static void consider(struct finder *f, const struct told *t, uint32_t image,
		     uint32_t p)
{
	const struct told_image *m = &t->image[image];
	uint64_t n;

	if (!is_meant(&f->wanted, m, p))
		return;
	f->found.others += f->any;
	told_instructions(m, p, &n);
	if (f->any && n <= f->most)
		return;
	f->any = true;
	f->most = n;
	f->found.image = image;
	f->found.proc = p;
}

bool find_is(const struct told_image *m, uint32_t p, const char *word)
{
	struct wanted w = wanted_of(word);

	return is_meant(&w, m, p);
}

int find_procedure(struct found *out, const struct told *t, const char *word,
		   const char *image, struct err *e)
{
	struct finder f = {.wanted = wanted_of(word)};
	bool there = !image;

	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct told_image *m = &t->image[i];

		if (m->missing || (image && strcmp(image, m->name)))
			continue;
		there = true;
		for (uint32_t p = 0; p < m->map->proc.n; p++)
			consider(&f, t, i, p);
	}
	if (!there)
		return err_set(e, ERR_INPUT, "%s: no image called '%s' was "
			       "measured", t->profile.file.name, image);
	if (!f.any)
		return err_set(e, ERR_INPUT, "%s: no procedure called '%s' "
			       "was measured", t->profile.file.name, word);
	*out = f.found;
	return 0;
}
