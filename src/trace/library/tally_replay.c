/* tally_replay: see tally-replay.h. Events become records, one by one. */
#include "trace/library/tally-replay.h"

#include <stdio.h>

#include "trace/regenerate/replay.h"

struct tally_replay {
	char *path; /* of the trace */
	struct trace_file file;
	struct walks walks;
	struct replay_pick pick;
	struct replay replay;
	bool begun;
	struct replay_event x;
	struct replay_insn insn; /* of the block that is told */
	struct replay_accesses accesses; /* of that block */
	struct replay_data data;
	bool half; /* what is read and written was told as read */
};

static char *copy(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}

struct tally_replay *tally_replay_open(const char *trace, char *message,
				       size_t size)
{
	struct tally_replay *t = NEW_ARRAY(struct tally_replay, 1);
	struct err e;

	t->path = copy(trace);
	t->pick = (struct replay_pick){.process = REPLAY_ALL,
				       .thread = REPLAY_ALL,
				       .count = UINT64_MAX,
				       .accesses = true};
	if (!trace_open(&t->file, t->path, &e)) {
		if (!walks_open(&t->walks, &t->file, &e))
			return t;
		trace_close(&t->file);
	}
	if (message && size)
		snprintf(message, size, "%s", e.text);
	mem_free(t->path);
	mem_free(t);
	return NULL;
}

void tally_replay_close(struct tally_replay *t)
{
	if (!t)
		return;
	if (t->begun)
		replay_end(&t->replay);
	walks_close(&t->walks);
	trace_close(&t->file);
	mem_free(t->path);
	mem_free(t);
}

void tally_replay_pick(struct tally_replay *t, uint32_t process,
		       uint32_t thread, int by_time)
{
	t->pick.process = process;
	t->pick.thread = thread;
	t->pick.interleave = by_time;
}

void tally_replay_range(struct tally_replay *t, uint64_t from, uint64_t count)
{
	t->pick.from = from;
	t->pick.count = count;
}

/* of the instruction that is told, its number in the block */
static uint32_t insn_told(const struct tally_replay *t)
{
	const struct walk_step *s = t->x.step;

	return s->first + s->n - 1 - t->insn.left;
}

static void fill_insn(const struct tally_replay *t,
		      struct tally_replay_record *r)
{
	const struct walk_step *s = t->x.step;

	r->kind = TALLY_REPLAY_INSN;
	r->image = s->image->number;
	r->number = t->x.number + (s->n - 1 - t->insn.left);
	r->pc = t->insn.pc;
	r->address = t->insn.pc - s->base;
	r->size = t->insn.size;
	r->depth = (uint32_t)s->depth;
	r->procedure = s->plan->p->name;
	r->text = NULL;
	r->data = 0;
	r->known = 0;
	r->process = t->x.thread->process;
	r->thread = t->x.thread->thread;
}

static void fill_other(const struct tally_replay *t,
		       struct tally_replay_record *r)
{
	static const uint8_t kinds[] = {
		[REPLAY_THREAD] = TALLY_REPLAY_THREAD,
		[REPLAY_GAP] = TALLY_REPLAY_GAP,
		[REPLAY_LOST] = TALLY_REPLAY_LOST,
		[REPLAY_END] = TALLY_REPLAY_END,
		[REPLAY_SIGNAL] = TALLY_REPLAY_SIGNAL,
		[REPLAY_RESUME] = TALLY_REPLAY_RESUME,
		[REPLAY_SYSCALL] = TALLY_REPLAY_SYSCALL};

	*r = (struct tally_replay_record){.kind = kinds[t->x.kind],
					  .image = TALLY_REPLAY_NO_IMAGE,
					  .process = t->x.thread->process,
					  .thread = t->x.thread->thread,
					  .number = t->x.number};
	if (r->kind == TALLY_REPLAY_GAP)
		r->pc = t->x.step->address;
	else if (r->kind == TALLY_REPLAY_SIGNAL ||
		 r->kind == TALLY_REPLAY_SYSCALL)
		r->number = t->x.step->number;
	else if (r->kind != TALLY_REPLAY_THREAD)
		r->text = t->x.step->why;
}

/* the next access of the instruction that was told last; false: there is none.
   What is read and written is told twice */
static bool fill_access(struct tally_replay *t, struct tally_replay_record *r)
{
	if (!t->half && !replay_data_next(&t->accesses, insn_told(t),
					  &t->data))
		return false;
	fill_insn(t, r);
	r->known = t->data.known;
	r->size = t->data.size;
	r->data = t->data.known ? t->data.address : 0;
	r->kind = t->data.kind == ACCESS_STORE || t->half ?
			  TALLY_REPLAY_WRITE : TALLY_REPLAY_READ;
	t->half = t->data.kind == ACCESS_MODIFY && !t->half;
	return true;
}

/* the next instruction, or what is no instruction; false: there is nothing */
static bool advance(struct tally_replay *t)
{
	if (replay_insn_next(&t->insn))
		return true;
	do
		if (!replay_next(&t->replay, &t->x))
			return false;
	while (t->x.kind == REPLAY_OPEN);
	t->accesses = (struct replay_accesses){.x = &t->x};
	if (t->x.kind == REPLAY_BLOCK) {
		replay_insns(&t->insn, &t->x);
		replay_insn_next(&t->insn);
	}
	return true;
}

int tally_replay_next(struct tally_replay *t, struct tally_replay_record *r)
{
	if (!t->begun) {
		replay_begin(&t->replay, &t->walks, &t->pick);
		t->begun = true;
	} else if (t->x.kind == REPLAY_BLOCK && t->x.naccess &&
		   fill_access(t, r)) {
		return 1;
	}
	if (!advance(t))
		return 0;
	if (t->x.kind == REPLAY_BLOCK)
		fill_insn(t, r);
	else
		fill_other(t, r);
	return 1;
}

uint32_t tally_replay_images(const struct tally_replay *t)
{
	return (uint32_t)t->walks.images.image.n;
}

const char *tally_replay_image(const struct tally_replay *t, uint32_t image)
{
	return image < t->walks.images.image.n ?
		       t->walks.images.image.at[image]->map.path : NULL;
}
