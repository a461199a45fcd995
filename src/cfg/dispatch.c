/*
 * dispatch: what every indirect jump is.
 *
 * Each procedure with indirect jumps is looked at again and again: it is seen
 * as far as it is reached (view, VIEW_CALLED), each newly reached jump's
 * target is matched (table) and its index bounded (range), the targets found
 * become edges, and more is reached. When nothing new is reached, all jumps
 * are judged again with all edges, until that adds none: only then do the
 * bounds hold. Edges are only ever added, so this ends. If some jump
 * stays unknown, control may come from it to any place whose address is
 * taken or that nothing leads to; the others are then judged once more with
 * all of those as entries (VIEW_ANY).
 *
 * Three outcomes for a table (product.md):
 *
 *	bounded       the index is bounded by the data flow and every entry
 *	              it can choose is a place in this procedure
 *	approximated  no bound: entries are taken as long as they lead into
 *	              this procedure. All true entries do, so the set has them
 *	              all. Only the start of another table, itself proved by
 *	              the data flow of its own dispatch, ends it earlier:
 *	              tables do not overlap.
 *	unknown       anything else
 *
 * A jump that is not a table and is made with the caller's frame restored
 * leaves the procedure: a tail call.
 */
#include "cfg/build.h"

#include <pthread.h>
#include <stdlib.h>

#include "cfg/frame.h"
#include "cfg/range.h"
#include "cfg/table.h"

enum {
	CHANGES_MAX = 12,    /* then what still changes is unknown */
	ENTRIES_MAX = 65536, /* of one table */
	WAYS_MAX = 256,	     /* of a phi of targets */
	DEPTH_BYTES = 16384, /* of stack that one step of recursion may take */
};

typedef VEC(uint32_t) blocks; /* of a view */

/* a procedure under work */
struct work {
	struct build *b;
	uint32_t rep;	/* representative piece */
	const uint32_t *piece;
	uint32_t npiece;
	uint32_t entry;
	struct body body;
	struct view view;
	struct values values;
	VEC(uint64_t) target; /* of the jump at hand */
	VEC(uint64_t) wanted; /* entries that lead to no known code yet */
	bool grown; /* the jump at hand is in code found by descent: what
		       only tables lead to may not be known */
	const uint64_t *start; /* sorted addresses of known tables */
	size_t nstart;
	unsigned depth; /* limit of recursion */
	bool cautious; /* those are not known yet: see take_while_inside() */
	uint32_t block; /* whose jump is judged */
};

/*
 * addr is the end of an FDE of this procedure. LLVM fills the holes of a
 * switch that has no default with the address of an empty block there; no
 * entry that can be chosen leads to it.
 */
static bool work_is_hole(const struct work *w, uint64_t addr)
{
	for (uint32_t i = 0; i < w->npiece; i++) {
		const struct piece *p = &w->b->piece.at[w->piece[i]];

		if (p->fde != CFG_NONE &&
		    addr == w->b->unwind->fde[p->fde].end)
			return true;
	}
	return false;
}

/* addr is an instruction of this procedure */
static bool work_inside(const struct work *w, uint64_t addr)
{
	uint32_t off = code_offset(&w->b->code, addr);
	uint32_t p;

	if (off == CODE_NONE || !code_test(&w->b->code, w->b->code.insn, off))
		return false;
	p = build_piece_at(w->b, off);
	return p != CFG_NONE && !w->b->piece.at[p].in_place &&
	       build_find(w->b, p) == w->rep;
}

/*
 * addr may be a case of this procedure although it lies in a piece that was
 * not known to belong to it: a cold piece that only the table leads to.
 */
static bool work_adoptable(const struct work *w, uint64_t addr)
{
	const struct code *k = &w->b->code;
	uint32_t off = code_offset(k, addr);

	return off != CODE_NONE && code_test(k, k->insn, off) &&
	       !code_test(k, k->called, off) && !code_test(k, k->label, off);
}

