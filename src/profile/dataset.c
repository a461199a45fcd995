/* dataset: see dataset.h. */
#include "profile/dataset.h"

#include <stdio.h>
#include <string.h>

/* --- images */

/* is that the same build? */
static bool is_same(const struct map *m, const struct stored_image *is)
{
	if (is->kind != IMAGE_FILE || !m->path)
		return false;
	if (m->build_id_len || is->build_id_len)
		return m->build_id_len == is->build_id_len &&
		       !memcmp(m->build_id, is->build_id, m->build_id_len);
	return !strcmp(m->path, is->path);
}

static struct dataset_image *find_image(struct dataset *v,
					const struct samples_image *s)
{
	for (size_t i = 0; i < v->image.n; i++) {
		struct dataset_image *m = &v->image.at[i];

		if (m->samples)
			continue;
		if (m->counts ? is_same(m->counts->map, &s->is)
			      : m->left && !strcmp(m->left->path, s->is.path))
			return m;
	}
	return NULL;
}

static void add_counted(struct dataset *v)
{
	struct counts *t = v->counts;

	for (uint32_t i = 0; i < t->nimage; i++) {
		struct dataset_image new = {.name = t->image[i].name,
					    .counts = &t->image[i]};

		vec_push(&v->image, new);
	}
	for (uint32_t i = 0; i < t->nleft; i++) {
		struct dataset_image new = {.name = t->left[i].name,
					    .left = &t->left[i]};

		vec_push(&v->image, new);
	}
}

static void add_sampled(struct dataset *v)
{
	for (uint32_t i = 0; i < v->samples->image.n; i++) {
		struct samples_image *s = &v->samples->image.at[i];
		struct dataset_image *m = v->counts ? find_image(v, s) : NULL;
		struct dataset_image new = {.name = s->name, .samples = s};

		if (m)
			m->samples = s;
		else
			vec_push(&v->image, new);
	}
}

/* --- sources */

/* profiles first, then databases; how many profiles there are */
static size_t sort_sources(const char *const *path, size_t n, const char **out)
{
	size_t profiles = 0, databases = 0;

	for (size_t i = 0; i < n; i++)
		if (!store_is(path[i]))
			out[profiles++] = path[i];
	for (size_t i = 0; i < n; i++)
		if (store_is(path[i]))
			out[profiles + databases++] = path[i];
	return profiles;
}

/* databases first: to read them says most of what can be wrong with a call */
static int open_sources(struct dataset *v, const char *const *path,
			size_t profiles, size_t databases,
			const struct samples_query *pick,
			struct progress *progress, struct err *e)
{
	if (databases) {
		if (samples_open(&v->own.samples, path + profiles, databases,
				 pick, e))
			return -1;
		v->samples = &v->own.samples;
	}
	if (profiles) {
		if (counts_open(&v->own.counts, path, profiles, progress,
				e)) {
			if (v->samples)
				samples_close(v->samples);
			return -1;
		}
		v->counts = &v->own.counts;
	}
	return 0;
}

void dataset_of(struct dataset *v, struct counts *counts,
		struct samples *samples)
{
	v->counts = counts;
	v->samples = samples;
	if (counts)
		add_counted(v);
	if (samples)
		add_sampled(v);
}

int dataset_open(struct dataset *v, const char *const *path, size_t n,
		 const struct samples_query *pick, struct progress *progress,
		 struct err *e)
{
	const char **sorted = NEW_ARRAY(const char *, n + 1);
	size_t profiles = sort_sources(path, n, sorted);
	int failed;

	*v = (struct dataset){0};
	failed = open_sources(v, sorted, profiles, n - profiles, pick, progress,
			      e);
	mem_free(sorted);
	if (!failed)
		dataset_of(v, v->counts, v->samples);
	return failed;
}

void dataset_close(struct dataset *v)
{
	for (size_t i = 0; i < v->image.n; i++)
		points_free(&v->image.at[i].points);
	vec_free(&v->image);
	if (v->counts == &v->own.counts)
		counts_close(v->counts);
	if (v->samples == &v->own.samples)
		samples_close(v->samples);
}

const struct points *dataset_points(struct dataset *v, uint32_t image,
				    bool lines)
{
	struct dataset_image *m = &v->image.at[image];

	points_make(&m->points, v->samples, m->samples,
		    m->counts ? m->counts->map : NULL, lines);
	return &m->points;
}

void dataset_forget_points(struct dataset *v, uint32_t image)
{
	points_free(&v->image.at[image].points);
}

/* --- metrics */

enum { COUNT_METRICS = 3 };

/* what counters tell of places of each kind */
static const struct {
	unsigned n;
	struct metric is[COUNT_METRICS];
} count_metrics[BY_KINDS] = {
	[BY_IMAGE] = {3,
		      {{.name = "instructions", .share = SHARE_OF_ALL},
		       {.name = "counters"},
		       {.name = "increments"}}},
	[BY_PROCEDURE] = {2,
			  {{.name = "instructions", .share = SHARE_OF_ALL},
			   {.name = "calls"}}},
	[BY_PROCESS] = {1, {{.name = "instructions", .share = SHARE_HIDDEN}}},
	[BY_EDGE] = {1, {{.name = "count"}}},
	[BY_BLOCK] = {1, {{.name = "count", .share = SHARE_OF_ALL}}},
	[BY_INSTRUCTION] = {1, {{.name = "count", .share = SHARE_OF_ALL}}},
	[BY_CALL_SITE] = {1, {{.name = "count"}}},
	[BY_LINE] = {2,
		     {{.name = "count"},
		      {.name = "instructions", .share = SHARE_OF_ALL}}},
};

