/* run_calls: see run_calls.h. */
#include "profile/run_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "count/map/map_calls.h"

const char *call_kind_name(unsigned kind)
{
	static const char *const names[] = {
		[CALL_DIRECT] = "call",
		[CALL_INDIRECT] = "indirect-call",
		[CALL_JUMP] = "jump",
		[CALL_INDIRECT_JUMP] = "indirect-jump",
		[CALL_OUTSIDE] = "outside",
		[CALL_SIGNAL] = "signal",
	};

	return names[kind];
}

/* --- numbers of counters become places */

/* of an image of the profile: where the words of its procedures begin */
struct image_words {
	uint32_t number; /* of the image, in counts.image */
	uint32_t *first; /* by procedure, and the end; NULL: not known yet */
};

struct finder {
	struct run_calls *r;
	struct image_words *image; /* by image of the profile */
	struct map_inside in;
};

static const struct map *map_of(const struct finder *f, uint32_t image)
{
	return &f->r->t->profile.image.at[image].map;
}

static void find_words(struct finder *f, uint32_t image)
{
	struct image_words *w = &f->image[image];
	const struct map *m = map_of(f, image);
	uint32_t word = f->r->list.n + 1;

	if (w->first)
		return;
	w->first = ARENA_ARRAY(&f->r->arena, uint32_t, m->proc.n + 1);
	for (uint32_t i = 0; i < m->proc.n; i++) {
		w->first[i] = word;
		word += map_calls_words(m, i, f->r->list.n, &f->in);
	}
	w->first[m->proc.n] = word;
}

/* the procedure that has the word; CALL_NONE: none has */
static uint32_t proc_of(struct finder *f, uint32_t image, uint32_t word)
{
	const struct map *m = map_of(f, image);
	const uint32_t *first;
	size_t i;

	find_words(f, image);
	first = f->image[image].first;
	/* stubs have none: the last one that begins there */
	bisect(i, m->proc.n, first[i] <= word);
	return i && word < first[m->proc.n] ? (uint32_t)i - 1 : CALL_NONE;
}

/* a record of procedure x->proc: which call it is; false: of none */
static bool find_site(struct finder *f, uint32_t image, uint32_t word,
		      struct run_call *x)
{
	const struct map *m = map_of(f, image);
	const struct map_proc *p = &m->proc.at[x->proc];
	uint32_t size = call_record_words(f->r->list.n);
	uint32_t at = f->image[image].first[x->proc] + 1;

	if (word == at) {
		x->kind = CALL_OUTSIDE;
		x->image = x->proc = CALL_NONE;
		return true;
	}
	map_look(m, (uint32_t)(p - m->proc.at), &f->in);
	for (uint32_t i = 0; i < p->nedge; i++) {
		const struct map_edge *d = &f->in.edge[i];

		if (!map_edge_calls(p, d) || (at += size) != word)
			continue;
		x->kind = d->kind == MAP_TAIL ?
				  (d->callee ? CALL_JUMP : CALL_INDIRECT_JUMP) :
				  (d->callee ? CALL_DIRECT : CALL_INDIRECT);
		x->addr = map_block_last(m, &f->in.block[d->from]);
		x->to = d->callee;
		return true;
	}
	return false;
}

/* a stub's name without what says that it is one; or a symbol's */
static const char *uncounted_name(struct finder *f, uint32_t image,
				  const struct run_call *x)
{
	const struct map *m = map_of(f, image);
	uint32_t p = map_proc_at(m, x->to);
	struct symbolizer *g = f->r->t->image[x->image].symbolizer;
	const struct name *n = NULL;

	if (p != MAP_NONE && m->proc.at[p].name)
		return arena_string(&f->r->arena, m->proc.at[p].name,
				    strcspn(m->proc.at[p].name, "@"));
	if (symbolizer_open(g))
		n = names_find(&g->names, x->to);
	return n ? n->symbol : NULL;
}

/* what is called, where the runtime does not know */
static void find_uncounted(struct finder *f, const struct profile_call *c,
			   struct run_call *x)
{
	x->to_image = x->to_proc = CALL_NONE;
	x->outermost_known = false;
	if (!x->to || c->image == PROFILE_ELSEWHERE)
		return;
	x->to_name = uncounted_name(f, c->image, x);
}

