/*
 * store/guard: a reader keeps a writer from its file for a moment, not for ever;
 * and one under whose hands the file was written is told so. Nothing is made
 * through links, or where others may write.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "store/store.h"

static char where[] = "/tmp/tally-guard-XXXXXX";

static const char *directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", where, name);
	return path;
}

/* a process of its own, as locks are of processes; 0: an epoch more */
static int write_epoch(const char *dir)
{
	struct stored_epoch x = {1000, 2000, "test", ""};
	pid_t pid = fork();
	struct store s;
	struct err e;
	int status;

	if (!pid) {
		if (store_create(&s, dir, &e))
			_exit(3);
		_exit(store_epoch(&s, &x, &e) > 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int count_epoch(void *n, int64_t epoch, const struct stored_epoch *x,
		       struct err *e)
{
	(void)epoch, (void)x, (void)e;
	++*(int *)n;
	return 0;
}

static void test_reader(void **state)
{
	const char *dir = directory("db");
	char *path = store_path(dir);
	struct store s;
	struct err e;
	int n = 0;

	(void)state;
	assert_int_equal(write_epoch(dir), 0);
	assert_int_equal(store_open(&s, path, &e), 0);
	assert_int_equal(store_read_begin(&s, &e), 0);
	assert_int_equal(store_each_epoch(&s, count_epoch, &n, &e), 0);
	assert_int_equal(store_read_end(&s, 0, &e), 0);
	assert_int_equal(n, 1);
	/* it holds on: the writer waits, and then does not */
	assert_int_equal(store_read_begin(&s, &e), 0);
	assert_int_equal(write_epoch(dir), 0);
	assert_int_equal(store_read_end(&s, 0, &e), -1);
	assert_non_null(strstr(e.text, "while it was read"));
	assert_int_equal(store_read_begin(&s, &e), 0);
	n = 0;
	assert_int_equal(store_each_epoch(&s, count_epoch, &n, &e), 0);
	assert_int_equal(store_read_end(&s, 0, &e), 0);
	assert_int_equal(n, 2);
	store_close(&s);
	mem_free(path);
}

static void refused(const char *name, const char *why)
{
	struct store s;
	struct err e;

	assert_int_equal(store_create(&s, directory(name), &e), -1);
	if (!strstr(e.text, why))
		fail_msg("%s", e.text);
}

static void test_links(void **state)
{
	char *path = store_path(directory("links")), other[160];
	struct stat s;

	(void)state;
	snprintf(other, sizeof other, "%s/elsewhere", where);
	assert_int_equal(mkdir(directory("links"), 0755), 0);
	assert_int_equal(symlink(other, path), 0);
	refused("links", "link");
	assert_int_equal(stat(other, &s), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refused("links", "plain file");
	mem_free(path);
	assert_int_equal(mkdir(directory("shared"), 0755), 0);
	assert_int_equal(chmod(directory("shared"), 01777), 0);
	refused("shared", "others may write");
	if (geteuid())
		return;
	assert_int_equal(mkdir(directory("theirs"), 0755), 0);
	assert_int_equal(chown(directory("theirs"), 65534, 65534), 0);
	refused("theirs", "others may write");
}

static void test_modes(void **state)
{
	char *path = store_path(directory("modes"));
	struct store s;
	struct stat x;
	struct err e;

	(void)state;
	assert_int_equal(store_create(&s, directory("modes"), &e), 0);
	store_close(&s);
	assert_int_equal(stat(path, &x), 0);
	assert_int_equal(x.st_mode & 0137, 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(store_protect(directory("modes"), (gid_t)-1, &e), 0);
	assert_int_equal(stat(path, &x), 0);
	assert_int_equal(x.st_mode & 0777, 0640);
	assert_int_equal(stat(directory("modes"), &x), 0);
	assert_int_equal(x.st_mode & 0027, 0);
	mem_free(path);
}

static int remove_all(void **state)
{
	char word[160];

	(void)state;
	snprintf(word, sizeof word, "rm -rf %s", where);
	return system(word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_modes),
	};

	if (!mkdtemp(where))
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_all);
}