bool dataset_has(const struct dataset *v, enum by kind)
{
	bool sampled =
		kind != BY_EDGE && kind != BY_BLOCK && kind != BY_CALL_SITE;

	return (v->counts && count_metrics[kind].n) || (v->samples && sampled);
}

/* --- time per execution */

/* how often the program was run: by `tally count`, once for each profile */
static uint64_t counted_runs(const struct counts *t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->profile.process.n; i++)
		n += t->profile.process.at[i].origin == PROCESS_STARTED;
	return n;
}

const char *dataset_why_relative(const struct dataset *v)
{
	const struct samples *s = v->samples;

	if (v->same_work)
		return NULL;
	if (!counted_runs(v->counts))
		return "how many runs were counted is not known";
	for (size_t i = 0; i < s->epoch.n; i++) {
		if (!*s->epoch.at[i].command)
			return "samples are of all that ran, not of known runs";
		if (strcmp(s->epoch.at[i].command, v->counts->profile.command))
			return "the command lines of counts and samples differ";
	}
	return NULL;
}

/* the metric that says how often places of a kind ran; -1: none does */
static int executions(enum by kind)
{
	return kind == BY_PROCEDURE ? 1
	       : kind == BY_LINE || kind == BY_BLOCK || kind == BY_INSTRUCTION
		       ? 0
		       : -1;
}

/* is it a clock, whose period is in nanoseconds? */
static bool is_clock(const char *event)
{
	return !strcmp(event, "cpu-clock") || !strcmp(event, "task-clock");
}

static const char *ratio_name(struct dataset *v, enum by kind)
{
	const struct samples_event *x = &v->samples->event.at[0];
	char name[128];

	if (dataset_why_relative(v))
		return "relative";
	snprintf(name, sizeof name, "%s/%s",
		 !x->period          ? "samples"
		 : is_clock(x->name) ? "ns"
				     : x->name,
		 kind == BY_PROCEDURE ? "call" : "execution");
	return intern_string(&v->samples->text, name);
}

/*
 * The first event per execution. Both are of so many runs: what is meant is one
 * of each. Relative: a mean instruction takes 1.
 */
static struct metric ratio_metric(struct dataset *v, enum by kind)
{
	const struct samples_event *x = &v->samples->event.at[0];
	struct metric m = {
		.name = ratio_name(v, kind),
		.evidence = EVIDENCE_RATIO,
		.numerator = dataset_first_event(v, kind),
		.denominator = (unsigned)executions(kind),
	};
	double runs = (double)counted_runs(v->counts);

	if (dataset_why_relative(v))
		m.scale = (double)v->counts->instructions / (double)x->samples;
	else
		m.scale = (x->period ? (double)x->period : 1) *
			  (runs ? runs : 1) / (double)v->samples->epoch.n;
	return m;
}

unsigned dataset_events(const struct dataset *v, enum by kind)
{
	if (!v->samples || kind == BY_EDGE || kind == BY_CALL_SITE)
		return 0;
	return kind == BY_EVENT ? 1 : (unsigned)v->samples->event.n;
}

unsigned dataset_first_event(const struct dataset *v, enum by kind)
{
	return v->counts ? count_metrics[kind].n : 0;
}

/* all samples together, of all events */
static struct metric all_samples(const struct samples *s)
{
	struct metric m = {.name = "samples",
			   .evidence = EVIDENCE_SAMPLED,
			   .share = SHARE_AND_SUM};

	for (size_t v = 0; v < s->event.n; v++)
		m.total += s->event.at[v].samples;
	return m;
}

static unsigned sample_metrics(const struct samples *s, enum by kind,
			       struct metric *out)
{
	if (kind == BY_EVENT) {
		out[0] = all_samples(s);
		return 1;
	}
	for (size_t v = 0; v < s->event.n; v++)
		out[v] = (struct metric){.name = s->event.at[v].name,
					 .evidence = EVIDENCE_SAMPLED,
					 .share = v ? SHARE_OF_ALL
						    : SHARE_AND_SUM,
					 .total = s->event.at[v].samples,
					 .decides = true};
	return (unsigned)s->event.n;
}

/* of counts and samples */
static unsigned own_metrics(struct dataset *v, enum by kind, struct metric *out)
{
	unsigned n = dataset_first_event(v, kind);

	for (unsigned i = 0; i < n; i++) {
		out[i] = count_metrics[kind].is[i];
		out[i].total = v->counts->instructions;
	}
	if (!dataset_events(v, kind))
		return n;
	n += sample_metrics(v->samples, kind, out + n);
	if (v->counts && executions(kind) >= 0 &&
	    v->samples->event.at[0].samples) {
		out[n] = ratio_metric(v, kind);
		n++;
	}
	return n;
}

unsigned dataset_metrics(struct dataset *v, enum by kind,
			 struct metric out[METRICS])
{
	unsigned n = own_metrics(v, kind, out);

	return n + metric_sources_list(&v->more, kind, out + n, METRICS - n);
}

unsigned dataset_more(struct dataset *v, enum by kind)
{
	struct metric all[METRICS];

	return dataset_metrics(v, kind, all) - own_metrics(v, kind, all);
}
