/* samples: see samples.h. */
#include "profile/samples_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/store.h"

/* numbers of an epoch's events in ours: all hosts' are added up by name */
struct reading {
	struct samples *s;
	struct samples_epoch *x;
	const struct samples_query *pick;
	VEC(int64_t) id;
	VEC(int) ours; /* NOT_WANTED, or its number */
};

enum {
	NOT_WANTED = -1,
	NOT_THERE = -2,
	SETTLE = 1 << 10, /* so many new offsets are put in order at once, or
			     more: thousands of epochs have the same ones */
};

static int event_number(const struct reading *r, int64_t id)
{
	for (size_t i = 0; i < r->id.n; i++)
		if (r->id.at[i] == id)
			return r->ours.at[i];
	return NOT_THERE;
}

int samples_event_of(struct samples *s, const char *name, const char *file,
		     struct err *e)
{
	struct samples_event new = {0};
	int i;

	for (i = 0; i < (int)s->event.n; i++)
		if (!strcmp(s->event.at[i].name, name))
			return i;
	if (i == SAMPLES_EVENTS)
		return err_set(e, ERR_INPUT, "%s: more than %d events", file,
			       SAMPLES_EVENTS);
	new.name = intern_string(&s->text, name);
	vec_push(&s->event, new);
	return i;
}

int samples_too_many(const char *file, const char *what, struct err *e)
{
	return err_set(e, ERR_INPUT,
		       "%s: broken: %s add up to more than 64 "
		       "bits",
		       file, what);
}

static int read_event(void *arg, int64_t id, const struct stored_event *x,
		      struct err *e)
{
	struct reading *r = arg;
	const char *want = r->pick->event;
	int number = NOT_WANTED;
	struct samples_event *v;

	if (!want || !strcmp(want, x->name)) {
		number = samples_event_of(r->s, x->name, r->x->file, e);
		if (number < 0)
			return -1;
		v = &r->s->event.at[number];
		v->period = x->period;
		if (__builtin_add_overflow(v->lost, x->lost, &v->lost))
			return samples_too_many(r->x->file, "lost samples", e);
	}
	vec_push(&r->id, id);
	vec_push(&r->ours, number);
	return 0;
}

struct samples_image *samples_image_of(struct samples *s,
				       const struct stored_image *is)
{
	struct samples_image new = {.is = *is};
	const char *base = strrchr(is->path, '/');
	char key[IMAGE_KEY];
	uint32_t number;

	image_key(is, key);
	number = intern(&s->key, key);
	if (number == s->image.n) {
		new.is.path = intern_string(&s->text, is->path);
		new.name =
			base ? intern_string(&s->text, base + 1) : new.is.path;
		vec_push(&s->image, new);
	}
	return &s->image.at[number];
}

/* store_each_procedure() */
struct making {
	struct samples *s;
	struct samples_image *m;
};

static int read_made(void *arg, const struct stored_procedure *x, struct err *e)
{
	const struct making *k = arg;
	struct stored_procedure kept = *x;

	(void)e;
	kept.name = intern_string(&k->s->text, x->name);
	vec_push(&k->m->made, kept);
	return 0;
}

static int no_event(const struct reading *r, int64_t event, struct err *e)
{
	return err_set(e, ERR_INPUT,
		       "%s: broken: samples of event %" PRId64
		       ", which is not there",
		       r->x->file, event);
}

/* adds n samples of an event of ours */
static int add_sum(struct reading *r, int event, uint64_t n, struct err *e)
{
	uint64_t *all = &r->s->event.at[event].samples;

	/* no sum of some of them is more than that of all */
	if (__builtin_add_overflow(*all, n, all))
		return samples_too_many(r->x->file, "samples", e);
	r->x->samples[event] += n;
	return 0;
}

static int read_sum(void *arg, int64_t id, uint64_t n, struct err *e)
{
	struct reading *r = arg;
	int event = event_number(r, id);

	if (event < 0)
		return event == NOT_WANTED ? 0 : no_event(r, id, e);
	return add_sum(r, event, n, e);
}

/* puts samples of an event in order, and adds them up */
static void settle(struct samples_image *m, size_t event)
{
	run_settle_more(&m->samples[event], m->settled[event]);
	m->settled[event] = m->samples[event].n;
}

static void add_places(struct samples_image *m, int event, const run *places)
{
	run_add(&m->samples[event], m->settled[event], places);
	if (m->samples[event].n >
	    m->settled[event] + m->settled[event] / 4 + SETTLE)
		settle(m, (size_t)event);
}

