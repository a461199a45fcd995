/* runs: see runs.h. */
#include "report/runs.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "report/diff/content.h"
#include "report/rows_pick.h"
#include "store/store.h"

/* the run that is being added */
struct adder {
	struct runs *runs;
	const struct rows *rows;
	unsigned metric; /* of the rows, that is compared */
	uint32_t run;	 /* from 1 */
	buffer key;   /* of a place, as it is built */
};

/*
 * What an image is called in any run. Code that a program makes has the number
 * of its process in its name, and may be kept by address or by where its dump
 * has it (doc/database.md): when runs are compared it is code of that program.
 */
static const char *lasting_name(struct runs *runs,
				const struct dataset_image *m)
{
	static const char again[] = "[made again by ";
	const char *program = m->name, *number = strrchr(m->name, ' ');
	char name[256];

	if (!m->samples || m->samples->is.kind != IMAGE_MADE || !number)
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

static const struct dataset_image *image_of(const struct adder *a,
					    const struct row *row)
{
	return &a->rows->data->image.at[row->image];
}

/* what the row is about; its texts are the row's */
static struct run_place place_of(struct adder *a, const struct row *row)
{
	const struct dataset_image *m = image_of(a, row);
	struct run_place x = {.image = lasting_name(a->runs, m), .name = "",
			      .paired = ROW_NONE};
	enum by by = a->runs->by;

	if (by == BY_LINE && row->file) {
		x.name = row->file;
		x.line = row->line;
	} else if (by != BY_IMAGE) {
		x.name = row_procedure(a->rows, row);
	}
	/* what has no name is called as its image is */
	if (by != BY_IMAGE && m->samples && x.name == m->samples->is.path)
		x.name = x.image;
	if (by == BY_INSTRUCTION || by == BY_BLOCK)
		x.address = row->addr;
	return x;
}

static void key_text(buffer *b, const char *text)
{
	buffer_bytes(b, text, strlen(text));
	buffer_bytes(b, "\n", 1);
}

static void key_number(buffer *b, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIx64, n);
	key_text(b, text);
}

/* which build of its image an instruction is of */
static void key_build(struct adder *a, const struct row *row)
{
	const struct dataset_image *m = image_of(a, row);
	char text[IMAGE_KEY];

	if (m->counts) {
		key_number(&a->key, m->counts->map->file_sum);
	} else {
		image_key(&m->samples->is, text);
		key_text(&a->key, text);
	}
}

/*
 * What a place is known by, in every run: the again-th of those that are called
 * so. A procedure that was counted and has no name is known by its address.
 */
static const char *key_of(struct adder *a, const struct row *row,
			  const struct run_place *x, uint32_t again)
{
	const struct counts_image *m = image_of(a, row)->counts;
	bool nameless = a->runs->by == BY_PROCEDURE && m &&
			row->proc != ROW_NONE && !content_name(m, row->proc);

	a->key.n = 0;
	if (x->paired != ROW_NONE) {
		buffer_bytes(&a->key, "=", 1);
		key_number(&a->key, x->paired);
		buffer_bytes(&a->key, "", 1);
		return (const char *)a->key.at;
	}
	key_text(&a->key, x->image);
	if (a->runs->by == BY_INSTRUCTION || a->runs->by == BY_BLOCK ||
	    nameless)
		key_build(a, row);
	key_number(&a->key, nameless ? row->addr : x->address);
	key_number(&a->key, x->line);
	key_number(&a->key, again);
	if (!nameless)
		key_text(&a->key, x->name);
	buffer_bytes(&a->key, "", 1);
	return (const char *)a->key.at;
}

/* the place's number, which may be new */
static uint32_t number_of(struct adder *a, const struct row *row,
			  struct run_place *x, uint32_t again)
{
	struct runs *r = a->runs;
	uint32_t n = intern(&r->key, key_of(a, row, x, again));

	if (n == r->place.n) {
		x->image = intern_string(&r->text, x->image);
		x->name = intern_string(&r->text, x->name);
		vec_push(&r->place, *x);
	}
	return n;
}

/* the row's place; of what was counted a second one in a run is another one */
static uint32_t find_place(struct adder *a, const struct row *row)
{
	struct run_place x = place_of(a, row), *first;
	uint32_t n;

	if (a->runs->pairs)
		x.paired = a->runs->pairs->number(a->runs->pairs, a->rows, row);
	n = number_of(a, row, &x, 0);
	first = &a->runs->place.at[n];
	if (a->runs->metric.evidence == EVIDENCE_SAMPLED)
		return n;
	if (first->last != a->run)
		first->again = 0;
	else
		n = number_of(a, row, &x, ++first->again);
	return n;
}