/* addr is an instruction, wherever */
static bool work_is_code(const struct work *w, uint64_t addr)
{
	const struct code *k = &w->b->code;
	uint32_t off = code_offset(k, addr);

	return off != CODE_NONE && code_test(k, k->insn, off);
}

/* the first of the sorted addresses above addr, or UINT64_MAX */
static uint64_t next_above(const uint64_t *at, size_t n, uint64_t addr)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (at[mid] <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n ? at[lo] : UINT64_MAX;
}

/* what was found out about one way to the jump */
struct finding {
	enum dispatch_status status;
	unsigned ways;	/* that lead to the jump with a target of their own */
	bool checked;	/* a comparison bounds the index */
	const char *reason;
	struct table table;
	uint64_t count;
	uint64_t last;	/* index of the last entry there may be */
};

/*
 * Takes the entries first..last; false if one cannot be chosen. A bound that
 * was checked is believed, wherever the entries lead; one that follows from
 * the index's type alone may be too wide, and then they must lead into this
 * procedure.
 */
static bool take_bounded(struct work *w, const struct table *t,
			 uint64_t first, uint64_t last, bool checked)
{
	size_t n = w->target.n;
	uint64_t to;

	for (uint64_t i = first; i <= last; i++) {
		bool ok = table_entry(w->b->im, t, i, &to);

		if (ok && work_is_hole(w, to))
			continue;
		if (ok && checked && w->grown && !work_is_code(w, to)) {
			vec_push(&w->wanted, to);
			continue;
		}
		if (!ok || !(checked ? work_is_code(w, to) :
				       work_inside(w, to))) {
			w->target.n = n;
			w->wanted.n = 0;
			return false;
		}
		vec_push(&w->target, to);
	}
	if (w->wanted.n)
		w->target.n = n;
	return w->target.n > n;
}

/*
 * addr is within the block that computes this very jump: to go there would be
 * to jump for ever, so it is no entry.
 */
static bool work_is_own(const struct work *w, uint64_t addr)
{
	const struct cut *c = &w->view.cut.at[w->block];
	uint32_t off = code_offset(&w->b->code, addr);

	return off != CODE_NONE && off > c->start && off <= c->last;
}

/*
 * Takes entries while they lead into the procedure; returns how many. As
 * long as it is not known where other tables start, what follows may be one
 * of them, and its entries lead anywhere: then an entry is taken only if it
 * leads to where a block starts anyway.
 */
static uint64_t take_while_inside(struct work *w, const struct table *t,
				  uint64_t first, uint64_t last)
{
	uint64_t stop = next_above(w->start, w->nstart,
				   t->address + first * t->stride);
	uint64_t i, to;
	size_t n = w->target.n;

	for (i = first; i <= last && i - first < ENTRIES_MAX; i++) {
		if (t->address + i * t->stride >= stop ||
		    !table_entry(w->b->im, t, i, &to))
			break;
		if (work_is_hole(w, to))
			continue;
		if (!(work_inside(w, to) || work_adoptable(w, to)) ||
		    (w->view.cut.n && work_is_own(w, to)) ||
		    (w->cautious &&
		     view_block_at(&w->view, code_offset(&w->b->code, to)) ==
			     CFG_NONE))
			break;
		vec_push(&w->target, to);
	}
	return w->target.n > n ? i - first : 0; /* only holes: no table */
}

