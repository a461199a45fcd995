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

/* the code ranges that the cfg has blocks in may have changed, nothing else */
static inline void walk_same(const struct image *old, const struct image *new,
			     const struct cfg *c)
{
	for (size_t i = 0; i < old->nsegment; i++) {
		const struct segment *s = &old->segment[i];

		for (uint64_t a = s->start; a < s->file_end; a++) {
			size_t n;
			const uint8_t *p = image_at(old, a, &n);
			const uint8_t *q = image_at(new, a, &n);

			WALK_CHECK(p && q);
			/* the file's header is in the first segment */
			if ((uint64_t)(p - old->bytes) < sizeof(Elf64_Ehdr) ||
			    cfg_block_at(c, a) != CFG_NONE)
				continue;
			WALK_CHECK(*p == *q || image_is_code(old, a) ||
				   !s->write);
		}
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
	walk_same(c->image, &im, c);
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
	struct plan p = {0};
	struct err e = {0};
	int refused = -1;

	if (image_parse(&im, name, bytes, n, &e))
		return -1;
	unwind_read(&u, &im);
	if (!cfg_build(&c, &im, &u, &e)) {
		everywhere_plan(&p, &c, &much);
		refused = walk_rewrite_once(&c, name, NULL, &trap);
		walk_rewrite_once(&c, name, &p, &none);
		vec_free(&p.insertion);
	}
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return refused;
}

#endif
