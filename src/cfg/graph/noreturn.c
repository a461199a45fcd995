/*
 * noreturn: which procedures never return to their caller.
 *
 * "May return" is the least set that contains every procedure with a path
 * from an entry to a return on which each call goes to a procedure that may
 * return. A call's block waits at its callee; when the callee turns out to
 * return, the waiting paths go on. Every block is visited once, so the time
 * is linear. Procedures that only call each other for ever come out right.
 *
 * Paths stay within their procedure, so each of several threads walks through
 * the procedures of its share. What is known of another share's procedure is
 * used as far as it is known; what still waits for one waits to the end, and
 * one thread then does the little that is left. (That a procedure returns is
 * never taken back, so the order does not matter.)
 *
 * Known by name are the library's own exits: they are the base of the rest.
 * A jump to an unknown place may return, and so may a call into the middle of
 * the procedure itself (code that asks where it is).
 */
#include "cfg/build.h"

#include <stdlib.h>

#include "base/parallel.h"

/* functions that the platform's libraries define as never returning */
static const char *const noreturn_names[] = {
	"_Exit", "_Unwind_Resume", "_ZSt10unexpectedv",
	"_ZSt16__throw_bad_castv", "_ZSt17__throw_bad_allocv",
	"_ZSt19__throw_logic_errorPKc", "_ZSt19__throw_range_errorPKc",
	"_ZSt20__throw_length_errorPKc", "_ZSt20__throw_out_of_rangePKc",
	"_ZSt20__throw_system_errori", "_ZSt21__throw_bad_exceptionv",
	"_ZSt21__throw_runtime_errorPKc",
	"_ZSt24__throw_invalid_argumentPKc",
	"_ZSt24__throw_out_of_range_fmtPKcz",
	"_ZSt25__throw_bad_function_callv",
	"_ZSt28__throw_bad_array_new_lengthv", "_ZSt9terminatev",
	"__assert", "__assert_fail", "__assert_perror_fail", "__chk_fail",
	"__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_call_terminate",
	"__cxa_call_unexpected", "__cxa_pure_virtual", "__cxa_rethrow",
	"__cxa_throw", "__cxa_throw_bad_array_new_length", "__fortify_fail",
	"__libc_fatal", "__longjmp_chk", "__stack_chk_fail", "_exit",
	"_gfortran_os_error", "_gfortran_runtime_error",
	"_gfortran_runtime_error_at", "_gfortran_stop_numeric",
	"_gfortran_stop_string", "_longjmp", "longjmp", "pthread_exit",
	"siglongjmp", "thrd_exit",
};

/* names of imports that never return; a file may have its own functions of
   these names */
static const char *const noreturn_imports[] = {"abort", "exit", "quick_exit"};
/* imports that never return if they have a version: then they are libc's */
static const char *const noreturn_versioned[] = {"err", "errx", "verr",
						 "verrx"};

#define LIST(a) (a), sizeof(a) / sizeof *(a)

static int name_order(const void *key, const void *elem)
{
	return strcmp(key, *(const char *const *)elem);
}

static bool is_named(const char *name, const char *const *list, size_t n)
{
	return name && bsearch(name, list, n, sizeof *list, name_order);
}

/* the procedure is known by its name, or the name of what it jumps to */
static bool noreturn_named(const struct procedure *p)
{
	return is_named(p->name, LIST(noreturn_names)) ||
	       is_named(p->import, LIST(noreturn_names)) ||
	       (p->foreign && is_named(p->import, LIST(noreturn_imports))) ||
	       (p->versioned &&
		is_named(p->import, LIST(noreturn_versioned)));
}

/* the state of the walk through procedures first .. end-1 */
struct walk {
	struct build *b;
	struct cfg *c;
	uint32_t first, end;
	bool *seen;	    /* by block */
	bool *returns;	    /* by procedure; other threads may set theirs */
	/* by share and procedure: first edge of that share that waits for it */
	uint32_t **waiting;
	unsigned share, shares; /* whose waiting edges are released: from, to */
	uint32_t *next;	    /* by edge: next one that waits for the same */
	VEC(uint32_t) todo; /* blocks to leave by their edges */
	VEC(uint32_t) ready; /* procedures found to return */
};