/* the entries of a table whose index has this range */
static void find_table(struct work *w, struct finding *f, struct range64 r)
{
	struct table *t = &f->table;

	/* a contradiction: no way leads here, or none that is understood */
	if (r.lo > r.hi || r.lo > ENTRIES_MAX)
		r = (struct range64){0, UINT64_MAX, false};
	f->checked = r.checked;
	/* any byte, and nearly any two, make an entry that leads inside: what
	   follows from the index's type alone is then no bound */
	if (!r.checked && t->size < 4 && r.hi < ENTRIES_MAX)
		r.hi = ENTRIES_MAX;
	if (!r.checked && r.hi < ENTRIES_MAX &&
	    next_above(w->start, w->nstart, t->address) <=
		    t->address + r.hi * t->stride)
		r.hi = ENTRIES_MAX; /* another table starts before that */
	if (r.hi < ENTRIES_MAX &&
	    take_bounded(w, t, r.lo, r.hi, r.checked)) {
		f->status = DISPATCH_BOUNDED;
		f->count = r.hi - r.lo + 1;
		t->address += r.lo * t->stride;
		return;
	}
	if (w->grown) {
		f->status = DISPATCH_UNKNOWN;
		f->reason = w->wanted.n ? "entries lead to unknown code" :
			    "no bound, and no unwind table to bound the code";
		return;
	}
	/* a table starts at entry 0 and has no gaps: the first entry that
	   leads elsewhere is behind its end */
	f->count = take_while_inside(w, t, r.lo, r.hi);
	f->last = r.hi - r.lo;
	t->address += r.lo * t->stride;
	f->status = f->count ? DISPATCH_APPROXIMATED : DISPATCH_UNKNOWN;
	f->reason = !f->count ? "entries lead out of the procedure" :
		    r.checked ? "the bound on the index is not tight" :
				"no bound on the index";
}

/* whether the procedure's frame is on the stack */
enum frame { FRAME_GONE, FRAME_THERE, FRAME_UNSURE };

/*
 * By the value of the stack pointer, or else by the unwind table, which is not
 * always right in epilogues.
 */
static enum frame frame_at_end(struct work *w, uint32_t block)
{
	const struct isa *isa = w->b->isa;
	uint64_t at = code_address(&w->b->code, w->view.cut.at[block].last);
	uint32_t sp = value_at_end(&w->values, block, isa->sp);
	struct linear l = value_linear(&w->values, sp);
	int64_t offset;

	if (l.ok && l.n == 1 && l.coef[0] == 1 &&
	    value_node(&w->values, l.term[0])->kind == NODE_INPUT &&
	    value_node(&w->values, l.term[0])->a == isa->sp)
		return l.constant ? FRAME_THERE : FRAME_GONE;
	if (!frames_offset(&w->body.frames, at, isa->sp, &offset))
		return FRAME_UNSURE;
	return offset ? FRAME_THERE : FRAME_GONE;
}

/* the block is a label whose address is in bits, not a start */
static bool is_label(const struct work *w, uint32_t block,
		     const uint64_t *bits)
{
	uint32_t at = w->view.cut.at[block].start;

	return block != w->view.main && code_test(&w->b->code, bits, at) &&
	       !merge_is_start(w->b, at, false);
}

/*
 * A jump to a pointer of unknown origin, with the frame still there, is a
 * computed goto: it can go to every label whose address is taken, and to
 * nothing else. Returns how many there are.
 */
static uint64_t take_labels(struct work *w)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < w->view.cut.n; k++)
		if (is_label(w, k, w->b->code.label)) {
			vec_push(&w->target,
				 code_address(&w->b->code,
					      w->view.cut.at[k].start));
			n++;
		}
	return n;
}

/* the procedure has labels that no table accounts for */
static bool any_label(const struct work *w)
{
	for (uint32_t k = 0; k < w->view.cut.n; k++)
		if (is_label(w, k, w->b->code.entry))
			return true;
	return false;
}

/* what a jump to no table is */
static void find_pointer(struct work *w, struct finding *f, uint32_t block,
			 enum table_shape shape)
{
	enum frame frame = frame_at_end(w, block);
	bool gone = shape != SHAPE_POINTER && frame == FRAME_GONE;