static bool find_call(struct finder *f, const struct profile_call *c,
		      struct run_call *x)
{
	*x = (struct run_call){
		.calls = c->calls,
		.known = !(c->unknown & CALLS_UNKNOWN),
		.outermost_known = !c->unknown,
		.value = c->value,
		.image = CALL_NONE,
		.proc = CALL_NONE,
	};
	if (c->image == PROFILE_ELSEWHERE) {
		x->kind = CALL_SIGNAL;
		x->signal = (uint8_t)c->site;
	} else {
		x->proc = proc_of(f, c->image, c->site);
		x->image = f->image[c->image].number;
		if (x->proc == CALL_NONE || !find_site(f, c->image, c->site, x))
			return false;
	}
	if (c->to_image == PROFILE_ELSEWHERE) {
		find_uncounted(f, c, x);
		return true;
	}
	x->to_image = f->image[c->to_image].number;
	x->to_proc = proc_of(f, c->to_image, c->to_word);
	if (x->to_proc == CALL_NONE)
		return false;
	x->to = map_of(f, c->to_image)->proc.at[x->to_proc].entry;
	return true;
}

/* --- all of them */

static int by_place(const void *a, const void *b)
{
	const struct run_call *x = a, *y = b;
	const uint64_t k[][2] = {
		{x->image, y->image},	    {x->addr, y->addr},
		{x->kind, y->kind},	    {x->signal, y->signal},
		{x->to_image, y->to_image}, {x->to, y->to},
	};

	for (unsigned i = 0; i < sizeof k / sizeof *k; i++)
		if (k[i][0] != k[i][1])
			return k[i][0] < k[i][1] ? -1 : 1;
	return 0;
}

/* adds up what several processes have; requires: profile_check_calls() */
static void add_up(struct run_calls *r)
{
	unsigned nvalue = 2 * r->list.n;
	size_t n = 0;

	if (r->call.n)
		qsort(r->call.at, r->call.n, sizeof *r->call.at, by_place);
	for (size_t i = 0; i < r->call.n; i++) {
		struct run_call *x = &r->call.at[i], *last;
		uint64_t *sum;

		last = n ? &r->call.at[n - 1] : NULL;
		if (!last || by_place(last, x)) {
			r->call.at[n++] = *x;
			continue;
		}
		sum = ARENA_ARRAY(&r->arena, uint64_t, nvalue);
		for (unsigned k = 0; k < nvalue; k++)
			sum[k] = last->value[k] + x->value[k];
		last->value = sum;
		last->calls += x->calls;
		last->known &= x->known;
		last->outermost_known &= x->outermost_known;
	}
	r->call.n = n;
}

/* a child's calls may be its parent's, and cost something all the same */
static bool is_used(const struct run_call *x, unsigned nevent)
{
	bool used = x->calls;

	for (unsigned i = 0; i < 2 * nevent; i++)
		used |= x->value[i] != 0;
	return used;
}

int run_calls_make(struct run_calls *r, const struct counts *t, struct err *e)
{
	const struct profile *p = &t->profile;
	struct finder f = {.r = r};
	int status = 0;

	*r = (struct run_calls){.t = t};
	if (profile_check_calls(p, e))
		return -1;
	if (event_list_of_profile(&r->list, p->options, e)) {
		event_list_free(&r->list);
		return -1;
	}
	if (r->list.n != p->nevent)
		status = err_set(e, ERR_INPUT, "%s: calls of %" PRIu32
				 " events, not of %u", p->file.name, p->nevent,
				 r->list.n);
	f.image = NEW_ARRAY(struct image_words, p->image.n);
	for (uint32_t i = 0; i < t->nimage; i++)
		f.image[t->image[i].image].number = i;
	for (size_t i = 0; !status && i < p->call.n; i++) {
		struct run_call x;

		if (!find_call(&f, &p->call.at[i], &x))
			status = err_set(e, ERR_INPUT, "%s: a call of what is "
					 "none", p->file.name);
		else if (is_used(&x, r->list.n))
			vec_push(&r->call, x);
	}
	map_inside_free(&f.in);
	mem_free(f.image);
	if (status)
		run_calls_free(r);
	else
		add_up(r);
	return status;
}

