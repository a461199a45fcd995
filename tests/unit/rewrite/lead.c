/*
 * rewrite/lead: which stubs lie before the block that they lead to.
 *
 * Five blocks of one part. Each falls through to the next but number 3, which
 * ends with a jump.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rewrite/insert/edge_code.h"

enum { START = 0x1000, SIZE = 16, BLOCKS = 5, ELSEWHERE = 0x9000 };

struct world {
	struct cfg c;
	struct survey v;
	struct plan plan;
	struct sites s;
	struct edge_codes l;
};

static uint64_t addr(uint32_t block)
{
	return START + (uint64_t)block * SIZE;
}

static void begin(struct world *w)
{
	static const uint8_t last[BLOCKS] = {INSN_COND, INSN_SEQ, INSN_COND,
					     INSN_JUMP, INSN_RET};
	struct part p = {.start = START, .end = addr(BLOCKS),
			 .nblock = BLOCKS};
	struct moved m = {.old_start = START, .old_end = addr(BLOCKS)};

	memset(w, 0, sizeof *w);
	w->c.isa = &isa_a64;
	w->v.cfg = &w->c;
	w->s.plan = &w->plan;
	for (uint32_t i = 0; i < BLOCKS; i++) {
		struct block b = {.start = addr(i), .size = SIZE,
				  .last = last[i]};

		vec_push(&w->c.block, b);
	}
	vec_push(&w->c.part, p);
	vec_push(&w->v.moves.moved, m);
}

/* a stub that leads there, expected so often, beside what falls through */
static void add(struct world *w, enum spot_kind kind, uint64_t to, float often,
		float past)
{
	uint32_t n = (uint32_t)w->plan.insertion.n;
	struct insertion i = {.often = often, .past = past};
	struct site x = {.to = to, .first = n, .n = 1};
	struct stub_site stub = {.site = (uint32_t)w->s.at[kind].n,
				 .kind = (uint8_t)kind};

	vec_push(&w->plan.insertion, i);
	vec_push(&w->s.order, n);
	vec_push(&w->s.at[kind], x);
	vec_push(&w->s.stub, stub);
}

static const struct site *stub(const struct world *w, uint32_t i)
{
	const struct stub_site *p = &w->s.stub.at[i];

	return &w->s.at[p->kind].at[p->site];
}

static void end(struct world *w)
{
	vec_free(&w->c.block);
	vec_free(&w->c.part);
	vec_free(&w->v.moves.moved);
	vec_free(&w->plan.insertion);
	vec_free(&w->l.lead);
	sites_free(&w->s);
}

/* who runs more often than what would have to jump over it */
static void test_over(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(&w, SPOT_TAKEN, addr(1), 10, 1);
	add(&w, SPOT_TAKEN, addr(2), 2, 2);
	add(&w, SPOT_TABLE, addr(3), 1, 5);
	edge_code_find(&w.l, &w.v, &w.s);
	assert_int_equal(w.l.lead.n, 1);
	assert_true(w.l.lead.at[0].to == addr(1));
	assert_true(stub(&w, 0)->leads && stub(&w, 0)->over);
	assert_false(stub(&w, 1)->leads || stub(&w, 2)->leads);
	end(&w);
}

/* where nothing falls through, even what nobody knows anything of */
static void test_nothing_falls(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(&w, SPOT_ENTRY, addr(0), 0, 0);
	add(&w, SPOT_TAKEN, addr(4), 0, 0);
	edge_code_find(&w.l, &w.v, &w.s);
	assert_int_equal(w.l.lead.n, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(stub(&w, i)->leads && !stub(&w, i)->over);
	end(&w);
}

/* one of each block, the busiest, whatever kind it is */
static void test_busiest(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(&w, SPOT_TAKEN, addr(4), 1, 0);
	add(&w, SPOT_HUB, addr(4), 3, 0);
	add(&w, SPOT_PAD, addr(4), 2, 0);
	edge_code_find(&w.l, &w.v, &w.s);
	assert_int_equal(w.l.lead.n, 1);
	assert_int_equal(w.l.lead.at[0].stub, 1);
	assert_false(stub(&w, 0)->leads || stub(&w, 2)->leads);
	assert_true(stub(&w, 1)->leads);
	end(&w);
}

/* not in the middle of a block, nor in another part */
static void test_elsewhere(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(&w, SPOT_INDIRECT_ENTRY, addr(4) + 4, 9, 0);
	add(&w, SPOT_TAKEN, ELSEWHERE, 9, 0);
	edge_code_find(&w.l, &w.v, &w.s);
	assert_int_equal(w.l.lead.n, 0);
	assert_false(stub(&w, 0)->leads || stub(&w, 1)->leads);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_nothing_falls),
		cmocka_unit_test(test_busiest),
		cmocka_unit_test(test_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