	if (shape != SHAPE_SLOT && gone && any_label(w)) {
		f->status = DISPATCH_UNKNOWN;
		f->reason = "a tail call, or a jump to a label";
		return;
	}
	if (shape == SHAPE_SLOT || gone) {
		f->status = DISPATCH_TAIL;
		f->reason = shape == SHAPE_SLOT ? "jump through a slot" :
						  "tail call by pointer";
		return;
	}
	f->table = (struct table){0};
	f->count = shape == SHAPE_LABEL && frame == FRAME_THERE ?
			   take_labels(w) : 0;
	f->status = f->count > 1 ? DISPATCH_APPROXIMATED : DISPATCH_UNKNOWN;
	f->reason = f->count > 1 ? "any label whose address is taken" :
				   "target is not loaded from a table";
}

/*
 * Some target from number n on is in this procedure; or, if none was taken,
 * the table's first entry as it is now.
 */
static bool leads_inside(const struct work *w, const struct table *t,
			 size_t n)
{
	uint64_t to;

	if (n == w->target.n)
		return image_pointer(w->b->im, t->address, &to) &&
		       work_inside(w, to);
	for (; n < w->target.n; n++)
		if (work_inside(w, w->target.at[n]) ||
		    work_adoptable(w, w->target.at[n]))
			return true;
	return false;
}

/* judges one closed target; range is that of its index where it is used */
static void find_target(struct work *w, struct finding *f, uint32_t target,
			uint32_t block, uint32_t edge)
{
	struct values *s = &w->values;
	enum table_shape shape = table_match(s, target, &f->table);
	size_t n = w->target.n;

	f->reason = NULL;
	f->count = 0;
	f->checked = false;
	switch (shape) {
	case SHAPE_TABLE:
		find_table(w, f, edge == CFG_NONE ?
			range_at(s, f->table.index, block) :
			range_on_edge(s, f->table.index, edge));
		break;
	case SHAPE_FIXED:
		if (work_inside(w, f->table.base)) {
			f->status = DISPATCH_BOUNDED;
			f->count = 1;
			vec_push(&w->target, f->table.base);
			f->table.base = 0;
			return;
		}
		f->status = DISPATCH_TAIL;
		f->reason = "jump to a fixed address";
		return;
	default:
		find_pointer(w, f, block, shape);
		return;
	}
	/* a table of procedures, not of cases */
	if (f->table.size == 8 && !leads_inside(w, &f->table, n) &&
	    frame_at_end(w, block) == FRAME_GONE) {
		w->target.n = n;
		f->status = DISPATCH_TAIL;
		f->reason = "tail call through a table";
	}
}

/* the worse of two findings decides; the first table is shown */
static void merge_finding(struct finding *all, const struct finding *f,
			  bool first)
{
	if (first) {
		unsigned ways = all->ways;

		*all = *f;
		all->ways = ways;
		return;
	}
	if (f->status == DISPATCH_UNKNOWN || all->status == DISPATCH_UNKNOWN ||
	    (f->status == DISPATCH_TAIL) != (all->status == DISPATCH_TAIL)) {
		if (f->status == DISPATCH_UNKNOWN)
			all->reason = f->reason;
		else if (all->status != DISPATCH_UNKNOWN)
			all->reason = "some ways leave the procedure";
		all->status = DISPATCH_UNKNOWN;
		return;
	}
	if (f->status > all->status) {
		all->status = f->status;
		all->reason = f->reason;
	}
}

/* the jump goes through a slot that the loader fills: out of the image */
static bool jumps_through_slot(struct work *w, uint32_t jump)
{
	struct values *s = &w->values;
	struct node n = *value_node(s, jump);
	struct linear l;

	if (n.kind != NODE_LOAD || n.size != 8)
		return false;
	l = value_linear(s, value_resolve(s, n.a));
	return l.ok && !l.n && image_reloc(w->b->im, l.constant);
}

