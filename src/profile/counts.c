/* counts: see counts.h. */
#include "profile/counts.h"

#include <stdlib.h>

#include "profile/trace_profile.h"

static int by_name(const void *a, const void *b)
{
	const struct counts_image *p = a, *q = b;
	int order = strcmp(p->name, q->name);

	if (!order && p->map->path && q->map->path)
		order = strcmp(p->map->path, q->map->path);
	return order ? order : p->image < q->image ? -1 : p->image > q->image;
}

/* the counters of an image, of one process or (0) all; NULL and *e */
static uint64_t *read_counters(const struct counts *t, struct arena *a,
			       uint32_t image, uint32_t process, struct err *e)
{
	uint64_t n = t->profile.image.at[image].map.ncounter;
	uint64_t *value = ARENA_ARRAY(a, uint64_t, n);

	return profile_add(&t->profile, image, process, value, e) ? NULL
								  : value;
}

/* *sum += n; no machine runs more than can be told */
static int tell_sum(const struct counts *t, uint64_t *sum, uint64_t n,
		    struct err *e)
{
	if (__builtin_add_overflow(*sum, n, sum))
		return err_set(e, ERR_INPUT,
			       "%s: instructions add up to "
			       "more than 64 bits",
			       t->profile.file.name);
	return 0;
}

/* the image as such, without code: of running counters no place has a count */
static const struct map *map_without_code(struct counts *t, const struct map *m)
{
	struct map *out = ARENA_ARRAY(&t->arena, struct map, 1);

	*out = (struct map){.path = m->path,
			    .build_id_len = m->build_id_len,
			    .machine = m->machine,
			    .insn_size = m->insn_size,
			    .placement = m->placement,
			    .file_sum = m->file_sum};
	memcpy(out->id, m->id, sizeof m->id);
	memcpy(out->build_id, m->build_id, sizeof m->build_id);
	return out;
}

static int tell_image(struct counts *t, uint32_t image, struct counts_image *m,
		      struct err *e)
{
	const struct profile_image *p = &t->profile.image.at[image];
	struct endings endings;

	*m = (struct counts_image){
		.name = counts_name(p->missing ? p->file : p->map.path),
		.missing = p->missing,
		.map = &p->map,
		.image = image,
		.least = t->profile.header.trouble & TROUBLE_OF_TRACES ?
				 "the trace does not tell all that ran" : NULL,
		.symbolizer = ARENA_ARRAY(&t->arena, struct symbolizer, 1),
	};
	symbolizer_init(m->symbolizer, m->map);
	if (p->missing)
		return 0;
	m->value = read_counters(t, &t->arena, image, 0, e);
	if (!m->value)
		return -1;
	m->running = p->map.placement == PLACE_RUNNING;
	if (m->running) {
		m->missing = "--online keeps counts of events only, and not of "
			     "places";
		m->map = map_without_code(t, m->map);
		return 0;
	}
	profile_endings(&t->profile, image, 0, &endings);
	solve_counts(&t->arena, m->map, m->value, &endings, &m->solved);
	vec_free(&endings.v);
	return tell_sum(t, &t->instructions, m->solved.instructions, e);
}

int counts_open(struct counts *t, const char *const *path, size_t n,
		struct progress *progress, struct err *e)
{
	struct trace_opener opener = trace_opener(progress);

	*t = (struct counts){0};
	if (profile_open_all(&t->profile, path, n, &opener.is, e))
		return -1;
	t->image = ARENA_ARRAY(&t->arena, struct counts_image,
			       t->profile.image.n + 1);
	while (t->nimage < t->profile.image.n) {
		uint32_t i = t->nimage++;

		if (tell_image(t, i, &t->image[i], e)) {
			counts_close(t);
			return -1;
		}
	}
	qsort(t->image, t->nimage, sizeof *t->image, by_name);
	counts_left_make(t);
	return 0;
}

void counts_close(struct counts *t)
{
	for (uint32_t i = 0; i < t->nimage; i++)
		symbolizer_close(t->image[i].symbolizer);
	profile_close(&t->profile);
	arena_free(&t->arena);
}

int counts_solve_process(const struct counts *t, struct arena *a,
			 const struct counts_image *m, uint32_t number,
			 struct solved *s, struct err *e)
{
	uint64_t *value = read_counters(t, a, m->image, number, e);
	struct endings endings;

