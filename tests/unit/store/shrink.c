/*
 * store/shrink: a database that is too large loses its oldest epochs, with all
 * that only they have, and nothing else; its file does not grow any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "sample.h"
#include "store/store.h"

enum { MOST = 1 << 20, IMAGES = 200 };

static char where[] = "/tmp/tally-shrink-XXXXXX";

static int64_t ok(int64_t result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->text);
	return result;
}

/* an image that this epoch alone has, or one that all have */
static int64_t put_image(struct store *s, int epoch, int number)
{
	char path[600];
	struct stored_image m = {.path = path};
	struct stored_procedure p = {0, 8, "made"};
	struct err e;
	int64_t image;

	if (number)
		snprintf(path, sizeof path, "/%0500d/%d", epoch, number);
	else
		snprintf(path, sizeof path, "/bin/always");
	image = ok(store_image(s, &m, &e), &e);
	ok(store_procedure(s, image, &p, &e), &e);
	return image;
}

static void put_epoch(struct store *s, int number)
{
	struct stored_epoch x = {1000u + (unsigned)number,
				 1001u + (unsigned)number, "daemon", ""};
	struct stored_event event = {"cycles", 60000, 0};
	struct stored_process q = {7, "p", 1};
	struct hit h = {4, 1};
	run r = {0};
	struct err e;
	int64_t epoch, id;

	vec_push(&r, h);
	ok(store_begin(s, &e), &e);
	epoch = ok(store_epoch(s, &x, &e), &e);
	id = ok(store_event(s, epoch, &event, &e), &e);
	for (int i = 0; i < IMAGES; i++)
		ok(store_samples(s, epoch, put_image(s, number, i), id, &r,
				 &e), &e);
	ok(store_apart(s, epoch, "p", 1, id, &r, &e), &e);
	ok(store_process(s, epoch, id, &q, &e), &e);
	ok(store_commit(s, &e), &e);
	vec_free(&r);
}

static int64_t number(struct store *s, const char *question)
{
	sqlite3_stmt *st;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(s->db, question, -1, &st, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return n;
}

static void test_all(void **state)
{
	unsigned epochs = sample_of(40, 16);
	uint64_t size, dropped = 0;
	struct store s;
	struct stat st;
	struct err e;

	(void)state;
	ok(store_create(&s, where, &e), &e);
	for (unsigned i = 0; i < epochs; i++) {
		put_epoch(&s, (int)i);
		dropped += (uint64_t)ok(store_shrink(&s, MOST, &e), &e);
		ok(store_size(&s, &size, &e), &e);
		assert_true(size <= MOST);
		assert_int_equal(number(&s, "SELECT count(*) FROM epoch"),
				 i + 1 - (int64_t)dropped);
	}
	assert_true(dropped > epochs / 4 && dropped < epochs);
	assert_int_equal(stat(s.path, &st), 0);
	assert_true(st.st_size < MOST + MOST / 2);
	/* the newest are there; of others nothing */
	assert_int_equal(number(&s, "SELECT min(id) FROM epoch"), dropped + 1);
	assert_int_equal(number(&s, "SELECT min(epoch) FROM samples"),
			 dropped + 1);
	assert_int_equal(number(&s, "SELECT min(epoch) FROM apart"),
			 dropped + 1);
	assert_int_equal(number(&s, "SELECT min(epoch) FROM process"),
			 dropped + 1);
	assert_int_equal(number(&s, "SELECT count(*) FROM image"),
			 (epochs - (int64_t)dropped) * (IMAGES - 1) + 1);
	assert_int_equal(number(&s, "SELECT count(*) FROM procedure"),
			 number(&s, "SELECT count(*) FROM image"));
	/* the last one is never dropped */
	ok(store_shrink(&s, 1, &e), &e);
	assert_int_equal(number(&s, "SELECT count(*) FROM epoch"), 1);
	assert_int_equal(number(&s, "SELECT count(*) FROM samples"), IMAGES);
	store_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
	char command[128];
	int status;

	if (!mkdtemp(where))
		return 1;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof command, "rm -r %s", where);
	return system(command) || status;
}