/* judges a target that may be one of several */
static void find_jump(struct work *w, struct finding *f, uint32_t block)
{
	struct values *s = &w->values;
	const struct lifted *l = value_block(s, block);
	uint32_t target;
	struct node n;

	*f = (struct finding){.status = DISPATCH_UNKNOWN,
			      .reason = "not understood"};
	if (l->jump == NODE_UNSET)
		return;
	if (jumps_through_slot(w, l->jump)) {
		f->status = DISPATCH_TAIL;
		f->reason = "jump through a slot";
		return;
	}
	target = value_find(s, value_resolve(s, l->jump));
	n = *value_node(s, target);
	if (n.kind != NODE_PHI || !n.b || n.b > WAYS_MAX) {
		find_target(w, f, target, block, CFG_NONE);
		f->ways = 1;
		return;
	}
	f->ways = n.b;
	for (uint32_t i = 0, first = true; i < n.b; i++) {
		uint32_t x = s->operand.at[n.pos + i];
		uint32_t e = s->view->g.in[s->view->g.in_first[n.block] + i];
		struct finding way;

		if (x == NODE_UNSET)
			continue;
		find_target(w, &way, value_find(s, x), block, e);
		merge_finding(f, &way, first);
		first = false;
	}
}

static int address_order(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* sorts w->target and removes doubles */
static void unique_targets(struct work *w)
{
	size_t n = 0;

	if (w->target.n)
		qsort(w->target.at, w->target.n, sizeof *w->target.at,
		      address_order);
	for (size_t i = 0; i < w->target.n; i++)
		if (!n || w->target.at[n - 1] != w->target.at[i])
			w->target.at[n++] = w->target.at[i];
	w->target.n = n;
}

/*
 * Adds the targets at hand to those that j is known to have; true if there
 * are new ones. What was once a target stays one: with more edges a bound
 * can only grow, and if the jump turns out to be unknown after all, the
 * edges that were believed must still be there for the others' sake.
 */
static bool add_targets(struct work *w, struct jump_site *j)
{
	const struct code *k = &w->b->code;
	size_t had = j->target.n;

	vec_append(&w->target, &j->target);
	unique_targets(w);
	if (w->target.n == had)
		return false;
	j->target.n = 0;
	vec_append(&j->target, &w->target);
	for (size_t i = 0; i < w->target.n; i++)
		code_set(k, k->leader, code_offset(k, w->target.at[i]));
	return true;
}

/* stores what was found; true if that adds edges */
static bool keep_finding(struct work *w, struct jump_site *j,
			 const struct finding *f)
{
	bool known = f->status <= DISPATCH_APPROXIMATED;

	j->judged = true;
	j->ways = f->ways;
	j->checked = f->checked;
	j->table = f->table;
	j->last = f->last;
	j->d.status = (uint8_t)f->status;
	j->d.reason = f->reason;
	j->d.table = known && f->table.size ? f->table.address : 0;
	j->d.base = known ? f->table.base : 0;
	j->d.entry_size = known ? f->table.size : 0;
	j->d.entry_shift = f->table.shift;
	j->d.entry_signed = f->table.sign;
	j->d.count = known ? (uint32_t)f->count : 0;
	if (!known)
		w->target.n = 0;
	j->wanted.n = 0;
	vec_append(&j->wanted, &w->wanted);
	w->wanted.n = 0;
	return add_targets(w, j);
}

/* the jumps in view that were judged before, or those that were not */
static void list_reached(const struct work *w, bool judged, blocks *list)
{
	list->n = 0;
	for (uint32_t k = 0; k < w->view.cut.n; k++) {
		const struct cut *c = &w->view.cut.at[k];

		if (c->kind == INSN_IJUMP && view_reached(&w->view, k) &&
		    build_jump_at(w->b, c->last)->judged == judged)
			vec_push(list, k);
	}
}

/* judges the jumps that end these blocks; true if that adds edges */
static bool judge(struct work *w, const blocks *list)
{
	bool grew = false;

	for (size_t i = 0; i < list->n; i++) {
		uint32_t k = list->at[i];
		struct jump_site *j = build_jump_at(w->b,
						    w->view.cut.at[k].last);
		uint32_t piece = w->view.piece.at[k];
		struct finding f;

		w->target.n = 0;
		w->block = k;
		w->grown = w->b->piece.at[piece].fde == CFG_NONE;
		find_jump(w, &f, k);
		grew |= keep_finding(w, j, &f);
	}
	return grew;
}

/* what a look at the procedure led to */
enum look { LOOK_SETTLED, LOOK_FOUND, LOOK_CHANGED };

/*
 * Builds the view and judges the jumps that it newly reaches. If they add no
 * edges, those judged in earlier views are judged in this one.
 */
static enum look look(struct work *w, enum view_entries entries)
{
	enum look is = LOOK_SETTLED;
	blocks fresh = {0}, known = {0};

	view_build(&w->view, w->b, w->piece, w->npiece, w->entry, entries);
	values_init(&w->values, &w->view, &w->body, w->depth);
	list_reached(w, false, &fresh);
	list_reached(w, true, &known);
	if (judge(w, &fresh))
		is = LOOK_FOUND;
	else if (judge(w, &known))
		is = LOOK_CHANGED;
	vec_free(&fresh);
	vec_free(&known);
	values_free(&w->values);
	view_free(&w->view);
	return is;
}

/* index of the first jump at or behind off */
static size_t jump_from(const struct build *b, uint32_t off)
{
	size_t lo = 0, hi = b->jump.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->jump.at[mid].at < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* some jump of the procedure is not understood */
static bool any_unknown(const struct work *w)
{
	for (uint32_t i = 0; i < w->npiece; i++) {
		const struct piece *p = &w->b->piece.at[w->piece[i]];

		for (size_t j = jump_from(w->b, p->start);
		     j < w->b->jump.n && w->b->jump.at[j].at < p->end; j++)
			if (w->b->jump.at[j].d.status == DISPATCH_UNKNOWN)
				return true;
	}
	return false;
}

/* calls fn for every jump of the procedure */
static void each_jump(struct work *w, void (*fn)(struct jump_site *))
{
	for (uint32_t i = 0; i < w->npiece; i++) {
		const struct piece *p = &w->b->piece.at[w->piece[i]];

		for (size_t j = jump_from(w->b, p->start);
		     j < w->b->jump.n && w->b->jump.at[j].at < p->end; j++)
			fn(&w->b->jump.at[j]);
	}
}

static void jump_unsettled(struct jump_site *j)
{
	if (j->d.status <= DISPATCH_APPROXIMATED) {
		j->d.status = DISPATCH_UNKNOWN;
		j->d.reason = "does not settle";
	}
}

/* what is not known in the end has no targets */
static void jump_finish(struct jump_site *j)
{
	if (j->d.status > DISPATCH_APPROXIMATED)
		j->target.n = 0;
}

/* looks until nothing changes; false if that does not happen */
static bool settle(struct work *w, enum view_entries entries)
{
	for (unsigned changes = 0; changes < CHANGES_MAX;)
		switch (look(w, entries)) {
		case LOOK_SETTLED:
			return true;
		case LOOK_FOUND: /* as often as there are jumps */
			break;
		case LOOK_CHANGED:
			changes++;
		}
	return false;
}

/* some place inside is entered by nobody knows whom */
static bool any_entry(const struct work *w)
{
	const struct code *k = &w->b->code;

	for (uint32_t i = 0; i < w->npiece; i++) {
		const struct piece *p = &w->b->piece.at[w->piece[i]];

		if (code_next(k, k->entry, p->start + 1, p->end) != p->end)
			return true;
	}
	return false;
}

/*
 * Resolves the indirect jumps of one procedure. Only the second time is it
 * known which pointers the tables account for.
 */
static void resolve_procedure(struct work *w, bool second)
{
	if (!settle(w, VIEW_CALLED) ||
	    (second && (any_unknown(w) || any_entry(w)) &&
	     !settle(w, VIEW_ANY)))
		each_jump(w, jump_unsettled);
	if (second)
		each_jump(w, jump_finish);
}

/* fills b->jump with all indirect jumps, by position */
static void list_jumps(struct build *b)
{
	for (size_t p = 0; p < b->piece.n; p++) {
		const struct piece *q = &b->piece.at[p];

		for (uint32_t x = 0; !q->in_place && x < q->nxfer; x++) {
			const struct xfer *t = &b->found.xfer.at[q->xfer + x];
			struct jump_site j = {.at = t->at, .hub = CFG_NONE};

			if (t->kind != INSN_IJUMP)
				continue;
			j.d.addr = code_address(&b->code, t->at);
			j.d.status = DISPATCH_UNKNOWN;
			j.d.reason = "never reached";
			j.d.block = CFG_NONE;
			vec_push(&b->jump, j);
		}
	}
}

/* the procedure has an indirect jump */
static bool has_jump(const struct build *b, const struct procedure *p)
{
	for (uint32_t i = 0; i < p->npart; i++) {
		uint32_t piece = b->cfg->proc_part.at[p->part + i];
		size_t j = jump_from(b, b->piece.at[piece].start);

		if (j < b->jump.n &&
		    b->jump.at[j].at < b->piece.at[piece].end)
			return true;
	}
	return false;
}

/* what the threads share */
struct crew {
	struct build *b;
	const uint32_t *proc; /* procedures to look at */
	uint32_t nproc;
	uint32_t next; /* of proc[], taken atomically */
	bool second;
	unsigned depth; /* limit of recursion */
	const uint64_t *start; /* of known tables, sorted */
	size_t nstart;
};

/* thread body: takes procedures until none is left */
static void *crew_work(void *arg)
{
	struct crew *t = arg;
	struct cfg *c = t->b->cfg;
	uint32_t i;

	while ((i = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED)) <
	       t->nproc) {
		struct procedure *p = &c->proc.at[t->proc[i]];
		struct work w = {.b = t->b, .npiece = p->npart,
				 .piece = &c->proc_part.at[p->part],
				 .start = t->start, .nstart = t->nstart,
				 .depth = t->depth, .cautious = !t->second};

		progress_at(t->b->progress, t->second ? "jump tables, again" :
			    "jump tables", i, t->nproc);
		w.rep = build_find(t->b, w.piece[0]);
		w.entry = code_offset(&t->b->code, p->entry);
		body_init(&w.body, t->b, w.piece, w.npiece);
		resolve_procedure(&w, t->second);
		body_free(&w.body);
		vec_free(&w.target);
		vec_free(&w.wanted);
	}
	return NULL;
}

/*
 * Looks at all procedures of the list, in threads. Data flow recurses along
 * the joins of a procedure, and the largest have tens of thousands: the
 * threads get a stack for that. Where none can be had, the caller does the
 * work, and gives up earlier.
 */
static void crew_run(struct crew *t)
{
	enum { THREADS = 2 };
	pthread_t thread[THREADS] = {0};
	pthread_attr_t attr;
	unsigned n = 0;

	t->next = 0;
	t->depth = VALUE_DEPTH;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)VALUE_DEPTH * DEPTH_BYTES);
	while (n < THREADS &&
	       !pthread_create(&thread[n], &attr, crew_work, t))
		n++;
	pthread_attr_destroy(&attr);
	if (!n) {
		t->depth = VALUE_DEPTH_SMALL;
		crew_work(t);
	}
	while (n)
		pthread_join(thread[--n], NULL);
}

