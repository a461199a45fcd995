/* trampolines: see trampolines.h. */
#include "rewrite/survey/survey_int.h"

#include <elf.h>

#include "base/debug.h"
#include "elf/words.h"
#include "isa/move.h"

/* what is longer is more than the padding before a procedure */
enum { PADDING_MAX = 64 };

/* sets of old addresses */
struct trampoline_finder {
	struct survey *s;
	const struct isa_move *move;
	uint64_t base, end; /* of all blocks */
	uint8_t *ours;	    /* bit n: the byte at base + n may be changed */
	uint8_t *taken;	    /* and is */
	uint8_t *call;	    /* that could be made there: indirect_entry.c */
	bool spares;	    /* those are not taken */
	uint8_t *doubt;	    /* control might arrive there */
	bool *doubted;	    /* by part: and so its old code might run */
	bool *stuck;        /* by part: there is no room for a trampoline */
	bool any_stuck;
};

static bool has(const struct trampoline_finder *f, const uint8_t *set,
		uint64_t addr)
{
	uint64_t n = addr - f->base;

	return addr >= f->base && addr < f->end && set[n / 8] >> n % 8 & 1;
}

static void add(const struct trampoline_finder *f, uint8_t *set, uint64_t start,
		uint64_t end)
{
	uint64_t n = start - f->base, to = end - f->base;

	for (; n < to && n % 8; n++)
		set[n / 8] |= (uint8_t)(1 << n % 8);
	if (n < to)
		memset(set + n / 8, 0xff, (to - n) / 8);
	for (n += (to - n) / 8 * 8; n < to; n++)
		set[n / 8] |= (uint8_t)(1 << n % 8);
}

/* is there nothing but padding between two blocks, in one range of code? */
static bool is_padding(const struct cfg *c, uint64_t start, uint64_t end)
{
	const struct range *range = image_code(c->image, start);
	size_t avail;
	const uint8_t *code = image_at(c->image, start, &avail);
	struct insn in;

	if (end - start > PADDING_MAX || !range || end > range->end ||
	    avail < end - start)
		return false;
	for (uint64_t at = start; at < end; at += in.len) {
		c->isa->scan(code + (at - start), end - at, at, &in);
		if (!in.pad)
			return false;
	}
	return true;
}

static void find_ours(struct trampoline_finder *f)
{
	const struct cfg *c = f->s->cfg;

	for (uint32_t b = 0; b < c->block.n; b++) {
		uint64_t end = block_end(&c->block.at[b]);

		if (!survey_moves(f->s, b))
			continue;
		add(f, f->ours, c->block.at[b].start, end);
		if (b + 1 < c->block.n && c->block.at[b + 1].start > end &&
		    is_padding(c, end, c->block.at[b + 1].start))
			add(f, f->ours, end, c->block.at[b + 1].start);
	}
}

/* the bytes of calls that leave their old return addresses */
static void find_calls(struct trampoline_finder *f)
{
	const struct cfg *c = f->s->cfg;

	for (uint32_t b = 0; c->go.n && b < c->block.n; b++)
		if (c->block.at[b].flags & BLOCK_KEPT && survey_moves(f->s, b))
			add(f, f->call, marks_last(&f->s->marks, c, b),
			    block_end(&c->block.at[b]));
}

/* is one of these bytes a trampoline's? */
static bool is_taken(const void *finder, uint64_t start, uint64_t end)
{
	const struct trampoline_finder *f = finder;

	while (start < end && has(f, f->ours, start) &&
	       !has(f, f->taken, start))
		start++;
	return start < end;
}

/* an instruction that moves starts there */
static bool is_start(const struct survey *s, uint64_t addr)
{
	uint32_t b = cfg_block_at(s->cfg, addr);
	const uint8_t *mark = marks_of(&s->marks, b);
	uint64_t at = s->cfg->block.at[b].start;

	if (!survey_moves(s, b))
		return false;
	while (at < addr)
		at += mark_length(*mark++);
	return at == addr;
}

/* if the number is used as an address of code, old code runs */
static bool leads_to_old(const struct survey *s, const struct number *n)
{
	return is_start(s, n->value) && !indirect_entry_expected(s, n->value) &&
	       !(n->place && computed_goto_in_table(&s->labels, n->place));
}

/* from a doubtful address control may go to all others of the part */
static void spare_doubtful(struct trampoline_finder *f)
{
	const struct cfg *c = f->s->cfg;

	for (size_t i = 0; i < f->s->doubt.n; i++) {
		uint64_t at = f->s->doubt.at[i].value;

		if (!leads_to_old(f->s, &f->s->doubt.at[i]))
			continue;
		add(f, f->doubt, at, at + 1);
		f->doubted[c->block.at[cfg_block_at(c, at)].part] = true;
	}
	for (uint32_t b = 0; b < c->block.n; b++) {
		uint64_t at = c->block.at[b].start;

		if (f->doubted[c->block.at[b].part])
			add(f, f->doubt, at, at + 1);
	}
}

/* the bytes that are loaded are not ours */
static void spare_read(struct trampoline_finder *f)
{
	for (size_t i = 0; i < f->s->read.n; i++) {
		struct range r = f->s->read.at[i];

		for (uint64_t at = r.start; at < r.end && at < f->end; at++)
			f->ours[(at - f->base) / 8] &=
				(uint8_t)~(1 << (at - f->base) % 8);
	}
}