/* visits block k once */
static void walk_reach(struct walk *w, uint32_t k)
{
	if (k == CFG_NONE || w->seen[k])
		return;
	w->seen[k] = true;
	vec_push(&w->todo, k);
}

/* procedure p is known to return */
static bool walk_known(const struct walk *w, uint32_t p)
{
	return __atomic_load_n(&w->returns[p], __ATOMIC_RELAXED);
}

/* procedure p may return */
static void walk_returns(struct walk *w, uint32_t p)
{
	if (walk_known(w, p) || noreturn_named(&w->c->proc.at[p]))
		return;
	__atomic_store_n(&w->returns[p], true, __ATOMIC_RELAXED);
	vec_push(&w->ready, p);
}

/* edge e leads on: behind a call, or out by a tail call that returns */
static void walk_release(struct walk *w, uint32_t e)
{
	const struct edge *g = &w->c->edge.at[e];

	if (g->kind == EDGE_AFTER)
		walk_reach(w, g->to);
	else
		walk_returns(w, cfg_block_proc(w->c, g->from));
}

/* the procedure that holds addr, or CFG_NONE */
static uint32_t noreturn_proc(const struct build *b, uint64_t addr)
{
	uint32_t p = addr ? piece_at(b, code_offset(&b->code, addr)) :
			    CFG_NONE;

	return p == CFG_NONE ? p : b->cfg->part.at[p].proc;
}

/* edge e is of a call into its own procedure, behind where that begins */
static bool walk_is_inner(const struct walk *w, uint32_t e, uint32_t p,
			  uint64_t addr)
{
	const struct edge *g = &w->c->edge.at[e];

	return g->kind == EDGE_AFTER && p == cfg_block_proc(w->c, g->from) &&
	       addr != w->c->proc.at[p].entry;
}

/* edge e leads on if the procedure at addr returns; later, maybe */
static void walk_await(struct walk *w, uint32_t e, uint64_t addr)
{
	uint32_t p = noreturn_proc(w->b, addr);

	if (p == CFG_NONE || walk_known(w, p) ||
	    walk_is_inner(w, e, p, addr)) {
		walk_release(w, e);
		return;
	}
	w->next[e] = w->waiting[w->share][p];
	w->waiting[w->share][p] = e;
}

/* takes one edge of a visited block */
static void walk_edge(struct walk *w, uint32_t e)
{
	const struct edge *g = &w->c->edge.at[e];
	const struct block *k = &w->c->block.at[g->from];
	const struct hub *h;

	switch (g->kind) {
	case EDGE_AFTER:
		walk_await(w, e, k->last == INSN_CALL ? k->target : 0);
		break;
	case EDGE_TAIL:
		if (k->last == INSN_JUMP || k->last == INSN_COND)
			walk_await(w, e, k->target);
		else
			walk_release(w, e);
		break;
	case EDGE_RETURN:
	case EDGE_AWAY:
	case EDGE_UNKNOWN:
		walk_returns(w, cfg_block_proc(w->c, g->from));
		break;
	case EDGE_NORETURN:
		break;
	case EDGE_HUB:
		h = &w->c->hub.at[g->to];
		for (uint32_t t = 0; t < h->ntarget; t++)
			walk_reach(w, w->c->hub_target.at[h->target + t]);
		break;
	default:
		walk_reach(w, g->to);
	}
}

/* procedure p returns: what waits for it goes on */
static void walk_wake(struct walk *w, uint32_t p)
{
	for (unsigned t = w->share; t < w->shares; t++) {
		uint32_t e = w->waiting[t][p];

		w->waiting[t][p] = CFG_NONE;
		for (; e != CFG_NONE; e = w->next[e])
			walk_release(w, e);
	}
}

/* runs until nothing new can be reached */
static void walk_run(struct walk *w)
{
	while (w->todo.n || w->ready.n) {
		if (w->todo.n) {
			uint32_t k = w->todo.at[--w->todo.n];

			for (uint32_t e = w->c->block.at[k].edge;
			     e < cfg_edges_end(w->c, k); e++)
				walk_edge(w, e);
		} else {
			walk_wake(w, w->ready.at[--w->ready.n]);
		}
	}
}

