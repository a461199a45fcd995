/*
 * resolve_jump: what one indirect jump is, as the procedure is seen now.
 *
 * Its target is closed (value) and matched (table); if it is an entry of a
 * table, the index is bounded (range) and the entries are read. dispatch.c
 * says what the outcomes mean.
 */
#include "base/bisect.h"
#include "cfg/jumps/dispatch_int.h"

enum {
	ENTRIES_MAX = 1 << 20, /* of one table */
	WAYS_MAX = 256,        /* of a phi of targets */
};

/* addr is an instruction of this procedure */
static bool work_inside(const struct work *w, uint64_t addr)
{
	uint32_t off = code_offset(&w->b->code, addr);
	uint32_t p;

	if (off == CODE_NONE || !code_test(&w->b->code, w->b->code.insn, off))
		return false;
	p = piece_at(w->b, off);
	return p != CFG_NONE && !w->b->piece.at[p].in_place &&
	       piece_find(w->b, p) == w->rep;
}

/*
 * addr may be a case of this procedure although it lies in a piece that was
 * not known to belong to it: a cold piece that only the table leads to. No call
 * and no function symbol leads to such a piece, and its address is not taken.
 */
static bool work_adoptable(const struct work *w, uint64_t addr)
{
	const struct code *k = &w->b->code;
	uint32_t off = code_offset(k, addr), p, start;

	if (off == CODE_NONE || !code_test(k, k->insn, off) ||
	    code_test(k, k->called, off) || code_test(k, k->label, off))
		return false;
	p = piece_at(w->b, off);
	if (p == CFG_NONE)
		return false;
	start = w->b->piece.at[p].start;
	return !code_test(k, k->called, start) &&
	       !code_test(k, k->label, start);
}

/*
 * addr is the end of this procedure's code, and nothing of it. LLVM fills
 * the holes of a switch that has no default with the address of an empty block
 * there; no entry that can be chosen leads to it.
 */
static bool work_is_hole(const struct work *w, uint64_t addr)
{
	bool end = false;

	for (uint32_t i = 0; i < w->npiece; i++) {
		const struct piece *p = &w->b->piece.at[w->piece[i]];

		end |= p->whole &&
		       addr == (p->fde != CFG_NONE
					? w->b->unwind->fde[p->fde].end
					: code_address(&w->b->code, p->end));
	}
	return end && !work_inside(w, addr) && !work_adoptable(w, addr);
}

/* addr is an instruction, wherever */
static bool work_is_code(const struct work *w, uint64_t addr)
{
	const struct code *k = &w->b->code;
	uint32_t off = code_offset(k, addr);

	return off != CODE_NONE && code_test(k, k->insn, off);
}

uint64_t work_next_table(const struct work *w, uint64_t addr, uint64_t base)
{
	const table_starts *t = w->start ? w->start : &w->own;
	size_t i;

	bisect(i, t->n, t->at[i].address <= addr);
	while (i < t->n && t->at[i].base == base)
		i++;
	return i < t->n ? t->at[i].address : UINT64_MAX;
}

/*
 * Takes the entries first..last; false if one cannot be chosen. A bound that
 * was checked holds, wherever the entries lead; one that follows from
 * the index's type alone may be too wide, and then they must lead into this
 * procedure.
 */
