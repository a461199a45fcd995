/* join: see join.h. */
#include "rewrite/insert/join.h"

enum { ALIGN = 16 };

static struct plan_bases bases_of(const struct joint *j, unsigned owner,
				  const struct plan_bases *b)
{
	return (struct plan_bases){
		.data = b->data + j->data_at[owner],
		.support = b->support + j->support_at[owner],
		.constants = b->constants + j->constant_at[owner],
		.back = b->back,
		.nback = b->nback,
		.back_base = b->back_base,
	};
}

static unsigned joint_size(void *ctx, const struct insertion *i,
			   const struct scratch *s)
{
	const struct joint *j = ctx;
	const struct plan *p = j->of[i->owner];

	return p->size(p->ctx, i, s);
}

static bool joint_write(void *ctx, const struct insertion *i,
			const struct scratch *s, uint64_t addr,
			const struct plan_bases *bases, uint8_t *out)
{
	const struct joint *j = ctx;
	const struct plan *p = j->of[i->owner];
	struct plan_bases own = bases_of(j, i->owner, bases);

	own.support = bases->support; /* what this one has to call */

	return p->write(p->ctx, i, s, addr, &own, out);
}

static bool joint_support(void *ctx, const struct plan_bases *bases,
			  uint8_t *out)
{
	const struct joint *j = ctx;

	for (unsigned i = 0; i < 2; i++) {
		const struct plan *p = j->of[i];
		struct plan_bases own = bases_of(j, i, bases);

		if (p->support_size &&
		    !p->support(p->ctx, &own, out + j->support_at[i]))
			return false;
	}
	return true;
}

static void joint_constants(void *ctx, const struct plan_bases *bases,
			    uint8_t *out)
{
	const struct joint *j = ctx;

	for (unsigned i = 0; i < 2; i++) {
		const struct plan *p = j->of[i];
		struct plan_bases own = bases_of(j, i, bases);

		if (p->constant_size)
			p->constants(p->ctx, &own, out + j->constant_at[i]);
	}
}

static const uint8_t *joint_section(void *ctx, size_t *size)
{
	const struct joint *j = ctx;
	const struct plan *p = j->of[j->of[0]->section_name ? 0 : 1];

	return p->section(p->ctx, size);
}

static uint64_t round_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) & -to;
}

/* a's insertions before b's */
static void join_insertions(struct joint *j, const struct plan *a,
			    struct plan *b)
{
	size_t n = a->insertion.n, more = b->insertion.n;
	struct insertion *x;

	vec_take(&j->plan.insertion, &b->insertion);
	vec_reserve(&j->plan.insertion, n);
	x = j->plan.insertion.at;
	j->plan.insertion.n += n;
	if (more)
		memmove(x + n, x, more * sizeof *x);
	for (size_t i = 0; i < n; i++)
		x[i] = a->insertion.at[i];
	for (size_t i = 0; i < n + more; i++) {
		x[i].owner = i >= n;
		x[i].call_at += j->support_at[x[i].owner];
	}
}

/* what a file has one of: from the plan, if it has any */
static void take_single(struct joint *j, unsigned owner)
{
	const struct plan *p = j->of[owner];
	struct plan *q = &j->plan;

	if (p->entry && !q->entry)
		q->entry = j->support_at[owner] + p->entry;
	if (p->dynamic_tag && !q->dynamic_tag) {
		q->dynamic_tag = p->dynamic_tag;
		q->dynamic_at = j->support_at[owner] + p->dynamic_at;
	}
	if (p->section_name && !q->section_name)
		q->section_name = p->section_name;
}

void plans_join(struct joint *j, const struct plan *a, struct plan *b)
{
	uint64_t align = b->data_align ? b->data_align : ALIGN;

	*j = (struct joint){.of = {a, b}};
	j->data_at[1] = round_up(a->data_size, align);
	j->support_at[1] = (uint32_t)round_up(a->support_size, ALIGN);
	j->constant_at[1] = round_up(a->constant_size, ALIGN);
	j->plan = (struct plan){
		.survey = a->survey ? a->survey : b->survey,
		.data_size = j->data_at[1] + b->data_size,
		.data_align = align > a->data_align ? align : a->data_align,
		.support_size = j->support_at[1] + b->support_size,
		.constant_size = j->constant_at[1] + b->constant_size,
		.reverse_map = a->reverse_map || b->reverse_map,
		.ctx = j,
		.size = joint_size,
		.write = joint_write,
		.support = joint_support,
		.constants = joint_constants,
		.section = joint_section,
	};
	join_insertions(j, a, b);
	for (unsigned i = 0; i < 2; i++)
		take_single(j, i);
}

void joint_free(struct joint *j)
{
	vec_free(&j->plan.insertion);
}