/* thread body: starts at every entry of the share's procedures */
static void *walk_share(void *arg)
{
	struct walk *w = arg;
	const struct cfg *c = w->c;

	for (uint32_t p = w->first; p < w->end; p++) {
		const struct procedure *q = &c->proc.at[p];

		/* Go's runtime comes back behind calls by other ways */
		if (cfg_is_go(c, q->entry))
			walk_returns(w, p);
		walk_reach(w, cfg_block_at(c, q->entry));
		for (uint32_t i = 0; i < q->npart; i++) {
			const struct part *part =
				&c->part.at[c->proc_part.at[q->part + i]];

			for (uint32_t k = part->block;
			     k < part->block + part->nblock; k++)
				if (c->block.at[k].flags & BLOCK_ENTRY)
					walk_reach(w, k);
		}
		walk_run(w);
	}
	/* what other threads have found out in the meantime */
	for (uint32_t p = 0; p < c->proc.n; p++)
		if (w->waiting[w->share][p] != CFG_NONE && walk_known(w, p)) {
			walk_wake(w, p);
			walk_run(w);
		}
	return NULL;
}

/* walks through everything: all shares, then what waits for another one's */
static void walk_all(struct walk *all)
{
	struct walk share[PARALLEL_MAX];
	uint32_t n = all->end;

	for (unsigned t = 0; t < all->shares; t++) {
		share[t] = *all;
		share[t].first = n / all->shares * t;
		if (t + 1 < all->shares)
			share[t].end = n / all->shares * (t + 1);
		share[t].share = t;
		share[t].shares = t + 1;
	}
	parallel_run(walk_share, share, sizeof *share, all->shares);
	for (uint32_t p = 0; p < n; p++)
		if (all->returns[p])
			vec_push(&all->ready, p);
	walk_run(all);
	for (unsigned t = 0; t < all->shares; t++) {
		vec_free(&share[t].todo);
		vec_free(&share[t].ready);
	}
}

/* no edge waits for any of n procedures */
static uint32_t *nobody_waits(size_t n)
{
	uint32_t *waiting = NEW_ARRAY(uint32_t, n);

	memset(waiting, 0xff, n * sizeof *waiting);
	return waiting;
}

void noreturn_find(struct build *b)
{
	enum { LEAST = 1 << 12 }; /* procedures; fewer are not worth a thread */
	struct cfg *c = b->cfg;
	uint32_t *waiting[PARALLEL_MAX];
	struct walk w = {.b = b,
			 .c = c,
			 .end = (uint32_t)c->proc.n,
			 .waiting = waiting,
			 .shares = parallel_count(c->proc.n, LEAST)};

	w.seen = NEW_ARRAY(bool, c->block.n);
	w.returns = NEW_ARRAY(bool, c->proc.n);
	w.next = NEW_ARRAY(uint32_t, c->edge.n);
	for (unsigned t = 0; t < w.shares; t++)
		waiting[t] = nobody_waits(c->proc.n);
	walk_all(&w);
	if (!b->noreturn)
		b->noreturn = NEW_ARRAY(bool, b->piece.n);
	for (uint32_t p = 0; p < c->proc.n; p++) {
		uint32_t part = c->proc_part.at[c->proc.at[p].part];

		c->proc.at[p].returns = w.returns[p];
		b->noreturn[piece_find(b, part)] = !w.returns[p];
	}
	for (unsigned t = 0; t < w.shares; t++)
		mem_free(waiting[t]);
	mem_free(w.seen);
	mem_free(w.returns);
	mem_free(w.next);
	vec_free(&w.todo);
	vec_free(&w.ready);
}

/* parallel_for(): what noreturn_apply() does to some of the edges */
static void apply_to_edges(void *build, size_t from, size_t end)
{
	const struct build *b = build;
	struct cfg *c = b->cfg;

	for (size_t e = from; e < end; e++) {
		struct edge *g = &c->edge.at[e];
		const struct block *k = &c->block.at[g->from];
		uint32_t p;

		if (g->kind != EDGE_AFTER || k->last != INSN_CALL)
			continue;
		p = noreturn_proc(b, k->target);
		if (p != CFG_NONE && !c->proc.at[p].returns) {
			g->kind = EDGE_NORETURN;
			g->to = CFG_NONE;
		}
	}
}

void noreturn_apply(struct build *b)
{
	enum { LEAST = 1 << 16 }; /* edges */

	parallel_for(apply_to_edges, b, b->cfg->edge.n, LEAST);
}
