/*
 * store/condense: old epochs become one by the rule, and nothing is lost: all
 * sums are as before, of random databases, and also if the process is killed
 * at any moment. Old formats are read, and upgraded when they are written to.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "sample.h"
#include "splitmix.h"
#include "store/store.h"

enum { DAY = 86400, MONDAY = 4 * DAY, KILLS = 40 };

static char where[] = "/tmp/tally-condense-XXXXXX";

/* a fresh database; its directory */
static const char *directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", where, name);
	return path;
}

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->text);
}

/* an epoch with some samples of two images, two events and a process */
static int64_t put_epoch(struct store *s, uint64_t start, const char *command,
			 uint64_t *seed)
{
	struct stored_epoch x = {start, start + 600, "daemon", command};
	struct stored_cost cost = {100 + splitmix(seed) % 9, 5};
	struct err e;
	int64_t epoch = store_epoch(s, &x, &e);

	ok((int)epoch, &e);
	ok(store_cost(s, epoch, &cost, &e), &e);
	for (int v = 0; v < 2; v++) {
		struct stored_event event = {v ? "misses" : "cycles", 60000,
					     splitmix(seed) % 3};
		int64_t id = store_event(s, epoch, &event, &e);

		for (int i = 0; i < 2; i++) {
			struct stored_image m = {
				.path = i ? "/lib/a.so" : "/bin/b"};
			int64_t image = store_image(s, &m, &e);
			run r = {0};

			for (int k = 0; k < 20; k++) {
				struct hit h = {4 * (splitmix(seed) % 40),
						1 + splitmix(seed) % 100};

				vec_push(&r, h);
			}
			run_settle(&r);
			ok(store_samples(s, epoch, image, id, &r, &e), &e);
			if (splitmix(seed) % 2)
				ok(store_apart(s, epoch, "b", image, id, &r,
					       &e), &e);
			vec_free(&r);
		}
		for (uint32_t p = 1; p < 4; p++) {
			struct stored_process q = {
				(uint32_t)splitmix(seed) % 1000,
				p % 2 ? "odd" : "even", p};

			ok(store_process(s, epoch, id, &q, &e), &e);
		}
	}
	return epoch;
}

/* what does not depend on how epochs are cut */
struct sums {
	uint64_t hit[2][2][2][40]; /* apart, image, event, offset */
	uint64_t lost, processes, epochs;
	const char *process;
	int64_t epoch;
	struct store *s;
};

static int add_run(void *arg, const struct stored_row *r, struct err *e)
{
	struct sums *x = arg;

	(void)e;
	for (size_t i = 0; i < r->samples.n; i++)
		x->hit[x->process != NULL][r->image - 1][r->event - 1]
		      [r->samples.at[i].offset / 4] += r->samples.at[i].count;
	return 0;
}

static int add_event(void *arg, int64_t event, const struct stored_event *v,
		     struct err *e)
{
	(void)event, (void)e;
	assert_int_equal(v->period, 60000);
	((struct sums *)arg)->lost += v->lost;
	return 0;
}

static int add_process(void *arg, int64_t event,
		       const struct stored_process *p, struct err *e)
{
	(void)event, (void)e;
	((struct sums *)arg)->processes += p->samples *
					   (*p->name == 'o' ? 1000 : 1);
	return 0;
}

static int add_epoch(void *arg, int64_t epoch, const struct stored_epoch *v,
		     struct err *e)
{
	struct sums *x = arg;

	assert_true(v->start <= v->end);
	x->epochs++;
	x->process = NULL;
	ok(store_each_run(x->s, epoch, NULL, true, add_run, x, e), e);
	x->process = "b";
	ok(store_each_run(x->s, epoch, "b", true, add_run, x, e), e);
	ok(store_each_event(x->s, epoch, add_event, x, e), e);
	ok(store_each_process(x->s, epoch, add_process, x, e), e);
	return 0;
}

static struct sums sums_of(struct store *s)
{
	struct sums x = {.s = s};
	struct err e;

	ok(store_each_epoch(s, add_epoch, &x, &e), &e);
	return x;
}

static void same_sums(const struct sums *a, const struct sums *b)
{
	assert_memory_equal(a->hit, b->hit, sizeof a->hit);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->processes, b->processes);
}

