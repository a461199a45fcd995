/* accesses: see accesses.h. */
#include "trace/regenerate/accesses.h"

#include <endian.h>
#include <string.h>

static uint64_t bit(unsigned r)
{
	return UINT64_C(1) << r;
}

static bool knows(const struct accesses *x, unsigned r)
{
	return x->at.valid >> r & 1;
}

static void set(struct accesses *x, unsigned r, uint64_t value)
{
	x->at.value[r] = value;
	x->at.valid |= bit(r);
}

static void lose(struct accesses *x, unsigned r)
{
	x->at.valid &= ~bit(r);
}

/* --- values that the thread has written */

/* those that were written before a handler ran come first */
static bool early_value(struct accesses *x, unsigned size, uint64_t *value)
{
	if (x->lost || x->at.early.n - x->at.nearly < size)
		return false;
	*value = 0;
	memcpy(value, x->at.early.at + x->at.nearly, size);
	*value = le64toh(*value);
	x->at.nearly += size;
	return true;
}

static bool next_value(struct accesses *x, unsigned size, uint64_t *value)
{
	if (x->at.early.n != x->at.nearly)
		return early_value(x, size, value);
	return !x->lost && stream_value(x->stream, size, value);
}

/* one that was taken before a handler ran is noted as if it were the last */
static void note_value(struct accesses *x, const struct exec_op *op)
{
	struct value_taken v = {stream_value_number(x->stream) - op->size, op,
				op->size};

	vec_push(&x->log->value, v);
}

static void take_value(struct accesses *x, const struct exec_op *op)
{
	uint64_t value;

	if (next_value(x, op->size, &value)) {
		if (x->log)
			note_value(x, op);
		set(x, op->reg, value);
		x->taken++;
	} else {
		lose(x, op->reg);
		x->lost = true;
	}
}

/* --- operations */

static bool knows_all(const struct accesses *x, const struct exec_op *op)
{
	return !(op->needs & ~x->at.valid);
}

static void add(struct accesses *x, const struct exec_op *op, uint64_t base)
{
	const uint64_t *v = x->at.value;

	if (knows_all(x, op))
		set(x, op->reg, v[op->a] + v[op->b] + op->imm +
					op->relative * base);
	else
		lose(x, op->reg);
}

static uint64_t operand_of(const struct accesses *x, const struct exec_op *op,
			   unsigned r, uint64_t base)
{
	if (r == UOP_IMM)
		return (uint64_t)op->op.uop.imm + op->relative * base;
	return r == UOP_NONE ? 0 : x->at.value[r];
}

static void compute(struct accesses *x, const struct exec_op *op,
		    uint64_t base)
{
	const struct uop *u = &op->op.uop;

	if (knows_all(x, op))
		set(x, op->reg, slice_compute(u, operand_of(x, op, u->a, base),
					      operand_of(x, op, u->b, base)));
	else
		lose(x, op->reg);
}

static void copy_thread_base(struct accesses *x, unsigned r)
{
	if (x->stream->thread_base)
		set(x, r, x->stream->thread_base);
	else
		lose(x, r);
}

/* requires: there is room */
static void add_plain(struct accesses *x, const struct exec_op *op,
		      uint64_t base)
{
	struct replay_access *r = &x->found.at[x->found.n++];
	const uint64_t *v = x->at.value;

	*r = op->like;
	if (knows_all(x, op))
		r->address = v[op->a] + (v[op->b] << op->shift) + op->imm +
			     op->relative * base;
	else
		r->known = false;
}

/* requires: there is room */
static void add_block(struct accesses *x, const struct exec_op *op,
		      uint64_t base)
{
	const uint64_t size = x->stream->block;
	struct replay_access *r = &x->found.at[x->found.n];

	add_plain(x, op, base);
	r->known &= size != 0;
	if (!r->known)
		return;
	r->address &= -size;
	r->size = r->element = (uint16_t)size;
}

static bool knows_segment(const struct accesses *x, const struct access *a)
{
	return a->segment == ACCESS_FLAT ||
	       (a->segment == ACCESS_FS && x->stream->thread_base);
}

static uint64_t times_of(const struct accesses *x, const struct access *a)
{
	uint64_t n = x->at.value[SLICE_COUNT];

	return a->narrow ? (uint32_t)n : n;
}

/* requires: there is room */
static void add_access(struct accesses *x, const struct exec_op *op,
		       uint64_t base)
{
	const struct access *a = &op->op.access;
	const uint64_t segments[ACCESS_SEGMENTS] = {
		[ACCESS_FS] = x->stream->thread_base};
	struct replay_access *r = &x->found.at[x->found.n++];

	*r = op->like;
	r->known &= knows_all(x, op) && knows_segment(x, a);
	if (!r->known)
		return;
	r->address = access_address(a, x->at.value, segments) +
		     op->relative * base;
	if (a->how == ACCESS_STRING)
		r->times = times_of(x, a);
}

