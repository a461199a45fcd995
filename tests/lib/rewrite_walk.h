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

/* a table of labels may change, or the relocations that fill it */
static inline bool walk_may_change(const struct survey *s, uint64_t addr,
				   uint64_t offset)
{
	const struct image *im = s->cfg->image;

	for (size_t t = 0; t < s->labels.table.n; t++) {
		const struct label_table *x = &s->labels.table.at[t];
		size_t r = image_reloc_from(im, x->start);

		if (x->refused)
			continue;
		if (addr >= x->start && addr < x->end)
			return true;
		for (; r < im->nreloc && im->reloc[r].place < x->end; r++)
			if (offset - im->reloc[r].entry < sizeof(Elf64_Rela))
				return true;
	}
	return false;
}

/* data that the program can write is as it was */
static inline void walk_same(const struct survey *s, const struct image *new)
{
	const struct image *old = s->cfg->image;

	for (size_t i = 0; i < old->nsegment; i++) {
		const struct segment *g = &old->segment[i];

		size_t n, m;
		const uint8_t *p = image_at(old, g->start, &n);
		const uint8_t *q = image_at(new, g->start, &m);

		/* the file's header and notes change: they are elsewhere */
		if (!g->write || g->exec || g->start >= g->file_end ||
		    g->offset < WALK_HEADERS)
			continue;
		WALK_CHECK(p && q && m >= n);
		for (size_t k = 0; memcmp(p, q, n) && k < n; k++)
			WALK_CHECK(p[k] == q[k] ||
				   walk_may_change(s, g->start + k,
						   g->offset + k));
	}
}

/* reads the new file */
static inline void walk_result(const struct survey *s, const char *path)
{
	struct image im;
	struct unwind u;
	struct err e = {0};

	if (image_open(&im, path, &e)) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
	WALK_CHECK(rewrite_made_by(&im));
	walk_same(s, &im);
	unwind_read(&u, &im);
	unwind_free(&u);
	image_close(&im);
}

/* one plan, or none; 0 if a file came out */
static inline int walk_rewrite_once(const struct survey *s, const char *name,
				    const struct plan *p,
				    const struct rewrite_options *o)
{
	const char *path = rewrite_walk_path();
	struct rewrite_report r;
	struct err e = {0};
	int refused = rewrite_image(s->cfg, p, o, path, &r, &e);

	if (refused) {
		WALK_CHECK((e.code == ERR_INPUT && strstr(e.text, name)) ||
			   (e.code == ERR_MACHINE && strstr(e.text, path)));
		WALK_CHECK(access(path, F_OK));
		return -1;
	}
	WALK_CHECK(r.moved_bytes <= r.text_bytes);
	walk_result(s, path);
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
		refused = walk_rewrite_once(&s, name, NULL, &trap);
		walk_rewrite_once(&s, name, &p, &none);
		vec_free(&p.insertion);
		survey_free(&s);
	}
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return refused;
}

#endif
