/* sample_buffer: see sample_buffer.h. */
#include "sample/daemon/sample_buffer.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/processes/proc.h"
#include "store/store.h"

enum {
	SETTLE = 4096,  /* so many samples are added up at least */
	MAKERS = 128,   /* that have files open at the same time */
	PARSING = 1500, /* milliseconds for all that they write, in a flush */
	PARSING_AT_END = 30000,
	/* what is kept, at most: some ten megabytes each */
	IMAGES = 1 << 16,
	BYTES = 16 << 20, /* of the paths of images */
	PROCESSES = 1 << 16,
	PLACES = 1 << 20,
	WAITING = 1 << 18,
};

/* the image that is there from the beginning, for all that is in none */
static void have_unknown(struct sample_buffer *h)
{
	struct sample_buffer_image unknown = {
		.is = {.kind = IMAGE_UNKNOWN, .path = "[unknown]"}};
	char key[IMAGE_KEY];

	if (h->image.n)
		return;
	image_key(&unknown.is, key);
	intern(&h->key, key);
	vec_push(&h->image, unknown);
}

uint32_t sample_buffer_image(struct sample_buffer *h,
			     const struct stored_image *is)
{
	struct sample_buffer_image new = {.is = *is};
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
static void have_nobody(struct sample_buffer *h)
{
	if (!h->process.n)
		vec_push(&h->process,
			 (struct sample_buffer_process){.name = "?"});
}

static bool is_apart(const struct sample_buffer *h, const char *name)
{
	for (size_t i = 0; h->names && h->names[i]; i++)
		if (!strcmp(h->names[i], name))
			return true;
	return false;
}

uint32_t sample_buffer_process(struct sample_buffer *h, uint32_t pid,
			       const char *name)
{
	struct sample_buffer_process p = {.pid = pid,
					  .apart = is_apart(h, name)};

	have_nobody(h);
	if (h->process.n >= PROCESSES)
		return HARVEST_NOBODY;
	snprintf(p.name, sizeof p.name, "%s", name);
	vec_push(&h->process, p);
	return (uint32_t)h->process.n - 1;
}

static void runs_add(struct sample_buffer *h, struct sample_buffer_runs *m,
		     uint32_t event, struct hit new)
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

static struct sample_buffer_runs *
runs_apart(struct sample_buffer *h, const char *process, uint32_t image)
{
	uint64_t key = (uint64_t)intern(&h->text, process) << 32 | image;
	uint32_t at = dict_get(&h->apart_at, key);

	if (at == DICT_NONE) {
		struct sample_buffer_apart new = {
			.process = intern_string(&h->text, process),
			.image = image};

		at = (uint32_t)h->apart.n;
		dict_put(&h->apart_at, key, at);
		vec_push(&h->apart, new);
	}
	return &h->apart.at[at].of;
}

/* the samples are there */
static void count(struct sample_buffer *h, uint32_t process, uint32_t event,
		  uint64_t n)
{
	have_nobody(h);
	h->process.at[process].fresh[event] += n;
	h->fresh[event] += n;
}

/* and this is where */
static void place(struct sample_buffer *h, uint32_t image, uint32_t process,
		  uint32_t event, struct hit new)
{
	const struct sample_buffer_process *p = &h->process.at[process];

	runs_add(h, &h->image.at[image].of, event, new);
	if (p->apart)
		runs_add(h, runs_apart(h, p->name, image), event, new);
}

void sample_buffer_samples(struct sample_buffer *h, uint32_t image,
			   uint32_t process, uint32_t event, struct hit new)
{
	count(h, process, event, new.count);
	place(h, image, process, event, new);
}

/* --- code that is made */

struct jit_process *sample_buffer_maker(const struct sample_buffer *h,
					uint32_t image)
{
	uint32_t at = dict_get(&h->jit_process_at, image);

	return at == DICT_NONE ? NULL : h->jit_process.at[at].is;
}

/* "[made by NAME PID]", or in other words */
static uint32_t made_image(struct sample_buffer *h, const char *words,
			   const char *name, uint32_t pid)
{
	char path[PROC_NAME + 48];
	struct stored_image is = {.kind = IMAGE_MADE, .path = path};

	snprintf(path, sizeof path, "[%s %.*s %" PRIu32 "]", words, PROC_NAME,
		 name, pid);
	return sample_buffer_image(h, &is);
}

struct jit_process *sample_buffer_new_maker(struct sample_buffer *h,
					    uint32_t pid, const char *name,
					    uint32_t *image)
{
	struct sample_buffer_maker new;

	*image = made_image(h, "made by", name, pid);
	if (sample_buffer_maker(h, *image))
		return sample_buffer_maker(h, *image);
	if (h->jit_process.n == MAKERS)
		return NULL;
	new = (struct sample_buffer_maker){
		.is = jit_process_new(pid),
		.by_address = *image,
		.by_place = made_image(h, "made again by", name, pid),
	};
	dict_put(&h->jit_process_at, *image, (uint32_t)h->jit_process.n);
	vec_push(&h->jit_process, new);
	return new.is;
}

struct settling {
	struct sample_buffer *h;
	const struct sample_buffer_maker *m;
};

/* jit_process_settle() */
static void settle_hit(void *settling, const struct made_hit *x, bool placed,
		       uint64_t offset)
{
	const struct settling *s = settling;
	struct hit new = {offset, x->count};

	place(s->h, placed ? s->m->by_place : s->m->by_address, x->process,
	      x->event, new);
}

static void settle(struct sample_buffer *h, const struct sample_buffer_maker *m)
{
	struct settling s = {h, m};
	run *r;

	jit_process_settle(m->is, &h->parser, settle_hit, &s);
	for (size_t v = 0; v < EVENTS; v++) {
		r = &h->image.at[m->by_address].of.fresh[v];
		run_settle(r);
		jit_process_name(m->is, &h->parser, r);
	}
	if (m->is->trouble.code)
		h->trouble = m->is->trouble;
}

static int cheap_first(const void *a, const void *b)
{
	const struct sample_buffer_maker *const *p = a, *const *q = b;

	return (*p)->is->cost < (*q)->is->cost
		       ? -1
		       : (*p)->is->cost > (*q)->is->cost;
}

/* one that takes long should keep none from its names but itself */
static void settle_all(struct sample_buffer *h)
{
	struct sample_buffer_maker *turn[MAKERS];

	for (size_t i = 0; i < h->jit_process.n; i++)
		turn[i] = &h->jit_process.at[i];
	qsort(turn, h->jit_process.n, sizeof *turn, cheap_first);
	parser_turn(&h->parser, h->unhurried ? PARSING_AT_END : PARSING);
	for (size_t i = 0; i < h->jit_process.n; i++)
		settle(h, turn[i]);
	parser_end(&h->parser);
	h->waiting = 0;
}

void sample_buffer_made(struct sample_buffer *h, uint32_t image,
			const struct made_hit *x)
{
	const struct sample_buffer_maker *m =
		&h->jit_process.at[dict_get(&h->jit_process_at, image)];

	count(h, x->process, x->event, x->count);
	vec_push(&m->is->hit, *x);
	h->waiting++;
}

/* those whose process is gone write nothing any more */
static void forget_makers(struct sample_buffer *h)
{
	size_t n = 0;

	dict_clear(&h->jit_process_at);
	for (size_t i = 0; i < h->jit_process.n; i++) {
		struct sample_buffer_maker m = h->jit_process.at[i];

		if (!proc_is_alive(m.is->pid)) {
			jit_process_free(m.is);
			continue;
		}
		jit_process_forget_names(m.is);
		dict_put(&h->jit_process_at, m.by_address, (uint32_t)n);
		h->jit_process.at[n++] = m;
	}
	h->jit_process.n = n;
}

/* --- storing */

/* of one event, in an epoch */
struct storing {
	struct store *s;
	int64_t epoch, number;
	size_t event;
};

/* the names that samples need, from the process that made the code */
static int store_maker(const struct sample_buffer *h,
		       const struct sample_buffer_maker *m, struct store *s,
		       struct err *e)
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

static int store_makers(const struct sample_buffer *h, struct store *s,
			struct err *e)
{
	for (size_t i = 0; i < h->jit_process.n; i++)
		if (store_maker(h, &h->jit_process.at[i], s, e))
			return -1;
	return 0;
}

static int store_images(struct sample_buffer *h, const struct storing *x,
			struct err *e)
{
	for (size_t i = 0; i < h->image.n; i++) {
		struct sample_buffer_image *m = &h->image.at[i];
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

static int store_all_apart(struct sample_buffer *h, const struct storing *x,
			   struct err *e)
{
	for (size_t i = 0; i < h->apart.n; i++) {
		struct sample_buffer_apart *m = &h->apart.at[i];
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

static int store_processes(struct sample_buffer *h, const struct storing *x,
			   struct err *e)
{
	for (size_t i = 0; i < h->process.n; i++) {
		const struct sample_buffer_process *p = &h->process.at[i];
		struct stored_process is = {p->pid, p->name,
					    p->fresh[x->event]};

		if (is.samples &&
		    store_process(x->s, x->epoch, x->number, &is, e))
			return -1;
	}
	return 0;
}

static int store_events(struct sample_buffer *h, struct storing *x,
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

int sample_buffer_store(struct sample_buffer *h, struct store *s, int64_t epoch,
			const struct stored_event *event, size_t events,
			struct err *e)
{
	struct storing x = {.s = s, .epoch = epoch};
	struct err also;

	settle_all(h);
	if (store_begin(s, e))
		return -1;
	if (!store_events(h, &x, event, events, e) && !store_makers(h, s, e) &&
	    !store_commit(s, e)) {
		sample_buffer_forget(h);
		forget_makers(h);
		return 0;
	}
	store_rollback(s, &also);
	return -1;
}

size_t sample_buffer_places(const struct sample_buffer *h)
{
	return h->places + h->waiting;
}

bool sample_buffer_is_full(const struct sample_buffer *h)
{
	return h->places >= PLACES || h->waiting >= WAITING ||
	       h->process.n >= PROCESSES || h->image.n >= IMAGES ||
	       h->bytes >= BYTES;
}

static void runs_forget(struct sample_buffer_runs *m)
{
	for (size_t v = 0; v < EVENTS; v++) {
		vec_free(&m->fresh[v]);
		m->settled[v] = 0;
	}
}

void sample_buffer_forget(struct sample_buffer *h)
{
	memset(h->fresh, 0, sizeof h->fresh);
	for (size_t i = 0; i < h->image.n; i++)
		runs_forget(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		runs_forget(&h->apart.at[i].of);
	for (size_t i = 0; i < h->jit_process.n; i++)
		vec_free(&h->jit_process.at[i].is->hit);
	h->places = h->waiting = 0;
	for (size_t i = 0; i < h->process.n; i++)
		memset(h->process.at[i].fresh, 0,
		       sizeof h->process.at[i].fresh);
}

/* --- what is still there */

enum { NOT_KEPT = UINT32_MAX };

struct sample_buffer_kept {
	struct sample_buffer to;
	const struct sample_buffer *from;
	uint32_t *number; /* by the one that it had; or NOT_KEPT */
};

uint32_t sample_buffer_keep(struct sample_buffer_kept *k, uint32_t image)
{
	if (k->number[image] == NOT_KEPT)
		k->number[image] = sample_buffer_image(
			&k->to, &k->from->image.at[image].is);
	return k->number[image];
}

/* jit_processes, with the images of what they make */
static void keep_makers(struct sample_buffer_kept *k)
{
	for (size_t i = 0; i < k->from->jit_process.n; i++) {
		struct sample_buffer_maker m = k->from->jit_process.at[i];

		m.by_address = sample_buffer_keep(k, m.by_address);
		m.by_place = sample_buffer_keep(k, m.by_place);
		dict_put(&k->to.jit_process_at, m.by_address,
			 (uint32_t)k->to.jit_process.n);
		vec_push(&k->to.jit_process, m);
	}
}

static void runs_free(struct sample_buffer_runs *m)
{
	for (size_t v = 0; v < EVENTS; v++)
		vec_free(&m->fresh[v]);
}

/* all but the jit_processes and the parser, which a new sample_buffer may have
 * taken */
static void free_rest(struct sample_buffer *h)
{
	for (size_t i = 0; i < h->image.n; i++)
		runs_free(&h->image.at[i].of);
	for (size_t i = 0; i < h->apart.n; i++)
		runs_free(&h->apart.at[i].of);
	vec_free(&h->jit_process);
	dict_free(&h->jit_process_at);
	vec_free(&h->image);
	vec_free(&h->apart);
	dict_free(&h->apart_at);
	vec_free(&h->process);
	intern_free(&h->key);
	intern_free(&h->text);
}

void sample_buffer_tidy(struct sample_buffer *h,
			void (*keep)(void *arg, struct sample_buffer_kept *k),
			void *arg)
{
	struct sample_buffer_kept k = {
		.from = h,
		.number = mem_alloc(h->image.n * 4 + 4),
		.to = {.names = h->names,
		       .parser = h->parser,
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

void sample_buffer_free(struct sample_buffer *h)
{
	for (size_t i = 0; i < h->jit_process.n; i++)
		jit_process_free(h->jit_process.at[i].is);
	parser_end(&h->parser);
	free_rest(h);
}
