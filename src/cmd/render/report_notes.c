/*
 * report_notes: what is wrong with sources, or missing in them, on stderr.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/render/report_show.h"

/* names of images that something is said of, in one line */
struct image_names {
	char text[256];
	uint32_t n;
};

enum { NAMED = 3 }; /* the others are many */

static void name_image(struct image_names *x, const char *name)
{
	size_t n = strlen(x->text);

	if (x->n++ < NAMED)
		snprintf(x->text + n, sizeof x->text - n, "%s%.80s",
			 x->n > 1 ? ", " : "", name);
}

/* all names are there: those that were left out are counted */
static const char *named_images(struct image_names *x)
{
	size_t n = strlen(x->text);

	if (x->n > NAMED)
		snprintf(x->text + n, sizeof x->text - n, " and %" PRIu32
			 " more", x->n - NAMED);
	x->n = 0;
	return x->text;
}

/*
 * Of which images nothing can be told, and why, of the first; running counters
 * tell what calls cost, if one asks for that.
 */
static void note_missing(const struct counts *t, bool calls)
{
	struct image_names names = {0};
	const char *why = NULL;
	char text[1536];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (t->image[i].missing && !(calls && t->image[i].running)) {
			name_image(&names, t->image[i].name);
			why = why ? why : t->image[i].missing;
		}
	if (!why)
		return;
	snprintf(text, sizeof text, "nothing can be told of %s: %s; count it "
		 "again", named_images(&names), why);
	cmd_note(text);
}

/* an image that something is said of, for a reason */
struct reason {
	const char *why, *name;
	uint32_t number;
};

struct reasons {
	VEC(struct reason) v;
};

static void add_reason(struct reasons *x, const char *why, const char *name)
{
	struct reason r = {why, name, (uint32_t)x->v.n};

	if (why)
		vec_push(&x->v, r);
}

static int by_reason(const void *a, const void *b)
{
	const struct reason *p = a, *q = b;
	int order = strcmp(p->why, q->why);

	return order ? order : p->number < q->number ? -1 : 1;
}

/* says it once for each reason: `format` gets the names, then the reason */
__attribute__((format(printf, 2, 0)))
static void note_reasons(struct reasons *x, const char *format)
{
	struct image_names names = {0};
	char text[1024];

	if (x->v.n)
		qsort(x->v.at, x->v.n, sizeof *x->v.at, by_reason);
	for (size_t i = 0; i < x->v.n; i++) {
		const char *why = x->v.at[i].why;

		name_image(&names, x->v.at[i].name);
		if (i + 1 < x->v.n && !strcmp(x->v.at[i + 1].why, why))
			continue;
		snprintf(text, sizeof text, format, named_images(&names), why);
		cmd_note(text);
		names = (struct image_names){0};
	}
	vec_free(&x->v);
}

/* of which images nothing was measured, or not in all processes, and why */
static void note_unmeasured(const struct counts *t)
{
	struct reasons nothing = {0}, part = {0};

	for (uint32_t i = 0; i < t->nimage; i++) {
		const struct counts_image *m = &t->image[i];

		if (!m->missing)
			add_reason(&nothing, counts_unmeasured(m), m->name);
		add_reason(&part, m->left, m->name);
	}
	for (uint32_t i = 0; i < t->nleft; i++)
		if (t->left[i].refused)
			add_reason(&nothing, t->left[i].why, t->left[i].name);
	note_reasons(&nothing, "nothing of %s is measured: %s");
	note_reasons(&part, "%s: not measured in all processes: %s");
}

/* in which images counts are not known, and of how many procedures */
static void note_unknown(const struct counts *t)
{
	struct image_names names = {0};
	uint32_t procs = 0;
	char text[512];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing && t->image[i].solved.unknown_procs) {
			name_image(&names, t->image[i].name);
			procs += t->image[i].solved.unknown_procs;
		}
	if (!procs)
		return;
	snprintf(text, sizeof text, "counts of %" PRIu32 " procedure%s not "
		 "known in %s", procs, procs == 1 ? " are" : "s are",
		 named_images(&names));
	cmd_note(text);
}

/* images of which more ran than is counted, as calls show */
static void note_in_place(const struct counts *t)
{
	struct image_names names = {0};
	char text[512];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing && t->image[i].solved.in_place)
			name_image(&names, t->image[i].name);
	if (!names.n)
		return;
	snprintf(text, sizeof text, "procedures that stay in place ran, "
		 "uncounted, in %s", named_images(&names));
	cmd_note(text);
}

/* what is not known of processes; false if all is */
static bool killed_note(const struct profile *p, char *text, size_t size)
{
	uint32_t last = 0, n = 0;

	for (size_t i = 0; i < p->process.n; i++)
		if (p->process.at[i].killed) {
			last = p->process.at[i].number;
			n++;
		}
	snprintf(text, size, "%s%" PRIu32 " %s killed, or ended unseen: counts "
		 "of what ran then may be off by one", n == 1 ? "process " : "",
		 n == 1 ? last : n, n == 1 ? "was" : "processes were");
	return n;
}

