/* harvest: see harvest.h. */
#include "sample/harvest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sample/jit.h"
#include "sample/proc.h"
#include "store/image_key.h"

enum {
	SETTLE = 4096, /* so many samples are added up at least */
	MAKERS = 128,  /* that have files open at the same time */
};

uint32_t harvest_image(struct harvest *h, const struct stored_image *is)
{
	struct harvest_image new = {.is = *is};
	char key[IMAGE_KEY];
	uint32_t number;

	image_key(is, key);
	number = intern(&h->key, key);
	if (number == h->image.n) {
		new.is.path = intern_string(&h->text, is->path);
		vec_push(&h->image, new);
	}
	return number;
}

/* HARVEST_NOBODY is there from the beginning */
static void have_nobody(struct harvest *h)
{
	if (!h->process.n)
		vec_push(&h->process, (struct harvest_process){.name = "?"});
}

static bool is_apart(const struct harvest *h, const char *name)
{
	for (size_t i = 0; h->names && h->names[i]; i++)
		if (!strcmp(h->names[i], name))
			return true;
	return false;
}

uint32_t harvest_process(struct harvest *h, uint32_t pid, const char *name)
{
	struct harvest_process p = {.pid = pid,
				    .name = intern_string(&h->text, name),
				    .apart = is_apart(h, name)};

	have_nobody(h);
	vec_push(&h->process, p);
	return (uint32_t)h->process.n - 1;
}

static void runs_add(struct harvest_runs *m, uint32_t event, struct hit new)
{
	run *r = &m->fresh[event];

	vec_push(r, new);
	if (r->n < 2 * m->settled[event] + SETTLE)
		return;
	run_settle(r);
	m->settled[event] = r->n;
}

static struct harvest_runs *runs_apart(struct harvest *h, const char *process,
				       uint32_t image)
{
	uint64_t key = (uint64_t)intern(&h->text, process) << 32 | image;
	uint32_t at = dict_get(&h->apart_at, key);

	if (at == DICT_NONE) {
		struct harvest_apart new = {.process = process,
					    .image = image};

		at = (uint32_t)h->apart.n;
		dict_put(&h->apart_at, key, at);
		vec_push(&h->apart, new);
	}
	return &h->apart.at[at].of;
}

/* the samples are there */
static void count(struct harvest *h, uint32_t process, uint32_t event,
		  uint64_t n)
{
	have_nobody(h);
	h->process.at[process].fresh[event] += n;
	h->fresh[event] += n;
}

/* and this is where */
static void place(struct harvest *h, uint32_t image, uint32_t process,
		  uint32_t event, struct hit new)
{
	const struct harvest_process *p = &h->process.at[process];

	runs_add(&h->image.at[image].of, event, new);
	if (p->apart)
		runs_add(runs_apart(h, p->name, image), event, new);
}

void harvest_samples(struct harvest *h, uint32_t image, uint32_t process,
		     uint32_t event, struct hit new)
{
	count(h, process, event, new.count);
	place(h, image, process, event, new);
}

/* --- code that is made */

struct maker *harvest_maker(const struct harvest *h, uint32_t image)
{
	uint32_t at = dict_get(&h->maker_at, image);

	return at == DICT_NONE ? NULL : h->maker.at[at].is;
}

/* "[made by NAME PID]", or in other words */
static uint32_t made_image(struct harvest *h, const char *words,
			   const char *name, uint32_t pid)
{
	char path[PROC_NAME + 48];
	struct stored_image is = {.kind = IMAGE_MADE, .path = path};

	snprintf(path, sizeof path, "[%s %.*s %" PRIu32 "]", words, PROC_NAME,
		 name, pid);
	return harvest_image(h, &is);
}

struct maker *harvest_new_maker(struct harvest *h, uint32_t pid,
				const char *name, uint32_t *image)
{
	struct harvest_maker new;

	*image = made_image(h, "made by", name, pid);
	if (harvest_maker(h, *image))
		return harvest_maker(h, *image);
	if (h->maker.n == MAKERS)
		return NULL;
	new = (struct harvest_maker){
		.is = maker_new(pid), .by_address = *image,
		.by_place = made_image(h, "made again by", name, pid),
	};
	dict_put(&h->maker_at, *image, (uint32_t)h->maker.n);
	vec_push(&h->maker, new);
	return new.is;
}

struct settling {
	struct harvest *h;
	const struct harvest_maker *m;
};

