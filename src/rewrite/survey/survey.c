/*
 * survey: see survey.h.
 */
#include "rewrite/survey/survey.h"

#include "base/parallel.h"
#include "rewrite/survey/survey_int.h"

enum { SHARE_BLOCKS = 20000 };

/* what depends on which parts move, found anew */
static void find_ways(struct survey *s)
{
	computed_goto_free(&s->labels);
	tables_free(&s->tables);
	mem_free(s->indirect_entry);
	s->labels = (struct labels){0};
	s->tables = (struct tables){0};
	s->indirect_entry = NULL;
	if (!s->moves.moved.n)
		return;
	computed_goto_find(&s->labels, s->cfg, &s->moves);
	tables_find(&s->tables, s->cfg, &s->live, &s->moves, &s->labels);
	indirect_entry_find(s);
}

/* does the block load another stack pointer? */
static bool loads_stack(const struct cfg *c, const struct block *k)
{
	const regset sp = (regset)1 << c->isa->sp;
	const regset frame = sp | (regset)1 << c->isa->fp;
	size_t avail;
	const uint8_t *code = image_at(c->image, k->start, &avail);
	struct insn i;

	for (uint32_t at = 0; code && at < k->size; at += i.len) {
		c->isa->decode(code + at, avail - at, k->start + at, &i);
		if (i.kind == INSN_BAD)
			break;
		if (i.kind == INSN_SEQ && i.writes & sp && !(i.reads & frame))
			return true;
	}
	return false;
}

static void find_leaving(struct survey *s)
{
	const struct cfg *c = s->cfg;

	if (!cfg_keeps(c))
		return;
	s->leaves_stack = NEW_ARRAY(bool, c->proc.n + 1);
	for (uint32_t b = 0; b < c->block.n; b++) {
		uint64_t at = c->block.at[b].start;

		/* Go calls it only where a stack has much room */
		if (cfg_go_preempts(c, at))
			continue;
		if (cfg_is_go(c, at) || loads_stack(c, &c->block.at[b]))
			s->leaves_stack[cfg_block_proc(c, b)] = true;
	}
}

/* a beginning: what is live, which takes longest; or which parts move, and,
   if code is to be inserted, where what may not be */
struct beginning {
	struct survey *s;
	bool live, inserts;
};

static void *begin(void *share)
{
	const struct beginning *b = share;
	struct survey *s = b->s;

	if (b->live) {
		live_build(&s->live, s->cfg);
		return NULL;
	}
	choose_parts(s);
	if (b->inserts && s->moves.moved.n && s->cfg->isa->exclusives)
		exclusive_find(&s->exclusive, s->cfg);
	return NULL;
}

/* in small files both are not worth a thread, nor always worth doing */
static void begin_all(struct survey *s, bool inserts)
{
	struct beginning both[] = {{s, false, inserts}, {s, true, false}};

	if (s->cfg->block.n >= SHARE_BLOCKS) {
		parallel_run(begin, both, sizeof *both, 2);
		return;
	}
	begin(&both[0]);
	if (s->moves.moved.n)
		begin(&both[1]);
}

static void make(struct survey *s, const struct cfg *c, bool inserts)
{
	*s = (struct survey){.cfg = c};
	begin_all(s, inserts);
	if (!s->moves.moved.n)
		return;
	find_leaving(s);
	code_heuristic_leave(s);
	trampolines_find_spared(s);
	do
		find_ways(s);
	while (!trampolines_find(s));
}

void survey_make_bare(struct survey *s, const struct cfg *c)
{
	make(s, c, false);
}

void survey_make(struct survey *s, const struct cfg *c)
{
	make(s, c, true);
}

void survey_free(struct survey *s)
{
	marks_free(&s->marks);
	moves_free(&s->moves);
	vec_free(&s->in_place);
	live_free(&s->live);
	computed_goto_free(&s->labels);
	tables_free(&s->tables);
	exclusive_free(&s->exclusive);
	vec_free(&s->open);
	mem_free(s->indirect_entry);
	mem_free(s->leaves_stack);
	vec_free(&s->trampoline);
	vec_free(&s->read);
	vec_free(&s->doubt);
}

bool survey_copies(const struct survey *s, uint32_t block)
{
	const struct block *b = &s->cfg->block.at[block];
	const struct table_copy *x = tables_at(&s->tables, b->start);
	const struct dispatch *d = tables_dispatch(s->cfg, block);

	return (x && x->j.jump < block_end(b)) ||
	       (d && computed_goto_of(&s->labels, d));
}