/* words of data that may be addresses in a block */
static void find_words(struct survey *s, const struct segment *g)
{
	const struct cfg *c = s->cfg;
	struct words w = words_of(c->image, g, c->block.at[0].start,
				  block_end(&c->block.at[c->block.n - 1]));

	while (words_next(&w)) {
		struct number n = {w.value, w.place};

		if (cfg_block_at(c, n.value) != CFG_NONE)
			vec_push(&s->doubt, n);
	}
}

void trampolines_find_spared(struct survey *s)
{
	const struct image *im = s->cfg->image;

	if (!s->cfg->isa->move->hop_size)
		return;
	for (size_t i = 0; im->type == ET_EXEC && i < im->nsegment; i++)
		find_words(s, &im->segment[i]);
}

/* bytes from the address on that a trampoline there may take, up to a jump's */
static unsigned room_at(const struct trampoline_finder *f, uint64_t at)
{
	unsigned n = 0;

	while (n < f->move->jump_size && has(f, f->ours, at + n) &&
	       !has(f, f->taken, at + n) &&
	       !(f->spares && has(f, f->call, at + n)) &&
	       !(n && (indirect_entry_expected(f->s, at + n) ||
		       has(f, f->doubt, at + n))))
		n++;
	return n;
}

static void stick(struct trampoline_finder *f, uint64_t at)
{
	const struct cfg *c = f->s->cfg;

	f->stuck[c->block.at[cfg_block_at(c, at)].part] = true;
	f->any_stuck = true;
}

/* takes the bytes of a jump or, for now, of a hop that leads to 0 */
static void add_trampoline(struct trampoline_finder *f, uint64_t at)
{
	unsigned room;
	struct trampoline p = {.at = at};

	f->spares = true;
	room = room_at(f, at);
	if (room < f->move->hop_size) {
		f->spares = false;
		room = room_at(f, at);
	}
	if (room < f->move->hop_size) {
		stick(f, at);
		return;
	}
	if (room == f->move->jump_size)
		p.jump = at;
	else
		room = f->move->hop_size;
	add(f, f->taken, at, at + room);
	vec_push(&f->s->trampoline, p);
}

/* padding, or old code that never runs */
static bool is_idle(const struct trampoline_finder *f, uint64_t at)
{
	const struct cfg *c = f->s->cfg;
	uint32_t b = cfg_block_at(c, at);

	return b == CFG_NONE || !f->doubted[c->block.at[b].part];
}

static bool is_hole(const struct trampoline_finder *f, uint64_t at)
{
	unsigned size = f->move->jump_size;

	return at >= f->base && at < f->end &&
	       !indirect_entry_expected(f->s, at) && room_at(f, at) == size &&
	       is_idle(f, at) && is_idle(f, at + size - 1);
}

/* room for a jump that a hop at `at` reaches, or 0 */
static uint64_t find_hole(const struct trampoline_finder *f, uint64_t at)
{
	for (unsigned d = f->move->hop_size; d <= f->move->hop_reach; d++) {
		if (is_hole(f, at + d))
			return at + d;
		if (is_hole(f, at - d))
			return at - d;
	}
	return 0;
}

static void find_pads(struct trampoline_finder *f)
{
	struct survey *s = f->s;

	for (uint32_t b = 0; b < s->cfg->block.n; b++)
		if ((survey_indirect_entry(s, b) && survey_moves(s, b)) ||
		    survey_returns(s, b))
			add_trampoline(f, s->cfg->block.at[b].start);
	for (size_t i = 0; i < s->trampoline.n; i++) {
		struct trampoline *p = &s->trampoline.at[i];

		if (p->jump)
			continue;
		f->spares = true;
		p->jump = find_hole(f, p->at);
		if (!p->jump) {
			f->spares = false;
			p->jump = find_hole(f, p->at);
		}
		if (p->jump)
			add(f, f->taken, p->jump, p->jump + f->move->jump_size);
		else
			stick(f, p->at);
	}
}

static bool is_stuck(void *ctx, const struct moved *m)
{
	const struct trampoline_finder *f = ctx;

	return f->stuck[m->part];
}

bool trampolines_find(struct survey *s)
{
	const struct cfg *c = s->cfg;
	struct trampoline_finder f = {.s = s, .move = c->isa->move};
	size_t size;

	s->trampoline.n = 0;
	if (s->moves.moved.n && !f.move->hop_size)
		home_mark(s, NULL, NULL);
	if (!s->moves.moved.n || !f.move->hop_size)
		return true;
	f.base = c->block.at[0].start;
	f.end = block_end(&c->block.at[c->block.n - 1]);
	size = (f.end - f.base) / 8 + 1;
	f.ours = mem_zalloc(size, 1);
	f.taken = mem_zalloc(size, 1);
	f.doubt = mem_zalloc(size, 1);
	f.stuck = NEW_ARRAY(bool, c->part.n);
	f.doubted = NEW_ARRAY(bool, c->part.n);
	f.call = mem_zalloc(size, 1);
	find_ours(&f);
	find_calls(&f);
	spare_doubtful(&f);
	spare_read(&f);
	find_pads(&f);
	if (f.any_stuck)
		debug(DEBUG_REWRITE, "%s: some parts have no room for a jump "
		      "where control may arrive: once more, without them",
		      c->image->path);
	if (f.any_stuck)
		choose_leave(s, is_stuck, &f,
			     "no room for a jump where control may arrive");
	else
		home_mark(s, is_taken, &f);
	mem_free(f.ours);
	mem_free(f.taken);
	mem_free(f.call);
	mem_free(f.doubt);
	mem_free(f.stuck);
	mem_free(f.doubted);
	return !f.any_stuck;
}
