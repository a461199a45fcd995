/*
 * slots: the old text, which leads to the new.
 *
 * Old addresses, wherever the program keeps them, stay good (rewriting.md
 * 3.3). Where every instruction has room for a jump, each becomes a slot, a
 * jump to its new place. A slot from which the new place cannot be reached
 * keeps its instruction, which does the same in its old place. Where control
 * is expected, islands are used before that, or a procedure's first slots
 * become one longer jump. A trap keeps its place as well: it does the same
 * there, and what nobody runs may be data that looks like one.
 *
 * Where instructions are shorter than a jump, only the places at which control
 * is expected lead to the new code (pads.h). All other bytes stay, so that who
 * comes unexpected still finds his code.
 */
#include "rewrite/rewrite_int.h"

#include "rewrite/survey_int.h"

static bool is_trap(const struct rewriter *r, const uint8_t *code,
		    uint64_t old)
{
	struct insn in;

	r->isa->scan(code, r->isa->max_len, old, &in);
	return in.kind == INSN_TRAP;
}

static bool arrives(const struct rewriter *r, uint64_t old)
{
	return arrive_expected(r->survey, old) ||
	       sites_find(&r->sites, SPOT_ARRIVAL, old);
}

bool slots_is_free(const struct rewriter *r, uint64_t old)
{
	return !arrives(r, old) && !is_trap(r, old_code(r, old), old) &&
	       !arrive_unknown(r->survey, old);
}

/*
 * A procedure's first slots made one jump that reaches further; false if
 * control may also arrive at the others.
 */
static bool write_far_slot(struct rewriter *r, uint64_t old, uint64_t to)
{
	uint32_t b = cfg_block_at(r->c, old);
	uint64_t end = old + r->move->far_size;

	if (!r->move->far_size || !text_is_start(r, old) ||
	    end > r->c->part.at[r->c->block.at[b].part].end)
		return false;
	for (uint64_t at = old + r->move->jump_size; at < end;
	     at += r->move->jump_size)
		if (cfg_block_at(r->c, at) == CFG_NONE ||
		    !slots_is_free(r, at))
			return false;
	if (!r->move->far_jump(old, to, text_slot(r, old)))
		return false;
	r->far_end = end;
	return true;
}

/* an old instruction, and where what leads to its new place is written */
struct slot {
	uint64_t old;
	const uint8_t *code;
	uint8_t *out;
};

static void write_slot(struct rewriter *r, const struct slot *s, uint64_t to,
		       bool expected)
{
	unsigned size = r->move->jump_size;
	uint64_t step;

	if (s->old < r->far_end)
		return;
	if (!expected && is_trap(r, s->code, s->old)) {
		memcpy(s->out, s->code, size);
		return;
	}
	if (!expected && r->o->trap_unexpected &&
	    !arrive_unknown(r->survey, s->old)) {
		r->move->trap(s->out, size);
		return;
	}
	if (r->move->jump(s->old, to, s->out))
		return;
	step = expected ? island_step(r, s->old, to) : 0;
	if (step && r->move->jump(s->old, step, s->out))
		return;
	if (expected && write_far_slot(r, s->old, to))
		return;
	memcpy(s->out, s->code, size);
	r->report->unreached += expected;
}

/* every instruction of the span becomes a jump */
static void write_span_slots(struct rewriter *r, const struct span *s)
{
	struct slot p = {s->old, old_code(r, s->old), text_slot(r, s->old)};
	unsigned size = r->move->jump_size;

	for (uint32_t i = 0; i < s->size; i += size) {
		const struct site *x =
			sites_find(&r->sites, SPOT_ARRIVAL, p.old);
		uint64_t to = x ? x->addr : i ? s->start + i : s->arrive;

		write_slot(r, &p, to, x || arrive_expected(r->survey, p.old));
		p.old += size;
		p.code += size;
		p.out += size;
	}
}

/* makes all of the span's old code traps, but for what traps already */
static void write_traps(struct rewriter *r, const struct span *s)
{
	const uint8_t *code = old_code(r, s->old);
	uint8_t *out = text_slot(r, s->old);
	struct insn in;

	for (uint32_t i = 0; i < s->size; i += in.len) {
		r->isa->scan(code + i, s->size - i, s->old + i, &in);
		if (in.kind != INSN_TRAP)
			r->move->trap(out + i, in.len);
	}
}

static bool write_pad(struct rewriter *r, const struct pad *p)
{
	const struct site *x = sites_find(&r->sites, SPOT_ARRIVAL, p->at);
	uint64_t to = x ? x->addr : addr_map_arrive(&r->m.map, p->at);

	return r->move->jump(p->jump, to, text_slot(r, p->jump)) &&
	       (p->jump == p->at ||
		r->move->hop(p->at, p->jump, text_slot(r, p->at)));
}

/* all old code traps, but for what is read */
static void trap_everywhere(struct rewriter *r)
{
	const struct survey *s = r->survey;

	for (size_t i = 0; i < r->m.map.span.n; i++)
		write_traps(r, &r->m.map.span.at[i]);
	for (size_t i = 0; i < s->read.n; i++) {
		uint64_t start = s->read.at[i].start;
		size_t n = s->read.at[i].end - start, avail;
		const uint8_t *code = image_at(r->im, start, &avail);

		memcpy(text_slot(r, start), code, n < avail ? n : avail);
	}
}

static int write_pads(struct rewriter *r)
{
	const struct survey *s = r->survey;

	if (r->o->trap_unexpected)
		trap_everywhere(r);
	for (size_t i = 0; i < s->pad.n; i++)
		if (!write_pad(r, &s->pad.at[i]))
			return err_set(r->e, ERR_INPUT,
				       "%s: at 0x%llx: the new code is out of "
				       "reach", r->im->path,
				       (unsigned long long)s->pad.at[i].at);
	return 0;
}

int slots_write(struct rewriter *r)
{
	if (!r->m.moved.n)
		return 0;
	if (r->move->hop_size)
		return write_pads(r);
	r->far_end = 0;
	r->report->unreached = 0;
	for (size_t i = 0; i < r->m.map.span.n; i++)
		write_span_slots(r, &r->m.map.span.at[i]);
	return 0;
}
