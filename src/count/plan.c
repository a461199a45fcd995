/* plan: see plan.h. */
#include "count/plan.h"

#include <elf.h>
#include <stdio.h>

#include "count/draw.h"
#include "count/map_graph.h"
#include "count/places.h"
#include "count/sure.h"
#include "count/weigh.h"
#include "isa/move.h"
#include "runtime/hash.h"

enum {
	COUNTER_SIZE = 8,
	/* from more text than this, code hardly reaches room behind it */
	NEAR_TEXT = 56 << 20,
};

/* --- the code */

static unsigned counter_size(void *ctx, const struct insertion *i,
			     const struct scratch *s)
{
	const struct count_plan *n = ctx;
	const struct isa_move *move = n->survey.cfg->isa->move;

	(void)i;
	return n->for_threads ? move->count_thread_size :
				move->count_needs[s->keep].size;
}

static bool counter_write(void *ctx, const struct insertion *i,
			  const struct scratch *s, uint64_t addr,
			  const struct plan_bases *bases, uint8_t *out)
{
	struct count_plan *n = ctx;
	const struct isa_move *move = n->survey.cfg->isa->move;
	uint64_t counter = bases->data + n->counters +
			   (uint64_t)COUNTER_SIZE * n->counter.at[i->code];

	n->site.at[i->code] = addr;
	if (n->for_threads)
		return move->count_thread(addr, counter, s->reg, n->subtract,
					  out);
	return move->count(s->keep ? COUNT_KEEPS : COUNT_SPOILS, addr, counter,
			   s->reg, out);
}

/* the list of places; their room is in the same order, and so as far away */
static void write_sites(void *ctx, const struct plan_bases *bases,
			uint8_t *out)
{
	struct count_plan *n = ctx;
	const struct isa_move *move = n->survey.cfg->isa->move;

	for (size_t i = 0; i < n->site.n; i++) {
		int32_t d = (int32_t)(n->site.at[i] - bases->constants);
		uint64_t end = bases->data + (i + 1) * move->thread_room;

		memcpy(out + sizeof d * i, &d, sizeof d);
		n->too_far |= move->thread_room &&
			      end - n->site.at[i] > move->jump_reach;
	}
}

/* --- where */

static void insert(struct count_plan *n, const struct way *w, uint32_t counter)
{
	for (unsigned k = 0; k < w->n; k++) {
		struct insertion i = counter_insertion(n->survey.cfg->isa);

		i.at = w->at[k];
		i.place = w->place[k];
		i.code = (uint32_t)n->counter.n;
		vec_push(&n->plan.insertion, i);
		vec_push(&n->counter, counter);
		vec_push(&n->site, 0);
	}
}

/* the counter of an edge, or a block, of the procedure */
static void add_counter(struct count_plan *n, const struct drawing *d,
			const struct map_proc *p, enum place_kind kind,
			uint32_t at)
{
	uint32_t counter = n->map.ncounter++;
	struct way before = {.n = 1, .place = {PLAN_BEFORE}};

	if (!place_on_vertices(kind)) {
		n->map.edge.at[p->edge + at].counter = counter;
		insert(n, &d->way.at[p->edge + at], counter);
		return;
	}
	n->map.block.at[p->block + at].counter = counter;
	before.at[0] = n->map.block.at[p->block + at].start;
	insert(n, &before, counter);
}

static void place_procedure(struct count_plan *n, const struct drawing *d,
			    const struct count_options *o, uint32_t number)
{
	const struct map_proc *p = &n->map.proc.at[number];
	struct arena a = {0};
	struct placement placed;
	struct weights w;
	struct graph g;

	map_graph(&a, &n->map, p, &g);
	if (!weigh_measured(&a, &n->map, p, &g, o->feedback, &w))
		weigh_guess(&a, &n->map, p, &g, &w);
	places_price(d, p, &w);
	places_choose(&a, d, p, &g, &w, o->placement, &placed);
	for (uint32_t i = 0; i < placed.n; i++)
		add_counter(n, d, p, o->placement, placed.at[i]);
	arena_free(&a);
}

/* --- the map */

static void describe_image(struct map *m, const struct survey *s)
{
	const struct image *im = s->cfg->image;
	const struct isa *isa = s->cfg->isa;

	m->path = arena_string(&m->arena, im->path, strlen(im->path));
	m->build_id_len = im->build_id_len < sizeof m->build_id ?
				  (uint32_t)im->build_id_len :
				  sizeof m->build_id;
	memcpy(m->build_id, im->build_id, m->build_id_len);
	m->machine = isa->elf_machine;
	m->insn_size = isa->align == isa->max_len ? isa->align : 0;
	m->text_bytes = s->cfg->text_bytes;
	for (size_t i = 0; i < s->in_place.n; i++) {
		const struct region *r = &s->in_place.at[i];
		struct map_region x = {.start = r->start, .end = r->end};

		x.reason = arena_string(&m->arena, r->reason,
					strlen(r->reason));
		vec_push(&m->in_place, x);
	}
}

