/*
 * dispatch: what every indirect jump is.
 *
 * Each procedure with indirect jumps is solved by itself (fixpoint.c), each
 * jump resolved by the data flow (resolve_jump.c); here is what is about all of
 * them. After a first pass it is known where tables start, and which pointers
 * to code are accounted for by tables; procedures for which that may matter are
 * looked at once more. If some jump stays unknown, control may come from it to
 * any place whose address is taken or that nothing leads to; the others are
 * then resolved with all of those as entries (VIEW_ANY).
 *
 * Three outcomes for a table (doc/how-cfg-works.md):
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
#include <pthread.h>

#include "base/parallel.h"
#include "cfg/jumps/dispatch_int.h"

/* of stack that one step of recursion may take */
enum { DEPTH_BYTES = 16384 };

/* the pieces in which one thread looks for indirect jumps */
struct share {
	const struct build *b;
	size_t piece, end;
	VEC(uint32_t) at;
};

/* thread body */
static void *share_list(void *arg)
{
	struct share *s = arg;

	for (size_t p = s->piece; p < s->end; p++) {
		const struct piece *q = &s->b->piece.at[p];
		const struct xfer *t = s->b->found.xfer.at + q->xfer;

		for (uint32_t x = 0; !q->in_place && x < q->nxfer; x++)
			if (t[x].kind == INSN_IJUMP)
				vec_push(&s->at, t[x].at);
	}
	return NULL;
}

/* adds the indirect jump at an offset */
static void add_jump(struct build *b, uint32_t at)
{
	struct jump_site j = {.at = at, .hub = CFG_NONE};

	j.d.addr = code_address(&b->code, at);
	j.d.status = DISPATCH_UNKNOWN;
	j.d.reason = "never reached";
	j.d.block = CFG_NONE;
	vec_push(&b->jump, j);
}

/* fills b->jump with all indirect jumps, by position */
static void list_jumps(struct build *b)
{
	enum { LEAST = 1 << 12 }; /* pieces; fewer are not worth a thread */
	struct share share[PARALLEL_MAX] = {{0}};
	size_t n = b->piece.n;
	unsigned shares = parallel_count(n, LEAST);

	for (unsigned t = 0; t < shares; t++) {
		share[t].b = b;
		share[t].piece = parallel_first(n, shares, t);
		share[t].end = parallel_first(n, shares, t + 1);
	}
	parallel_run(share_list, share, sizeof *share, shares);
	for (unsigned t = 0; t < shares; t++) {
		for (size_t i = 0; i < share[t].at.n; i++)
			add_jump(b, share[t].at.at[i]);
		vec_free(&share[t].at);
	}
}

/* what the threads share */
struct crew {
	struct build *b;
	uint32_t *proc; /* procedures to look at */
	uint32_t nproc;
	uint32_t next; /* of proc[], taken atomically */
	bool second;
	unsigned depth; /* limit of recursion */
	const table_starts *start; /* of all tables, once they are known */
};

/* procedure number i of the list, as work; nothing allocated yet */
static struct work crew_item(const struct crew *t, uint32_t i)
{
	const struct cfg *c = t->b->cfg;
	const struct procedure *p = &c->proc.at[t->proc[i]];
	struct work w = {.b = t->b, .npiece = p->npart,
			 .piece = &c->proc_part.at[p->part],
			 .start = t->start, .depth = t->depth};

	w.rep = piece_find(t->b, w.piece[0]);
	w.entry = code_offset(&t->b->code, p->entry);
	return w;
}

/* resolves the jumps of a procedure */
static void crew_resolve(const struct crew *t, struct work *w)
{
	if (t->second && !work_begin_again(w))
		return;
	body_init(&w->body, t->b, w->piece, w->npiece);
	work_fixpoint(w, t->second);
	view_free(&w->view);
	body_free(&w->body);
}

/* thread body: takes procedures until none is left */
static void *crew_work(void *arg)
{
	struct crew *t = arg;
	uint32_t i;

	while ((i = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED)) <
	       t->nproc) {
		struct work w = crew_item(t, i);

		progress_at(t->b->progress, t->second ? "jump tables, again" :
			    "jump tables", i, t->nproc);
		crew_resolve(t, &w);
		vec_free(&w.target);
		vec_free(&w.wanted);
		vec_free(&w.lead);
		vec_free(&w.own);
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

/* the procedures that have indirect jumps */
static void crew_gather(struct crew *t)
{
	uint32_t nproc = (uint32_t)t->b->cfg->proc.n, n = 0;

	t->proc = NEW_ARRAY(uint32_t, nproc);
	for (uint32_t i = 0; i < nproc; i++) {
		struct work w;

		t->proc[n] = i;
		w = crew_item(t, n);
		n += work_has_jump(&w);
	}
	t->nproc = n;
}

void dispatch_resolve_all(struct build *b)
{
	struct crew crew = {.b = b};
	table_starts start = {0};

	list_jumps(b);
	crew_gather(&crew);
	crew_run(&crew);
	/* now that the starts of tables are known, those without a bound can
	   end where another one starts */
	for (size_t i = 0; i < b->jump.n; i++)
		starts_add(&start, &b->jump.at[i]);
	starts_sort(&start);
	crew.start = &start;
	discover_entries(b);
	crew.second = true;
	crew_run(&crew);
	discover_entries(b);
	vec_free(&start);
	mem_free(crew.proc);
}

void dispatch_export(struct build *b)
{
	struct cfg *c = b->cfg;

	for (size_t i = 0; i < b->jump.n; i++) {
		const struct jump_site *j = &b->jump.at[i];
		struct dispatch d = j->d;

		d.block = cfg_block_at(c, d.addr);
		if (d.block == CFG_NONE)
			continue; /* it was data after all (data_in_text.c) */
		d.target = (uint32_t)c->target.n;
		d.ntarget = (uint32_t)j->target.n;
		vec_append(&c->target, &j->target);
		vec_push(&c->dispatch, d);
	}
}

bool cfg_table_entry(const struct cfg *c, const struct dispatch *d, uint32_t i,
		     uint64_t *target)
{
	struct table t = {
		.address = d->table,
		.base = d->base,
		.stride = d->entry_size,
		.size = d->entry_size,
		.shift = d->entry_shift,
		.sign = d->entry_signed,
	};

	return table_entry(c->image, &t, i, target);
}
