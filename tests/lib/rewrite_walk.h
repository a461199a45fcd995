/*
 * rewrite_walk: rewrites an image from memory, whatever it is, and reads what
 * came out: a file that tally takes for its own, in which nothing changed but
 * the code that moved. A broken promise aborts.
 */
#ifndef TESTS_REWRITE_WALK_H
#define TESTS_REWRITE_WALK_H

#include <unistd.h>

#include "elf_walk.h"
#include "everywhere.h"

/* where the mutants of a process go; one file, again and again */
static inline const char *rewrite_walk_path(void)
{
	static char path[256];
	const char *tmp = getenv("TMPDIR");

	if (!*path)
		snprintf(path, sizeof path, "%s/tally-mutant.%ld",
			 tmp ? tmp : "/tmp", (long)getpid());
	return path;
}

enum { WALK_HEADERS = 1024 };

/* data that the program can write is as it was */
static inline void walk_same(const struct image *old, const struct image *new)
{
	for (size_t i = 0; i < old->nsegment; i++) {
		const struct segment *s = &old->segment[i];

		size_t n, m;
		const uint8_t *p = image_at(old, s->start, &n);
		const uint8_t *q = image_at(new, s->start, &m);

		/* the file's header and notes change: they are elsewhere */
		if (s->write && !s->exec && s->start < s->file_end &&
		    s->offset >= WALK_HEADERS)
			WALK_CHECK(p && q && m >= n && !memcmp(p, q, n));
	}
}

/* reads the new file */
static inline void walk_result(const struct cfg *c, const char *path)
{
	struct image im;
	struct unwind u;
	struct err e = {0};

	if (image_open(&im, path, &e)) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
	WALK_CHECK(rewrite_made_by(&im));
	walk_same(c->image, &im);
	unwind_read(&u, &im);
	unwind_free(&u);
	image_close(&im);
}

/* one plan, or none; 0 if a file came out */
static inline int walk_rewrite_once(const struct cfg *c, const char *name,
				    const struct plan *p,
				    const struct rewrite_options *o)
{
	const char *path = rewrite_walk_path();
	struct rewrite_report r;
	struct err e = {0};
	int refused = rewrite_image(c, p, o, path, &r, &e);

	if (refused) {
		WALK_CHECK((e.code == ERR_INPUT && strstr(e.text, name)) ||
			   (e.code == ERR_MACHINE && strstr(e.text, path)));
		WALK_CHECK(access(path, F_OK));
		return -1;
	}
	WALK_CHECK(r.moved_bytes <= r.text_bytes);
	walk_result(c, path);
	unlink(path);
	rewrite_report_free(&r);
	return 0;
}

/* rewrites the bytes of a file; -1 if that is refused */
static inline int walk_rewrite(const char *name, const uint8_t *bytes,
			       size_t n)
{
	struct everywhere much = {.regs = 4, .memory = true, .flags = true};
	struct rewrite_options none = {0}, trap = {.trap_unexpected = true};
	struct image im;
	struct unwind u;
	struct cfg c;
	struct survey s;
	struct plan p;
	struct err e = {0};
	int refused = -1;

	if (image_parse(&im, name, bytes, n, &e))
		return -1;
	unwind_read(&u, &im);
	if (!cfg_build(&c, &im, &u, &e)) {
		survey_make(&s, &c);
		everywhere_plan(&p, &s, &much);
		refused = walk_rewrite_once(&c, name, NULL, &trap);
		walk_rewrite_once(&c, name, &p, &none);
		vec_free(&p.insertion);
		survey_free(&s);
	}
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return refused;
}

#endif
