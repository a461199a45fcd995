/*
 * judge-counts [-t] FILE MEMORY [OBSERVED...]: did code that insert-everywhere -m
 * put into FILE run as often as it should?
 *
 * MEMORY is what the plan's memory held when the program ended (qemu-memory):
 * one counter per place, in the order of everywhere.h. At every block that
 * moved the law of flow has to hold:
 *
 *	before the block == sum over the edges, hubs, entries and arrivals
 *	                    that lead to it
 *	before the block == sum over the edges that leave it; more if it ends
 *	                    with a call, which may not have come back. Not
 *	                    with -t: setjmp() comes back twice, and a frame
 *	                    may die anywhere
 *	into a hub       == out of it
 *
 * OBSERVED is what somebody else saw of the original (qemu-counts, qemu-flow):
 * every block ran as often, and every edge whose ends are seen in a transfer.
 * One complaint per line, on stdout; the last line says what was judged.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "everywhere.h"
#include "rewrite/insert/carriers.h"

/* a counter that there is not */
#define NO_COUNT UINT64_MAX

struct judge {
	const char *path;
	const struct cfg *c;
	const struct survey *s;
	/* counts, or NO_COUNT */
	uint64_t *before, *entry, *arrival; /* by block */
	uint64_t *edge, *hub; /* by edge; by hub target */
	/* of blocks: what flows in, and whether that is all */
	uint64_t *in;
	bool *unknown;
	uint64_t *seen; /* by block: how often it was seen to run */
	uint64_t judged, complaints, edges_judged;
	bool lenient; /* what flows out of blocks is not judged */
};

static void complain(struct judge *j, uint64_t at, const char *what,
		     uint64_t want, uint64_t got)
{
	j->complaints++;
	printf("0x%" PRIx64 ": %s: %" PRIu64 ", not %" PRIu64 "\n", at, what,
	       got, want);
}

static uint64_t *no_counts(size_t n)
{
	uint64_t *v = mem_alloc((n + 1) * sizeof *v);

	memset(v, 0xff, (n + 1) * sizeof *v);
	return v;
}

/* the plan's counters, each to its place */
static bool read_counters(struct judge *j, const struct plan *p,
			  const char *memory)
{
	FILE *f = fopen(memory, "re");
	bool whole = f;

	for (size_t i = 0; whole && i < p->insertion.n; i++) {
		const struct insertion *ins = &p->insertion.at[i];
		uint32_t b = cfg_block_at(j->c, ins->at);
		uint64_t n;

		whole = fread(&n, sizeof n, 1, f) == 1;
		if (ins->place == PLAN_BEFORE)
			j->before[b] = n;
		else if (ins->place == PLAN_EDGE)
			j->edge[ins->at] = n;
		else if (ins->place == PLAN_HUB)
			j->hub[ins->at] = n;
		else if (ins->place == PLAN_ENTRY)
			j->entry[ins->at] = n;
		else
			j->arrival[ins->at] = n;
	}
	if (f)
		fclose(f);
	return whole;
}

static bool moves(const struct judge *j, uint32_t b)
{
	return survey_moves(j->s, b);
}

/* does whoever takes the edge pass the old text? Then he is an arrival */
static bool by_old_text(const struct judge *j, const struct edge *e)
{
	const struct block *b = &j->c->block.at[e->from];

	return !moves(j, e->from) ||
	       (b->last == INSN_IJUMP && !survey_copies(j->s, e->from));
}

/* count n flows into block b */
static void flow_in(struct judge *j, uint32_t b, uint64_t n)
{
	if (n == NO_COUNT)
		j->unknown[b] = true;
	else
		j->in[b] += n;
}

static void find_inflow(struct judge *j)
{
	const struct cfg *c = j->c;

	for (uint32_t e = 0; e < c->edge.n; e++)
		if (c->edge.at[e].kind < EDGE_HUB &&
		    !by_old_text(j, &c->edge.at[e]))
			flow_in(j, c->edge.at[e].to, j->edge[e]);
	for (uint32_t t = 0; t < c->hub_target.n; t++)
		flow_in(j, c->hub_target.at[t], j->hub[t]);
	for (uint32_t b = 0; b < c->block.n; b++) {
		if (j->entry[b] != NO_COUNT)
			flow_in(j, b, j->entry[b]);
		if (j->arrival[b] != NO_COUNT)
			flow_in(j, b, j->arrival[b]);
	}
}

static bool may_not_return(const struct block *b)
{
	return b->last == INSN_CALL || b->last == INSN_ICALL ||
	       b->last == INSN_SYSCALL;
}

