/*
 * base/threads: work for threads is done, all of it and once: shares of it,
 * and tasks beside other work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/parallel.h"

enum { ITEMS = 1000 };

static void touch(void *arg, size_t from, size_t end)
{
	uint8_t *touched = arg;

	for (size_t i = from; i < end; i++)
		touched[i]++;
}

static void test_share(void **state)
{
	static const size_t least[] = {0, 1, ITEMS, ITEMS + 1};
	uint8_t touched[ITEMS + 1];

	(void)state;
	for (unsigned k = 0; k < sizeof least / sizeof *least; k++)
		for (size_t n = 0; n <= ITEMS; n += 1 + n / 3) {
			memset(touched, 0, sizeof touched);
			parallel_for(touch, touched, n, least[k]);
			for (size_t i = 0; i <= ITEMS; i++)
				assert_int_equal(touched[i], i < n);
		}
}

struct job {
	pthread_t by;
	unsigned times;
};

static void *job_do(void *arg)
{
	struct job *j = arg;

	j->by = pthread_self();
	j->times++;
	return NULL;
}

static void test_task(void **state)
{
	struct task none = {0}, e;

	(void)state;
	for (int worth = 0; worth < 2; worth++) {
		struct job j = {0};

		task_begin(&e, job_do, &j, worth);
		if (!worth)
			assert_int_equal(j.times, 1);
		task_end(&e);
		task_end(&e);
		assert_int_equal(j.times, 1);
		assert_int_equal(!pthread_equal(j.by, pthread_self()), worth);
	}
	task_end(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
