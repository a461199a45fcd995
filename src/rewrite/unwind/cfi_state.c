/* cfi_state: see cfi_state.h. */
#include "rewrite/unwind/cfi_state.h"

enum {
	/* saved states; compilers nest 1 deep */
	REMEMBER_MAX = 64,
	/* bytes of a CIE's instructions, which run once for every FDE */
	INITIAL_MAX = 1024,
};

/* the rule of a register, or NULL if it has none */
static const struct cfi_rule *state_rule(const struct cfi_state *s,
					 uint64_t reg)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->rule[i].reg == reg)
			return &s->rule[i];
	return NULL;
}

/* gives a register a rule; false if there are too many */
static bool state_set(struct cfi_state *s, const struct cfi_rule *rule)
{
	const struct cfi_rule *old = state_rule(s, rule->reg);

	if (!old && s->n == CFI_RULES_MAX)
		return false;
	s->rule[old ? old - s->rule : s->n++] = *rule;
	return true;
}

/* takes a register's rule away */
static void state_clear(struct cfi_state *s, uint64_t reg)
{
	const struct cfi_rule *old = state_rule(s, reg);

	if (old)
		s->rule[old - s->rule] = s->rule[--s->n];
}

/* the rule of `kind` that the instruction gives; false if it cannot be kept */
static bool cfi_set(struct cfi *c, uint8_t kind, uint64_t value)
{
	const struct cfa_insn *i = &c->insn;
	struct cfi_rule rule = {
		.reg = (uint32_t)i->arg[0],
		.kind = kind,
		.value = value,
	};

	if (kind == RULE_EXPRESSION || kind == RULE_VAL_EXPRESSION) {
		rule.block = i->block.p;
		rule.value = i->block.n;
	}
	return i->arg[0] <= UINT32_MAX && state_set(&c->now, &rule);
}

/* the instruction's register has the rule that the CIE gave it, if any */
static bool cfi_restore_rule(struct cfi *c)
{
	const struct cfi_rule *rule = state_rule(&c->initial, c->insn.arg[0]);

	if (rule)
		return state_set(&c->now, rule);
	state_clear(&c->now, c->insn.arg[0]);
	return true;
}

/* the state saved last; the bytes of arguments are no part of it, as libgcc */
static bool cfi_restore_state(struct cfi *c)
{
	uint64_t args = c->now.args;

	if (!c->saved.n)
		return false;
	cfi_state_copy(&c->now, &c->saved.at[--c->saved.n]);
	c->now.args = args;
	return true;
}

/* saves the state; false if that is too many */
static bool cfi_remember_state(struct cfi *c)
{
	if (c->saved.n == REMEMBER_MAX)
		return false;
	vec_reserve(&c->saved, 1);
	cfi_state_copy(&c->saved.at[c->saved.n++], &c->now);
	return true;
}

/* instructions about registers; false if it is none of them or fails */
static bool cfi_apply_register(struct cfi *c)
{
	uint64_t value = c->insn.arg[1];

	switch (c->insn.op) {
	case CFA_OFFSET:
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
		return cfi_set(c, RULE_OFFSET, value);
	case CFA_NEGATIVE_OFFSET_EXTENDED:
		return cfi_set(c, RULE_OFFSET, -value);
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		return cfi_set(c, RULE_VAL_OFFSET, value);
	case CFA_REGISTER:
		return cfi_set(c, RULE_REGISTER, value);
	case CFA_EXPRESSION:
		return cfi_set(c, RULE_EXPRESSION, 0);
	case CFA_VAL_EXPRESSION:
		return cfi_set(c, RULE_VAL_EXPRESSION, 0);
	case CFA_UNDEFINED:
		return cfi_set(c, RULE_UNDEFINED, 0);
	case CFA_SAME_VALUE:
		return cfi_set(c, RULE_SAME, 0);
	case CFA_RESTORE:
	case CFA_RESTORE_EXTENDED:
		return cfi_restore_rule(c);
	default:
		return false;
	}
}

/* CFA = register + offset from here on */
static void cfi_set_cfa(struct cfi *c, uint64_t reg, int64_t offset)
{
	c->now.block = NULL;
	c->now.block_size = 0;
	c->now.reg = reg;
	c->now.offset = offset;
}

