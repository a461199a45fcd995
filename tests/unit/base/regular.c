/*
 * base/regular: which files are opened at all, and which are not once only
 * those of one user may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/regular.h"

enum { OWNER = 65534, ANOTHER = 65533 };

/* a new file of that user; the name is replaced by its own */
static void make_file(char *name, uid_t owner)
{
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, owner, (gid_t)-1), 0);
	close(fd);
}

static int opens(const char *name, struct err *e)
{
	struct stat s;
	int fd = regular_open(name, 0, &s, e);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void plain_files_alone(void **state)
{
	struct err e;

	(void)state;
	assert_false(opens("/dev/null", &e));
	assert_non_null(strstr(e.text, "not a regular file"));
	assert_false(opens("/tmp", &e));
	assert_non_null(strstr(e.text, "is a directory"));
}

/*
 * The name of an image leads to another user's file in the moment after its
 * owner was looked up: that one is not opened, the owner's and root's are.
 */
static void a_name_that_leads_elsewhere(void **state)
{
	char own[] = "/tmp/regular.XXXXXX", other[] = "/tmp/regular.XXXXXX";
	char roots[] = "/tmp/regular.XXXXXX";
	struct err e;

	(void)state;
	if (geteuid())
		skip();
	make_file(own, OWNER);
	make_file(other, ANOTHER);
	make_file(roots, 0);
	assert_true(opens(other, &e));
	regular_only_of(OWNER);
	assert_true(opens(own, &e));
	assert_true(opens(roots, &e));
	assert_int_equal(unlink(own), 0);
	assert_int_equal(symlink(other, own), 0);
	assert_false(opens(own, &e));
	assert_non_null(strstr(e.text, "another owner"));
	regular_only_of(0);
	assert_true(opens(roots, &e));
	assert_false(opens(own, &e));
	unlink(own);
	unlink(other);
	unlink(roots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_files_alone),
		cmocka_unit_test(a_name_that_leads_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