void run_calls_free(struct run_calls *r)
{
	event_list_free(&r->list);
	vec_free(&r->call);
	arena_free(&r->arena);
}

/* --- names */

const char *run_call_site(struct run_calls *r, const struct run_call *x)
{
	char text[32];

	if (x->kind == CALL_OUTSIDE)
		return "[outside]";
	if (x->kind != CALL_SIGNAL)
		return symbolizer_procedure(r->t->image[x->image].symbolizer,
					    x->proc);
	snprintf(text, sizeof text, "[signal %u]", x->signal);
	return arena_string(&r->arena, text, strlen(text));
}

const char *run_call_callee(struct run_calls *r, const struct run_call *x)
{
	if (x->to_image == CALL_NONE)
		return x->to_name ? x->to_name : "[not counted]";
	return symbolizer_procedure(r->t->image[x->to_image].symbolizer,
				    x->to_proc);
}

/* --- procedures */

static int by_proc(const void *a, const void *b)
{
	const struct run_procedure *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->proc < y->proc ? -1 : x->proc > y->proc;
}

struct run_procedure *run_procedure_find(const struct run_procedures *all,
					 uint32_t image, uint32_t proc)
{
	struct run_procedure key = {.image = image, .proc = proc};

	return all->v.n ? bsearch(&key, all->v.at, all->v.n, sizeof key,
				  by_proc) : NULL;
}

/* each once, with nothing in it */
static void list_procs(struct run_procedures *out, struct run_calls *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->call.n; i++) {
		const struct run_call *x = &r->call.at[i];
		struct run_procedure q = {
			.image = x->to_image, .proc = x->to_proc,
			.known = true, .outermost_known = true,
			.own_known = true,
		};

		if (q.proc != CALL_NONE)
			vec_push(&out->v, q);
	}
	if (out->v.n)
		qsort(out->v.at, out->v.n, sizeof *out->v.at, by_proc);
	for (size_t i = 0; i < out->v.n; i++)
		if (!i || by_proc(&out->v.at[n - 1], &out->v.at[i]))
			out->v.at[n++] = out->v.at[i];
	out->v.n = n;
	for (size_t i = 0; i < n; i++)
		out->v.at[i].value =
			ARENA_ARRAY(&r->arena, uint64_t, 3 * r->list.n);
}

/*
 * A procedure that made a thread (clone()) called the thread's first one: that
 * is in no call of it, and what it did itself is not known then.
 */
static void check_own(struct run_procedures *all, unsigned n)
{
	for (size_t i = 0; i < all->v.n; i++) {
		struct run_procedure *p = &all->v.at[i];

		for (unsigned k = 0; k < n; k++)
			p->makes_threads |= p->own_known &&
					    p->value[2 * n + k] > p->value[k];
		p->own_known &= !p->makes_threads;
	}
}

void run_procedures_make(struct run_procedures *out, struct run_calls *r)
{
	unsigned n = r->list.n;

	*out = (struct run_procedures){0};
	list_procs(out, r);
	for (size_t i = 0; i < r->call.n; i++) {
		const struct run_call *x = &r->call.at[i];
		struct run_procedure *to =
			run_procedure_find(out, x->to_image, x->to_proc);
		struct run_procedure *by =
			run_procedure_find(out, x->image, x->proc);

		if (to) {
			to->calls += x->calls;
			to->known &= x->known;
			to->own_known &= x->known;
			to->outermost_known &= x->outermost_known;
		}
		if (by)
			by->own_known &= x->known;
		for (unsigned k = 0; k < n; k++) {
			if (to) {
				to->value[k] += x->value[k];
				to->value[n + k] += x->value[n + k];
				to->value[2 * n + k] += x->value[k];
			}
			if (by)
				by->value[2 * n + k] -= x->value[k];
		}
	}
	check_own(out, n);
}
