/* sampled_runs: see sampled_runs.h. */
#include "report/sampled_runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "store/image_key.h"

/* what a row's thing is called, of no other */
static void make_key(buffer *b, const struct sampled *s,
		     const struct sampled_row *r, enum sampled_by by,
		     const struct sampled_thing *x)
{
	char text[IMAGE_KEY];

	b->n = 0;
	buffer_bytes(b, x->image, strlen(x->image) + 1);
	b->at[b->n - 1] = '\n';
	if (by == SAMPLED_INSTRUCTION) {
		image_key(&s->image.at[r->image].is, text);
		buffer_bytes(b, text, strlen(text));
	}
	snprintf(text, sizeof text, "\n%" PRIx64 "\n%" PRIu32 "\n",
		 x->address, x->line);
	buffer_bytes(b, text, strlen(text));
	buffer_bytes(b, x->name, strlen(x->name) + 1);
}

/*
 * What an image is called in any run. Code that a program makes has the number
 * of its process in its name, and may be kept by address or by where its dump
 * has it (doc/database.md): when runs are compared it is code of that program.
 */
static const char *lasting_name(struct sampled_runs *runs,
				const struct sampled_image *m)
{
	static const char again[] = "[made again by ";
	const char *program = m->name, *number = strrchr(m->name, ' ');
	char name[256];

	if (m->is.kind != IMAGE_MADE || !number)
		return m->name;
	if (!strncmp(program, again, strlen(again)))
		program += strlen(again);
	else if (!strncmp(program, "[made by ", 9))
		program += 9;
	else
		return m->name;
	snprintf(name, sizeof name, "[made by %.*s]",
		 (int)(number - program), program);
	return intern_string(&runs->text, name);
}

/* the thing that the row is about; its texts are the row's */
static struct sampled_thing thing_of(struct sampled_runs *runs,
				     const struct sampled *s,
				     const struct sampled_row *r)
{
	const struct sampled_image *m = &s->image.at[r->image];
	struct sampled_thing x = {.image = lasting_name(runs, m),
				  .name = ""};
	enum sampled_by by = runs->by;

	if (by == SAMPLED_LINE && r->file) {
		x.name = r->file;
		x.line = r->line;
	} else if (by != SAMPLED_IMAGE) {
		x.name = r->procedure;
	}
	/* what has no name is called as its image is */
	if (by != SAMPLED_IMAGE && x.name == m->is.path)
		x.name = x.image;
	if (by == SAMPLED_INSTRUCTION)
		x.address = r->address;
	return x;
}

static uint32_t thing_number(struct sampled_runs *r, const struct sampled *s,
			     const struct sampled_row *row, buffer *key)
{
	struct sampled_thing x = thing_of(r, s, row);
	uint32_t n;

	make_key(key, s, row, r->by, &x);
	n = intern(&r->key, (const char *)key->at);
	if (n == r->thing.n) {
		x.image = intern_string(&r->text, x.image);
		x.name = intern_string(&r->text, x.name);
		vec_push(&r->thing, x);
	}
	return n;
}

/* what is in *s is a run */
static void add_run(struct sampled_runs *r, struct sampled *s,
		    const struct sampled_epoch *first,
		    const struct sampled_wish *w)
{
	struct sampled_epoch own = *first;
	struct sampled_rows rows;
	buffer key = {0};

	sampled_rows_make(&rows, s, w);
	for (size_t i = 0; i < rows.v.n; i++) {
		struct sampled_part p = {.run = (uint32_t)r->total.n,
					 .samples = rows.v.at[i].samples[0]};

		if (!p.samples)
			continue;
		p.thing = thing_number(r, s, &rows.v.at[i], &key);
		vec_push(&r->part, p);
	}
	own.file = intern_string(&r->text, own.file);
	own.host = intern_string(&r->text, own.host);
	own.command = intern_string(&r->text, own.command);
	vec_push(&r->first, own);
	vec_push(&r->total, s->event.at[0].samples);
	sampled_rows_free(&rows);
	vec_free(&key);
}

static int check_sum(const struct sampled_runs *r, struct err *e)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->total.n; i++)
		if (__builtin_add_overflow(sum, r->total.at[i], &sum))
			return err_set(e, ERR_INPUT, "%s: samples of all runs "
				       "add up to more than 64 bits",
				       r->first.at[i].file);
	return 0;
}

int sampled_runs_read(struct sampled_runs *r, struct sampled *s,
		      const struct sampled_epochs *l, bool whole,
		      const struct sampled_pick *pick,
		      const struct sampled_wish *w, struct err *e)
{
	size_t i = 0, had = r->total.n;

	r->by = w->by;
	while (i < l->v.n) {
		const struct sampled_epoch *first = &l->v.at[i];

		sampled_forget(s);
		do {
			if (sampled_read(s, &l->v.at[i++], pick, e))
				return -1;
		} while (whole && i < l->v.n &&
			 l->v.at[i].database == first->database);
		sampled_settle(s);
		if (s->event.n && s->event.at[0].samples)
			add_run(r, s, first, w);
	}
	if (s->event.n)
		r->event = intern_string(&r->text, s->event.at[0].name);
	r->more_events = s->event.n > 1;
	if (check_sum(r, e))
		return -1;
	return sampled_check(s, r->total.n > had, pick, e);
}

static int by_thing(const void *a, const void *b)
{
	const struct sampled_part *p = a, *q = b;

	if (p->thing != q->thing)
		return p->thing < q->thing ? -1 : 1;
	return p->run < q->run ? -1 : p->run > q->run;
}

/* several rows of a run may be one thing */
void sampled_runs_sort(struct sampled_runs *r)
{
	size_t n = 0;

	mem_sort(r->part.at, r->part.n, sizeof *r->part.at, by_thing);
	for (size_t i = 0; i < r->part.n; i++) {
		const struct sampled_part *p = &r->part.at[i];
		struct sampled_part *last = n ? &r->part.at[n - 1] : NULL;

		if (last && !by_thing(last, p))
			last->samples += p->samples;
		else
			r->part.at[n++] = *p;
	}
	r->part.n = n;
}

void sampled_runs_free(struct sampled_runs *r)
{
	vec_free(&r->thing);
	vec_free(&r->part);
	vec_free(&r->total);
	vec_free(&r->first);
	intern_free(&r->key);
	intern_free(&r->text);
}
