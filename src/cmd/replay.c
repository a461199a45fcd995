/*
 * replay: `tally replay TRACE`, what a traced program did: every block, every
 * instruction, in order.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/options/shared_options.h"
#include "trace/regenerate/walk.h"

struct replay_call {
	const char *as;
	uint64_t process, thread;
};

static const struct option_choice kinds[] = {
	{"blocks", 0, "every block that ran", NULL},
	{"insns", 0, "every instruction", NULL},
	{0},
};

enum { ALL = UINT32_MAX };

static const struct option replay_options[] = {
	{"as", .type = &type_word, .placeholder = "WHAT", .choices = kinds,
	 FILLS(struct replay_call, as),
	 .help = "what is told; without it what the trace holds"},
	{"process", .type = &type_number, .placeholder = "N", .least = 1,
	 .most = ALL - 1, FILLS(struct replay_call, process),
	 .help = "of that process alone, as the trace numbers them"},
	{"thread", .type = &type_number, .placeholder = "N", .least = 0,
	 .most = ALL - 1, FILLS(struct replay_call, thread),
	 .help = "of that thread of each process alone, from 0"},
	{0},
};

struct replaying {
	const struct replay_call *call;
	const struct trace_file *f;
	struct walks walks;
	uint64_t insns;
};

static void tell_insns(struct replaying *r, const struct walk_step *s,
		       const struct map_block *b)
{
	const struct map *m = &s->image->map;
	uint64_t at = b->start;

	for (uint32_t i = 0; i < b->ninsn; i++) {
		printf("%" PRIu64 " 0x%" PRIx64 " %s\n", r->insns + i, at,
		       m->path);
		at += m->insn_size ? m->insn_size :
				     m->length.at[b->length + i];
	}
}

static void tell_step(struct replaying *r, const struct walk_step *s)
{
	const struct map_block *b;

	if (s->kind == WALK_GAP) {
		printf("# gap: 0x%" PRIx64 "\n", s->address);
		return;
	}
	if (s->kind != WALK_BLOCK) {
		printf("# %s\n", s->why);
		return;
	}
	b = &s->plan->block[s->vertex];
	if (!strcmp(r->call->as, "insns"))
		tell_insns(r, s, b);
	else
		printf("%" PRIu64 " %zu 0x%" PRIx64 " %u %s %s\n", r->insns,
		       s->depth, b->start, b->ninsn, s->image->map.path,
		       s->plan->p->name ? s->plan->p->name : "?");
	r->insns += b->ninsn;
}

static void tell_thread(struct replaying *r, const struct trace_thread *t)
{
	struct walk w;
	struct walk_step s;

	r->insns = 0;
	printf("# process %" PRIu32 " thread %" PRIu32 "\n", t->process,
	       t->thread);
	walk_begin(&w, &r->walks, t);
	do {
		walk_next(&w, &s);
		tell_step(r, &s);
	} while (s.kind != WALK_END);
	walk_end(&w);
}

static void tell_all(struct replaying *r)
{
	for (size_t i = 0; i < r->f->thread.n; i++) {
		const struct trace_thread *t = &r->f->thread.at[i];

		if ((r->call->process == ALL ||
		     r->call->process == t->process) &&
		    (r->call->thread == ALL || r->call->thread == t->thread))
			tell_thread(r, t);
	}
}

/* what the trace holds */
static void show(const struct trace_file *f)
{
	for (size_t i = 0; i < f->note.n; i++)
		if (!strchr(f->note.at[i].key, ' '))
			printf("%s: %s\n", f->note.at[i].key,
			       f->note.at[i].value);
	for (size_t i = 0; i < f->thread.n; i++) {
		const struct trace_thread *t = &f->thread.at[i];
		const struct trace_process *p =
			trace_process(f, t->process);

		printf("process %" PRIu32 " thread %" PRIu32 " parts %" PRIu64
		       " to %" PRIu64 " %s\n", t->process, t->thread,
		       t->first, t->end, p ? p->name : "?");
	}
}

static int replay_run(void *words, const struct arguments *a)
{
	struct replay_call *call = words;
	struct replaying r = {.call = call};
	struct trace_file f;
	struct err e;

	if (trace_open(&f, a->operand.at[0], &e))
		return cmd_fail(&e);
	r.f = &f;
	if (!call->as) {
		show(&f);
	} else if (walks_open(&r.walks, &f, &e)) {
		trace_close(&f);
		return cmd_fail(&e);
	} else {
		tell_all(&r);
		walks_close(&r.walks);
	}
	trace_close(&f);
	return cmd_finish(STATUS_OK);
}

const struct command cmd_replay = {
	.name = "replay",
	.summary = "what a traced program did, step by step",
	.usage = "TRACE [OPTION...]",
	.about = "Tells what is in a trace that `tally trace` has recorded.",
	.operands = (const struct operand[]){{.name = "TRACE"}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(replay_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct replay_call){.process = ALL, .thread = ALL},
	.size = sizeof(struct replay_call),
	.run = replay_run,
};
