/*
 * sites_make: from insertions to sites (site.h). Each insertion gets a spot;
 * all at one spot, which sorting brings together, are a site. Both are done in
 * threads, for a share of the insertions, and of the spots, each.
 */
#include "rewrite/insert/site.h"

#include "base/parallel.h"
#include "flow/sort.h"

/* fewer insertions are not worth a thread */
enum { SHARE_INSERTIONS = 5000 };

/* an insertion, and the spot that it gets */
struct wanted {
	struct spot spot;
	uint32_t insertion;
};

/*
 * Kinds are sorted one by one: there, keys are addresses or numbers, and the
 * lowest bits tell the order at one place.
 */
enum { KEY_RANK_BITS = 2 };

struct parent {
	struct sites *s;
	const struct survey *v;
	VEC(struct wanted) want;
	VEC(struct sort_item) key[SPOT_KINDS]; /* of each, in that order */
};

/* what is done of it by one */
struct share {
	struct parent *m;
	size_t from, end; /* insertions, or keys of the kind */
	enum spot_kind kind;
	size_t order; /* where insertions of that kind begin in s->order */
	VEC(struct wanted) want;
	VEC(struct sort_item) key[SPOT_KINDS];
	VEC(struct site) site;
	size_t left_out;
	/* the first insertion that cannot be, and why; NULL: all can */
	uint32_t refused;
	const char *why;
};

/* where people look for an insertion */
static uint64_t place_of(const struct cfg *c, const struct insertion *i)
{
	uint64_t b = i->at;

	if (i->place == PLAN_BEFORE || i->place == PLAN_TRAMPOLINE)
		return i->at;
	if (i->place == PLAN_EDGE)
		b = b < c->edge.n ? c->edge.at[b].from : CFG_NONE;
	else if (i->place == PLAN_HUB)
		b = b < c->hub_target.n ? c->hub_target.at[b] : CFG_NONE;
	return b < c->block.n ? c->block.at[b].start : 0;
}

/* what the first share that failed says */
static int refuse(const struct share *all, unsigned n, struct err *e)
{
	for (unsigned t = 0; t < n; t++) {
		const struct parent *m = all[t].m;
		const struct cfg *c = m->v->cfg;
		uint64_t at;

		if (!all[t].why)
			continue;
		at = place_of(c, &m->s->plan->insertion.at[all[t].refused]);
		return err_set(e, ERR_INPUT,
			       "%s: at 0x%llx: no code can be inserted: %s",
			       c->image->path, (unsigned long long)at,
			       all[t].why);
	}
	return 0;
}

/* --- spots */

/* in code that stays in place? */
static bool stays(const struct survey *v, const struct wanted *w)
{
	return w->spot.block < v->cfg->block.n &&
	       !survey_moves(v, w->spot.block);
}

/*
 * At one place edges come last. Code that calls support code comes nearest to
 * the instruction, so that all else before it is done, and nothing yet behind
 * it: a system call may end or fork the process that makes it.
 */
static void add_wanted(struct share *x, const struct wanted *w, bool calls)
{
	bool late = calls == (w->spot.kind == SPOT_BEFORE);
	struct sort_item k = {
		.key = w->spot.at << KEY_RANK_BITS |
		       (uint64_t)(late << 1 | w->spot.on_edge),
		.at = (uint32_t)x->want.n,
	};

	vec_push(&x->want, *w);
	vec_push(&x->key[w->spot.kind], k);
}

static void *want_share(void *share)
{
	struct share *x = share;
	const struct insertion *all = x->m->s->plan->insertion.at;

	for (size_t i = x->from; i < x->end; i++) {
		struct wanted w = {.insertion = (uint32_t)i};
		const char *why = spot_find(x->m->v, &all[i], &w.spot);

		if (!why) {
			add_wanted(x, &w, all[i].calls);
		} else if (stays(x->m->v, &w)) {
			x->left_out++;
		} else {
			x->refused = (uint32_t)i;
			x->why = why;
			return NULL;
		}
	}
	return NULL;
}

/* what a share wants, behind what others do */
static void take_wanted(struct parent *m, struct share *x)
{
	m->s->left_out += x->left_out;
	for (int k = 0; k < SPOT_KINDS; k++) {
		for (size_t i = 0; i < x->key[k].n; i++)
			x->key[k].at[i].at += (uint32_t)m->want.n;
		vec_take(&m->key[k], &x->key[k]);
	}
	vec_take(&m->want, &x->want);
}

static int find_spots(struct parent *m, struct err *e)
{
	size_t all = m->s->plan->insertion.n;
	unsigned n = parallel_count(all, SHARE_INSERTIONS);
	struct share share[PARALLEL_MAX];

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct share){.m = m,
					  .from = parallel_first(all, n, t),
					  .end = parallel_first(all, n, t + 1)};
	parallel_run(want_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		take_wanted(m, &share[t]);
	return refuse(share, n, e);
}

/* --- sites */

static struct need need_of(const struct sites *s, const struct site *x)
{
	struct need all = {0};

	for (uint32_t i = 0; i < x->n; i++)
		need_add(&all, site_insertion(s, x, i));
	return all;
}

