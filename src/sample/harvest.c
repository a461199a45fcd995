/* harvest: see harvest.h. */
#include "sample/harvest.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/proc.h"
#include "store/image_key.h"

enum {
	SETTLE = 4096, /* so many samples are added up at least */
	MAKERS = 128,  /* that have files open at the same time */
	PARSING = 1500, /* milliseconds for all that they tell, in a write */
	PARSING_AT_END = 30000,
	/* what is kept, at most: some ten megabytes each */
	IMAGES = 1 << 16,
	BYTES = 16 << 20, /* of the paths of images */
	PROCESSES = 1 << 16,
	PLACES = 1 << 20,
	WAITING = 1 << 18,
};

/* the image that is there from the beginning, for all that is in none */
static void have_unknown(struct harvest *h)
{
	struct harvest_image unknown = {
		.is = {.kind = IMAGE_UNKNOWN, .path = "[unknown]"}};
	char key[IMAGE_KEY];

	if (h->image.n)
		return;
	image_key(&unknown.is, key);
	intern(&h->key, key);
	vec_push(&h->image, unknown);
}

uint32_t harvest_image(struct harvest *h, const struct stored_image *is)
{
	struct harvest_image new = {.is = *is};
	char key[IMAGE_KEY];
	uint32_t number;

	have_unknown(h);
	image_key(is, key);
	if ((h->image.n >= IMAGES || h->bytes >= BYTES) &&
	    !intern_has(&h->key, key))
		return HARVEST_UNKNOWN;
	number = intern(&h->key, key);
	if (number == h->image.n) {
		h->bytes += strlen(key) + strlen(is->path);
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
	struct harvest_process p = {.pid = pid, .apart = is_apart(h, name)};

	have_nobody(h);
	if (h->process.n >= PROCESSES)
		return HARVEST_NOBODY;
	snprintf(p.name, sizeof p.name, "%s", name);
	vec_push(&h->process, p);
	return (uint32_t)h->process.n - 1;
}

static void runs_add(struct harvest *h, struct harvest_runs *m, uint32_t event,
		     struct hit new)
{
	run *r = &m->fresh[event];

	vec_push(r, new);
	h->places++;
	if (r->n < 2 * m->settled[event] + SETTLE)
		return;
	h->places -= r->n;
	run_settle(r);
	h->places += r->n;
	m->settled[event] = r->n;
}

static struct harvest_runs *runs_apart(struct harvest *h, const char *process,
				       uint32_t image)
{
	uint64_t key = (uint64_t)intern(&h->text, process) << 32 | image;
	uint32_t at = dict_get(&h->apart_at, key);

	if (at == DICT_NONE) {
		struct harvest_apart new = {
			.process = intern_string(&h->text, process),
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

	runs_add(h, &h->image.at[image].of, event, new);
	if (p->apart)
		runs_add(h, runs_apart(h, p->name, image), event, new);
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
	run *r;

	maker_settle(m->is, &h->parser, settle_hit, &s);
	for (size_t v = 0; v < EVENTS; v++) {
		r = &h->image.at[m->by_address].of.fresh[v];
		run_settle(r);
		maker_name(m->is, &h->parser, r);
	}
	if (m->is->trouble.code)
		h->trouble = m->is->trouble;
}

static int cheap_first(const void *a, const void *b)
{
	const struct harvest_maker *const *p = a, *const *q = b;

	return (*p)->is->cost < (*q)->is->cost ? -1 :
	       (*p)->is->cost > (*q)->is->cost;
}

/* one that takes long should keep none from its names but itself */
static void settle_all(struct harvest *h)
{
	struct harvest_maker *turn[MAKERS];

	for (size_t i = 0; i < h->maker.n; i++)
		turn[i] = &h->maker.at[i];
	qsort(turn, h->maker.n, sizeof *turn, cheap_first);
	parser_turn(&h->parser, h->unhurried ? PARSING_AT_END : PARSING);
	for (size_t i = 0; i < h->maker.n; i++)
		settle(h, turn[i]);
	parser_end(&h->parser);
	h->waiting = 0;
}

void harvest_made(struct harvest *h, uint32_t image, const struct made_hit *x)
{
	const struct harvest_maker *m =
		&h->maker.at[dict_get(&h->maker_at, image)];

	count(h, x->process, x->event, x->count);
	vec_push(&m->is->hit, *x);
	h->waiting++;
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
		maker_forget_names(m.is);
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

/* the names that samples need, as the process that made the code told them */
static int store_maker(const struct harvest *h, const struct harvest_maker *m,
		       struct store *s, struct err *e)
{
	int64_t number[2] = {0};

	for (size_t i = 0; i < m->is->name.n; i++) {
		const struct made_name *x = &m->is->name.at[i];
		uint32_t image = x->placed ? m->by_place : m->by_address;
		int64_t *to = &number[x->placed];

		if (!*to)
			*to = store_image(s, &h->image.at[image].is, e);
		if (*to < 0 || store_procedure(s, *to, &x->is, e))
			return -1;
	}
	return 0;
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

	settle_all(h);
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

size_t harvest_places(const struct harvest *h)
{
	return h->places + h->waiting;
}

bool harvest_is_full(const struct harvest *h)
{
	return h->places >= PLACES || h->waiting >= WAITING ||
	       h->process.n >= PROCESSES || h->image.n >= IMAGES ||
	       h->bytes >= BYTES;
}

static void runs_forget(struct harvest_runs *m)
{
	for (size_t v = 0; v < EVENTS; v++) {
		vec_free(&m->fresh[v]);
		m->settled[v] = 0;
	}
}

void harvest_forget(struct harvest *h)
{
	memset(h->fresh, 0, sizeof h->fresh);
	for (size_t i = 0; i < h->image.n; i++)
		runs_forget(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		runs_forget(&h->apart.at[i].of);
	for (size_t i = 0; i < h->maker.n; i++)
		vec_free(&h->maker.at[i].is->hit);
	h->places = h->waiting = 0;
	for (size_t i = 0; i < h->process.n; i++)
		memset(h->process.at[i].fresh, 0,
		       sizeof h->process.at[i].fresh);
}

/* --- what is still there */

enum { NOT_KEPT = UINT32_MAX };

struct harvest_kept {
	struct harvest to;
	const struct harvest *from;
	uint32_t *number; /* by the one that it had; or NOT_KEPT */
};

uint32_t harvest_keep(struct harvest_kept *k, uint32_t image)
{
	if (k->number[image] == NOT_KEPT)
		k->number[image] = harvest_image(&k->to,
						 &k->from->image.at[image].is);
	return k->number[image];
}

/* makers, with the images of what they make */
static void keep_makers(struct harvest_kept *k)
{
	for (size_t i = 0; i < k->from->maker.n; i++) {
		struct harvest_maker m = k->from->maker.at[i];

		m.by_address = harvest_keep(k, m.by_address);
		m.by_place = harvest_keep(k, m.by_place);
		dict_put(&k->to.maker_at, m.by_address,
			 (uint32_t)k->to.maker.n);
		vec_push(&k->to.maker, m);
	}
}

static void runs_free(struct harvest_runs *m)
{
	for (size_t v = 0; v < EVENTS; v++)
		vec_free(&m->fresh[v]);
}

/* all but the makers and the parser, which a new harvest may have taken */
static void free_rest(struct harvest *h)
{
	for (size_t i = 0; i < h->image.n; i++)
		runs_free(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		runs_free(&h->apart.at[i].of);
	vec_free(&h->maker);
	dict_free(&h->maker_at);
	vec_free(&h->image);
	vec_free(&h->apart);
	dict_free(&h->apart_at);
	vec_free(&h->process);
	intern_free(&h->key);
	intern_free(&h->text);
}

void harvest_tidy(struct harvest *h,
		  void (*keep)(void *arg, struct harvest_kept *k), void *arg)
{
	struct harvest_kept k = {
		.from = h, .number = mem_alloc(h->image.n * 4 + 4),
		.to = {.names = h->names, .parser = h->parser,
		       .trouble = h->trouble},
	};

	for (size_t i = 0; i < h->image.n; i++)
		k.number[i] = NOT_KEPT;
	have_unknown(&k.to);
	if (h->image.n)
		k.number[HARVEST_UNKNOWN] = HARVEST_UNKNOWN;
	keep_makers(&k);
	keep(arg, &k);
	free_rest(h);
	*h = k.to;
	mem_free(k.number);
	malloc_trim(0);
}

void harvest_free(struct harvest *h)
{
	for (size_t i = 0; i < h->maker.n; i++)
		maker_free(h->maker.at[i].is);
	parser_end(&h->parser);
	free_rest(h);
}
