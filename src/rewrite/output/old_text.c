/*
 * old_text: the old text, which leads to the new.
 *
 * Old addresses, wherever the program keeps them, stay good
 * (doc/how-rewriting-works.md). Where every instruction has room for a jump,
 * each becomes a trampoline, a jump to its new place. A trampoline from which
 * the new place cannot be reached keeps its instruction, which does the same in
 * its old place. Where control is expected, islands are used before that, or a
 * procedure's first trampolines become one longer jump. A trap keeps its place
 * as well: it does the same there, and one that never runs may be data that
 * looks like a trap.
 *
 * Where instructions are shorter than a jump, only the places at which control
 * is expected lead to the new code (trampolines.h). All other bytes stay, so
 * that control that comes unexpected still finds the old code.
 */
#include "rewrite/rewrite_int.h"

#include "base/parallel.h"
#include "rewrite/survey/survey_int.h"

/* fewer are not worth a thread */
enum { SHARE_SPANS = 20000 };

/*
 * A procedure's first trampolines made one jump that reaches further; false if
 * control may also arrive at the others.
 */
static bool write_far_trampoline(struct output *o, uint64_t old, uint64_t to)
{
	uint32_t b = cfg_block_at(o->in->c, old);
	uint64_t end = old + o->in->move->far_size;

	if (!o->in->move->far_size || !is_proc_start(o->in->c, old) ||
	    end > o->in->c->part.at[o->in->c->block.at[b].part].end)
		return false;
	for (uint64_t at = old + o->in->move->jump_size; at < end;
	     at += o->in->move->jump_size)
		if (cfg_block_at(o->in->c, at) == CFG_NONE ||
		    !old_is_free(o->l, at))
			return false;
	if (!o->in->move->far_jump(old, to, output_old(o, old)))
		return false;
	o->far_end = end;
	return true;
}

/* an old instruction, and where what leads to its new place is written */
struct old_place {
	uint64_t old;
	const uint8_t *code;
	uint8_t *out;
	uint64_t to;
	bool expected; /* control may arrive there */
};

/* a share of the spans, and the trampolines there that need more than a jump */
struct share {
	struct output *o;
	size_t from, end;
	VEC(struct old_place) late;
	size_t arrival; /* the next site where control arrives */
};

/* writes a trampoline; false: it is expected, and a jump does not reach */
static bool write_trampoline_at(const struct output *o,
				const struct old_place *s)
{
	unsigned size = o->in->move->jump_size;

	if (!s->expected && old_is_trap(o->in, s->old)) {
		memcpy(s->out, s->code, size);
		return true;
	}
	if (!s->expected && o->in->options->trap_unexpected &&
	    !indirect_entry_open(o->in->survey, s->old)) {
		o->in->move->trap(s->out, size);
		return true;
	}
	if (o->in->move->jump(s->old, s->to, s->out))
		return true;
	memcpy(s->out, s->code, size);
	return !s->expected;
}

/* does what else can be done where control is expected; if nothing can, the
   instruction is there already */
static void write_late_trampoline(struct output *o, const struct old_place *s)
{
	uint64_t step;

	if (s->old < o->far_end)
		return;
	step = island_step(o->islands, s->old, s->to);
	if ((!step || !o->in->move->jump(s->old, step, s->out)) &&
	    !write_far_trampoline(o, s->old, s->to))
		o->unreached++;
}

/* the site at which control arrives that comes to the old address, or NULL */
static const struct site *arrival_at(struct share *x, uint64_t old)
{
	const struct site *v = x->o->l->sites.at[SPOT_INDIRECT_ENTRY].at;
	size_t n = x->o->l->sites.at[SPOT_INDIRECT_ENTRY].n;

	while (x->arrival < n && v[x->arrival].at < old)
		x->arrival++;
	return x->arrival < n && v[x->arrival].at == old ? &v[x->arrival] :
							   NULL;
}