/* the first question's only number */
static int64_t ask(struct store *s, const char *text)
{
	sqlite3_stmt *st;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(s->db, text, -1, &st, NULL), 0);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static void test_rule(void **state)
{
	/* the rule: days after 10 days, weeks after 30 */
	const struct store_rule rule = {10 * DAY, 30 * DAY, false};
	uint64_t now = MONDAY + 70 * DAY, seed = 7;
	struct store s;
	struct err e;
	struct sums a, b;

	(void)state;
	ok(store_create(&s, directory("rule"), &e), &e);
	ok(store_begin(&s, &e), &e);
	/* three weeks of four epochs a day, long ago */
	for (int day = 0; day < 21; day++)
		for (int i = 0; i < 4; i++)
			put_epoch(&s, (uint64_t)(MONDAY + day * DAY + i * 9000),
				  "", &seed);
	/* ten days, 15 to 25 days ago; and one of another command */
	for (int day = 45; day < 55; day++)
		for (int i = 0; i < 3; i++)
			put_epoch(&s, (uint64_t)(MONDAY + day * DAY + i * 9000),
				  "", &seed);
	put_epoch(&s, MONDAY + 45 * DAY + 5000, "other", &seed);
	/* yesterday */
	for (int i = 0; i < 5; i++)
		put_epoch(&s, now - DAY + (uint64_t)(600 * i), "", &seed);
	ok(store_commit(&s, &e), &e);
	a = sums_of(&s);
	assert_int_equal(a.epochs, 84 + 30 + 1 + 5);
	assert_int_equal(store_condense(&s, &rule, now, &e), 84 - 3 + 20);
	b = sums_of(&s);
	same_sums(&a, &b);
	assert_int_equal(b.epochs, 3 + 10 + 1 + 5);
	/* of wholes, processes are known by name, and costs are sums */
	assert_int_equal(ask(&s, "SELECT count(*) FROM process "
			     "WHERE epoch = 1"), 4);
	assert_int_equal(ask(&s, "SELECT max(pid) FROM process "
			     "WHERE epoch = 1"), 0);
	assert_true(ask(&s, "SELECT cpu FROM cost WHERE epoch = 1") > 2800);
	assert_int_equal(ask(&s, "SELECT memory FROM cost WHERE epoch = 1"),
			 5);
	assert_int_equal(ask(&s, "SELECT start FROM epoch WHERE id = 1"),
			 MONDAY);
	assert_int_equal(ask(&s, "SELECT end FROM epoch WHERE id = 1"),
			 MONDAY + 6 * DAY + 27600);
	/* once more there is nothing to do; much later all but one are old */
	assert_int_equal(store_condense(&s, &rule, now, &e), 0);
	ok((int)store_condense(&s, &rule, now + 1000 * DAY, &e), &e);
	b = sums_of(&s);
	same_sums(&a, &b);
	assert_int_equal(ask(&s, "SELECT count(*) FROM sqlite_temp_master"),
			 0);
	store_close(&s);
}

/* a clock that is wrong by years: nothing is old that was sampled just now */
static void test_clock(void **state)
{
	uint64_t now = MONDAY + 70 * DAY, seed = 5;
	struct store s;
	struct err e;

	(void)state;
	ok(store_create(&s, directory("clock"), &e), &e);
	for (int i = 0; i < 6; i++)
		put_epoch(&s, now + (uint64_t)(600 * i), "", &seed);
	for (int i = 0; i < 6; i++)
		put_epoch(&s, now + 9000 * DAY + (uint64_t)(600 * i), "",
			  &seed);
	assert_int_equal(store_condense(&s, &store_rule_usual,
					now + 9001 * DAY, &e), 0);
	/* of weeks that have been sampled since, it is to be believed */
	for (int i = 0; i < 9; i++) {
		int64_t epoch = put_epoch(&s, now + (9001 + 7 * (uint64_t)i) *
					  DAY, "", &seed);

		ok(store_epoch_end(&s, epoch, now +
				   (9008 + 7 * (uint64_t)i) * DAY, &e), &e);
	}
	assert_int_equal(store_condense(&s, &store_rule_usual,
					now + 9070 * DAY, &e), 11);
	store_close(&s);
}