static bool take_bounded(struct work *w, const struct table *t, uint64_t first,
			 uint64_t last, bool checked)
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
		if (!ok ||
		    !(checked ? work_is_code(w, to) : work_inside(w, to))) {
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
 * addr lies between the last load of the block that ends in this very jump and
 * the jump: control that arrives there loads no new entry, and jumps to the
 * same place for ever, or to nowhere.
 */
static bool work_is_own(struct work *w, uint64_t addr)
{
	const struct cut *c = &w->view.cut.at[w->block];
	uint32_t off = code_offset(&w->b->code, addr), load = c->last;
	const struct body_block *k;

	if (off == CODE_NONE || off <= c->start || off > c->last)
		return false;
	k = body_block(&w->body, w->block);
	for (uint32_t n = 0; n < k->ninsn; n++) {
		const struct lifted_insn *i = &w->body.insn.at[k->insn + n];

		for (unsigned j = 0; j < i->nuop; j++)
			if (w->body.uop.at[i->uop + j].code == UOP_LOAD)
				load = i->at;
	}
	return off > load;
}

uint64_t work_take_entries(struct work *w, const struct table *t,
			   uint64_t first, uint64_t last)
{
	uint64_t stop =
		work_next_table(w, t->address + first * t->stride, t->base);
	uint64_t i, to;
	size_t n = w->target.n;

	for (i = first; i <= last && i - first < ENTRIES_MAX; i++) {
		if (t->address + i * t->stride >= stop ||
		    !table_entry(w->b->im, t, i, &to))
			break;
		if (work_is_hole(w, to))
			continue;
		if (!(work_inside(w, to) || work_adoptable(w, to)) ||
		    (w->view.cut.n && work_is_own(w, to)))
			break;
		if (!w->start &&
		    view_block_at(&w->view, code_offset(&w->b->code, to)) ==
			    CFG_NONE) {
			w->waits = true;
			break;
		}
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
	    work_next_table(w, t->address, t->base) <=
		    t->address + r.hi * t->stride)
		r.hi = ENTRIES_MAX; /* another table starts before that */
	if (r.hi < ENTRIES_MAX && take_bounded(w, t, r.lo, r.hi, r.checked)) {
		f->status = DISPATCH_BOUNDED;
		f->count = r.hi - r.lo + 1;
		t->address += r.lo * t->stride;
		return;
	}
	if (w->grown) {
		f->status = DISPATCH_UNKNOWN;
		f->reason =
			w->wanted.n
				? "entries lead to unknown code"
				: "no bound, and nothing that bounds the code";
		return;
	}
	/* a table starts at entry 0 and has no gaps: the first entry that
	   leads elsewhere is behind its end */
	f->count = work_take_entries(w, t, r.lo, r.hi);
	f->last = r.hi - r.lo;
	t->address += r.lo * t->stride;
	f->status = f->count && f->count < ENTRIES_MAX ? DISPATCH_APPROXIMATED
						       : DISPATCH_UNKNOWN;
	f->reason = !f->count ? "entries lead out of the procedure"
		    : f->count == ENTRIES_MAX ? "too many entries"
		    : r.checked ? "the bound on the index is not tight"
				: "no bound on the index";
}

/* whether the procedure's frame is on the stack */
enum frame { FRAME_GONE, FRAME_THERE, FRAME_UNSURE };

/*
 * By the value of the stack pointer, or else by the unwind table, which is not
 * always right in epilogues. A frame that is found by the frame pointer is
 * there.
 */
static enum frame frame_at_end(struct work *w, uint32_t block)
{
	const struct isa *isa = w->b->isa;
	const struct frames *f = &w->body.frames;
	uint64_t at = code_address(&w->b->code, w->view.cut.at[block].last);
	uint32_t sp = value_at_end(&w->values, block, isa->sp);
	struct linear l = value_linear(&w->values, sp);
	int64_t offset;

	if (l.ok && l.n == 1 && l.coef[0] == 1 &&
	    value_node(&w->values, l.term[0])->kind == NODE_INPUT &&
	    value_node(&w->values, l.term[0])->a == isa->sp)
		return l.constant ? FRAME_THERE : FRAME_GONE;
	if (frames_offset(f, at, isa->sp, &offset))
		return offset ? FRAME_THERE : FRAME_GONE;
	return frames_offset(f, at, isa->fp, &offset) ? FRAME_THERE
						      : FRAME_UNSURE;
}

/* the block is a label whose address is in bits, not a start */
static bool is_label(const struct work *w, uint32_t block, const uint64_t *bits)
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

/*
 * Does the block take the stack pointer from elsewhere: from memory, or a
 * register other than the frame pointer, by which compilers undo what a scope
 * has allocated?
 */
static bool changes_stack(const struct work *w, uint32_t block)
{
	const struct build *b = w->b;
	const struct cut *c = &w->view.cut.at[block];
	regset sp = (regset)1 << b->isa->sp, fp = (regset)1 << b->isa->fp;
	struct insn in = {.len = 0};

	for (uint32_t at = c->start; at < c->end; at += in.len) {
		b->isa->decode(code_bytes(&b->code, at), c->end - at,
			       code_address(&b->code, at), &in);
		if (!in.len)
			return false;
		if (in.writes & sp && !(in.reads & sp) && in.reads & ~fp)
			return true;
	}
	return false;
}

/*
 * Does the stack pointer come from beside the target, perhaps in a block long
 * before? Compilers do not keep theirs in structures.
 */
static bool changes_both(struct work *w, uint32_t block, uint32_t target)
{
	struct values *s = &w->values;
	uint32_t sp = value_at_end(s, block, w->b->isa->sp);
	uint32_t a, b;

	return value_beside(s, sp, &a) && value_beside(s, target, &b) &&
	       value_same(s, a, b);
}

/*
 * longjmp(), the end of an unwinder and switches of contexts go on elsewhere
 * with the stack that was saved, or made, for that. If the procedure has no
 * label whose address could have been saved, they leave it.
 */
static bool goes_away(struct work *w, uint32_t block, uint32_t target)
{
	struct linear l = value_linear(&w->values, target);

	return !w->grown && !any_label(w) &&
	       (changes_stack(w, block) || changes_both(w, block, target)) &&
	       !(l.ok && work_inside(w, l.constant));
}

/*
 * A pointer at a fixed address that the loader fills leads out of the
 * procedure, unless it is to one of its own labels.
 */
static bool slot_leaves(const struct work *w, uint64_t addr)
{
	uint64_t to;

	if (addr == w->b->im->resolver)
		return true;
	return image_reloc(w->b->im, addr) &&
	       !(image_pointer(w->b->im, addr, &to) && work_inside(w, to));
}

/* what a jump to no table is */
static void find_pointer(struct work *w, struct finding *f, uint32_t block,
			 enum table_shape shape, uint32_t target)
{
	enum frame frame = frame_at_end(w, block);
	bool gone;

	if (shape == SHAPE_SLOT && !slot_leaves(w, f->table.address))
		shape = SHAPE_LABEL;
	gone = shape != SHAPE_POINTER && frame == FRAME_GONE;

	/* without FDEs and sizes of symbols, what we take for a procedure's
	   start may be its middle, and the value not its caller's. (Words
	   that lead to labels make entries of them there: discover.c) */
	if (shape != SHAPE_SLOT && gone &&
	    (any_label(w) || (w->grown && shape == SHAPE_VALUE))) {
		f->status = DISPATCH_UNKNOWN;
		f->reason = "a tail call, or a jump to a label";
		return;
	}
	if (shape == SHAPE_SLOT || gone) {
		f->status = DISPATCH_TAIL;
		f->reason = shape == SHAPE_SLOT ? "jump through a slot"
						: "tail call by pointer";
		return;
	}
	f->table = (struct table){0};
	if (goes_away(w, block, target)) {
		f->status = DISPATCH_AWAY;
		f->reason = "goes on with another stack";
		return;
	}
	f->count = shape == SHAPE_LABEL && frame == FRAME_THERE ? take_labels(w)
								: 0;
	f->status = f->count > 1 ? DISPATCH_APPROXIMATED : DISPATCH_UNKNOWN;
	f->reason = f->count > 1 ? "any label whose address is taken"
				 : "target is not loaded from a table";
}

/*
 * Some target from number n on is in this procedure; or, if none was taken,
 * the table's first entry as it is now.
 */
static bool leads_inside(const struct work *w, const struct table *t, size_t n)
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

/* resolves one closed target; range is that of its index where it is used */
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
		find_table(w, f,
			   edge == CFG_NONE
				   ? range_at(s, f->table.index, block)
				   : range_on_edge(s, f->table.index, edge));
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
		find_pointer(w, f, block, shape, target);
		return;
	}
	/* a table of procedures, not of cases */
	if (f->table.size == 8 &&
	    (!w->grown || f->status == DISPATCH_UNKNOWN) &&
	    !leads_inside(w, &f->table, n) &&
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
	    (f->status >= DISPATCH_TAIL) != (all->status >= DISPATCH_TAIL)) {
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

/* the jump goes through a slot that the loader fills: out of the procedure */
static bool jumps_through_slot(struct work *w, uint32_t jump)
{
	struct values *s = &w->values;
	struct node n = *value_node(s, jump);
	struct linear l;

	if (n.kind != NODE_LOAD || n.size != 8)
		return false;
	/* if it is an entry of a table, its index is closed as tests are */
	l = value_linear(s, value_resolve_test(s, n.a));
	return l.ok && !l.n && l.constant && slot_leaves(w, l.constant);
}

/* the closed value is one of several, by the edge that led to a join */
static bool is_choice(const struct values *s, uint32_t n)
{
	return value_node(s, n)->kind == NODE_PHI && value_node(s, n)->b;
}

/* a value that the jump's target may be, and the edge that brings it */
struct way {
	uint32_t value, edge;
};
typedef VEC(struct way) ways;

/*
 * Lists the ways by which a phi gets its value: those of the phis that it
 * chooses from, too. At the edge into a phi its operand is what the phi is
 * until control comes there again, so what holds on that edge holds for the
 * jump. False if there are too many.
 */
static bool list_ways(struct values *s, uint32_t phi, ways *out)
{
	const struct graph *g = &s->view->g;
	VEC(uint32_t) todo = {0};
	bool few = true;

	vec_push(&todo, phi);
	for (size_t done = 0; few && done < todo.n; done++) {
		struct node n = *value_node(s, todo.at[done]);

		for (uint32_t i = 0; i < n.b; i++) {
			uint32_t x = value_operand(s, &n, i);
			struct way y = {x, g->in[g->in_first[n.block] + i]};
			size_t k = 0;

			if (x == NODE_UNSET)
				continue;
			if (!is_choice(s, y.value)) {
				vec_push(out, y);
				continue;
			}
			while (k < todo.n && todo.at[k] != y.value)
				k++;
			if (k == todo.n)
				vec_push(&todo, y.value);
		}
		few = todo.n <= WAYS_MAX && out->n <= WAYS_MAX;
	}
	vec_free(&todo);
	if (!few)
		out->n = 0;
	return few;
}

void work_resolve(struct work *w, struct finding *f, uint32_t block)
{
	struct values *s = &w->values;
	const struct lifted *l = value_block(s, block);
	uint32_t target;
	ways way = {0};

	*f = (struct finding){.status = DISPATCH_UNKNOWN,
			      .reason = "not understood"};
	if (pinned_go_switches(w->b->cfg,
			       code_address(&w->b->code, w->entry))) {
		f->status = DISPATCH_TAIL;
		f->reason = "goes on where another goroutine was";
		return;
	}
	if (l->jump == NODE_UNSET)
		return;
	if (jumps_through_slot(w, l->jump)) {
		f->status = DISPATCH_TAIL;
		f->reason = "jump through a slot";
		return;
	}
	target = value_find(s, value_resolve(s, l->jump));
	if (!is_choice(s, target) || !list_ways(s, target, &way)) {
		find_target(w, f, target, block, CFG_NONE);
		f->ways = 1;
	} else {
		f->ways = (unsigned)way.n;
	}
	for (size_t i = 0; i < way.n && w->target.n <= TARGETS_MAX; i++) {
		struct finding found;

		find_target(w, &found, way.at[i].value, block, way.at[i].edge);
		merge_finding(f, &found, !i);
	}
	vec_free(&way);
}
