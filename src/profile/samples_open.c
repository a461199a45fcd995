/*
 * samples_open: all that is wanted of databases, read by several threads, each
 * some of the epochs. See samples.h.
 */
#include <string.h>

#include "base/parallel.h"
#include "profile/samples_int.h"

/* --- images whose names are not worth their time */

enum {
	NAMED = 512, /* images, with most samples, are named anyway, */
	FEW = 10000, /* and so is what has one in so many samples */
};

static int most_first(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;

	if (p->samples != q->samples)
		return p->samples > q->samples ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

void ranked_sort(struct ranked *v, size_t n)
{
	mem_sort(v, n, sizeof *v, most_first);
}

static void find_few(struct samples *s)
{
	VEC(struct ranked) v = {0};
	uint64_t all = 0;

	for (uint32_t i = 0; i < s->image.n; i++) {
		struct ranked new = {.number = i};

		for (size_t e = 0; e < s->event.n; e++)
			new.samples += s->image.at[i].total[e];
		all += new.samples;
		vec_push(&v, new);
	}
	ranked_sort(v.at, v.n);
	for (size_t i = NAMED; i < v.n; i++)
		s->image.at[v.at[i].number].few =
			v.at[i].samples < (all + FEW - 1) / FEW;
	vec_free(&v);
}

size_t samples_few(const struct samples *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->image.n; i++)
		n += s->image.at[i].few;
	return n;
}

/* of any event, if there are some */
static uint64_t any_samples(const struct samples *s)
{
	uint64_t any = 0;

	for (size_t v = 0; v < s->event.n; v++)
		any |= s->event.at[v].samples;
	return any;
}

/* --- what one thread has read becomes part of what another has */

static int add_events(struct samples *to, const struct samples *from,
		      int *number, struct err *e)
{
	const char *file = from->epoch.n ? from->epoch.at[0].file : "";

	for (uint32_t i = 0; i < from->event.n; i++) {
		const struct samples_event *x = &from->event.at[i];
		struct samples_event *v;

		number[i] = samples_event_of(to, x->name, file, e);
		if (number[i] < 0)
			return -1;
		v = &to->event.at[number[i]];
		v->period = x->period;
		if (__builtin_add_overflow(v->samples, x->samples,
					   &v->samples) ||
		    __builtin_add_overflow(v->lost, x->lost, &v->lost))
			return samples_too_many(file, "samples", e);
	}
	return 0;
}

static void add_made(struct samples *to, struct samples_image *m,
		     const struct samples_image *from)
{
	for (size_t i = 0; i < from->made.n; i++) {
		struct stored_procedure x = from->made.at[i];

		x.name = intern_string(&to->text, x.name);
		vec_push(&m->made, x);
	}
}

static void add_images(struct samples *to, struct samples *from,
		       const int *number)
{
	for (size_t i = 0; i < from->image.n; i++) {
		struct samples_image *x = &from->image.at[i];
		struct samples_image *m = samples_image_of(to, &x->is);

		if (!m->made.n)
			add_made(to, m, x);
		for (size_t v = 0; v < from->event.n; v++) {
			int own = number[v];

			if (m->samples[own].n)
				vec_append(&m->samples[own], &x->samples[v]);
			else
				vec_take(&m->samples[own], &x->samples[v]);
			m->total[own] += x->total[v];
		}
	}
}

/* samples by event, in the order that the events have there */
static void renumber(uint64_t *samples, size_t events, const int *number)
{
	uint64_t own[SAMPLES_EVENTS] = {0};

	for (size_t v = 0; v < events; v++)
		own[number[v]] = samples[v];
	memcpy(samples, own, sizeof own);
}

static void add_others(struct samples *to, const struct samples *from,
		       const int *number)
{
	for (size_t i = 0; i < from->process.n; i++) {
		struct samples_process x = from->process.at[i];

		x.name = intern_string(&to->text, x.name);
		renumber(x.samples, from->event.n, number);
		vec_push(&to->process, x);
	}
	for (size_t i = 0; i < from->epoch.n; i++) {
		struct samples_epoch x = from->epoch.at[i];

		x.file = intern_string(&to->text, x.file);
		x.host = intern_string(&to->text, x.host);
		x.command = intern_string(&to->text, x.command);
		renumber(x.samples, from->event.n, number);
		vec_push(&to->epoch, x);
	}
}

/* requires: epochs of *to are before those of *from */
static int unite(struct samples *to, struct samples *from, struct err *e)
{
	int number[SAMPLES_EVENTS];

	if (add_events(to, from, number, e))
		return -1;
	add_images(to, from, number);
	add_others(to, from, number);
	return 0;
}

/* --- all of it */

enum { FEW_EPOCHS = 16 }; /* not worth a thread */

struct part {
	struct samples s;
	const struct samples_epochs *l;
	size_t from, end; /* of these */
	const struct samples_query *pick;
	struct err e;
	int result;
};

static void *read_part(void *arg)
{
	struct part *p = arg;

	for (size_t i = p->from; !p->result && i < p->end; i++)
		p->result = samples_read(&p->s, &p->l->v.at[i], p->pick, &p->e);
	samples_settle(&p->s);
	return NULL;
}

/* the first part becomes all; -1 and *e: what was wrong first */
static int unite_parts(struct part *p, unsigned n, struct err *e)
{
	int result = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!result && p[i].result) {
			*e = p[i].e;
			result = -1;
		}
		if (!result && i)
			result = unite(&p[0].s, &p[i].s, e);
		if (i)
			samples_close(&p[i].s);
	}
	samples_settle(&p[0].s);
	return result;
}

static int read_all(struct samples *s, const struct samples_epochs *l,
		    const struct samples_query *pick, struct err *e)
{
	struct part part[PARALLEL_MAX];
	unsigned n = parallel_count(l->v.n, FEW_EPOCHS);
	int result;

	for (unsigned i = 0; i < n; i++)
		part[i] =
			(struct part){.l = l,
				      .pick = pick,
				      .from = parallel_first(l->v.n, n, i),
				      .end = parallel_first(l->v.n, n, i + 1)};
	parallel_run(read_part, part, sizeof *part, n);
	result = unite_parts(part, n, e);
	*s = part[0].s;
	return result;
}

int samples_open(struct samples *s, const char *const *path, size_t n,
		 const struct samples_query *pick, struct err *e)
{
	struct samples_epochs l;
	int result;

	*s = (struct samples){0};
	if (samples_epochs_read(&l, path, n, pick, e))
		return -1;
	result = read_all(s, &l, pick, e);
	if (pick->depth == SAMPLES_PLACES)
		find_few(s);
	if (!result)
		result = samples_check(s, any_samples(s), pick, e);
	samples_epochs_free(&l);
	if (result)
		samples_close(s);
	return result;
}
