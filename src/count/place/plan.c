/* plan: see plan.h. */
#include "count/place/plan.h"

#include <elf.h>
#include <inttypes.h>

#include "abi/hash.h"
#include "base/bisect.h"
#include "base/debug.h"
#include "base/parallel.h"
#include "count/place/placing.h"
#include "count/place/returning.h"
#include "isa/move.h"

enum {
	/* from more text than this, code hardly reaches room behind it */
	NEAR_TEXT = 56 << 20,
	/* fewer are not worth a thread */
	SHARE_BLOCKS = 10000,
};

/* --- the code */

static unsigned plan_size(void *ctx, const struct insertion *i,
			  const struct scratch *s)
{
	return counter_code_size(&((struct count_plan *)ctx)->code, i, s);
}

static bool plan_write(void *ctx, const struct insertion *i,
		       const struct scratch *s, uint64_t addr,
		       const struct plan_bases *bases, uint8_t *out)
{
	return counter_code_write(&((struct count_plan *)ctx)->code, i, s,
				  addr, bases, out);
}

static void plan_constants(void *ctx, const struct plan_bases *bases,
			   uint8_t *out)
{
	struct count_plan *n = ctx;

	counter_code_constants(&n->code, bases, out);
	if (n->callee.n)
		memcpy(out + n->callee.offset, n->callee.at,
		       n->callee.n * sizeof *n->callee.at);
}

static bool plan_support(void *ctx, const struct plan_bases *bases,
			 uint8_t *out)
{
	const struct count_plan *n = ctx;

	return routines_write(n->routines, bases,
			      n->code.counters - n->code.isa->page,
			      n->code.isa->page, out);
}

/* code that inserted code calls, and what call sites call */
static void plan_routines(struct count_plan *n)
{
	struct plan *p = &n->plan;

	if (!n->routines)
		return;
	p->support_size = (uint32_t)n->routines->size;
	p->support = plan_support;
	n->callee.offset = (uint32_t)p->constant_size;
	p->constant_size += n->callee.n * sizeof *n->callee.at;
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

/* which file it is, and where its counters are, or (`code`) what is added: no
   two maps share it */
static void identify(struct map *m, const struct image *im,
		     const struct counter_code *code)
{
	uint64_t h[2] = {count_file_sum(im), 0};

	m->file_sum = h[0];
	h[0] = hash_bytes(TALLY_VERSION, sizeof TALLY_VERSION, h[0]);
	for (size_t i = 0; i < m->edge.n; i++)
		h[0] = (h[0] ^ m->edge.at[i].counter ^
			(uint64_t)m->edge.at[i].code << 32 ^
			(uint64_t)m->edge.at[i].ncode << 48 ^
			(uint64_t)m->edge.at[i].writes << 56) *
		       UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < m->block.n; i++) {
		h[0] = (h[0] ^ m->block.at[i].counter) *
		       UINT64_C(0x9e3779b97f4a7c15);
		m->moved_bytes += m->block.at[i].size;
	}
	for (size_t i = 0; i < m->site.n; i++)
		h[0] = (h[0] ^ m->site.at[i].pairs) *
		       UINT64_C(0x9e3779b97f4a7c15);
	h[0] = hash_bytes(m->slices.at, m->slices.n, h[0]);
	if (code)
		h[0] ^= code->call.n;
	for (size_t i = 0; code && i < code->add.n; i++) {
		const struct counter_add *a = &code->add.at[i];
		int32_t x[3] = {a->counter, a->constant, a->traps};

		h[0] = hash_bytes(x, sizeof x, h[0]);
	}
	h[1] = hash_bytes(h, sizeof h, 2);
	memcpy(m->id, h, sizeof m->id);
}

/* a share of the procedures */
struct share {
	const struct survey *s;
	const struct carriers *t;
	const struct count_options *o;
	const bool *sure;
	uint32_t from, end;
	struct placing placing;
};

static void *place_share(void *arg)
{
	struct share *x = arg;

	placing_make(&x->placing, x->s, x->t, x->o, x->sure, x->from, x->end);
	return NULL;
}

/* where share t of n begins: by address, with about as many blocks each */
static uint32_t procs_cut(const struct cfg *c, unsigned t, unsigned n)
{
	size_t i, block = parallel_first(c->block.n, n, t);

	if (t == n)
		return (uint32_t)c->proc.n;
	bisect(i, c->proc.n,
	       c->proc.at[i].entry < c->block.at[block].start);
	return t ? (uint32_t)i : 0;
}

/* fills *m and all that is numbered as it is; strings of all shares but the
   first stay there */
static void place_all(struct count_plan *n, const struct count_options *o,
		      struct map *m, struct share *share, unsigned shares)
{
	const struct cfg *c = n->survey.cfg;
	const struct insertion code = o->placer ? o->placer->like(c->isa) :
						  counter_insertion(c->isa);
	struct placing *all = &share[0].placing;
	struct carriers carriers;
	/* where a thread ended, the callers of procedures that are sure to
	   come back are found by the link register and frame records
	   (runtime/exits.c) */
	bool *sure = o->after_calls || o->placer || !c->isa->link
			     ? NULL
			     : returning_find(&n->survey);

