/*
 * sample/kernel: samples in the kernel are those of the module that is there,
 * also of one that was loaded later, as long as one may know addresses. The
 * kernel here is made up: files as /proc has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample/daemon/aggregator.h"

#define TEXT "ffff800080000000 T _stext\nffff800080100000 T _etext\n"
#define HIDDEN "0000000000000000 T _stext\n0000000000000000 T _etext\n"
#define FIRST "first 4096 1 - Live 0xffff800081000000\n"
#define SECOND "second 8192 0 - Live 0xffff800082000000\n"
#define BROKEN "third\nfourth x 0 - Live 0x1\n\n"
static const uint64_t in_first = 0xffff800081000010;
static const uint64_t in_second = 0xffff800082000020;

static char proc[] = "/tmp/tally-kernel-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", proc, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void take_away(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", proc, name);
	unlink(path);
}

/* the samples that were collected of an image at an offset */
static uint64_t samples_of(const struct aggregator *c, const char *image,
			   uint64_t offset)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->sample_buffer.image.n; i++) {
		const struct sample_buffer_image *m =
			&c->sample_buffer.image.at[i];
		const run *r = &m->of.fresh[0];

		for (size_t k = 0; !strcmp(m->is.path, image) && k < r->n; k++)
			if (r->at[k].offset == offset)
				n += r->at[k].count;
	}
	return n;
}

static void sample(struct aggregator *c, uint64_t address)
{
	struct counted x = {.pid = 1, .kernel = true, .address = address,
			    .count = 1};

	collect_counted(c, &x);
}

static void test_later(void **state)
{
	struct aggregator c = {.history.kept = true, .kernel.proc = proc};

	(void)state;
	put("kallsyms", TEXT);
	put("modules", FIRST);
	sample(&c, in_first);
	assert_int_equal(samples_of(&c, "[first]", 0x10), 1);
	sample(&c, in_second);
	assert_int_equal(samples_of(&c, "[kernel]", in_second), 1);

	put("modules", FIRST BROKEN SECOND);
	sample(&c, in_second); /* it has just looked */
	assert_int_equal(samples_of(&c, "[kernel]", in_second), 2);
	c.kernel.looked = 0;
	sample(&c, in_second);
	assert_int_equal(samples_of(&c, "[second]", 0x20), 1);
	sample(&c, in_first);
	assert_int_equal(samples_of(&c, "[first]", 0x10), 2);

	put("modules", SECOND); /* the first one goes */
	c.kernel.looked = 0;
	sample(&c, in_first - 0x1000);
	sample(&c, in_first);
	assert_int_equal(samples_of(&c, "[first]", 0x10), 2);
	assert_int_equal(samples_of(&c, "[kernel]", in_first), 1);
	sample(&c, in_second);
	assert_int_equal(samples_of(&c, "[second]", 0x20), 2);
	aggregator_free(&c);
}

/* a process that may not know addresses reads that they are 0 */
static void test_hidden(void **state)
{
	struct aggregator c = {.history.kept = true, .kernel.proc = proc};

	(void)state;
	put("kallsyms", HIDDEN);
	put("modules", "first 4096 1 - Live 0x0000000000000000\n");
	sample(&c, in_first);
	c.kernel.looked = 0;
	sample(&c, in_first);
	assert_int_equal(samples_of(&c, "[kernel]", in_first), 2);
	aggregator_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_hidden),
	};
	int failed;

	if (!mkdtemp(proc))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	take_away("kallsyms");
	take_away("modules");
	rmdir(proc);
	return failed;
}
