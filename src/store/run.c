/* run: see run.h. */
#include "store/run.h"

#include <stdbool.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/compress.h"

/* one digit: what has the same stays in the order that it has */
static void sort_digit(struct hit *to, const struct hit *from, size_t n,
		       int shift)
{
	size_t at[257] = {0};

	for (size_t i = 0; i < n; i++)
		at[(from[i].offset >> shift & 255) + 1]++;
	for (int i = 0; i < 256; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < n; i++)
		to[at[from[i].offset >> shift & 255]++] = from[i];
}

/* bits in which any two offsets differ; 0, too, if all are in order */
static uint64_t differences(const run *r)
{
	uint64_t differ = 0;
	bool in_order = true;

	for (size_t i = 1; i < r->n; i++) {
		differ |= r->at[i].offset ^ r->at[0].offset;
		in_order &= r->at[i - 1].offset <= r->at[i].offset;
	}
	return in_order ? 0 : differ;
}

/*
 * From the lowest digit on, and only those that differ: offsets are short, and
 * a daemon has little else to do than this.
 */
static void sort(run *r)
{
	uint64_t differ = differences(r);
	struct hit *other = differ ? NEW_ARRAY(struct hit, r->n) : NULL;

	for (int shift = 0; shift < 64; shift += 8) {
		struct hit *from = r->at;

		if (!(differ >> shift & 255))
			continue;
		sort_digit(other, from, r->n, shift);
		r->at = other;
		r->cap = r->n;
		other = from;
	}
	mem_free(other);
}

/* adds up neighbours that are of one offset */
static void unite(run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (n && r->at[n - 1].offset == r->at[i].offset)
			r->at[n - 1].count += r->at[i].count;
		else
			r->at[n++] = r->at[i];
	r->n = n;
}

void run_settle(run *r)
{
	sort(r);
	unite(r);
}

/* both are in order; what is of one offset lies side by side then */
static void merge(run *out, const run *a, const run *b)
{
	size_t i = 0, k = 0;

	vec_reserve(out, a->n + b->n);
	while (i < a->n && k < b->n)
		out->at[out->n++] = b->at[k].offset < a->at[i].offset ?
					    b->at[k++] : a->at[i++];
	while (i < a->n)
		out->at[out->n++] = a->at[i++];
	while (k < b->n)
		out->at[out->n++] = b->at[k++];
}

void run_settle_more(run *r, size_t settled)
{
	const run first = {r->at, settled, settled};
	run more = {0}, all = {0};

	if (settled == r->n)
		return;
	vec_reserve(&more, r->n - settled);
	memcpy(more.at, r->at + settled, (r->n - settled) * sizeof *r->at);
	more.n = r->n - settled;
	run_settle(&more);
	merge(&all, &first, &more);
	unite(&all);
	vec_free(&more);
	vec_free(r);
	*r = all;
}

/* the first of those from `at` on, before `end`, that is not below the offset:
   as a rule it is near */
static size_t seek(const struct hit *h, size_t at, size_t end, uint64_t offset)
{
	size_t step = 1, low = at;

	while (at < end && h[at].offset < offset) {
		low = at + 1;
		at += step;
		step *= 2;
	}
	bisect_from(at, low, at < end ? at : end, h[at].offset < offset);
	return at;
}

void run_add(run *r, size_t settled, const run *more)
{
	size_t at = 0;

	for (size_t i = 0; i < more->n; i++) {
		at = seek(r->at, at, settled, more->at[i].offset);
		if (at < settled && r->at[at].offset == more->at[i].offset)
			r->at[at].count += more->at[i].count;
		else
			vec_push(r, more->at[i]);
	}
}

void run_pack(buffer *out, const run *r)
{
	uint64_t last = 0;
	buffer b = {0};

	buffer_uleb(&b, RUN_VERSION);
	buffer_uleb(&b, r->n);
	for (size_t i = 0; i < r->n; i++) {
		buffer_uleb(&b, r->at[i].offset - last);
		buffer_uleb(&b, r->at[i].count);
		last = r->at[i].offset;
	}
	compress(out, b.at, b.n);
	vec_free(&b);
}

/* reads the numbers; NULL, or what is wrong with them */
static const char *run_read(run *r, struct bytes *b)
{
	uint64_t version = bytes_uleb(b), n = bytes_uleb(b), last = 0;
	uint64_t total = 0;

	if (version != RUN_VERSION)
		return "its version is not known";
	if (n > bytes_left(b) / 2)
		return "it is short";
	vec_reserve(r, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t step = bytes_uleb(b);
		struct hit s = {last + step, bytes_uleb(b)};

		if (s.offset < last || (i && !step))
			return "its offsets are not in order";
		if (__builtin_add_overflow(total, s.count, &total) ||
		    total > INT64_MAX)
			return "it has too many samples";
		last = s.offset;
		vec_push(r, s);
	}
	return b->bad || bytes_left(b) ? "its length is wrong" : NULL;
}

int run_unpack(run *r, const void *bytes, size_t n, const char *where,
	       struct err *e)
{
	size_t had = r->n;
	const char *wrong;
	struct bytes b;
	buffer raw = {0};

	if (decompress(&raw, bytes, n, where, "a run of samples", e)) {
		vec_free(&raw);
		return -1;
	}
	b = bytes_window(raw.at, raw.n, 0);
	wrong = run_read(r, &b);
	vec_free(&raw);
	if (!wrong)
		return 0;
	r->n = had;
	return err_set(e, ERR_INPUT, "%s: a run of samples is broken: %s",
		       where, wrong);
}

/* each place is two numbers, of a byte or more */
uint64_t run_most(const void *bytes, size_t n)
{
	return compress_size(bytes, n) / 2;
}

uint64_t run_total(const run *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->at[i].count;
	return n;
}