	carriers_make(&carriers, &n->survey, &code);
	for (unsigned t = 0; t < shares; t++)
		share[t] = (struct share){
			.s = &n->survey, .t = &carriers, .o = o, .sure = sure,
			.from = procs_cut(c, t, shares),
			.end = procs_cut(c, t + 1, shares),
		};
	parallel_run(place_share, share, sizeof *share, shares);
	for (unsigned t = 1; t < shares; t++)
		placing_append(all, &share[t].placing,
			       o->placer ? o->placer->ncounter : 0);
	mem_free(sure);
	carriers_free(&carriers);
	*m = all->map;
	vec_take(&n->plan.insertion, &all->insertion);
	vec_push(&all->first, (uint32_t)all->add.n);
	vec_take(&n->code.first, &all->first);
	vec_take(&n->code.add, &all->add);
	vec_take(&n->code.call, &all->call);
	vec_take(&n->code.calls, &all->calls);
	vec_take(&n->code.append, &all->append);
	vec_take(&n->code.values, &all->values);
	vec_take(&n->code.site_call, &all->site_call);
	vec_take(&n->code.arrival, &all->arrival);
	vec_take(&n->jump, &all->hooked);
	n->takes_slot = all->takes_slot;
	if (o->placer && o->placer->calls)
		call_table_make(&n->callee, m, c, o->placer->nevent,
				o->placer->ncounter, all->unseen.at,
				all->unseen.n);
	vec_free(&all->unseen);
}

/* the map; little of it is kept */
static void make_map(struct count_plan *n, const struct count_options *o)
{
	const struct cfg *c = n->survey.cfg;
	unsigned shares = parallel_count(c->block.n, SHARE_BLOCKS);
	struct share share[PARALLEL_MAX];
	struct map *m = &n->packing.map;

	place_all(n, o, m, share, shares);
	/* one that stays 0: the image is seen to be there, and to be unknown */
	if (!o->only && !n->survey.moves.moved.n && c->text_bytes)
		m->ncounter = 1;
	m->placement = (uint8_t)(o->placer ? o->placer->kind : o->placement);
	m->some = o->only;
	describe_image(m, &n->survey);
	identify(m, c->image, o->placer ? &n->code : NULL);
	memcpy(n->id, m->id, sizeof n->id);
	n->ncounter = m->ncounter;
	for (unsigned t = 1; t < shares; t++)
		n->packing.strings[t] = share[t].placing.map.arena;
	packing_begin(&n->packing, shares > 1);
}

static const uint8_t *map_section(void *ctx, size_t *size)
{
	struct count_plan *n = ctx;

	return packing_bytes(&n->packing, size);
}

void count_plan_make(struct count_plan *n, const struct cfg *c,
		     const struct count_options *o)
{
	*n = (struct count_plan){.code = {
		.isa = c->isa,
		.cfg = c,
		.running = o->placer && o->placer->running,
		.subtract = hooks_subtract(c),
		.for_threads = c->isa->move->add_thread &&
			       (o->for_threads || c->text_bytes > NEAR_TEXT),
	}};
	n->routines = o->placer ? o->placer->routines : NULL;
	survey_make(&n->survey, c);
	make_map(n, o);
	n->plan.survey = &n->survey;
	counter_code_memory(&n->code, n->ncounter, &n->plan);
	plan_routines(n);
	n->plan.section_name = MAP_SECTION;
	n->plan.section = map_section;
	n->plan.reverse_map = true;
	n->plan.ctx = n;
	n->plan.size = plan_size;
	n->plan.write = plan_write;
	n->plan.constants = n->plan.constant_size ? plan_constants : NULL;
	debug(DEBUG_PLACE, "%s: %" PRIu32 " counters at %zu places, for %s",
	      c->image->path, n->ncounter, n->plan.insertion.n,
	      n->code.for_threads ? "threads" :
			       "one thread until there are more");
}

void count_plan_free(struct count_plan *n)
{
	vec_free(&n->plan.insertion);
	counter_code_free(&n->code);
	vec_free(&n->callee);
	packing_free(&n->packing);
	vec_free(&n->jump);
	survey_free(&n->survey);
}

static void *pack(void *arg)
{
	struct packing *p = arg;

	map_pack(&p->map, &p->bytes);
	map_release(&p->map);
	for (unsigned t = 0; t < PARALLEL_MAX; t++)
		arena_free(&p->strings[t]);
	return NULL;
}

void packing_begin(struct packing *p, bool worth)
{
	task_begin(&p->task, pack, p, worth);
}

const uint8_t *packing_bytes(struct packing *p, size_t *size)
{
	task_end(&p->task);
	*size = p->bytes.v.n;
	return p->bytes.v.at;
}

void packing_free(struct packing *p)
{
	task_end(&p->task);
	vec_free(&p->bytes.v);
}
