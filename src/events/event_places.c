/* event_places: see event_places.h. */
#include "events/event_places.h"

#include "count/place/plan.h"
#include "count/profile/thread_exits.h"
#include "events/heights.h"

/* an image, once a thread was seen in it */
struct place_image {
	struct exits_reader *exits;
	struct image original;
	struct image_events events;
	struct heights *heights;
	bool open, failed;
};

struct event_places {
	const struct profile *p;
	const struct event_list *list;
	struct place_image *image; /* as the profile's */
};

struct event_places *event_places_open(const struct profile *p,
				       const struct event_list *list)
{
	struct event_places *x = NEW_ARRAY(struct event_places, 1);

	*x = (struct event_places){
		p, list, NEW_ARRAY(struct place_image, p->image.n + 1)};
	return x;
}

void event_places_close(struct event_places *x)
{
	for (size_t i = 0; i < x->p->image.n; i++) {
		struct place_image *m = &x->image[i];

		if (!m->open)
			continue;
		exits_close(m->exits);
		heights_close(m->heights);
		image_events_free(&m->events);
		image_close(&m->original);
	}
	mem_free(x->image);
	mem_free(x);
}

/* the original must be what was rewritten */
static bool open_image(struct place_image *m, const struct profile_image *p,
		       const struct event_list *list)
{
	struct err e;

	m->exits = exits_open(&p->map, p->file, &e);
	if (!m->exits)
		return false;
	if (image_open(&m->original, p->map.path, &e)) {
		exits_close(m->exits);
		return false;
	}
	if (count_file_sum(&m->original) != p->map.file_sum) {
		image_close(&m->original);
		exits_close(m->exits);
		return false;
	}
	image_events_begin(&m->events, &m->original, list);
	m->heights = heights_open(&p->map, &m->events);
	return true;
}

/* the image of that identity, or NULL: it cannot be read */
static struct place_image *image_of(struct event_places *x, const uint8_t *id,
				    const struct map **map)
{
	struct place_image *m;
	uint32_t i;

	if (!profile_find_image(x->p, id, &i))
		return NULL;
	m = &x->image[i];
	*map = &x->p->image.at[i].map;
	if (!m->open && !m->failed)
		m->open = open_image(m, &x->p->image.at[i], x->list);
	m->failed = !m->open;
	return m->open ? m : NULL;
}

/* of the instructions from `from` on, `more` of the event before `to`? */
static bool happens(const struct image_events *x, uint64_t from, uint64_t to,
		    unsigned event, uint64_t more)
{
	uint32_t n[EVENTS_MAX];
	uint64_t sum = 0;
	unsigned len;

	for (; from < to; from += len) {
		len = image_events_insn(x, from, n);
		if (!len || n[event] == EVENT_VARIES)
			return false;
		sum += n[event];
	}
	return from == to && sum == more;
}

uint64_t event_places_back(struct event_places *x,
			   const struct process_end *end,
			   const struct event_place *p, unsigned event,
			   uint64_t more)
{
	enum { FAR = 64 }; /* bytes */
	const struct map *map;
	struct place_image *m = image_of(x, end->id, &map);
	const struct isa *isa = m ? m->events.isa : NULL;

	for (uint64_t back = isa ? isa->align : FAR + 1;
	     back <= FAR && back <= p->old; back += isa->align)
		if (happens(&m->events, p->old - back, p->old, event, more))
			return p->old - back;
	return 0;
}

bool event_places_find(struct event_places *x, const struct process_end *end,
		       struct event_place *p)
{
	struct place_image *m = image_of(x, end->id, &p->map);
	struct exits found;
	bool known;

	if (!m)
		return false;
	exits_read(m->exits, end, &found);
	known = !found.lost && heights_at(m->heights, found.old, p->add);
	for (unsigned i = 0; known && i < x->list->n; i++)
		p->add[i] += found.running[i];
	p->old = found.old;
	p->here = found.here;
	exits_free(&found);
	return known;
}