static int read_run(void *arg, const struct stored_row *row, struct err *e)
{
	struct reading *r = arg;
	int event = event_number(r, row->event);
	struct samples_image *m;

	if (event < 0)
		return event == NOT_WANTED ? 0 : no_event(r, row->event, e);
	if (add_sum(r, event, row->count, e))
		return -1;
	m = samples_image_of(r->s, &row->of);
	if (m->is.kind == IMAGE_MADE && !m->made.n &&
	    store_each_procedure(&r->s->store, row->image, read_made,
				 &(struct making){r->s, m}, e))
		return -1;
	add_places(m, event, &row->samples);
	m->total[event] += row->count;
	return 0;
}

static int read_process(void *arg, int64_t id, const struct stored_process *x,
			struct err *e)
{
	struct reading *r = arg;
	struct samples *s = r->s;
	int event = event_number(r, id);
	char key[PATH_MAX];
	uint64_t *n;
	uint32_t number;

	if (event < 0)
		return event == NOT_WANTED ? 0 : no_event(r, id, e);
	if (r->pick->process && strcmp(r->pick->process, x->name))
		return 0;
	snprintf(key, sizeof key, "%s:%" PRId64 ":%" PRIu32 ":%s", r->x->file,
		 r->x->number, x->pid, x->name);
	number = intern(&s->process_key, key);
	if (number == s->process.n) {
		struct samples_process new = {
			.pid = x->pid,
			.name = intern_string(&s->text, x->name)};

		vec_push(&s->process, new);
	}
	n = &s->process.at[number].samples[event];
	if (__builtin_add_overflow(*n, x->samples, n))
		return samples_too_many(r->x->file, "samples of a process", e);
	return 0;
}

/* has the file open; the last one stays open */
static int open_store(struct samples *s, const char *file, struct err *e)
{
	if (s->store.db && !strcmp(s->store.path, file))
		return 0;
	store_close(&s->store);
	return store_open(&s->store, file, e);
}

/* all that is wanted of an epoch */
static int read_parts(struct samples *s, struct reading *r, struct err *e)
{
	const struct samples_query *k = r->pick;
	int64_t epoch = r->x->number;

	if (store_each_event(&s->store, epoch, read_event, r, e))
		return -1;
	if (k->depth == SAMPLES_SUMS
		    ? store_each_sum(&s->store, epoch, k->process, read_sum, r,
				     e)
		    : store_each_run(&s->store, epoch, k->process,
				     k->depth == SAMPLES_PLACES, read_run, r,
				     e))
		return -1;
	return k->processes ? store_each_process(&s->store, epoch, read_process,
						 r, e)
			    : 0;
}

int samples_read(struct samples *s, const struct samples_epoch *x,
		 const struct samples_query *pick, struct err *e)
{
	struct samples_epoch own = *x;
	struct reading r = {.s = s, .x = &own, .pick = pick};
	int result = -1;

	if (!open_store(s, x->file, e) && !store_read_begin(&s->store, e))
		result = store_read_end(&s->store, read_parts(s, &r, e), e);
	own.file = intern_string(&s->text, x->file);
	own.host = intern_string(&s->text, x->host);
	own.command = intern_string(&s->text, x->command);
	vec_push(&s->epoch, own);
	vec_free(&r.id);
	vec_free(&r.ours);
	return result;
}

void samples_settle(struct samples *s)
{
	for (size_t i = 0; i < s->image.n; i++)
		for (size_t v = 0; v < s->event.n; v++)
			settle(&s->image.at[i], v);
}

int samples_check(const struct samples *s, uint64_t samples,
		  const struct samples_query *pick, struct err *e)
{
	if (pick->event && !s->event.n)
		return err_set(e, ERR_INPUT,
			       "there are no samples of the "
			       "event '%s'",
			       pick->event);
	if (pick->process && !samples)
		return err_set(e, ERR_INPUT,
			       "no samples of processes called "
			       "'%s' were kept apart",
			       pick->process);
	return 0;
}

void samples_forget(struct samples *s)
{
	for (size_t i = 0; i < s->image.n; i++)
		for (size_t v = 0; v < s->event.n; v++) {
			s->image.at[i].samples[v].n = 0;
			s->image.at[i].settled[v] = 0;
			s->image.at[i].total[v] = 0;
		}
	for (size_t v = 0; v < s->event.n; v++)
		s->event.at[v].samples = 0;
	s->process.n = s->epoch.n = 0;
	intern_free(&s->process_key);
}

void samples_close(struct samples *s)
{
	for (size_t i = 0; i < s->image.n; i++) {
		for (size_t v = 0; v < s->event.n; v++)
			vec_free(&s->image.at[i].samples[v]);
		samples_code_free(s->image.at[i].code);
		vec_free(&s->image.at[i].made);
	}
	store_close(&s->store);
	vec_free(&s->image);
	vec_free(&s->event);
	vec_free(&s->process);
	vec_free(&s->epoch);
	intern_free(&s->text);
	intern_free(&s->key);
	intern_free(&s->process_key);
}