static void add_row(struct adder *a, const struct row *row)
{
	const struct value *v = row_values(a->rows, row) + a->metric;
	struct run_value new = {.run = a->run - 1, .n = v->n,
				.known = v->known && !v->least};
	struct run_place *x;

	if (a->runs->metric.evidence == EVIDENCE_SAMPLED && !v->n)
		return;
	new.place = find_place(a, row);
	x = &a->runs->place.at[new.place];
	x->last = a->run;
	if (new.known && !new.n)
		x->zeros++;
	else
		vec_push(&a->runs->value, new);
}

/* is all known that ran in images that were counted? */
static bool is_complete(const struct dataset *d)
{
	for (size_t i = 0; d->counts && i < d->counts->nimage; i++)
		if (!counts_complete(&d->counts->image[i]))
			return false;
	return true;
}

static struct metric ratio_of(struct runs *r, const struct rows *rows)
{
	for (unsigned i = 0; i < rows->metrics; i++) {
		struct metric m = rows->metric[i];

		if (m.evidence != EVIDENCE_RATIO)
			continue;
		m.name = intern_string(&r->text, m.name);
		return m;
	}
	return (struct metric){0};
}

static struct run_of run_of(struct runs *r, struct dataset *d,
			    const struct rows *rows,
			    const struct samples_epoch *first)
{
	struct run_of x = {.total = r->metric.total,
			   .complete = is_complete(d),
			   .ratio = ratio_of(r, rows)};

	if (first) {
		x.first = *first;
		x.first.file = intern_string(&r->text, first->file);
		x.first.host = intern_string(&r->text, first->host);
		x.first.command = intern_string(&r->text, first->command);
	}
	return x;
}

int runs_add(struct runs *r, struct dataset *d, const struct rows_query *w,
	     const struct samples_epoch *first, struct err *e)
{
	struct rows_query all = *w;
	struct rows rows;
	struct adder a = {.runs = r, .rows = &rows,
			  .run = (uint32_t)r->run.n + 1};

	/* also what did not run: it is known that it did not */
	all.all = d->counts && !d->samples;
	all.limit = SIZE_MAX;
	if (rows_make(&rows, d, r->by, &all, e))
		return -1;
	a.metric = rows.events ? rows.first_event :
				(unsigned)(rows_shared(&rows) - rows.metric);
	r->metric = rows.metric[a.metric];
	for (size_t i = 0; i < rows.v.n; i++)
		add_row(&a, &rows.v.at[i]);
	vec_push(&r->run, run_of(r, d, &rows, first));
	rows_free(&rows);
	vec_free(&a.key);
	if (__builtin_add_overflow(r->sum, r->metric.total, &r->sum))
		return err_set(e, ERR_INPUT, "%s: %s of all runs add up to "
			       "more than 64 bits",
			       first ? first->file :
				       d->counts->profile.file.name,
			       first ? "samples" : "instructions");
	return 0;
}

/* what is in *s is a run */
static int add_samples(struct runs *r, struct samples *s,
		       const struct rows_query *w,
		       const struct samples_epoch *first, struct err *e)
{
	struct dataset d = {0};
	int result;

	d.same_work = r->same_work;
	dataset_of(&d, r->counts, s);
	if (r->counts && !r->why_relative)
		r->why_relative = dataset_why_relative(&d);
	result = runs_add(r, &d, w, first, e);
	r->metric.name = intern_string(&r->text, r->metric.name);
	dataset_close(&d);
	return result;
}

int runs_read(struct runs *r, struct samples *s, const struct samples_epochs *l,
	      bool whole, const struct samples_query *pick,
	      const struct rows_query *w, struct err *e)
{
	size_t i = 0, had = r->run.n;

	while (i < l->v.n) {
		const struct samples_epoch *first = &l->v.at[i];

		samples_forget(s);
		do {
			if (samples_read(s, &l->v.at[i++], pick, e))
				return -1;
		} while (whole && i < l->v.n &&
			 l->v.at[i].database == first->database);
		samples_settle(s);
		if (s->event.n && s->event.at[0].samples &&
		    add_samples(r, s, w, first, e))
			return -1;
	}
	r->more_events = s->event.n > 1;
	return samples_check(s, r->run.n > had, pick, e);
}

static int by_place(const void *a, const void *b)
{
	const struct run_value *p = a, *q = b;

	if (p->place != q->place)
		return p->place < q->place ? -1 : 1;
	return p->run < q->run ? -1 : p->run > q->run;
}

void runs_sort(struct runs *r)
{
	size_t n = 0;

	mem_sort(r->value.at, r->value.n, sizeof *r->value.at, by_place);
	for (size_t i = 0; i < r->value.n; i++) {
		const struct run_value *p = &r->value.at[i];
		struct run_value *last = n ? &r->value.at[n - 1] : NULL;

		if (last && !by_place(last, p))
			last->n += p->n;
		else
			r->value.at[n++] = *p;
	}
	r->value.n = n;
}

void runs_free(struct runs *r)
{
	vec_free(&r->place);
	vec_free(&r->value);
	vec_free(&r->run);
	intern_free(&r->key);
	intern_free(&r->text);
}