static bool same_spot(const struct sort_item *p, const struct sort_item *q)
{
	return p->key >> KEY_RANK_BITS == q->key >> KEY_RANK_BITS;
}

/* all that is wanted at the spot of key i is one site; returns how many */
static size_t make_site(struct share *x, size_t i)
{
	struct sites *s = x->m->s;
	const struct survey *v = x->m->v;
	const struct sort_item *k = &x->m->key[x->kind].at[i];
	const struct wanted *want = x->m->want.at, *w = &want[k->at];
	struct site new = {.at = w->spot.at, .to = w->spot.to,
			   .edge = w->spot.edge,
			   .first = (uint32_t)(x->order + i)};

	for (; i + new.n < x->end && same_spot(k, &k[new.n]); new.n++)
		s->order.at[new.first + new.n] = want[k[new.n].at].insertion;
	new.moved = (uint32_t)(moves_part(&v->moves, v->cfg->block.at
					  [w->spot.block].part) -
			       v->moves.moved.at);
	x->why = site_equip(&new, v, &w->spot, need_of(s, &new));
	x->refused = w->insertion;
	new.size = x->why ? 0 : (uint16_t)site_size(s, &new, v->cfg->isa);
	vec_push(&x->site, new);
	return new.n;
}

static void *make_share(void *share)
{
	struct share *x = share;

	for (size_t i = x->from; i < x->end && !x->why;)
		i += make_site(x, i);
	return NULL;
}

/* where share t of n begins among sorted keys: no spot is in two */
static size_t keys_cut(const struct sort_item *key, size_t all, unsigned t,
		       unsigned n)
{
	size_t i = parallel_first(all, n, t);

	while (i && i < all && same_spot(&key[i - 1], &key[i]))
		i++;
	return i;
}

static void note_stubs(struct sites *s, enum spot_kind kind)
{
	for (size_t i = 0; kind >= SPOT_TAKEN && i < s->at[kind].n; i++) {
		struct stub_site stub = {s->at[kind].at[i].moved, (uint32_t)i,
					 (uint8_t)kind};

		vec_push(&s->stub, stub);
	}
}

static int make_kind(struct parent *m, enum spot_kind kind, size_t order,
		     struct err *e)
{
	size_t all = m->key[kind].n;
	unsigned n = parallel_count(all, SHARE_INSERTIONS);
	struct share share[PARALLEL_MAX];

	sort_items(m->key[kind].at, (uint32_t)all);
	for (unsigned t = 0; t < n; t++)
		share[t] = (struct share){
			.m = m, .kind = kind, .order = order,
			.from = keys_cut(m->key[kind].at, all, t, n),
			.end = keys_cut(m->key[kind].at, all, t + 1, n),
		};
	parallel_run(make_share, share, sizeof *share, n);
	for (unsigned t = 0; t < n; t++)
		vec_take(&m->s->at[kind], &share[t].site);
	note_stubs(m->s, kind);
	return refuse(share, n, e);
}

/* by the part that they are in; they come by kind and number */
static void sort_stubs(struct sites *s)
{
	uint32_t n = (uint32_t)s->stub.n;
	struct stub_site *was = s->stub.at;
	struct sort_item *key = mem_alloc(n * sizeof *key);

	s->stub.at = mem_alloc(n * sizeof *was);
	s->stub.cap = n;
	for (uint32_t i = 0; i < n; i++)
		key[i] = (struct sort_item){was[i].moved, i};
	sort_items(key, n);
	for (uint32_t i = 0; i < n; i++)
		s->stub.at[i] = was[key[i].at];
	mem_free(was);
	mem_free(key);
}

static int make_all(struct parent *m, struct err *e)
{
	size_t order = 0;

	if (find_spots(m, e))
		return -1;
	m->s->order.at = mem_alloc(m->want.n * sizeof *m->s->order.at);
	m->s->order.n = m->s->order.cap = m->want.n;
	for (enum spot_kind k = 0; k < SPOT_KINDS; k++) {
		if (make_kind(m, k, order, e))
			return -1;
		order += m->key[k].n;
	}
	sort_stubs(m->s);
	return 0;
}

/* how to find them, which is asked often */
static void find_bucket_indexes(struct sites *s)
{
	for (int k = 0; k < SPOT_KINDS; k++) {
		const struct site *v = s->at[k].at;
		uint32_t n = (uint32_t)s->at[k].n;

		if (n)
			s->bucket_index[k] =
				bucket_begin(n, v[0].at, v[n - 1].at);
		for (uint32_t i = 0; i < n; i++)
			bucket_add(&s->bucket_index[k], v[i].at);
	}
}

int sites_make(struct sites *s, const struct survey *v,
	       const struct plan *plan, struct err *e)
{
	struct parent m = {.s = s, .v = v};
	int failed;

	*s = (struct sites){.plan = plan};
	if (!plan)
		return 0;
	failed = make_all(&m, e);
	vec_free(&m.want);
	for (int k = 0; k < SPOT_KINDS; k++)
		vec_free(&m.key[k]);
	find_bucket_indexes(s);
	return failed;
}
