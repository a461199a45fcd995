/*
 * profile_pairs_live: pairs as processes leave them (runtime/pairs.c). Objects
 * are known there by half of their identity, and a target may be an address in
 * the new code (tables of labels, rewrite/survey/computed_goto.h): the
 * rewritten file leads back.
 */
#include <inttypes.h>

#include "count/profile/embedded.h"
#include "count/profile/profile_int.h"
#include "count/profile/thread_exits.h"
#include "rewrite/output/reverse_map.h"

enum { PAIRS_STEP = 4096 }; /* pairs read at once */

struct reader {
	struct profile *p;
	struct reverse_map *back; /* by image */
	bool *asked;	       /* the way back was looked for */
	uint32_t process;
};

/* the original's address for one that may be in its new code */
static uint64_t original(struct reader *r, uint32_t image, uint64_t at)
{
	struct reverse_map *back = &r->back[image];
	struct place_back there;
	struct err e;

	if (!r->asked[image]) {
		size_t size;
		uint8_t *bytes = embedded_read(r->p->image.at[image].file,
					       REVERSE_MAP_SECTION, &size, &e);

		if (bytes)
			reverse_map_read(back, bytes, size);
		mem_free(bytes);
		r->asked[image] = true;
	}
	there = reverse_map_find(back, at);
	return there.kind == RANGE_NONE ? at : there.old;
}

static int add_pair(struct reader *r, const struct pair *x, uint64_t at,
		    struct err *e)
{
	struct profile *p = r->p;
	struct profile_pair y = {.site = x->site, .process = r->process,
				 .count = x->count,
				 .image = profile_image_by_half(p, x->image),
				 .to_image = PROFILE_ELSEWHERE};
	const struct map *m;

	/* of an image that left no counters, or no map, nothing is reported */
	if (y.image == PROFILE_ELSEWHERE)
		return 0;
	if (profile_unpack(p, y.image, e))
		return -1;
	if (p->image.at[y.image].missing)
		return 0;
	m = &p->image.at[y.image].map;
	if (y.site >= m->site.n || !m->site.at[y.site].pairs)
		return err_at(e, p->file.name, at, "a pair of site %" PRIu32
			      " of %s, which is none", y.site, m->path);
	if (x->to_image || x->to)
		y.to_image = profile_image_by_half(p, x->to_image);
	if (y.to_image != PROFILE_ELSEWHERE)
		y.to = original(r, y.to_image, x->to);
	vec_push(&p->pair, y);
	return 0;
}

static int add_pairs(struct reader *r, uint64_t at, uint64_t n, struct err *e)
{
	struct pair *step = NEW_ARRAY(struct pair, PAIRS_STEP);
	int status = 0;

	for (uint64_t i = 0; !status && i < n; i += PAIRS_STEP) {
		uint64_t k = n - i < PAIRS_STEP ? n - i : PAIRS_STEP;

		status = file_read(&r->p->file, at + i * sizeof *step, step,
				   k * sizeof *step, e);
		while (!status && k-- > 0)
			if (step[k].state == PAIR_READY && step[k].count)
				status = add_pair(r, &step[k], at, e);
	}
	mem_free(step);
	return status;
}

static int add_chunk(struct reader *r, uint64_t at, struct err *e)
{
	const struct profile *p = r->p;
	struct chunk_pairs c;

	if (file_read(&p->file, at, &c, sizeof c, e))
		return -1;
	if (c.npair > (c.chunk.size - sizeof c) / sizeof(struct pair))
		return err_at(e, p->file.name, at, "%" PRIu64 " pairs do not "
			      "fit into a chunk of %" PRIu64 " bytes", c.npair,
			      c.chunk.size);
	r->process = c.chunk.process;
	if (!profile_has_process(p, r->process))
		return 0; /* it did not live to count anything */
	return add_pairs(r, at + sizeof c, c.npair, e);
}

int profile_live_pairs(struct profile *p, struct err *e)
{
	struct reader r = {
		.p = p,
		.back = NEW_ARRAY(struct reverse_map, p->image.n),
		.asked = NEW_ARRAY(bool, p->image.n),
	};
	int status = 0;

	for (size_t i = 0; !status && i < p->pair_chunk.n; i++)
		status = add_chunk(&r, p->pair_chunk.at[i], e);
	for (size_t i = 0; i < p->image.n; i++)
		reverse_map_free(&r.back[i]);
	mem_free(r.back);
	mem_free(r.asked);
	return status;
}

/*
 * profile_exits: where threads ended, as processes said it in a live profile,
 * becomes what that means for each image (thread_exits.h). What cannot be
 * understood makes the profile say so.
 */

static void add(struct profile *p, uint32_t process, uint32_t image,
		const struct exits *x)
{
	for (size_t i = 0; i < x->endings.v.n; i++) {
		struct profile_end e = {process, image, x->endings.v.at[i]};

		vec_push(&p->end, e);
	}
	for (size_t i = 0; i < x->correction.n; i++) {
		struct profile_correction c = {
			process, image, x->correction.at[i].counter,
			x->correction.at[i].add,
		};

		vec_push(&p->correction, c);
	}
	if (x->lost)
		p->header.trouble |= TROUBLE_LOST;
}

/* where a thread with running counters was */
static void add_stopped(struct profile *p, const struct profile_said *said,
			uint32_t image, const struct exits *x)
{
	struct profile_stopped s = {
		.process = said->process,
		.image = image,
		.address = x->old,
		.count = said->end.count,
		.add = arena_copy(&p->arena, x->running,
				  p->nevent * sizeof *x->running),
	};

	if (x->lost)
		p->header.trouble |= TROUBLE_LOST;
	else
		vec_push(&p->stopped, s);
}

/* all that was said of one image */
static void understand_image(struct profile *p, uint32_t image)
{
	const struct profile_image *m = &p->image.at[image];
	struct exits_reader *r = NULL;
	struct err e;

	for (size_t i = 0; !m->missing && i < p->said.n; i++) {
		const struct profile_said *s = &p->said.at[i];
		struct exits x;

		if (memcmp(s->end.id, m->id, PROFILE_ID))
			continue;
		if (profile_unpack(p, image, &e) || m->missing)
			break;
		if (!r)
			r = exits_open(&m->map, m->file, &e);
		if (!r) {
			p->header.trouble |= TROUBLE_LOST;
			return;
		}
		exits_read(r, &s->end, &x);
		if (m->map.placement == PLACE_RUNNING)
			add_stopped(p, s, image, &x);
		else
			add(p, s->process, image, &x);
		exits_free(&x);
	}
	if (r)
		exits_close(r);
}

void profile_understand(struct profile *p)
{
	for (uint32_t i = 0; p->said.n && i < p->image.n; i++)
		understand_image(p, i);
}
