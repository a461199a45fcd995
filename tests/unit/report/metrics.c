/*
 * report/metrics: a made-up metric, with a unit, an error and numbers that
 * nothing else has, is a column of rows, tables, JSON, exports and differences,
 * and no code of these knows it.
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

#include "cmd/render/diff_show.h"
#include "cmd/render/report_show.h"
#include "export/formats.h"

static char folder[] = "/tmp/tally-metrics-XXXXXX";
static char database[2][64];

/* --- the metric: three for each address, and a quarter of that unsure */

struct misses {
	struct metric_source is;
	uint64_t each;
};

static bool has(const struct metric_source *s, enum by kind)
{
	(void)s;
	return kind == BY_INSTRUCTION;
}

static struct value value(const struct metric_source *s,
			  const struct metric_place *p)
{
	const struct misses *m = (const struct misses *)s;
	uint64_t n = p->start * m->each;

	assert_string_equal(p->image, "prog");
	return (struct value){.n = n, .of_all = n, .known = p->start != 0x30,
			      .error = 0.25};
}

#define MISSES(n) \
	{{{.name = "cache misses", .unit = "lines", .errors = true, \
	   .evidence = EVIDENCE_SAMPLED, .share = SHARE_OF_ALL, \
	   .total = 0x30 * (n)}, has, value}, n}

static const struct misses three = MISSES(3), five = MISSES(5);
static const struct metric_source *const sources[2][1] = {{&three.is},
							  {&five.is}};
static const struct metric_sources more[2] = {{sources[0], 1}, {sources[1], 1}};

/* --- samples of three instructions */

static void make_database(const char *path, uint64_t samples)
{
	struct stored_epoch epoch = {0, 600, "test", "prog"};
	struct stored_event event = {"cpu-clock", 1000, 0};
	struct stored_image image = {.kind = IMAGE_FILE,
				     .path = "/nowhere/prog"};
	struct store s;
	struct err e;
	run r = {0};
	int64_t n, v, m;

	for (uint64_t i = 1; i <= 3; i++) {
		struct hit h = {16 * i, i == 1 ? samples : 100};

		vec_push(&r, h);
	}
	assert_int_equal(store_create(&s, path, &e), 0);
	assert_int_equal(store_begin(&s, &e), 0);
	n = store_epoch(&s, &epoch, &e);
	v = store_event(&s, n, &event, &e);
	m = store_image(&s, &image, &e);
	assert_true(n >= 0 && v >= 0 && m >= 0);
	assert_int_equal(store_samples(&s, n, m, v, &r, &e), 0);
	assert_int_equal(store_commit(&s, &e), 0);
	store_close(&s);
	vec_free(&r);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		snprintf(database[i], sizeof database[i], "%s/%d", folder, i);
		make_database(database[i], i ? 900 : 100);
	}
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

/* --- what is shown */

static char *text;
static size_t size;

static FILE *begin(void)
{
	FILE *to;

	free(text);
	text = NULL;
	to = open_memstream(&text, &size);
	assert_non_null(to);
	return to;
}

static void must_have(FILE *to, const char *words)
{
	fclose(to);
	if (!strstr(text, words))
		print_message("no '%s' in:\n%s", words, text);
	assert_non_null(strstr(text, words));
}

static void open_one(struct dataset *d)
{
	const char *path = database[0];
	struct samples_query all = {0};
	struct err e;

	assert_int_equal(dataset_open(d, &path, 1, &all, NULL, &e), 0);
	d->more = more[0];
}

static void test_rows(void **state)
{
	const struct rows_query all = {.sort = SORT_ADDRESS,
				       .limit = SIZE_MAX};
	struct dataset d;
	struct rows r;
	struct err e;
	FILE *to;

	(void)state;
	open_one(&d);
	assert_int_equal(rows_make(&r, &d, BY_INSTRUCTION, &all, &e), 0);
	assert_int_equal(r.metrics, 2);
	assert_int_equal(r.v.n, 3);
	assert_int_equal(row_values(&r, &r.v.at[1])[1].n, 0x20 * 3);
	assert_false(row_values(&r, &r.v.at[2])[1].known);
	to = begin();
	report_show_text(&r, to);
	must_have(to, "cache misses    ±       %");
	assert_non_null(strstr(text, "          96  25%  66.67%"));
	to = begin();
	report_show_json(&r, to);
	must_have(to, "\"metrics\": {\n   \"cache misses\": {\n"
		      "    \"value\": 48,\n    \"error\": 12,\n"
		      "    \"unit\": \"lines\",\n"
		      "    \"evidence\": \"sampled\"\n");
	assert_non_null(strstr(text, "\"value\": null,\n    \"unit\""));
	rows_free(&r);
	/* what has no such metric has no such column */
	assert_int_equal(rows_make(&r, &d, BY_IMAGE, &all, &e), 0);
	assert_int_equal(r.metrics, 1);
	rows_free(&r);
	dataset_close(&d);
}

static void test_export(void **state)
{
	struct dataset d;
	struct err e;
	FILE *to;

	(void)state;
	open_one(&d);
	to = begin();
	assert_int_equal(export_tsv(&d, to, &e), 0);
	must_have(to, "prog\t0x10\t100\t48\nprog\t0x20\t100\t96\n"
		      "prog\t0x30\t100\t?\n");
	dataset_close(&d);
}

static void test_diff(void **state)
{
	struct diff_query q = {.database = {database[0], database[1]},
			       .by = BY_INSTRUCTION, .rate = 0.05, .all = true,
			       .more = {more[0], more[1]}};
	struct diff d;
	struct err e;
	FILE *to;

	(void)state;
	assert_int_equal(diff_make(&d, &q, &e), 0);
	to = begin();
	diff_show_text(&d, SIZE_MAX, to);
	must_have(to, "cache misses    ±    after    ±");
	assert_non_null(strstr(text, "48  25%       80  25%"));
	to = begin();
	diff_show_json(&d, SIZE_MAX, to);
	must_have(to, "\"metrics_after\": {\n    \"cache misses\": {\n"
		      "     \"value\": 80,");
	diff_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
