/*
 * sampled_open: all that is wanted of databases, read by several threads, each
 * some of the epochs. See sampled.h.
 */
#include <string.h>

#include "base/parallel.h"
#include "source/sampled_int.h"

/* --- images whose names are not worth their time */

enum {
	NAMED = 512,	/* images, with most samples, are named anyway, */
	FEW = 10000,	/* and so is what has one in so many samples */
};

struct ranked {
	uint32_t image;
	uint64_t samples; /* of all events */
};

static int most_first(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;

	if (p->samples != q->samples)
		return p->samples > q->samples ? -1 : 1;
	return p->image < q->image ? -1 : p->image > q->image;
}

static void find_few(struct sampled *s)
{
	VEC(struct ranked) v = {0};
	uint64_t all = 0;

	for (uint32_t i = 0; i < s->image.n; i++) {
		struct ranked new = {.image = i};

		for (size_t e = 0; e < s->event.n; e++)
			new.samples += s->image.at[i].total[e];
		all += new.samples;
		vec_push(&v, new);
	}
	mem_sort(v.at, v.n, sizeof *v.at, most_first);
	for (size_t i = NAMED; i < v.n; i++)
		s->image.at[v.at[i].image].few =
			v.at[i].samples < (all + FEW - 1) / FEW;
	vec_free(&v);
}

size_t sampled_few(const struct sampled *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->image.n; i++)
		n += s->image.at[i].few;
	return n;
}

/* of any event, if there are some */
static uint64_t any_samples(const struct sampled *s)
{
	uint64_t any = 0;

	for (size_t v = 0; v < s->event.n; v++)
		any |= s->event.at[v].samples;
	return any;
}

/* --- what one thread has read becomes part of what another has */

static int add_events(struct sampled *to, const struct sampled *from,
		      int *number, struct err *e)
{
	const char *file = from->epoch.n ? from->epoch.at[0].file : "";

	for (uint32_t i = 0; i < from->event.n; i++) {
		const struct sampled_event *x = &from->event.at[i];
		struct sampled_event *v;

		number[i] = sampled_event_of(to, x->name, file, e);
		if (number[i] < 0)
			return -1;
		v = &to->event.at[number[i]];
		v->period = x->period;
		if (__builtin_add_overflow(v->samples, x->samples,
					   &v->samples) ||
		    __builtin_add_overflow(v->lost, x->lost, &v->lost))
			return sampled_too_many(file, "samples", e);
	}
	return 0;
}

static void add_made(struct sampled *to, struct sampled_image *m,
		     const struct sampled_image *from)
{
	for (size_t i = 0; i < from->made.n; i++) {
		struct stored_procedure x = from->made.at[i];

		x.name = intern_string(&to->text, x.name);
		vec_push(&m->made, x);
	}
}

static void add_images(struct sampled *to, struct sampled *from,
		       const int *number)
{
	for (size_t i = 0; i < from->image.n; i++) {
		struct sampled_image *x = &from->image.at[i];
		struct sampled_image *m = sampled_image_of(to, &x->is);

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
	uint64_t own[SAMPLED_EVENTS] = {0};

	for (size_t v = 0; v < events; v++)
		own[number[v]] = samples[v];
	memcpy(samples, own, sizeof own);
}

static void add_others(struct sampled *to, const struct sampled *from,
		       const int *number)
{
	for (size_t i = 0; i < from->process.n; i++) {
		struct sampled_process x = from->process.at[i];

		x.name = intern_string(&to->text, x.name);
		renumber(x.samples, from->event.n, number);
		vec_push(&to->process, x);
	}
	for (size_t i = 0; i < from->epoch.n; i++) {
		struct sampled_epoch x = from->epoch.at[i];

		x.file = intern_string(&to->text, x.file);
		x.host = intern_string(&to->text, x.host);
		x.command = intern_string(&to->text, x.command);
		renumber(x.samples, from->event.n, number);
		vec_push(&to->epoch, x);
	}
}

/* requires: epochs of *to are before those of *from */
static int unite(struct sampled *to, struct sampled *from, struct err *e)
{
	int number[SAMPLED_EVENTS];

	if (add_events(to, from, number, e))
		return -1;
	add_images(to, from, number);
	add_others(to, from, number);
	return 0;
}

/* --- all of it */

enum { FEW_EPOCHS = 16 }; /* not worth a thread */

struct part {
	struct sampled s;
	const struct sampled_epochs *l;
	size_t from, end; /* of these */
	const struct sampled_pick *pick;
	struct err e;
	int result;
};

static void *read_part(void *arg)
{
	struct part *p = arg;

	for (size_t i = p->from; !p->result && i < p->end; i++)
		p->result = sampled_read(&p->s, &p->l->v.at[i], p->pick,
					 &p->e);
	sampled_settle(&p->s);
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
			sampled_close(&p[i].s);
	}
	sampled_settle(&p[0].s);
	return result;
}

static int read_all(struct sampled *s, const struct sampled_epochs *l,
		    const struct sampled_pick *pick, struct err *e)
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

int sampled_open(struct sampled *s, const char *const *path, size_t n,
		 const struct sampled_pick *pick, struct err *e)
{
	struct sampled_epochs l;
	int result;

	*s = (struct sampled){0};
	if (sampled_epochs_read(&l, path, n, pick, e))
		return -1;
	result = read_all(s, &l, pick, e);
	if (pick->depth == SAMPLED_PLACES)
		find_few(s);
	if (!result)
		result = sampled_check(s, any_samples(s), pick, e);
	sampled_epochs_free(&l);
	if (result)
		sampled_close(s);
	return result;
}