	if (!value)
		return -1;
	profile_endings(&t->profile, m->image, number, &endings);
	solve_counts(a, m->map, value, &endings, s);
	vec_free(&endings.v);
	return 0;
}

const char *counts_unmeasured(const struct counts_image *m)
{
	const struct map_region *most = NULL;

	if (m->missing || m->map->moved_bytes)
		return m->missing;
	for (size_t i = 0; i < m->map->in_place.n; i++) {
		const struct map_region *r = &m->map->in_place.at[i];

		if (!most || r->end - r->start > most->end - most->start)
			most = r;
	}
	return most ? most->reason : NULL;
}

int counts_process(struct counts *t, uint32_t number, uint64_t *instructions,
		   bool *all, struct err *e)
{
	*instructions = 0;
	*all = !counts_refused(t, number);
	for (uint32_t i = 0; i < t->nimage; i++) {
		struct counts_image *m = &t->image[i];
		struct arena a = {0};
		struct solved s = {0};
		int status = 0;

		if (!profile_has(&t->profile, m->image, number))
			continue;
		*all &= !counts_unmeasured(m);
		if (!m->missing)
			status = counts_solve_process(t, &a, m, number, &s,
						      e);
		*all &= !s.unknown_procs && !s.in_place;
		arena_free(&a);
		if (status || tell_sum(t, instructions, s.instructions, e))
			return -1;
	}
	return 0;
}

bool counts_complete(const struct counts_image *m)
{
	return !counts_unmeasured(m) && !m->left && !m->solved.unknown_procs &&
	       !m->solved.in_place;
}

bool counts_instructions(const struct counts_image *m, uint32_t p, uint64_t *n)
{
	*n = m->solved.insns[p];
	return m->solved.insns_known[p];
}

bool counts_ran(const struct counts_image *m, uint32_t p)
{
	return m->solved.ran[p];
}

bool counts_idle(const struct counts_image *m, uint32_t p)
{
	return m->solved.idle[p];
}

const char *counts_unknown(const struct counts_image *m, uint32_t p)
{
	if (m->map->proc.at[p].unknown)
		return m->map->proc.at[p].unknown;
	if (!m->solved.consistent[p])
		return "its counters contradict each other";
	counts_load(m, p);
	return solved_stays(&m->solved, p)
		       ? "a part of it that stays in place ran, uncounted"
		       : "its counters do not tell";
}

bool counts_lost(const struct counts *t)
{
	enum {
		LOSES = TROUBLE_NO_SPACE | TROUBLE_NO_FILE | TROUBLE_THREADS |
			TROUBLE_FORK | TROUBLE_CUT | TROUBLE_UNSEEN |
			TROUBLE_OF_TRACES
	};

	return t->profile.header.trouble & LOSES;
}

const char *counts_trouble(const struct counts *t, unsigned *bit)
{
	static const char *const text[] = {
		"there was no room on disk: some counts are lost",
		"a process could not open the profile: its counts are lost",
		"threads had to share counters: some counts may be lost",
		"a child process could not get counters: its counts are lost",
		"the program was still running: counts inside procedures at "
		"work may be off by one",
		"the profile is shorter than it says: some counts may be "
		"missing",
		"the C library is as it was, and not all threads and child "
		"processes were seen: their counts may be lost",
		"other threads ran when a process ended: counts of what they "
		"ran at that moment may be off by one",
		"where a process ended cannot be told: counts of what ran at "
		"that moment may be off by one",
		[9] = "there was no room for all pairs of call sites and "
		      "callees: some are missing",
		"where a thread went was lost for a while: what it ran then "
		"is not counted",
		"the trace has a part of the run: counts are of that part",
		"threads were killed: up to 64 of their last branches, and "
		"what ran between them, are not counted",
	};
	enum { TEXTS = sizeof text / sizeof *text };

	for (; *bit < 64; ++*bit)
		if (t->profile.header.trouble >> *bit & 1) {
			const char *s = *bit < TEXTS && text[*bit]
						? text[*bit]
						: "something that this tally "
						  "does not know "
						  "went wrong";

			++*bit;
			return s;
		}
	return NULL;
}
