/*
 * fixpoint: the jumps of one procedure, resolved until nothing changes.
 *
 * The procedure is seen as far as it is reached; each newly reached jump is
 * resolved, its targets become edges, and more is reached. When nothing new is
 * reached, those that new edges lead to are resolved again, until that adds no
 * edges: only then do the bounds hold. (What a jump does follows from what
 * leads to it. Where that is as it was, so is the jump.) Edges are only ever
 * added, so this ends.
 */

#include "base/bisect.h"
#include "cfg/jumps/dispatch_int.h"

enum { CHANGES_MAX = 12 }; /* then what still changes is not understood */

typedef VEC(uint32_t) blocks; /* of a view */

void work_unique_targets(struct work *w)
{
	size_t n = 0;

	vec_sort(&w->target, order_u64);
	for (size_t i = 0; i < w->target.n; i++)
		if (!n || w->target.at[n - 1] != w->target.at[i])
			w->target.at[n++] = w->target.at[i];
	w->target.n = n;
}

bool work_add_targets(struct work *w, struct jump_site *j)
{
	const struct code *k = &w->b->code;
	size_t had = j->target.n, old = 0;

	vec_append(&w->target, &j->target);
	work_unique_targets(w);
	if (w->target.n == had)
		return false;
	for (size_t i = 0; i < w->target.n; i++) {
		uint32_t off = code_offset(k, w->target.at[i]);

		if (old < had && j->target.at[old] == w->target.at[i]) {
			old++;
			continue;
		}
		code_set(k, k->leader, off);
		vec_push(&w->lead, off);
	}
	j->target.n = 0;
	vec_append(&j->target, &w->target);
	return true;
}

ORDER_BY(start_order, struct table_start, address)

void starts_add(table_starts *t, const struct jump_site *j)
{
	struct table_start s = {j->d.table, j->d.base};

	if (j->d.table)
		vec_push(t, s);
}

void starts_sort(table_starts *t)
{
	vec_sort(t, start_order);
}

/*
 * The entries of j's table are taken as long as they lead into the procedure,
 * and it is not known yet where all tables start.
 */
static bool is_open(const struct work *w, const struct jump_site *j)
{
	return !w->start && j->d.status == DISPATCH_APPROXIMATED &&
	       j->ways == 1 && j->table.size;
}

/* stores what was found; true if that adds edges */
static bool keep_finding(struct work *w, struct jump_site *j,
			 const struct finding *f)
{
	bool known = f->status <= DISPATCH_APPROXIMATED;

	j->resolved = true;
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
	work_find_load(w, f, &j->d);
	j->stale = w->waits;
	/* for an open one, take_open() comes later */
	if (!known || is_open(w, j))
		w->target.n = 0;
	/* a later look may know less, until code of the cases is found: the
	   address that entries are added to is a label until then */
	if (w->wanted.n) {
		j->wanted.n = 0;
		vec_append(&j->wanted, &w->wanted);
		w->wanted.n = 0;
	}
	return work_add_targets(w, j);
}

/* the jumps in view that are to be looked at, by the block they end */
struct reached {
	blocks fresh; /* no look has resolved them */
	blocks stale; /* to be resolved again */
};

static void list_reached(const struct work *w, struct reached *r)
{
	for (size_t i = 0; i < w->view.jump.n; i++) {
		uint32_t k = w->view.jump.at[i].block;
		const struct jump_site *j;

		if (!view_reached(&w->view, k))
			continue;
		j = build_jump_at(w->b, w->view.cut.at[k].last);
		if (!j->resolved)
			vec_push(&r->fresh, k);
		else if (j->stale)
			vec_push(&r->stale, k);
	}
}

/* adds a block to the list, once; the virtual exit is none */
static void visit(blocks *list, bool *seen, const struct view *v, uint32_t k)
{
	if (k >= v->cut.n || seen[k])
		return;
	seen[k] = true;
	vec_push(list, k);
}

/* what is behind edges that the view before this one did not have is stale */
static void mark_stale(struct work *w)
{
	const struct view *v = &w->view;
	bool *seen = NEW_ARRAY(bool, v->cut.n);
	blocks behind = {0};

	for (size_t i = 0; i < w->lead.n; i++)
		visit(&behind, seen, v, view_block_at(v, w->lead.at[i]));
	w->lead.n = 0;
	for (size_t i = 0; w->opens && i < v->opened.n; i++)
		visit(&behind, seen, v, v->opened.at[i]);
	w->opens = false;
	for (size_t done = 0; done < behind.n; done++) {
		uint32_t k = behind.at[done];

		if (v->cut.at[k].kind == INSN_IJUMP)
			build_jump_at(w->b, v->cut.at[k].last)->stale = true;
		for_each_edge_out (e, &v->g, k)
			visit(&behind, seen, v, v->g.to[e]);
	}
	vec_free(&behind);
	mem_free(seen);
}

/* the jump that ends a block of the view is at hand */
static struct jump_site *turn_to(struct work *w, uint32_t block)
{
	w->target.n = 0;
	w->block = block;
	w->waits = false;
	return build_jump_at(w->b, w->view.cut.at[block].last);
}

/*
 * Takes the entries of the open tables among the jumps that end these blocks;
 * true if that adds edges. The starts of the procedure's own tables are known
 * by now, and most often one of them is what follows a table.
 */
