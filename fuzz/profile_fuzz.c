/*
 * profile_fuzz: a libFuzzer target for profiles, live and finished, and all
 * that is told of them, alone and compared with themselves. How to run it:
 * fuzz/README.md.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/diff/change.h"
#include "report/flame.h"
#include "report/picture.h"
#include "report/rows_pick.h"
#include "report/variance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PICTURES = 20 }; /* procedures that are drawn, at most */

static void list(struct counts *t)
{
	struct rows_query w = {.share = 0.01, .sort = SORT_NAME,
			      .reverse = true, .all = true, .limit = 9};
	struct dataset d = {0};
	struct rows r;
	struct err e;

	dataset_of(&d, t, NULL);
	for (int by = 0; by <= BY_LINE; by++) {
		w.image = by == BY_PROCESS ? NULL : "*";
		if (!rows_make(&r, &d, (enum by)by, &w, &e))
			rows_free(&r);
	}
	dataset_close(&d);
}

static void draw(const struct counts *t)
{
	for (uint32_t i = 0; i < t->nimage; i++)
		for (uint32_t p = 0; p < t->image[i].map->proc.n &&
				     p < PICTURES; p++) {
			struct picture x;

			picture_make(&x, &t->image[i], p, p % 2);
			picture_free(&x);
		}
}

static int add_run(struct runs *r, struct counts *t)
{
	const struct rows_query all = {0};
	struct dataset d = {0};
	struct err e;
	int result;

	dataset_of(&d, t, NULL);
	result = runs_add(r, &d, &all, NULL, &e);
	dataset_close(&d);
	return result;
}

static void compare(struct counts *a, struct counts *b)
{
	static const enum by kinds[] = {BY_IMAGE, BY_PROCEDURE, BY_BLOCK,
					BY_EDGE, BY_INSTRUCTION, BY_LINE};
	struct change_query q = {.all = true};
	struct runs r = {.by = BY_PROCEDURE};
	struct variance v;
	struct changes c;
	struct match m;

	match_make(&m, a, b);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		q.by = kinds[i];
		changes_make(&c, &m, &q);
		changes_free(&c);
	}
	match_free(&m);
	if (!add_run(&r, a) && !add_run(&r, b)) {
		runs_sort(&r);
		variance_make(&v, &r);
		variance_free(&v);
	}
	runs_free(&r);
}

/* what calls cost */
static void weigh(const struct counts *t)
{
	struct run_calls r;
	struct flame f;
	struct err e;

	if (!t->profile.calls || run_calls_make(&r, t, &e))
		return;
	flame_make(&f, &r, 0, 0.001);
	flame_free(&f);
	run_calls_free(&r);
}

static void tell(const char *path)
{
	const char *both[2] = {path, path};
	struct counts t, sum;
	struct err e;

	if (counts_open(&t, &path, 1, NULL, &e))
		return;
	list(&t);
	draw(&t);
	weigh(&t);
	if (!counts_open(&sum, both, 2, NULL, &e)) {
		compare(&t, &sum);
		weigh(&sum);
		counts_close(&sum);
	}
	counts_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32];
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		tell(path);
	close(fd);
	return 0;
}
