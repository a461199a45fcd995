/* pieces: see pieces.h. */
#include "trace/regenerate/pieces.h"

#include "base/parallel.h"
#include "trace/regenerate/runs.h"


/* how often control went along an edge */
struct counted {
	uint32_t image, proc, edge;
	uint64_t times;
};

/* struct walk_death, for any walks */
struct counted_death {
	uint32_t image, proc, vertex, insn;
};

struct piece {
	size_t chunk;  /* it begins in that, */
	uint64_t stop; /* and ends as struct walk says */
	uint64_t started, stopped;
	bool strange, lost, broken, unsure;
	VEC(struct counted) edge;
	VEC(struct counted_death) death;
};

struct share {
	const struct trace_file *file;
	const struct trace_thread *thread;
	struct piece *piece;
	size_t n, *next; /* the next one that none has begun */
};

static void piece_clear(struct piece *p)
{
	vec_free(&p->edge);
	vec_free(&p->death);
}

/* --- one piece */

static uint32_t number_of(const struct replay_image *m,
			  const struct proc_plan *k)
{
	return (uint32_t)(k->p - m->map.proc.at);
}

/* moves what was counted in a procedure */
static void take_proc(struct piece *p, const struct replay_image *m,
		      struct proc_plan *k)
{
	struct counted c = {.image = m->number, .proc = number_of(m, k)};

	runs_add_up(k);
	for (c.edge = 0; c.edge < k->p->nedge; c.edge++) {
		c.times = k->ran[c.edge];
		k->ran[c.edge] = 0;
		if (c.times)
			vec_push(&p->edge, c);
	}
}

static void take_counts(struct piece *p, const struct walks *x,
			const struct walk_counts *c)
{
	for (size_t i = 0; i < x->images.image.n; i++) {
		const struct replay_image *m = x->images.image.at[i];

		for (size_t k = 0; k < m->map.proc.n; k++)
			if (m->plan[k])
				take_proc(p, m, m->plan[k]);
	}
	for (size_t i = 0; i < c->death.n; i++) {
		const struct walk_death *d = &c->death.at[i];

		vec_push(&p->death, ((struct counted_death){
					    d->image->number,
					    number_of(d->image, d->plan),
					    d->vertex, d->insn}));
	}
	p->unsure = c->unsure;
}

static void walk_piece(struct walks *x, const struct trace_thread *t,
		       struct piece *p)
{
	struct walk_counts c = {0};
	const struct walk_step *s;
	struct walk w;

	walk_begin_piece(&w, x, t, p->chunk);
	w.counts = &c;
	w.stop = p->stop;
	do {
		s = walk_next(&w);
		p->lost |= s->kind == WALK_LOST;
	} while (s->kind != WALK_END);
	p->started = w.started;
	p->stopped = w.stopped;
	/* it was lost until it began */
	p->lost &= !p->chunk;
	p->strange = w.strange;
	p->broken = w.stream.broken;
	walk_end(&w);
	take_counts(p, x, &c);
	vec_free(&c.death);
}

/* --- all */

static void *work(void *arg)
{
	struct share *s = arg;
	struct walks x;
	struct err e;
	size_t i;

	/* images and plans of its own: the pieces of others count in theirs */
	if (walks_open(&x, s->file, &e))
		return NULL;
	while ((i = __atomic_fetch_add(s->next, 1, __ATOMIC_RELAXED)) < s->n)
		walk_piece(&x, s->thread, &s->piece[i]);
	walks_close(&x);
	return NULL;
}

static void walk_all(const struct share *all, unsigned n)
{
	struct share share[PARALLEL_MAX];

	for (unsigned i = 0; i < n; i++)
		share[i] = *all;
	parallel_run(work, share, sizeof *share, n);
}

/* does a piece begin where the one before it ends, and know enough? */
static bool follows(const struct piece *before, const struct piece *p)
{
	return before->stopped != WALK_NEVER && before->stopped == p->started &&
	       !p->strange && !p->broken;
}

/* the rest of the thread, from where a piece begins */
static void walk_rest(const struct share *s, struct piece *p)
{
	size_t next = 0;
	struct share rest = *s;

	piece_clear(p);
	*p = (struct piece){.chunk = p->chunk, .stop = WALK_NEVER,
			    .broken = true};
	rest.piece = p;
	rest.n = 1;
	rest.next = &next;
	work(&rest);
}

static void add(struct walks *to, struct walk_counts *c,
		const struct piece *p)
{
	struct replay_image *const *image = to->images.image.at;

	for (size_t i = 0; i < p->edge.n; i++) {
		const struct counted *e = &p->edge.at[i];

		image_plan(image[e->image], e->proc)->ran[e->edge] += e->times;
	}
	for (size_t i = 0; i < p->death.n; i++) {
		const struct counted_death *d = &p->death.at[i];
		struct replay_image *m = image[d->image];

		vec_push(&c->death, ((struct walk_death){
					    m, image_plan(m, d->proc),
					    d->vertex, d->insn}));
	}
	c->unsure |= p->unsure;
}

/* how many pieces there are, at equal distances */
static size_t divide(struct pieces *k, const struct trace_thread *t,
		     struct piece **to)
{
	size_t n = t->nchunk / (k->chunks ? k->chunks : 1);
	struct piece *p;

	n = n < k->most ? n : k->most;
	p = *to = NEW_ARRAY(struct piece, n + 1);
	for (size_t i = 0; i < n; i++)
		p[i] = (struct piece){.chunk = t->nchunk * i / n,
				      .stop = WALK_NEVER,
				      .started = WALK_NEVER,
				      .stopped = WALK_NEVER,
				      .broken = true};
	for (size_t i = 0; i + 1 < n; i++)
		p[i].stop = t->chunk[p[i + 1].chunk].block.first;
	return n;
}

/* how many agree, the last of which goes up to the end of the thread. Those
   that no state is in are nothing */
static size_t settle(const struct share *s, struct piece *p, size_t n)
{
	size_t i, last = 0;

	for (i = 1; i < n; i++) {
		if (p[i].started == WALK_NEVER && !p[i].broken)
			continue;
		if (!follows(&p[last], &p[i]))
			break;
		last = i;
	}
	if (i == n && p[last].stop == WALK_NEVER)
		return n;
	walk_rest(s, &p[last]);
	if (!last || !p[last].strange)
		return last + 1;
	walk_rest(s, &p[0]);
	return 1;
}

/* of n pieces, those that agree count */
static void conclude(struct pieces *k, struct share *s, struct walks *to,
		     struct walk_counts *c)
{
	for (size_t i = 0; i < s->n; i++) {
		struct piece *p = &s->piece[i];

		if (i < k->agreed) {
			add(to, c, p);
			k->lost |= p->lost;
			k->broken |= p->broken;
		}
		piece_clear(p);
	}
	mem_free(s->piece);
}

bool pieces_count(struct pieces *k, struct walks *to,
		  const struct trace_thread *t, struct walk_counts *c)
{
	size_t next = 0;
	struct share s = {.file = to->file, .thread = t, .next = &next};

	/* what a forked process begins with only its parent's walk knows */
	if (t->first || images_parent(&to->images, t->process))
		return false;
	k->n = s.n = divide(k, t, &s.piece);
	if (s.n < 2) {
		mem_free(s.piece);
		return false;
	}
	walk_all(&s, parallel_count(t->nchunk, k->chunks));
	k->agreed = settle(&s, s.piece, s.n);
	conclude(k, &s, to, c);
	return true;
}