static bool take_open(struct work *w, const blocks *list)
{
	bool grew = false;

	w->own.n = 0;
	for_each_jump(j, w) starts_add(&w->own, j);
	starts_sort(&w->own);
	for (size_t i = 0; i < list->n; i++) {
		struct jump_site *j = turn_to(w, list->at[i]);

		if (!is_open(w, j))
			continue;
		j->d.count =
			(uint32_t)work_take_entries(w, &j->table, 0, j->last);
		j->stale = w->waits;
		grew |= work_add_targets(w, j);
	}
	return grew;
}

/* resolves the jumps that end these blocks; true if that adds edges */
static bool resolve_jumps(struct work *w, const blocks *list)
{
	bool grew = false;

	for (size_t i = 0; i < list->n; i++) {
		uint32_t k = list->at[i];
		struct jump_site *j = turn_to(w, k);
		uint32_t piece = w->view.piece.at[k];
		struct finding f;

		w->grown = !w->b->piece.at[piece].whole;
		work_resolve(w, &f, k);
		w->targets += w->target.n;
		if (w->targets > TARGETS_MAX) {
			f.status = DISPATCH_UNKNOWN;
			f.reason = "more targets than can be kept";
		}
		grew |= keep_finding(w, j, &f);
	}
	return take_open(w, list) || grew;
}

/* what a look at the procedure led to */
enum look { LOOK_FIXPOINT, LOOK_FOUND, LOOK_CHANGED };

/*
 * Resolves the jumps that the view newly reaches. If they add no edges, the
 * stale ones are resolved in this view.
 */
static enum look resolve_reached(struct work *w, const struct reached *r)
{
	enum look is = LOOK_FIXPOINT;

	view_complete(&w->view);
	values_init(&w->values, &w->view, &w->body, w->depth);
	w->targets = 0;
	if (resolve_jumps(w, &r->fresh))
		is = LOOK_FOUND;
	else if (resolve_jumps(w, &r->stale))
		is = LOOK_CHANGED;
	values_free(&w->values);
	return is;
}

/* the blocks are not cut yet, or jumps are known to lead into the midst */
static bool needs_cut(const struct work *w)
{
	bool needs = !w->view.b;

	for (size_t i = 0; !needs && i < w->lead.n; i++)
		needs = piece_among(w->b, w->piece, w->npiece, w->lead.at[i]) <
				w->npiece &&
			!view_has(&w->view, w->lead.at[i]);
	return needs;
}

/* looks at what the procedure shows as of now */
static enum look look(struct work *w, enum view_entries entries)
{
	enum look is = LOOK_FIXPOINT;
	struct reached r = {0};

	if (needs_cut(w)) {
		view_free(&w->view);
		view_cut(&w->view, w->b, w->piece, w->npiece, w->entry);
		body_set_blocks(&w->body, &w->view.cut);
	}
	view_connect(&w->view, entries);
	mark_stale(w);
	list_reached(w, &r);
	if (r.fresh.n || r.stale.n)
		is = resolve_reached(w, &r);
	vec_free(&r.fresh);
	vec_free(&r.stale);
	view_part(&w->view);
	return is;
}

struct jump_site *jumps_of(const struct build *b, uint32_t piece,
			   struct jump_site **stop)
{
	const struct piece *p = &b->piece.at[piece];
	size_t first, end;

	*stop = NULL;
	if (!b->jump.n)
		return NULL;
	bisect(first, b->jump.n, b->jump.at[first].at < p->start);
	for (end = first; end < b->jump.n && b->jump.at[end].at < p->end;)
		end++;
	*stop = b->jump.at + end;
	return b->jump.at + first;
}

bool work_has_jump(const struct work *w)
{
	for_each_jump(j, w) return true;
	return false;
}

/* some jump of the procedure is not understood */
static bool any_unknown(const struct work *w)
{
	for_each_jump(j, w) if (j->d.status == DISPATCH_UNKNOWN) return true;
	return false;
}

/* what still changes is not understood */
static void give_up(struct work *w)
{
	for_each_jump(j, w) if (j->d.status <= DISPATCH_APPROXIMATED)
	{
		j->d.status = DISPATCH_UNKNOWN;
		j->d.reason = "reaches no fixpoint";
	}
}

/* what is not known in the end has no targets */
static void drop_targets(struct work *w)
{
	for_each_jump(j, w) if (j->d.status > DISPATCH_APPROXIMATED)
		j->target.n = 0;
}

/* looks until nothing changes; false if that does not happen */
static bool reach_fixpoint(struct work *w, enum view_entries entries)
{
	for (unsigned changes = 0; changes < CHANGES_MAX;)
		switch (look(w, entries)) {
		case LOOK_FIXPOINT:
			return true;
		case LOOK_FOUND: /* as often as there are jumps */
			break;
		case LOOK_CHANGED:
			changes++;
		}
	return false;
}

bool work_any_entry(const struct work *w)
{
	const struct code *k = &w->b->code;

	for (uint32_t i = 0; i < w->npiece; i++) {
		const struct piece *p = &w->b->piece.at[w->piece[i]];

		if (code_next(k, k->entry, p->start + 1, p->end) != p->end)
			return true;
	}
	return false;
}

/* resolves all jumps again, of a procedure that may be entered anywhere */
static bool reach_fixpoint_any(struct work *w)
{
	w->opens = true;
	return reach_fixpoint(w, VIEW_ANY);
}

void work_fixpoint(struct work *w, bool second)
{
	if (!reach_fixpoint(w, VIEW_CALLED) ||
	    (second && (any_unknown(w) || work_any_entry(w)) &&
	     !reach_fixpoint_any(w)))
		give_up(w);
	if (second)
		drop_targets(w);
}