/* of instructions from..end-1 of the block */
static void execute(struct accesses *x, const struct exec_block *b,
		    uint32_t from, uint32_t end, uint64_t base)
{
	const struct exec_op *op = b->op;

	vec_reserve(&x->found, b->naccess);
	while (op->insn < from && op->code != EXEC_END)
		op++;
	for (; op->insn < end; op++)
		switch (op->code) {
		case EXEC_VALUE:
			take_value(x, op);
			break;
		case EXEC_PLAIN:
			add_plain(x, op, base);
			break;
		case EXEC_BLOCK:
			add_block(x, op, base);
			break;
		case EXEC_ACCESS:
			add_access(x, op, base);
			break;
		case EXEC_ADD:
			add(x, op, base);
			break;
		case EXEC_SET:
			compute(x, op, base);
			break;
		case EXEC_THREAD:
			copy_thread_base(x, op->reg);
			break;
		case EXEC_LOSE:
			lose(x, op->reg);
			break;
		case EXEC_END:
			return;
		}
}

/* --- the stack pointer */

/* what a call has pushed is there when code that is not traced begins */
static void note_frame(struct accesses *x, size_t depth)
{
	while (x->frame.n <= depth)
		vec_push(&x->frame, 0);
	x->frame.at[depth] = knows(x, x->sp) ? x->at.value[x->sp] : 0;
}

/* code that is not traced has returned: the stack is as before the call */
static void return_from_gap(struct accesses *x, size_t depth)
{
	uint64_t sp = depth < x->frame.n ? x->frame.at[depth] : 0;

	x->at.valid = 0;
	if (sp)
		set(x, x->sp, sp + x->pushed);
}

/* --- signals */

/* a handler runs before all is used that was written for this place */
static void interrupt(struct accesses *x, const struct walk_step *s)
{
	struct accesses_at now = x->at;
	uint64_t byte;

	while (!x->lost && stream_value_number(x->stream) < s->values &&
	       stream_value(x->stream, 1, &byte))
		buffer_uint(&now.early, 1, byte);
	now.depth = s->depth;
	vec_push(&x->interrupted, now);
	x->at = (struct accesses_at){0};
}

/* a handler has returned, that of an outer frame if those within were left by
   a jump */
static void resume(struct accesses *x, size_t depth)
{
	vec_free(&x->at.early);
	x->at = (struct accesses_at){0};
	while (x->interrupted.n) {
		struct accesses_at was = x->interrupted.at[--x->interrupted.n];

		if (was.depth <= depth) {
			x->at = was;
			return;
		}
		vec_free(&was.early);
	}
}

/* --- steps */

/* what is in registers is not known where control comes to from nowhere */
static bool is_strange(const struct walk_step *s)
{
	return s->by == BY_ENTRY || s->by == BY_BEGIN ||
	       (s->by == BY_JUMP && (s->told & WALK_TELLS_SP));
}

static void enter_block(struct accesses *x, const struct walk_step *s)
{
	const struct exec_block *b = s->edge == MAP_NONE || !s->plan->values ?
					     NULL : &s->plan->values[s->edge];

	if (s->first)
		return;
	if (is_strange(s))
		x->at.valid = 0;
	else if (s->by == BY_RETURN && x->at.gap)
		return_from_gap(x, s->depth);
	if (s->told & WALK_TELLS_SP)
		set(x, x->sp, s->sp);
	if ((s->told & WALK_TELLS_VALUES) && x->lost) {
		stream_seek_value(x->stream, s->values);
		x->lost = false;
	}
	if (b && b->op)
		execute(x, b, 0, 1, 0);
}

static void run_block(struct accesses *x, const struct walk_step *s,
		      uint64_t base)
{
	enter_block(x, s);
	x->at.gap = false;
	if (!s->plan->slice) {
		x->at.valid = 0;
		return;
	}
	execute(x, &s->plan->slice[s->vertex], s->first, s->first + s->n,
		base);
	note_frame(x, s->depth);
}

void accesses_find(struct accesses *x, const struct walk_step *s,
		   uint64_t base)
{
	x->found.n = 0;
	switch (s->kind) {
	case WALK_BLOCK:
		run_block(x, s, base);
		break;
	case WALK_SIGNAL:
		interrupt(x, s);
		break;
	case WALK_RESUME:
		resume(x, s->depth);
		break;
	case WALK_LOST:
		x->at.valid = 0;
		x->lost = true;
		break;
	case WALK_GAP:
		x->at.gap = true;
		break;
	}
}

void accesses_begin(struct accesses *x, struct stream *s,
		    const struct replay_images *images)
{
	enum { X86_64 = 62, X86_SP = 4, A64_SP = 31, PUSHED = 8 };
	bool x86 = images->image.n && images->image.at[0]->map.machine ==
					      X86_64;

	*x = (struct accesses){.stream = s, .sp = x86 ? X86_SP : A64_SP,
			       .pushed = x86 ? PUSHED : 0};
}

void accesses_end(struct accesses *x)
{
	vec_free(&x->at.early);
	for (size_t i = 0; i < x->interrupted.n; i++)
		vec_free(&x->interrupted.at[i].early);
	vec_free(&x->interrupted);
	vec_free(&x->frame);
	vec_free(&x->found);
}
