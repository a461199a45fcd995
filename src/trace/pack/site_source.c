/* site_source: see site_source.h. */
#include "trace/pack/site_source.h"

enum { SIZE_SHIFT = 56 }; /* of a site's number */

void site_source_begin(struct site_source *s, struct walks *w,
		       const struct trace_thread *t)
{
	struct replay_pick pick = {.process = t->process, .thread = t->thread,
				   .count = UINT64_MAX, .accesses = true,
				   .log = &s->log};

	*s = (struct site_source){0};
	replay_begin(&s->replay, w, &pick);
}

/* replays until a value is noted that is at `end` or behind it */
static void replay_up_to(struct site_source *s, uint64_t end)
{
	struct replay_event x;

	while (!s->over && (s->log.value.n == s->nlog ||
			    s->log.value.at[s->log.value.n - 1].at < end))
		s->over = !replay_next(&s->replay, &x);
}

/* what was used is not kept */
static void forget_used(struct site_source *s)
{
	s->log.value.n -= s->nlog;
	if (s->log.value.n)
		memmove(s->log.value.at, s->log.value.at + s->nlog,
			s->log.value.n * sizeof *s->log.value.at);
	s->nlog = 0;
}

static void add_plain(struct site_source *s, uint64_t end)
{
	const struct value_site plain = {.size = 1};

	for (; s->at < end; s->at++)
		vec_push(&s->site, plain);
}

/* the next value that is noted, and lies before `end`; NULL: none does */
static const struct value_taken *next_value(struct site_source *s,
					    uint64_t end)
{
	for (; s->nlog < s->log.value.n; s->nlog++) {
		const struct value_taken *v = &s->log.value.at[s->nlog];

		if (v->at >= s->at)
			return v->at < end && v->size <= end - v->at ? v : NULL;
	}
	return NULL;
}

struct value_sites site_source_take(struct site_source *s, uint64_t end)
{
	const struct value_taken *v;

	s->site.n = 0;
	forget_used(s);
	replay_up_to(s, end);
	while ((v = next_value(s, end))) {
		struct value_site site = {
			(uint64_t)(uintptr_t)v->by ^
				(uint64_t)v->size << SIZE_SHIFT, v->size};

		add_plain(s, v->at);
		vec_push(&s->site, site);
		s->at += v->size;
		s->nlog++;
	}
	add_plain(s, end);
	return (struct value_sites){s->site.at, s->site.n};
}

void site_source_end(struct site_source *s)
{
	replay_end(&s->replay);
	vec_free(&s->log.value);
	vec_free(&s->site);
}