/* maker_settle() */
static void settle_hit(void *settling, const struct made_hit *x, bool placed,
		       uint64_t offset)
{
	const struct settling *s = settling;
	struct hit new = {offset, x->count};

	place(s->h, placed ? s->m->by_place : s->m->by_address, x->process,
	      x->event, new);
}

static void settle(struct harvest *h, const struct harvest_maker *m)
{
	struct settling s = {h, m};

	maker_settle(m->is, settle_hit, &s);
	if (m->is->dump.trouble.code)
		h->trouble = m->is->dump.trouble;
}

void harvest_made(struct harvest *h, uint32_t image, const struct made_hit *x)
{
	const struct harvest_maker *m =
		&h->maker.at[dict_get(&h->maker_at, image)];

	count(h, x->process, x->event, x->count);
	vec_push(&m->is->hit, *x);
	if (maker_is_full(m->is))
		settle(h, m);
}

/* those whose process is gone have nothing to tell any more */
static void forget_makers(struct harvest *h)
{
	size_t n = 0;

	dict_clear(&h->maker_at);
	for (size_t i = 0; i < h->maker.n; i++) {
		struct harvest_maker m = h->maker.at[i];

		if (!proc_is_alive(m.is->pid)) {
			maker_free(m.is);
			continue;
		}
		dict_put(&h->maker_at, m.by_address, (uint32_t)n);
		h->maker.at[n++] = m;
	}
	h->maker.n = n;
}

/* --- storing */

/* of one event, in an epoch */
struct storing {
	struct store *s;
	int64_t epoch, number;
	size_t event;
};

/* an image, and where what is told of it goes */
struct naming {
	struct store *s;
	const struct stored_image *is;
	int64_t image; /* its number; 0: nobody has asked for it yet */
	struct err *e;
};

/* maker_each_name() */
static int store_name(void *naming, const struct stored_procedure *p)
{
	struct naming *n = naming;

	if (!n->image)
		n->image = store_image(n->s, n->is, n->e);
	return n->image < 0 ? -1 : store_procedure(n->s, n->image, p, n->e);
}

/* what lines of a map say of samples */
static int store_mapped(const struct jit *j, const run *r, struct naming *n)
{
	const struct jit_procedure *last = NULL;
	int result = 0;

	for (size_t i = 0; !result && i < r->n; i++) {
		const struct jit_procedure *p = jit_find(j, r->at[i].offset);
		struct stored_procedure is;

		if (!p || p == last)
			continue;
		last = p;
		is = (struct stored_procedure){p->start, p->end, p->name};
		result = store_name(n, &is);
	}
	return result;
}

/* what those who made the code say that it is; only where samples are */
static int store_map(const struct harvest *h, const struct harvest_maker *m,
		     struct naming *n)
{
	const struct harvest_image *image = &h->image.at[m->by_address];
	int result = 0;
	struct jit j;

	if (m->is->map < 0)
		return 0;
	jit_read(&j, m->is->map);
	for (size_t v = 0; !result && v < EVENTS; v++)
		result = store_mapped(&j, &image->of.fresh[v], n);
	jit_free(&j);
	return result;
}

static int store_maker(const struct harvest *h, const struct harvest_maker *m,
		       struct store *s, struct err *e)
{
	struct naming again = {.s = s, .e = e,
			       .is = &h->image.at[m->by_place].is};
	struct naming first = {.s = s, .e = e,
			       .is = &h->image.at[m->by_address].is};

	return maker_each_name(m->is, true, store_name, &again) ||
	       maker_each_name(m->is, false, store_name, &first) ||
	       store_map(h, m, &first) ? -1 : 0;
}

static int store_makers(const struct harvest *h, struct store *s,
			struct err *e)
{
	for (size_t i = 0; i < h->maker.n; i++)
		if (store_maker(h, &h->maker.at[i], s, e))
			return -1;
	return 0;
}

static int store_images(struct harvest *h, const struct storing *x,
			struct err *e)
{
	for (size_t i = 0; i < h->image.n; i++) {
		struct harvest_image *m = &h->image.at[i];
		run *r = &m->of.fresh[x->event];
		int64_t image;

		if (!r->n)
			continue;
		run_settle(r);
		image = store_image(x->s, &m->is, e);
		if (image < 0 ||
		    store_samples(x->s, x->epoch, image, x->number, r, e))
			return -1;
	}
	return 0;
}

