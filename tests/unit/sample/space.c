/*
 * sample/space: what is mapped where, after random mappings over others, forks
 * and new programs, against a table of pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/processes/space.h"
#include "splitmix.h"

enum { PAGES = 64, PROCESSES = 5, STEPS = 20000, PAGE = 4096 };

/* for each page the image + 1, or 0, and where in it */
struct page {
	uint32_t image;
	uint64_t offset;
};

static struct page model[PROCESSES][PAGES];

static void map_random(struct spaces *s, uint32_t pid, uint64_t *seed)
{
	uint64_t first = splitmix(seed) % PAGES;
	uint64_t n = 1 + splitmix(seed) % (PAGES - first);
	struct mapping m = {
		.start = first * PAGE, .end = (first + n) * PAGE,
		.offset = (splitmix(seed) % 100) * PAGE,
		.image = (uint32_t)(splitmix(seed) % 50),
	};

	space_map(space_make(s, pid), &m);
	for (uint64_t i = 0; i < n; i++)
		model[pid][first + i] =
			(struct page){m.image + 1, m.offset + i * PAGE};
}

static void check(const struct spaces *s, uint32_t pid, uint64_t addr)
{
	const struct space *p = space_of(s, pid);
	const struct mapping *m = p ? space_find(p, addr) : NULL;
	const struct page *want = &model[pid][addr / PAGE];

	if (!want->image) {
		assert_null(m);
		return;
	}
	assert_non_null(m);
	assert_int_equal(m->image + 1, want->image);
	assert_int_equal(addr - m->start + m->offset,
			 want->offset + addr % PAGE);
}

static void test_random(void **state)
{
	struct spaces s = {0};
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		uint32_t pid = (uint32_t)(splitmix(&seed) % PROCESSES);
		uint32_t other = (uint32_t)(splitmix(&seed) % PROCESSES);

		switch (splitmix(&seed) % 16) {
		case 0:
			if (pid == other)
				break;
			space_copy(&s, pid, other);
			memcpy(model[pid], model[other], sizeof model[pid]);
			break;
		case 1:
			space_clear(space_make(&s, pid));
			memset(model[pid], 0, sizeof model[pid]);
			break;
		default:
			map_random(&s, pid, &seed);
		}
		for (uint64_t a = 0; a < PAGES; a++)
			check(&s, pid, a * PAGE + splitmix(&seed) % PAGE);
	}
	spaces_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