/* every instruction of the span becomes a jump */
static void write_span_trampolines(struct share *x, const struct span *s)
{
	const struct output *o = x->o;
	struct old_place p = {.old = s->old,
			      .code = old_code(o->in, s->old),
			      .out = output_old(o, s->old)};
	unsigned size = o->in->move->jump_size;

	if (s->form == FORM_HOME)
		return;
	for (uint32_t i = 0; i < s->size; i += size) {
		const struct site *site = arrival_at(x, p.old);

		p.to = site ? site->addr : i ? s->start + i : s->arrive;
		if (!i && indirect_entry_by_return(o->in->survey, p.old))
			p.to = s->arrive - s->fall;
		p.expected =
			site || indirect_entry_expected(o->in->survey, p.old);
		if (!write_trampoline_at(o, &p))
			vec_push(&x->late, p);
		p.old += size;
		p.code += size;
		p.out += size;
	}
}

static void *trampolines_share(void *share)
{
	struct share *x = share;
	const struct span *v = x->o->l->m.map.span.at;

	if (x->from < x->end)
		x->arrival = sites_from(&x->o->l->sites, SPOT_INDIRECT_ENTRY,
					v[x->from].old);
	for (size_t i = x->from; i < x->end; i++)
		write_span_trampolines(x, &v[i]);
	return NULL;
}

/* trampolines everywhere; what a jump does not do is done in order, by one */
static void write_all_trampolines(struct output *o)
{
	size_t all = o->l->m.map.span.n;
	unsigned n = parallel_count(all, SHARE_SPANS);
	struct share share[PARALLEL_MAX];

	for (unsigned t = 0; t < n; t++)
		share[t] = (struct share){.o = o,
					  .from = parallel_first(all, n, t),
					  .end = parallel_first(all, n, t + 1)};
	parallel_run(trampolines_share, share, sizeof *share, n);
	o->far_end = 0;
	o->unreached = 0;
	for (unsigned t = 0; t < n; t++) {
		for (size_t i = 0; i < share[t].late.n; i++)
			write_late_trampoline(o, &share[t].late.at[i]);
		vec_free(&share[t].late);
	}
}

/* makes all of the span's old code traps, but for what traps already */
static void write_traps(struct output *o, const struct span *s)
{
	const uint8_t *code = old_code(o->in, s->old);
	uint8_t *out = output_old(o, s->old);
	struct insn in;

	for (uint32_t i = 0; i < s->size; i += in.len) {
		o->in->isa->scan(code + i, s->size - i, s->old + i, &in);
		if (in.kind != INSN_TRAP)
			o->in->move->trap(out + i, in.len);
	}
}

static bool write_trampoline(struct output *o, const struct trampoline *p)
{
	const struct site *x =
		sites_find(&o->l->sites, SPOT_INDIRECT_ENTRY, p->at);
	uint64_t to = x ? x->addr : addr_map_entry(&o->l->m.map, p->at);

	if (indirect_entry_by_return(o->in->survey, p->at))
		to -= addr_map_span(&o->l->m.map, p->at)->fall;
	return o->in->move->jump(p->jump, to, output_old(o, p->jump)) &&
	       (p->jump == p->at ||
		o->in->move->hop(p->at, p->jump, output_old(o, p->at)));
}

/* all old code traps, but for what is read */
static void trap_everywhere(struct output *o)
{
	const struct survey *s = o->in->survey;

	for (size_t i = 0; i < o->l->m.map.span.n; i++)
		if (o->l->m.map.span.at[i].form != FORM_HOME)
			write_traps(o, &o->l->m.map.span.at[i]);
	for (size_t i = 0; i < s->read.n; i++) {
		uint64_t start = s->read.at[i].start;
		size_t n = s->read.at[i].end - start, avail;
		const uint8_t *code = image_at(o->in->im, start, &avail);

		memcpy(output_old(o, start), code, n < avail ? n : avail);
	}
}

static int write_placed_trampolines(struct output *o)
{
	const struct survey *s = o->in->survey;

	if (o->in->options->trap_unexpected)
		trap_everywhere(o);
	for (size_t i = 0; i < s->trampoline.n; i++)
		if (!write_trampoline(o, &s->trampoline.at[i]))
			return err_set(
				o->in->e, ERR_INPUT,
				"%s: at 0x%llx: the new code is out of "
				"reach",
				o->in->im->path,
				(unsigned long long)s->trampoline.at[i].at);
	return 0;
}

int old_text_write(struct output *o)
{
	if (!o->l->m.moved.n)
		return 0;
	if (o->in->move->hop_size)
		return write_placed_trampolines(o);
	write_all_trampolines(o);
	return 0;
}