/* the last epoch is perhaps being written: it stays, however old it is */
static void test_last(void **state)
{
	const struct store_rule rule = {0, 0, false};
	uint64_t seed = 3;
	struct store s;
	struct err e;

	(void)state;
	ok(store_create(&s, directory("last"), &e), &e);
	for (int i = 0; i < 3; i++)
		put_epoch(&s, MONDAY + 600 * (uint64_t)i, "", &seed);
	assert_int_equal(store_condense(&s, &rule, MONDAY + 99 * DAY, &e), 1);
	assert_int_equal(ask(&s, "SELECT max(id) FROM epoch"), 3);
	assert_int_equal(ask(&s, "SELECT count(*) FROM process "
			     "WHERE epoch = 3 AND pid > 0") > 0, 1);
	store_close(&s);
}

/* killed at any moment: all epochs are there, or one */
static void test_kill(void **state)
{
	const struct store_rule rule = {0, 0, false};
	uint64_t seed = 5;
	struct sums a, b;
	struct store s;
	struct err e;
	int before = 0, after = 0;

	(void)state;
	for (unsigned i = 0; i < sample_of(KILLS, 5); i++) {
		char name[32];
		pid_t child;

		snprintf(name, sizeof name, "kill%u", i);
		ok(store_create(&s, directory(name), &e), &e);
		ok(store_begin(&s, &e), &e);
		for (int k = 0; k < 12; k++)
			put_epoch(&s, MONDAY + 600 * (uint64_t)k, "", &seed);
		ok(store_commit(&s, &e), &e);
		a = sums_of(&s);
		store_close(&s);
		child = fork();
		if (!child) {
			if (!store_create(&s, directory(name), &e))
				store_condense(&s, &rule, MONDAY + 99 * DAY,
					       &e);
			_exit(0);
		}
		usleep((useconds_t)(splitmix(&seed) % 20000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		ok(store_create(&s, directory(name), &e), &e);
		b = sums_of(&s);
		same_sums(&a, &b);
		assert_true(b.epochs == 12 || b.epochs == 2);
		before += b.epochs == 12;
		after += b.epochs == 2;
		store_close(&s);
	}
	print_message("# killed before: %d, after: %d\n", before, after);
}

/* a database as it was made by an older tally */
static void make_old(const char *name, int version)
{
	uint64_t seed = 9;
	struct store s;
	struct err e;
	char text[80];

	ok(store_create(&s, directory(name), &e), &e);
	put_epoch(&s, MONDAY, "", &seed);
	sqlite3_exec(s.db, "DROP TABLE file", NULL, NULL, NULL);
	if (version < 3)
		sqlite3_exec(s.db, "DROP TABLE apart; DROP TABLE procedure",
			     NULL, NULL, NULL);
	if (version < 2)
		sqlite3_exec(s.db, "DROP TABLE cost", NULL, NULL, NULL);
	snprintf(text, sizeof text, "PRAGMA user_version = %d", version);
	sqlite3_exec(s.db, text, NULL, NULL, NULL);
	store_close(&s);
}

static void test_formats(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int version = 1; version < STORE_VERSION; version++) {
		char name[32], *path;
		struct store s;
		struct sums x;
		struct err e;

		snprintf(name, sizeof name, "format%d", version);
		make_old(name, version);
		path = store_path(directory(name));
		ok(store_open(&s, path, &e), &e);
		assert_int_equal(s.version, version);
		x = sums_of(&s);
		assert_true(x.hit[0][0][0][0] + x.hit[0][1][0][1] > 0);
		store_close(&s);
		ok(store_create(&s, directory(name), &e), &e);
		assert_int_equal(s.version, STORE_VERSION);
		assert_int_equal(ask(&s, "PRAGMA user_version"),
				 STORE_VERSION);
		put_epoch(&s, MONDAY, "", &seed);
		store_close(&s);
		ok(store_open(&s, path, &e), &e);
		assert_int_equal(sums_of(&s).epochs, 2);
		store_close(&s);
		mem_free(path);
	}
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(where) ? 0 : -1;
}

static int end(void **state)
{
	char text[128];

	(void)state;
	snprintf(text, sizeof text, "rm -r %s", where);
	return system(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
