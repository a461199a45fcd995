/*
 * trace/calls: of blocks with their depths it follows which calls begin and
 * end, and how many instructions they took; short ones are one in a picture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report/timeline.h"

enum { NAMES = 8, ROOM = 400, BEGIN = 10, CALLS = 5000 };

static struct proc_plan plan[NAMES];
static struct replay_image image;
static char said[ROOM];

static void say(const char *mark, const struct open_call *c, uint64_t n)
{
	size_t at = strlen(said);

	snprintf(said + at, sizeof said - at, "%s%c%zu:%u ", mark,
		 (int)('a' + (c->step.plan - plan)), c->depth, (unsigned)n);
}

static void begins(void *arg, struct open_call *c)
{
	(void)arg;
	say("", c, c->begin);
}

static void ends(void *arg, struct open_call *c, uint64_t end, bool returned)
{
	(void)arg;
	say(returned ? "/" : "?", c, end - c->begin);
}

/* a copy that stays, until there are 64 more */
static struct walk_step *step(struct walk_step s)
{
	static struct walk_step kept[64];
	static size_t n;

	kept[n % 64] = s;
	return &kept[n++ % 64];
}

static struct replay_event block(char name, size_t depth, enum walk_by by,
				 uint64_t number)
{
	return (struct replay_event){
		.kind = REPLAY_BLOCK,
		.number = number,
		.step = step((struct walk_step){
			.kind = WALK_BLOCK, .by = (uint8_t)by,
			.image = &image, .plan = &plan[name - 'a'],
			.depth = depth, .n = 1}),
	};
}

static struct replay_event other(enum replay_kind kind, size_t depth,
				 uint64_t number)
{
	return (struct replay_event){
		.kind = (uint8_t)kind, .number = number,
		.step = step((struct walk_step){.depth = depth})};
}

static void check(const struct replay_event *x, size_t n, const char *want)
{
	struct open_calls c = {.begins = begins, .ends = ends};

	*said = 0;
	for (size_t i = 0; i < n; i++)
		open_calls_take(&c, &x[i]);
	open_calls_close(&c, 99);
	assert_string_equal(said, want);
}

#define CHECK(want, ...) do { \
	const struct replay_event x[] = {__VA_ARGS__}; \
	check(x, sizeof x / sizeof *x, want); \
} while (0)

static void test_calls(void **state)
{
	(void)state;
	CHECK("a0:0 b1:2 /b1:3 b1:6 /b1:1 ?a0:99 ",
	      block('a', 0, BY_BEGIN, 0), block('b', 1, BY_CALL, 2),
	      block('b', 1, BY_BRANCH, 4), block('a', 0, BY_RETURN, 5),
	      block('b', 1, BY_CALL, 6), block('a', 0, BY_RETURN, 7));
	/* a jump ends one and begins another */
	CHECK("a0:0 b1:1 /b1:1 c1:2 /c1:1 ?a0:99 ",
	      block('a', 0, BY_BEGIN, 0), block('b', 1, BY_CALL, 1),
	      block('c', 1, BY_JUMP, 2), block('a', 0, BY_RETURN, 3));
	/* recursion, and a far return */
	CHECK("a0:0 b1:1 b2:2 b3:3 /b3:1 /b2:2 /b1:3 ?a0:99 ",
	      block('a', 0, BY_BEGIN, 0), block('b', 1, BY_CALL, 1),
	      block('b', 2, BY_CALL, 2), block('b', 3, BY_CALL, 3),
	      block('a', 0, BY_JUMP, 4));
	/* the same is called twice from code that is not traced */
	CHECK("a0:0 b1:1 /b1:1 b1:2 /b1:1 ?a0:99 ",
	      block('a', 0, BY_BEGIN, 0), other(REPLAY_GAP, 1, 1),
	      block('b', 2, BY_ENTRY, 1), other(REPLAY_GAP, 1, 2),
	      block('b', 2, BY_ENTRY, 2), block('a', 0, BY_RETURN, 3));
	CHECK("a0:0 b1:1 ?b1:1 ?a0:2 c0:2 ?c0:97 ",
	      block('a', 0, BY_BEGIN, 0), block('b', 1, BY_CALL, 1),
	      other(REPLAY_LOST, 0, 2), block('c', 0, BY_BEGIN, 2));
}

/* many short calls: a picture has few rectangles, and all instructions */
static void test_timeline(void **state)
{
	struct timeline *t = NEW_ARRAY(struct timeline, 1);
	uint64_t n = BEGIN, calls = 0, covered = 0;
	struct replay_event x;

	(void)state;
	timeline_begin(t, 0, BEGIN + 4 * CALLS, 100);
	x = block('a', 0, BY_BEGIN, 0);
	t->is.take(&t->is, &x);
	for (unsigned i = 0; i < CALLS; i++, n += 4) {
		x = block((char)('b' + (i < CALLS / 2 ? 0 : i % 3)), 1,
			  BY_CALL, n);
		t->is.take(&t->is, &x);
		x = block('a', 0, BY_RETURN, n + 3);
		t->is.take(&t->is, &x);
	}
	timeline_end(t);
	assert_int_equal(t->depth, 2);
	assert_in_range(t->call.n, 10, 120);
	for (size_t i = 0; i < t->call.n; i++)
		if (t->call.at[i].depth) {
			calls += t->call.at[i].calls;
			covered += t->call.at[i].end - t->call.at[i].start;
		}
	assert_int_equal(calls, CALLS);
	assert_in_range(covered, 3 * CALLS, 4 * CALLS);
	timeline_free(t);
	mem_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
