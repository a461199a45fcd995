/* targets: see targets.h. */
#include "trace/regenerate/targets.h"

#include <string.h>

static void forget_sites(struct targets *t)
{
	if (t->key.n)
		memset(t->key.at, 0, t->key.n * sizeof *t->key.at);
	t->n = 0;
}

/* all is, if an epoch has begun */
static void follow_epoch(struct targets *t, struct stream *s)
{
	if (!s->new_epoch)
		return;
	s->new_epoch = false;
	memset(t->by_index, 0, sizeof t->by_index);
	forget_sites(t);
	t->missed = false;
}

static uint64_t *slot_of(struct targets *t, uint64_t key)
{
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	for (;; i++) {
		i &= t->key.n - 1;
		if (!t->key.at[i] || t->key.at[i] == key)
			break;
	}
	if (!t->key.at[i]) {
		t->key.at[i] = key;
		t->last.at[i] = 0;
		t->n++;
	}
	return &t->last.at[i];
}

static void grow_targets(struct targets *t)
{
	size_t n = t->key.n ? 2 * t->key.n : 1024;
	struct targets old = *t;

	t->key.at = NEW_ARRAY(uint64_t, n);
	t->last.at = NEW_ARRAY(uint64_t, n);
	t->key.n = t->last.n = t->key.cap = t->last.cap = n;
	t->n = 0;
	for (size_t i = 0; i < old.key.n; i++)
		if (old.key.at[i])
			*slot_of(t, old.key.at[i]) = old.last.at[i];
	mem_free(old.key.at);
	mem_free(old.last.at);
}

/* the last target of the site */
static uint64_t *last_of(struct targets *t, const void *site)
{
	if (2 * t->n >= t->key.n)
		grow_targets(t);
	return slot_of(t, (uint64_t)(uintptr_t)site);
}

bool targets_read(struct targets *t, struct stream *s, const void *site,
		  uint64_t *to)
{
	const struct trace_record *r = stream_record(s);
	uint64_t *last;
	uint32_t bits;

	/* the stream may have come to it just now */
	follow_epoch(t, s);
	last = last_of(t, site);
	if (r && r->kind == RING_TARGET && r->nword) {
		*to = r->word[0];
		t->by_index[trace_index(*to)] = *to;
		stream_pass(s);
	} else if (r || !stream_read(s, 1, &bits)) {
		return false;
	} else if (!bits) {
		*to = *last;
	} else if (stream_read(s, TARGET_BITS, &bits)) {
		*to = t->by_index[bits];
	} else {
		return false;
	}
	*last = *to;
	return *to;
}

void targets_miss(struct targets *t, struct stream *s,
		  const struct trace_record *r)
{
	follow_epoch(t, s);
	if (t->n)
		forget_sites(t);
	t->missed = true;
	if (r && r->kind == RING_TARGET && r->nword)
		t->by_index[trace_index(r->word[0])] = r->word[0];
}

void targets_free(struct targets *t)
{
	vec_free(&t->key);
	vec_free(&t->last);
}