static void judge_outflow(struct judge *j, uint32_t n)
{
	const struct block *b = &j->c->block.at[n];
	uint64_t out = 0;

	if (b->edge == cfg_edges_end(j->c, n) || j->lenient)
		return;
	for (uint32_t e = b->edge; e < cfg_edges_end(j->c, n); e++) {
		if (j->edge[e] == NO_COUNT)
			return;
		out += j->edge[e];
	}
	if (may_not_return(b) ? out > j->before[n] : out != j->before[n])
		complain(j, b->start, "flow out", j->before[n], out);
}

static void judge_blocks(struct judge *j)
{
	for (uint32_t b = 0; b < j->c->block.n; b++) {
		if (!moves(j, b) || j->before[b] == NO_COUNT)
			continue;
		if (!j->unknown[b]) {
			j->judged++;
			if (j->in[b] != j->before[b])
				complain(j, j->c->block.at[b].start, "flow in",
					 j->before[b], j->in[b]);
		}
		judge_outflow(j, b);
	}
}

static void judge_hubs(struct judge *j)
{
	const struct cfg *c = j->c;
	uint64_t *in = NEW_ARRAY(uint64_t, c->hub.n + 1);

	for (uint32_t e = 0; e < c->edge.n; e++)
		if (c->edge.at[e].kind == EDGE_HUB && j->edge[e] != NO_COUNT &&
		    survey_copies(j->s, c->edge.at[e].from))
			in[c->edge.at[e].to] += j->edge[e];
	for (uint32_t h = 0; h < c->hub.n; h++) {
		const struct hub *hub = &c->hub.at[h];
		uint64_t out = 0;

		for (uint32_t t = hub->target;
		     t < hub->target + hub->ntarget; t++)
			out += j->hub[t] == NO_COUNT ? 0 : j->hub[t];
		if (out != in[h])
			complain(j, c->proc.at[hub->proc].entry, "hub", in[h],
				 out);
	}
	mem_free(in);
}

/* a stretch of code ran n times: so did the blocks that begin in it */
static void see_run(struct judge *j, uint64_t first, uint64_t last, uint64_t n)
{
	const struct block *v = j->c->block.at;
	size_t i;

	bisect(i, j->c->block.n, v[i].start < first);
	for (; i < j->c->block.n && v[i].start <= last; i++)
		j->seen[i] += n;
}

/* is the instruction there the block's last? */
static bool is_last(const struct cfg *c, uint32_t b, uint64_t at)
{
	struct insn in;
	size_t avail;
	const uint8_t *code = image_at(c->image, at, &avail);

	c->isa->scan(code, avail, at, &in);
	return at + in.len == block_end(&c->block.at[b]);
}

/*
 * A transfer from the last instruction of a block to another was seen n times:
 * so often ran the edges that lead there.
 */
static void see_flow(struct judge *j, uint64_t from, uint64_t to, uint64_t n)
{
	const struct cfg *c = j->c;
	uint32_t b = cfg_block_at(c, from);
	uint64_t sum = 0;
	bool any = false;

	if (b == CFG_NONE || !moves(j, b) || !is_last(c, b, from) ||
	    (c->block.at[b].last != INSN_COND &&
	     c->block.at[b].last != INSN_JUMP &&
	     c->block.at[b].last != INSN_IJUMP))
		return;
	for (uint32_t e = c->block.at[b].edge; e < cfg_edges_end(c, b); e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind >= EDGE_HUB || c->block.at[g->to].start != to)
			continue;
		if (j->edge[e] == NO_COUNT)
			return;
		any = true;
		sum += j->edge[e];
	}
	j->edges_judged += any;
	if (any && sum != n)
		complain(j, from, "edge", n, sum);
}

static void read_observed(struct judge *j, const char *name)
{
	char line[8192], *w[7];
	FILE *f = fopen(name, "re");

	while (f && fgets(line, sizeof line, f)) {
		int n = 0;

		for (char *p = strtok(line, "\t\n"); p && n < 7;
		     p = strtok(NULL, "\t\n"))
			w[n++] = p;
		if (n != 6 || strcmp(w[1], j->path) || strcmp(w[3], j->path))
			continue;
		if (!strcmp(w[0], "ran"))
			see_run(j, strtoull(w[2], NULL, 16),
				strtoull(w[4], NULL, 16),
				strtoull(w[5], NULL, 10));
		else if (!strcmp(w[0], "flow"))
			see_flow(j, strtoull(w[2], NULL, 16),
				 strtoull(w[4], NULL, 16),
				 strtoull(w[5], NULL, 10));
	}
	if (!f)
		j->complaints++;
	else
		fclose(f);
}

