/* mappings: see mappings.h. */
#include "trace/regenerate/mappings.h"

/* is the address between the image's first and last code, old or new? */
static bool holds(const struct replay_base *b, uint64_t address)
{
	return address - b->base - b->image->low <
	       b->image->high - b->image->low;
}

/* can they not be there at the same time? */
static bool overlap(const struct replay_base *a, const struct replay_base *b)
{
	return a->base + a->image->low < b->base + b->image->high &&
	       b->base + b->image->low < a->base + a->image->high;
}

/* it is there, and nothing else where it is */
static void load(struct mappings *m, const struct replay_base *b)
{
	size_t n = 0;

	for (size_t i = 0; i < m->is.n; i++)
		if (!overlap(&m->is.at[i], b))
			m->is.at[n++] = m->is.at[i];
	m->is.n = n;
	vec_push(&m->is, *b);
}

static bool replaces(const struct mappings *m, const struct replay_base *b)
{
	for (size_t i = 0; i < m->is.n; i++)
		if (overlap(&m->is.at[i], b))
			return true;
	for (size_t i = 0; i < m->later.n; i++)
		if (overlap(&m->later.at[i], b))
			return true;
	return false;
}

/* what was loaded where nothing was before is taken for there from the
   beginning on */
static void begin_with_bases(struct mappings *m)
{
	const struct replay_images *x = m->images;

	for (size_t i = 0; i < x->base.n; i++) {
		const struct replay_base *b = &x->base.at[i];

		if (b->process != m->process)
			continue;
		if (replaces(m, b))
			vec_push(&m->later, *b);
		else
			vec_push(&m->is, *b);
	}
	for (size_t i = 0, j = m->later.n; i + 1 < j; i++) {
		struct replay_base b = m->later.at[i];

		m->later.at[i] = m->later.at[--j];
		m->later.at[j] = b;
	}
}

/* where they were when the process was forked, at that time or before it */
static void inherit(struct mappings *m, uint64_t time)
{
	uint32_t parent = images_parent(m->images, m->process);
	struct mappings of;

	if (!parent)
		return;
	mappings_begin(&of, m->images, parent, time, NULL);
	vec_append(&m->is, &of.is);
	mappings_end(&of);
}

void mappings_begin(struct mappings *m, const struct replay_images *images,
		    uint32_t process, uint64_t time,
		    const struct mappings *from)
{
	*m = (struct mappings){.images = images, .process = process};
	if (from)
		vec_append(&m->is, &from->is);
	else
		inherit(m, time);
	begin_with_bases(m);
	mappings_load(m, time);
}

void mappings_end(struct mappings *m)
{
	vec_free(&m->is);
	vec_free(&m->later);
}

void mappings_load(struct mappings *m, uint64_t time)
{
	while (m->later.n && m->later.at[m->later.n - 1].time <= time)
		load(m, &m->later.at[--m->later.n]);
}

void mappings_drop(struct mappings *m, uint64_t base)
{
	size_t n = 0;

	for (size_t i = 0; i < m->is.n; i++)
		if (m->is.at[i].base != base)
			m->is.at[n++] = m->is.at[i];
	m->is.n = n;
}

struct replay_image *mappings_old(const struct mappings *m, uint64_t address,
				  uint64_t *old, uint64_t *base)
{
	for (size_t i = m->is.n; i-- > 0;) {
		const struct replay_base *b = &m->is.at[i];
		struct place_back at;

		if (!holds(b, address))
			continue;
		at = reverse_map_find(&b->image->back, address - b->base);
		if (at.kind == RANGE_NONE)
			continue;
		*old = at.old;
		*base = b->base;
		return b->image;
	}
	return NULL;
}

struct replay_place mappings_place(const struct mappings *m, uint64_t address)
{
	struct replay_place p = {.address = address, .old = true};
	struct replay_image *image;
	uint64_t old, base;

	image = mappings_old(m, address, &old, &base);
	if (image) {
		p = image_place_of(image, old);
		p.base = base;
		return p;
	}
	for (size_t i = m->is.n; i-- > 0;) {
		const struct replay_base *b = &m->is.at[i];

		if (!holds(b, address))
			continue;
		p = image_place_of(b->image, address - b->base);
		p.base = b->base;
		p.old = true;
		if (p.image)
			return p;
	}
	return (struct replay_place){.address = address, .old = true};
}

struct replay_hole mappings_hole(const struct mappings *m, uint64_t address)
{
	struct replay_hole h = {0};

	for (size_t i = m->is.n; i-- > 0 && !h.region;) {
		const struct replay_base *b = &m->is.at[i];

		h.image = b->image;
		h.region = image_hole_at(b->image, address - b->base);
	}
	return h;
}

struct replay_image *mappings_image(const struct mappings *m, uint64_t address,
				    uint64_t *base)
{
	for (size_t i = m->is.n; i-- > 0;)
		if (holds(&m->is.at[i], address)) {
			*base = m->is.at[i].base;
			return m->is.at[i].image;
		}
	return NULL;
}

bool mappings_call(const struct mappings *m, uint64_t address,
		   struct replay_place *p)
{
	uint64_t old = 0, base = 0, call = address - 1;
	struct replay_image *image = mappings_old(m, call, &old, &base);
	bool is;

	if (!image) {
		image = mappings_image(m, call, &base);
		old = call - base;
	}
	if (!image)
		return false;
	is = image_call_of(image, old, p);
	p->base = base;
	return is;
}
