/*
 * database_fuzz: a libFuzzer target for databases of samples. An input that
 * begins as SQLite's files do is one, about which everything is asked, and
 * whose epochs are condensed; any other is a run of samples before it is
 * compressed. How to run it: fuzz/README.md.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compress.h"
#include "report/rows_pick.h"
#include "report/diff/share_change.h"
#include "report/variance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char where[] = "/tmp/tally-fuzz-XXXXXX";

/* what comes back is in order, and can be added up */
static void read_run(const uint8_t *data, size_t size)
{
	uint64_t sum = 0;
	buffer b = {0};
	run r = {0};
	struct err e;

	compress(&b, data, size);
	if (!run_unpack(&r, b.at, b.n, "input", &e))
		for (size_t i = 0; i < r.n; i++)
			if ((i && r.at[i].offset <= r.at[i - 1].offset) ||
			    __builtin_add_overflow(sum, r.at[i].count, &sum))
				abort();
	vec_free(&b);
	vec_free(&r);
}

static void list_by(struct dataset *d, enum by by)
{
	const struct rows_query w = {.share = 0.01, .limit = 20};
	struct rows r;
	struct err e;

	if (!dataset_has(d, by) || rows_make(&r, d, by, &w, &e))
		return;
	for (size_t i = 0; i < r.v.n; i++)
		if (rows_have_procedures(by) && !row_procedure(&r, &r.v.at[i]))
			abort();
	rows_free(&r);
}

static void list(void)
{
	const char *path = where;
	struct samples_query pick = {0};
	struct dataset d;
	struct err e;

	if (dataset_open(&d, &path, 1, &pick, NULL, &e))
		return;
	for (int by = 0; by < BY_KINDS; by++)
		list_by(&d, (enum by)by);
	dataset_close(&d);
}

/* the first epoch beside the others */
static void compare(void)
{
	const char *path = where;
	struct samples_query pick = {0};
	const struct rows_query all = {0};
	struct runs r = {.by = BY_INSTRUCTION};
	struct samples_epochs l;
	struct share_changes c;
	struct variance v;
	struct samples s = {0};
	struct err e;

	if (samples_epochs_read(&l, &path, 1, &pick, &e))
		return;
	if (!runs_read(&r, &s, &l, false, &pick, &all, &e) && r.run.n > 1) {
		runs_sort(&r);
		share_changes_make(&c, &r, 1, 0.05);
		share_changes_free(&c);
		variance_make(&v, &r);
		variance_free(&v);
	}
	runs_free(&r);
	samples_epochs_free(&l);
	samples_close(&s);
}

static void condense(void)
{
	const struct store_rule rule = {0};
	struct store s;
	struct err e;

	if (store_create(&s, where, &e))
		return;
	store_condense(&s, &rule, 1u << 31, &e);
	store_close(&s);
}

static void ask_all(const uint8_t *data, size_t size)
{
	char *path = store_path(where);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		list();
		compare();
		condense();
		list();
	}
	close(fd);
	unlink(path);
	mem_free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char magic[] = "SQLite format 3";
	static bool made;

	if (!made && !mkdtemp(where))
		abort();
	made = true;
	if (size > sizeof magic && !memcmp(data, magic, sizeof magic))
		ask_all(data, size);
	else
		read_run(data, size);
	return 0;
}