static int store_all_apart(struct harvest *h, const struct storing *x,
			   struct err *e)
{
	for (size_t i = 0; i < h->apart.n; i++) {
		struct harvest_apart *m = &h->apart.at[i];
		run *r = &m->of.fresh[x->event];
		int64_t image;

		if (!r->n)
			continue;
		run_settle(r);
		image = store_image(x->s, &h->image.at[m->image].is, e);
		if (image < 0 || store_apart(x->s, x->epoch, m->process, image,
					     x->number, r, e))
			return -1;
	}
	return 0;
}

static int store_processes(struct harvest *h, const struct storing *x,
			   struct err *e)
{
	for (size_t i = 0; i < h->process.n; i++) {
		const struct harvest_process *p = &h->process.at[i];
		struct stored_process is = {p->pid, p->name,
					    p->fresh[x->event]};

		if (is.samples &&
		    store_process(x->s, x->epoch, x->number, &is, e))
			return -1;
	}
	return 0;
}

static int store_events(struct harvest *h, struct storing *x,
			const struct stored_event *event, size_t events,
			struct err *e)
{
	for (x->event = 0; x->event < events; x->event++) {
		x->number = store_event(x->s, x->epoch, &event[x->event], e);
		if (x->number < 0 || store_images(h, x, e) ||
		    store_all_apart(h, x, e) || store_processes(h, x, e))
			return -1;
	}
	return 0;
}

int harvest_store(struct harvest *h, struct store *s, int64_t epoch,
		  const struct stored_event *event, size_t events,
		  struct err *e)
{
	struct storing x = {.s = s, .epoch = epoch};
	struct err also;

	for (size_t i = 0; i < h->maker.n; i++)
		settle(h, &h->maker.at[i]);
	if (store_begin(s, e))
		return -1;
	if (!store_events(h, &x, event, events, e) &&
	    !store_makers(h, s, e) && !store_commit(s, e)) {
		harvest_forget(h);
		forget_makers(h);
		return 0;
	}
	store_rollback(s, &also);
	return -1;
}

static size_t runs_places(const struct harvest_runs *m)
{
	size_t n = 0;

	for (size_t v = 0; v < EVENTS; v++)
		n += m->fresh[v].n;
	return n;
}

size_t harvest_places(const struct harvest *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->image.n; i++)
		n += runs_places(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		n += runs_places(&h->apart.at[i].of);
	for (size_t i = 0; i < h->maker.n; i++)
		n += h->maker.at[i].is->hit.n;
	return n;
}

static void runs_forget(struct harvest_runs *m)
{
	for (size_t v = 0; v < EVENTS; v++)
		m->fresh[v].n = m->settled[v] = 0;
}

void harvest_forget(struct harvest *h)
{
	memset(h->fresh, 0, sizeof h->fresh);
	for (size_t i = 0; i < h->image.n; i++)
		runs_forget(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		runs_forget(&h->apart.at[i].of);
	for (size_t i = 0; i < h->maker.n; i++)
		h->maker.at[i].is->hit.n = 0;
	for (size_t i = 0; i < h->process.n; i++)
		memset(h->process.at[i].fresh, 0,
		       sizeof h->process.at[i].fresh);
}

/* --- who is still there */

struct harvest_kept {
	struct harvest *h;
	VEC(struct harvest_process) process;
};

uint32_t harvest_keep(struct harvest_kept *k, uint32_t process)
{
	if (process == HARVEST_NOBODY)
		return HARVEST_NOBODY;
	vec_push(&k->process, k->h->process.at[process]);
	return (uint32_t)k->process.n - 1;
}

void harvest_tidy(struct harvest *h,
		  void (*keep)(void *arg, struct harvest_kept *k), void *arg)
{
	struct harvest_kept k = {.h = h};

	have_nobody(h);
	vec_push(&k.process, h->process.at[HARVEST_NOBODY]);
	keep(arg, &k);
	h->process.n = 0;
	vec_append(&h->process, &k.process);
	vec_free(&k.process);
}

static void runs_free(struct harvest_runs *m)
{
	for (size_t v = 0; v < EVENTS; v++)
		vec_free(&m->fresh[v]);
}

void harvest_free(struct harvest *h)
{
	for (size_t i = 0; i < h->image.n; i++)
		runs_free(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		runs_free(&h->apart.at[i].of);
	for (size_t i = 0; i < h->maker.n; i++)
		maker_free(h->maker.at[i].is);
	vec_free(&h->maker);
	dict_free(&h->maker_at);
	vec_free(&h->image);
	vec_free(&h->apart);
	dict_free(&h->apart_at);
	vec_free(&h->process);
	intern_free(&h->key);
	intern_free(&h->text);
}
