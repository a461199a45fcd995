/* unwind_table: see unwind_table.h. */
#include "trace/file/unwind_table.h"

#include "base/bisect.h"
#include "base/bytes.h"

static bool read_saved(struct bytes *b, struct unwind_saved *s)
{
	uint64_t reg = bytes_uleb(b), at = bytes_uleb(b);

	if (b->bad || reg >= UNWIND_REGS || at > UINT16_MAX * 2u)
		return false;
	s->reg = (uint8_t)reg;
	if (!at--)
		s->at = UNWIND_NOWHERE;
	else
		s->at = at & 1 ? -(int32_t)((at + 1) / 2) : (int32_t)(at / 2);
	return true;
}

static bool read_rule(struct unwind_table *t, struct bytes *b)
{
	uint64_t cfa = bytes_uleb(b), n;
	struct unwind_rule r = {.saved = (uint32_t)t->saved.n};
	struct unwind_saved s;

	r.offset = (int64_t)bytes_sleb(b);
	n = bytes_uleb(b);
	if (b->bad || cfa > UNWIND_REGS || n > UNWIND_REGS)
		return false;
	r.cfa = (uint8_t)(cfa ? cfa - 1 : UNWIND_REGS);
	r.nsaved = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++) {
		if (!read_saved(b, &s))
			return false;
		vec_push(&t->saved, s);
	}
	vec_push(&t->rule, r);
	return true;
}

static bool read_ranges(struct unwind_table *t, struct bytes *b)
{
	struct unwind_range r = {0};

	while (bytes_left(b)) {
		uint64_t step = bytes_uleb(b), rule = bytes_uleb(b);

		if (b->bad || rule > t->rule.n || step > UINT64_MAX - r.start)
			return false;
		r.start += step;
		r.rule = (uint32_t)rule;
		vec_push(&t->range, r);
	}
	return true;
}

int unwind_table_read(struct unwind_table *t, const uint8_t *bytes, size_t n)
{
	struct bytes b = bytes_window(bytes, n, 0);
	uint64_t nrule = n ? bytes_uleb(&b) : 0;
	bool good = true;

	*t = (struct unwind_table){0};
	for (uint64_t i = 0; good && i < nrule; i++)
		good = read_rule(t, &b);
	if (good && !b.bad && read_ranges(t, &b))
		return 0;
	unwind_table_free(t);
	return -1;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *t,
					    uint64_t address)
{
	size_t i;

	bisect(i, t->range.n, t->range.at[i].start <= address);
	return i && t->range.at[i - 1].rule ?
		       &t->rule.at[t->range.at[i - 1].rule - 1] : NULL;
}

void unwind_table_free(struct unwind_table *t)
{
	vec_free(&t->rule);
	vec_free(&t->saved);
	vec_free(&t->range);
}