static void judge_seen(struct judge *j)
{
	for (uint32_t b = 0; b < j->c->block.n; b++)
		if (j->before[b] != NO_COUNT && j->before[b] != j->seen[b])
			complain(j, j->c->block.at[b].start, "seen",
				 j->seen[b], j->before[b]);
}

/* how many places of a kind there are, and how many of them ran */
static void tell(const char *what, const uint64_t *v, size_t n,
		 const struct cfg *c, int kind)
{
	size_t all = 0, ran = 0;

	for (size_t i = 0; i < n; i++) {
		if ((kind >= 0 && c->edge.at[i].kind != kind) ||
		    v[i] == NO_COUNT)
			continue;
		all++;
		ran += v[i] > 0;
	}
	printf(" %s=%zu/%zu", what, ran, all);
}

/* edges that may not touch memory */
static unsigned barred(const struct judge *j)
{
	struct insertion i = {.place = PLAN_EDGE, .nregs = 2};
	unsigned n = 0;

	for (i.at = 0; i.at < j->c->edge.n; i.at++) {
		i.memory = false;
		if (insertion_obstacle(j->s, &i))
			continue;
		i.memory = true;
		n += insertion_obstacle(j->s, &i) != NULL;
	}
	return n;
}

static void tell_all(const struct judge *j)
{
	static const char *const names[EDGE_KINDS] = {
		"fall", "taken", "jump", "after", "unwind", "table", "hub-in",
		"return", "tail", "noreturn", "away", "unknown"};
	const struct cfg *c = j->c;

	printf("judged blocks=%" PRIu64 " transfers=%" PRIu64, j->judged,
	       j->edges_judged);
	tell("before", j->before, c->block.n, c, -1);
	tell("entry", j->entry, c->block.n, c, -1);
	tell("arrival", j->arrival, c->block.n, c, -1);
	tell("hub", j->hub, c->hub_target.n, c, -1);
	for (int k = 0; k < EDGE_KINDS; k++)
		tell(names[k], j->edge, c->edge.n, c, k);
	printf(" barred=%u complaints=%" PRIu64 "\n", barred(j),
	       j->complaints);
}

static void judge_all(struct judge *j, char **observed, int n)
{
	find_inflow(j);
	judge_blocks(j);
	judge_hubs(j);
	for (int i = 0; i < n; i++)
		read_observed(j, observed[i]);
	if (n)
		judge_seen(j);
	tell_all(j);
}

static void forget(struct judge *j)
{
	uint64_t *all[] = {j->before, j->entry, j->arrival, j->edge, j->hub,
			   j->in, j->seen};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mem_free(all[i]);
	mem_free(j->unknown);
}

static int judge_file(struct judge *j, const struct image *im,
		      const char *memory, char **observed, int n)
{
	struct everywhere o = {.regs = 2, .memory = true};
	struct unwind u;
	struct cfg c;
	struct survey s;
	struct plan p;
	struct err e;
	int status = 3;

	unwind_read(&u, im);
	if (cfg_build(&c, im, &u, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	survey_make(&s, &c);
	everywhere_plan(&p, &s, &o);
	j->c = &c;
	j->s = &s;
	j->before = no_counts(c.block.n);
	j->entry = no_counts(c.block.n);
	j->arrival = no_counts(c.block.n);
	j->edge = no_counts(c.edge.n);
	j->hub = no_counts(c.hub_target.n);
	j->in = NEW_ARRAY(uint64_t, c.block.n + 1);
	j->unknown = NEW_ARRAY(bool, c.block.n + 1);
	j->seen = NEW_ARRAY(uint64_t, c.block.n + 1);
	if (!read_counters(j, &p, memory)) {
		fprintf(stderr, "%s: not the memory of this plan\n", memory);
	} else {
		judge_all(j, observed, n);
		status = j->complaints ? 1 : 0;
	}
	forget(j);
	vec_free(&p.insertion);
	survey_free(&s);
	cfg_free(&c);
	unwind_free(&u);
	return status;
}

int main(int argc, char **argv)
{
	struct judge j = {0};
	struct image im;
	struct err e;
	int status;

	if (argc > 1 && !strcmp(argv[1], "-t")) {
		j.lenient = true;
		argv++;
		argc--;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: judge-counts [-t] FILE MEMORY "
				"[OBSERVED...]\n");
		return 2;
	}
	if (image_open(&im, argv[1], &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	j.path = argv[1];
	status = judge_file(&j, &im, argv[2], argv + 3, argc - 3);
	image_close(&im);
	return status;
}