/* the addresses where tables are known to start, sorted */
static uint64_t *list_starts(const struct build *b, size_t *n)
{
	uint64_t *start = NEW_ARRAY(uint64_t, b->jump.n);

	*n = 0;
	for (size_t i = 0; i < b->jump.n; i++)
		if (b->jump.at[i].d.table)
			start[(*n)++] = b->jump.at[i].d.table;
	qsort(start, *n, sizeof *start, address_order);
	return start;
}

/* another table starts within what was taken for j's */
static bool overlaps_start(const struct crew *t, const struct jump_site *j)
{
	uint64_t end = j->d.table + (uint64_t)j->d.count * j->d.entry_size;

	return j->d.table && next_above(t->start, t->nstart, j->d.table) < end;
}

/* with all table starts known, j's table has just the targets it has */
static bool is_settled(struct work *w, const struct jump_site *j)
{
	w->target.n = 0;
	if (j->ways != 1 || !j->table.size)
		return false;
	take_while_inside(w, &j->table, 0, j->last);
	unique_targets(w);
	return w->target.n == j->target.n && w->target.n &&
	       !memcmp(w->target.at, j->target.at,
		       w->target.n * sizeof *w->target.at);
}

/* what was found of the procedure may look better with known table starts */
static bool worth_another_look(const struct crew *t, const struct procedure *p)
{
	const struct build *b = t->b;
	struct work w = {.b = t->b, .npiece = p->npart,
			 .piece = &b->cfg->proc_part.at[p->part],
			 .start = t->start, .nstart = t->nstart};
	bool again = any_entry(&w);

	w.rep = build_find(b, w.piece[0]);
	for (uint32_t i = 0; i < p->npart && !again; i++) {
		uint32_t piece = b->cfg->proc_part.at[p->part + i];
		size_t j = jump_from(b, b->piece.at[piece].start);

		for (; j < b->jump.n &&
		       b->jump.at[j].at < b->piece.at[piece].end; j++) {
			const struct jump_site *s = &b->jump.at[j];

			again |= s->d.status == DISPATCH_UNKNOWN ||
				 (s->d.status == DISPATCH_APPROXIMATED &&
				  !is_settled(&w, s)) ||
				 (s->d.status == DISPATCH_BOUNDED &&
				  !s->checked && overlaps_start(t, s));
		}
	}
	vec_free(&w.target);
	return again;
}