/* the instruction's argument in units of data_align */
static int64_t cfi_factored(const struct cfi *c, unsigned arg)
{
	return (int64_t)(c->insn.arg[arg] * (uint64_t)c->cie.data_align);
}

/* all other instructions; false if it is none of them or fails */
static bool cfi_apply(struct cfi *c)
{
	const struct cfa_insn *i = &c->insn;

	switch (i->op) {
	case CFA_NOP:
		return true;
	case CFA_DEF_CFA:
		cfi_set_cfa(c, i->arg[0], (int64_t)i->arg[1]);
		return true;
	case CFA_DEF_CFA_SF:
		cfi_set_cfa(c, i->arg[0], cfi_factored(c, 1));
		return true;
	case CFA_DEF_CFA_REGISTER:
		/* after an expression too: the last offset holds, as libgcc */
		cfi_set_cfa(c, i->arg[0], c->now.offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		c->now.offset = (int64_t)i->arg[0];
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		c->now.offset = cfi_factored(c, 0);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		c->now.block = i->block.p;
		c->now.block_size = i->block.n;
		return true;
	case CFA_REMEMBER_STATE:
		return cfi_remember_state(c);
	case CFA_RESTORE_STATE:
		return cfi_restore_state(c);
	case CFA_NEGATE_RA_STATE:
		c->now.signed_ra = !c->now.signed_ra;
		return true;
	case CFA_ARGS_SIZE:
		c->now.args = i->arg[0];
		return true;
	default:
		return cfi_apply_register(c);
	}
}

/* where the instruction moves to; false if that is out of order */
static bool cfi_move(struct cfi *c)
{
	struct pointer_base base = {.func = c->fde->start};
	uint64_t to;

	if (c->insn.op == CFA_SET_LOC) {
		if (!pointer_read(&c->program, c->im, c->cie.fde_encoding,
				  &base, &to))
			return false;
	} else if (__builtin_mul_overflow(c->insn.arg[0], c->cie.code_align,
					  &to) ||
		   __builtin_add_overflow(to, c->at, &to)) {
		return false;
	}
	if (to < c->at || to > c->fde->end)
		return false;
	c->at = to;
	return true;
}

bool cfi_step(struct cfi *c)
{
	if (!cfa_insn_read(&c->program, &c->insn))
		return false;
	return cfa_insn_moves(&c->insn) ? cfi_move(c) : cfi_apply(c);
}

bool cfi_open(struct cfi *c, const struct image *im, const struct fde *f)
{
	struct bytes program;

	c->im = im;
	c->fde = f;
	c->at = f->start;
	c->saved.n = 0;
	c->now.n = c->initial.n = 0;
	c->now.args = 0;
	c->now.signed_ra = false;
	cfi_set_cfa(c, 0, 0);
	if (!fde_program(im, f, &c->cie, &program) ||
	    bytes_left(&c->cie.program) > INITIAL_MAX)
		return false;
	c->program = c->cie.program;
	while (cfi_more(c))
		if (!cfi_step(c) || cfa_insn_moves(&c->insn))
			return false;
	cfi_state_copy(&c->initial, &c->now);
	c->program = program;
	return true;
}

void cfi_free(struct cfi *c)
{
	vec_free(&c->saved);
	vec_free(&c->plain);
}

/* both say the same */
static bool same_rule(const struct cfi_rule *p, const struct cfi_rule *q)
{
	if (!p || !q)
		return p == q;
	return p->kind == q->kind && p->value == q->value &&
	       (p->block == q->block || (p->block && q->block &&
		!memcmp(p->block, q->block, p->value)));
}

/* both find the CFA in the same way */
static bool same_cfa(const struct cfi_state *s, const struct cfi_state *t)
{
	if (!s->block || !t->block)
		return s->block == t->block && s->reg == t->reg &&
		       s->offset == t->offset;
	return s->block_size == t->block_size &&
	       !memcmp(s->block, t->block, s->block_size);
}

/* an instruction with a register in its low bits, or in its longer form */
static void put_reg(buffer *out, uint8_t op, uint8_t extended, uint32_t reg)
{
	if (reg < 64) {
		buffer_uint(out, 1, op | reg);
	} else {
		buffer_uint(out, 1, extended);
		buffer_uleb(out, reg);
	}
}

/* a block with its length before it */
static void put_block(buffer *out, const uint8_t *p, size_t n)
{
	buffer_uleb(out, n);
	buffer_bytes(out, p, n);
}

/* the instruction with a signed or unsigned number */
static void put_offset(buffer *out, const struct cfi_rule *r)
{
	bool negative = (int64_t)r->value < 0;

	if (r->kind == RULE_OFFSET && !negative) {
		put_reg(out, CFA_OFFSET, CFA_OFFSET_EXTENDED, r->reg);
	} else {
		buffer_uint(out, 1,
			    r->kind == RULE_OFFSET ? CFA_OFFSET_EXTENDED_SF :
			    negative		   ? CFA_VAL_OFFSET_SF :
						     CFA_VAL_OFFSET);
		buffer_uleb(out, r->reg);
	}
	if (negative)
		buffer_sleb(out, (int64_t)r->value);
	else
		buffer_uleb(out, r->value);
}

/* the instruction that gives this rule */
static void put_rule(buffer *out, const struct cfi_rule *r)
{
	static const uint8_t op[] = {
		[RULE_UNDEFINED] = CFA_UNDEFINED,
		[RULE_SAME] = CFA_SAME_VALUE,
		[RULE_REGISTER] = CFA_REGISTER,
		[RULE_EXPRESSION] = CFA_EXPRESSION,
		[RULE_VAL_EXPRESSION] = CFA_VAL_EXPRESSION,
	};

	if (r->kind == RULE_OFFSET || r->kind == RULE_VAL_OFFSET) {
		put_offset(out, r);
		return;
	}
	buffer_uint(out, 1, op[r->kind]);
	buffer_uleb(out, r->reg);
	if (r->kind == RULE_REGISTER)
		buffer_uleb(out, r->value);
	else if (r->block)
		put_block(out, r->block, r->value);
}

/* register reg goes from one rule to another */
static void put_change(buffer *out, uint32_t reg, const struct cfi_state *from,
		       const struct cfi_state *to,
		       const struct cfi_state *initial)
{
	const struct cfi_rule *rule = state_rule(to, reg);

	if (same_rule(state_rule(from, reg), rule))
		return;
	/* what has no rule is as the CIE left it: nothing takes rules away */
	if (!rule || same_rule(state_rule(initial, reg), rule))
		put_reg(out, CFA_RESTORE, CFA_RESTORE_EXTENDED, reg);
	else
		put_rule(out, rule);
}

/* the CFA goes from one rule to another */
static void put_cfa(buffer *out, const struct cfi_state *from,
		    const struct cfi_state *to)
{
	if (same_cfa(from, to))
		return;
	if (to->block) {
		buffer_uint(out, 1, CFA_DEF_CFA_EXPRESSION);
		put_block(out, to->block, to->block_size);
		return;
	}
	if (!from->block && from->reg == to->reg) {
		buffer_uint(out, 1, CFA_DEF_CFA_OFFSET);
	} else {
		buffer_uint(out, 1, CFA_DEF_CFA);
		buffer_uleb(out, to->reg);
	}
	buffer_uleb(out, (uint64_t)to->offset);
}

void cfi_difference(buffer *out, const struct cfi_state *from,
		    const struct cfi_state *to,
		    const struct cfi_state *initial)
{
	unsigned same = 0;

	put_cfa(out, from, to);
	/* mostly both list the same registers in the same order */
	while (same < from->n && same < to->n &&
	       from->rule[same].reg == to->rule[same].reg &&
	       same_rule(&from->rule[same], &to->rule[same]))
		same++;
	for (unsigned i = same; i < to->n; i++)
		put_change(out, to->rule[i].reg, from, to, initial);
	for (unsigned i = same; i < from->n; i++)
		if (!state_rule(to, from->rule[i].reg))
			put_change(out, from->rule[i].reg, from, to, initial);
	if (from->signed_ra != to->signed_ra)
		buffer_uint(out, 1, CFA_NEGATE_RA_STATE);
	if (from->args != to->args) {
		buffer_uint(out, 1, CFA_ARGS_SIZE);
		buffer_uleb(out, to->args);
	}
}