uint64_t count_file_sum(const struct image *im)
{
	return hash_bytes(im->bytes, im->size, 1);
}

/* which file it is, and where its counters are: no two maps share it */
static void identify(struct map *m, const struct image *im)
{
	uint64_t h[2] = {count_file_sum(im), 0};

	m->file_sum = h[0];
	h[0] = hash_bytes(TALLY_VERSION, sizeof TALLY_VERSION, h[0]);
	for (size_t i = 0; i < m->edge.n; i++)
		h[0] = (h[0] ^ m->edge.at[i].counter) *
		       UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < m->block.n; i++) {
		h[0] = (h[0] ^ m->block.at[i].counter) *
		       UINT64_C(0x9e3779b97f4a7c15);
		m->moved_bytes += m->block.at[i].size;
	}
	for (size_t i = 0; i < m->site.n; i++)
		h[0] = (h[0] ^ m->site.at[i].pairs) *
		       UINT64_C(0x9e3779b97f4a7c15);
	h[1] = hash_bytes(h, sizeof h, 2);
	memcpy(m->id, h, sizeof m->id);
}

/* the list has that word */
static bool list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (!strncmp(list, word, n) && (!list[n] || list[n] == ','))
			return true;
	return false;
}

/* is procedure p to be counted? */
static bool is_wanted(const struct cfg *c, uint32_t p, const char *only)
{
	const struct procedure *q = &c->proc.at[p];
	char name[32], addr[32];

	if (!only)
		return true;
	snprintf(addr, sizeof addr, "0x%llx", (unsigned long long)q->entry);
	return list_has(only, addr) ||
	       list_has(only, cfg_proc_name(c, p, name, sizeof name));
}

/* counters, and room for what they become when there are threads */
static void plan_memory(struct count_plan *n)
{
	const struct isa *isa = n->survey.cfg->isa;
	uint64_t counters = (uint64_t)COUNTER_SIZE * n->map.ncounter;

	n->plan.data_size = counters;
	n->plan.data_align = isa->page;
	if (n->for_threads)
		return;
	n->counters = isa->move->thread_room * n->plan.insertion.n;
	n->counters = (n->counters + isa->page - 1) / isa->page * isa->page;
	n->plan.data_size = n->counters + counters;
	n->plan.constant_size = sizeof(int32_t) * n->plan.insertion.n;
	n->plan.constants = write_sites;
}

void count_plan_make(struct count_plan *n, const struct cfg *c,
		     const struct count_options *o)
{
	struct drawing d;
	bool *sure;

	*n = (struct count_plan){
		.subtract = c->image->type == ET_EXEC,
		.for_threads = c->isa->move->count_thread &&
			       (o->for_threads || c->text_bytes > NEAR_TEXT),
	};
	survey_make(&n->survey, c);
	n->map.placement = (uint8_t)o->placement;
	describe_image(&n->map, &n->survey);
	drawing_begin(&d, &n->survey, &n->map);
	d.pairs = o->pairs;
	/* where a thread ended, the callers of who is sure to come back are
	   found by the link register and frame records (runtime/ends.c) */
	d.sure = sure = o->after_calls || !c->isa->link ?
				NULL : sure_find(&n->survey);
	for (uint32_t p = 0; p < c->proc.n; p++) {
		if (!is_wanted(c, p, o->only))
			continue;
		if (draw_procedure(&d, p))
			place_procedure(n, &d, o,
					(uint32_t)n->map.proc.n - 1);
		else
			draw_stub(&d, p);
	}
	vec_append(&n->jump, &d.told);
	n->takes_slot = d.takes_slot;
	drawing_free(&d);
	mem_free(sure);
	identify(&n->map, c->image);
	map_pack(&n->map, &n->packed);
	map_release(&n->map);
	n->plan.survey = &n->survey;
	plan_memory(n);
	n->plan.section_name = MAP_SECTION;
	n->plan.section = n->packed.v.at;
	n->plan.section_size = n->packed.v.n;
	n->plan.way_back = true;
	n->plan.ctx = n;
	n->plan.size = counter_size;
	n->plan.write = counter_write;
}

void count_plan_free(struct count_plan *n)
{
	vec_free(&n->plan.insertion);
	vec_free(&n->counter);
	vec_free(&n->site);
	vec_free(&n->packed.v);
	vec_free(&n->jump);
	survey_free(&n->survey);
}