/* forgets what was found of the procedure's jumps */
static void forget_procedure(struct build *b, const struct procedure *p)
{
	for (uint32_t i = 0; i < p->npart; i++) {
		uint32_t piece = b->cfg->proc_part.at[p->part + i];
		size_t j = jump_from(b, b->piece.at[piece].start);

		for (; j < b->jump.n &&
		       b->jump.at[j].at < b->piece.at[piece].end; j++) {
			b->jump.at[j].d.status = DISPATCH_UNKNOWN;
			b->jump.at[j].d.table = 0;
			b->jump.at[j].judged = false;
			b->jump.at[j].target.n = 0;
		}
	}
}

void dispatch_resolve_all(struct build *b)
{
	struct cfg *c = b->cfg;
	struct crew crew = {.b = b};
	VEC(uint32_t) proc = {0};
	uint64_t *start;
	size_t n = 0;

	list_jumps(b);
	for (uint32_t i = 0; i < c->proc.n; i++)
		if (has_jump(b, &c->proc.at[i]))
			vec_push(&proc, i);
	crew.proc = proc.at;
	crew.nproc = (uint32_t)proc.n;
	crew_run(&crew);
	/* now that the starts of tables are known, those without a bound can
	   end where another one starts */
	start = list_starts(b, &crew.nstart);
	crew.start = start;
	discover_entries(b);
	for (size_t i = 0; i < proc.n; i++)
		if (worth_another_look(&crew, &c->proc.at[proc.at[i]]))
			proc.at[n++] = proc.at[i];
	for (size_t i = 0; i < n; i++)
		forget_procedure(b, &c->proc.at[proc.at[i]]);
	crew.nproc = (uint32_t)n;
	crew.second = true;
	crew_run(&crew);
	discover_entries(b);
	mem_free(start);
	vec_free(&proc);
}

void dispatch_export(struct build *b)
{
	struct cfg *c = b->cfg;

	for (size_t i = 0; i < b->jump.n; i++) {
		const struct jump_site *j = &b->jump.at[i];
		struct dispatch d = j->d;

		d.block = cfg_block_at(c, d.addr);
		d.target = (uint32_t)c->target.n;
		d.ntarget = (uint32_t)j->target.n;
		vec_append(&c->target, &j->target);
		vec_push(&c->dispatch, d);
	}
}
