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

static bool next_value(struct accesses *x, unsigned size, uint64_t *value)
{
	if (x->lost)
		return false;
	if (x->at.early.n - x->at.nearly < size)
		return x->at.early.n == x->at.nearly &&
		       stream_value(x->stream, size, value);
	*value = 0;
	memcpy(value, x->at.early.at + x->at.nearly, size);
	*value = le64toh(*value);
	x->at.nearly += size;
	return true;
}

static void take_value(struct accesses *x, const struct slice_op *op)
{
	uint64_t value;

	if (next_value(x, op->size, &value)) {
		set(x, op->reg, value);
		x->taken++;
	} else {
		lose(x, op->reg);
		x->lost = true;
	}
}

/* --- operations */

static bool operand_of(const struct accesses *x, const struct slice_op *op,
		       unsigned r, uint64_t base, uint64_t *value)
{
	*value = 0;
	if (r == UOP_NONE)
		return true;
	if (r == UOP_IMM) {
		*value = (uint64_t)op->uop.imm + (op->relative ? base : 0);
		return true;
	}
	*value = x->at.value[r];
	return knows(x, r);
}

static void compute(struct accesses *x, const struct slice_op *op,
		    uint64_t base)
{
	uint64_t a = 0, b = 0;

	if (operand_of(x, op, op->uop.a, base, &a) &&
	    operand_of(x, op, op->uop.b, base, &b))
		set(x, op->uop.dst, slice_compute(&op->uop, a, b));
	else
		lose(x, op->uop.dst);
}

static bool knows_place(const struct accesses *x, const struct access *a)
{
	switch (a->how) {
	case ACCESS_GATHER:
	case ACCESS_UNKNOWN:
	case ACCESS_STRING_UNTIL:
		return false;
	case ACCESS_STRING:
		if (!knows(x, SLICE_COUNT))
			return false;
		break;
	}
	return (a->base == ISA_NO_REG || knows(x, a->base)) &&
	       (a->index == ISA_NO_REG || knows(x, a->index)) &&
	       (a->segment == ACCESS_FLAT ||
		(a->segment == ACCESS_FS && x->stream->thread_base));
}

static uint64_t times_of(const struct accesses *x, const struct access *a)
{
	uint64_t n = x->at.value[SLICE_COUNT];

	return a->narrow ? (uint32_t)n : n;
}

static void add_access(struct accesses *x, const struct slice_op *op,
		       uint32_t insn, uint64_t base)
{
	const struct access *a = &op->access;
	const uint64_t segments[ACCESS_SEGMENTS] = {
		[ACCESS_FS] = x->stream->thread_base};
	struct replay_access r = {
		.times = 1, .insn = insn, .size = a->size,
		.element = a->element, .kind = a->kind, .how = a->how,
		.known = knows_place(x, a),
	};

	if (r.known) {
		r.address = access_address(a, x->at.value, segments) +
			    (op->relative ? base : 0);
		if (a->how == ACCESS_STRING)
			r.times = times_of(x, a);
	}
	vec_push(&x->found, r);
}

/* of instructions from..end-1 of the block */
static void execute(struct accesses *x, const struct slice_op *op,
		    uint32_t from, uint32_t end, uint64_t base)
{
	for (uint32_t insn = 0; op->code != SLICE_END; op++) {
		if (op->code == SLICE_SKIP)
			insn += op->skip;
		if (insn >= end)
			return;
		if (insn < from)
			continue;
		switch (op->code) {
		case SLICE_VALUE:
			take_value(x, op);
			break;
		case SLICE_ACCESS:
			add_access(x, op, insn, base);
			break;
		case SLICE_SET:
			compute(x, op, base);
			break;
		case SLICE_LOSE:
			lose(x, op->reg);
			break;
		}
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
	const struct slice_op *op = s->edge == MAP_NONE || !s->plan->values ?
					    NULL : s->plan->values[s->edge].op;

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
	if (op)
		execute(x, op, 0, 1, 0);
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
	execute(x, s->plan->slice[s->vertex].op, s->first, s->first + s->n,
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