static void show_notes(const struct counts *t, bool calls)
{
	const char *trouble;
	unsigned bit = 0;
	char text[1024];

	while ((trouble = counts_trouble(t, &bit)))
		cmd_note(trouble);
	if (killed_note(&t->profile, text, sizeof text))
		cmd_note(text);
	note_missing(t, calls);
	note_unmeasured(t);
	note_unknown(t);
	note_in_place(t);
}

void report_show_notes(const struct counts *t)
{
	show_notes(t, false);
}

void report_show_call_notes(const struct counts *t)
{
	show_notes(t, t->profile.calls);
}

/* at the end of `tally count`; a report shows what was left out by image */
static void note_left_out(const struct counts *t)
{
	struct reasons out = {0};

	for (uint32_t i = 0; i < t->nleft; i++)
		if (!t->left[i].refused)
			add_reason(&out, t->left[i].why, t->left[i].name);
	note_reasons(&out, "nothing of %s is measured: %s");
}

int report_show_hottest(const char *source, const struct samples_query *pick,
			size_t n, FILE *to, struct err *e)
{
	struct rows_query w = {.limit = n, .sure = true};
	struct dataset v;
	struct rows r;

	if (dataset_open(&v, &source, 1, pick, NULL, e))
		return -1;
	if (rows_make(&r, &v, BY_PROCEDURE, &w, e)) {
		dataset_close(&v);
		return -1;
	}
	if (v.counts) {
		report_show_notes(v.counts);
		note_left_out(v.counts);
	}
	if (r.found || v.samples)
		report_show_text(&r, to);
	else
		cmd_note("nothing was counted");
	if (v.samples)
		report_show_sample_notes(v.samples);
	rows_free(&r);
	dataset_close(&v);
	return 0;
}

void report_show_relative(const char *why)
{
	char text[160];

	if (!why)
		return;
	snprintf(text, sizeof text, "time per execution is relative to that "
		 "of a mean instruction: %s", why);
	cmd_note(text);
}

void report_show_dataset_notes(const struct dataset *d)
{
	if (d->counts && d->samples)
		report_show_relative(dataset_why_relative(d));
	if (d->counts)
		report_show_notes(d->counts);
}

void report_show_sample_notes(const struct samples *s)
{
	for (size_t i = 0; i < s->image.n; i++) {
		const char *why = samples_nameless(&s->image.at[i]);

		if (why)
			cmd_note(why);
	}
	if (samples_few(s)) {
		char text[128];

		snprintf(text, sizeof text,
			 "%zu images with few samples have "
			 "no names: see --image",
			 samples_few(s));
		cmd_note(text);
	}
	for (size_t v = 0; v < s->event.n; v++) {
		char text[128];

		if (!s->event.at[v].lost)
			continue;
		snprintf(text, sizeof text, "%" PRIu64 " samples of %s were "
			 "lost", s->event.at[v].lost, s->event.at[v].name);
		cmd_note(text);
	}
}

void report_show_uncompared(const struct match *m)
{
	struct reasons out = {0};

	for (size_t i = 0; i < m->v.n; i++) {
		const struct match_image *x = &m->v.at[i];

		if (x->unmeasured)
			add_reason(&out, "it is not measured in both runs",
				   x->a != MATCH_NONE ?
					   m->a->image[x->a].name :
					   m->b->image[x->b].name);
	}
	note_reasons(&out, "nothing of %s is compared: %s");
}

void report_show_others(uint32_t others)
{
	char text[64];

	snprintf(text, sizeof text, "%" PRIu32 " more %s called so: see "
		 "--image", others, others == 1 ? "is" : "are");
	if (others)
		cmd_note(text);
}

/* is its file not there any more, or another? */
static bool is_absent(const struct counts_image *m)
{
	return !m->missing && !symbolizer_open(m->symbolizer);
}

bool report_show_absent(const struct counts_image *m)
{
	char text[sizeof m->symbolizer->why.text + 64];

	if (!is_absent(m))
		return false;
	snprintf(text, sizeof text, "%s; there are no lines of it",
		 m->symbolizer->why.text);
	cmd_note(text);
	return true;
}

void report_show_lineless(const struct counts *t, bool any)
{
	const struct counts_image *first = NULL;
	struct image_names others = {0};
	char text[512];

	for (uint32_t i = 0; i < t->nimage; i++)
		if (is_absent(&t->image[i]) && first)
			name_image(&others, t->image[i].name);
		else if (is_absent(&t->image[i]))
			first = &t->image[i];
	if (first)
		report_show_absent(first);
	snprintf(text, sizeof text, "there are no lines of %s either",
		 others.n ? named_images(&others) : "");
	if (*others.text)
		cmd_note(text);
	if (!any && !first)
		cmd_note("nothing that ran has debug information (compilers "
			 "make it with -g)");
}

void report_show_one_event(const struct runs *r)
{
	char text[160];

	if (!r->more_events)
		return;
	snprintf(text, sizeof text, "only samples of %.60s were compared; "
		 "--event names another", r->metric.name);
	cmd_note(text);
}
