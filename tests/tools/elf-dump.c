/*
 * elf-dump: prints what src/elf reads from a file, one fact per line, for
 * tests to compare with what other tools read.
 *
 *	elf-dump WHAT FILE	WHAT: head segments sections code symbols
 *				relocs ctors fdes rows sites, or `time`
 *
 * Numbers are hexadecimal without 0x, except CFA offsets. `time` prints how
 * many of each there are and how long it took to read everything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "elf/image.h"
#include "elf/unwind.h"
#include "isa/isa.h"

#define X PRIx64

static const char symbol_letters[] = "FOLXD";
static const char *const reloc_names[] = {"relative", "irelative", "symbol",
					  "jump_slot", "copy", "other"};

/* the header and what goes with it */
static void dump_head(const struct image *im)
{
	printf("type %u machine %u entry %" X " init %" X " fini %" X "\n",
	       im->type, im->machine, im->entry, im->init, im->fini);
	printf("interp %s\nsoname %s\n", im->interp ? im->interp : "-",
	       im->soname ? im->soname : "-");
	printf("dynamic %d sections %d\n", im->dynamic, im->has_sections);
	printf("relro %" X " %" X "\n", im->relro.start, im->relro.end);
	printf("build_id ");
	for (unsigned i = 0; i < im->build_id_len; i++)
		printf("%02x", im->build_id[i]);
	printf("\n");
}

/* start, end in the file, end in memory, offset, rights */
static void dump_segments(const struct image *im)
{
	for (size_t i = 0; i < im->nsegment; i++) {
		const struct segment *s = &im->segment[i];

		printf("%" X " %" X " %" X " %" X " %s%s%s\n", s->start,
		       s->file_end, s->end, s->offset, s->read ? "r" : "",
		       s->write ? "w" : "", s->exec ? "x" : "");
	}
}

/* addresses, place in the file, flags, type, name */
static void dump_sections(const struct image *im)
{
	for (size_t i = 0; i < im->nsection; i++) {
		const struct section *s = &im->section[i];

		printf("%" X " %" X " %" X " %" X " %" X " %x %s\n", s->start,
		       s->end, s->offset, s->size, s->flags, s->type, s->name);
	}
}

/* where code may be */
static void dump_code(const struct image *im)
{
	for (size_t i = 0; i < im->ncode; i++)
		printf("%" X " %" X "\n", im->code[i].start, im->code[i].end);
}

/* address, size, kind and binding, name */
static void dump_symbols(const struct image *im)
{
	for (size_t i = 0; i < im->nsymbol; i++) {
		const struct symbol *s = &im->symbol[i];

		printf("%" X " %" X " %c%s%s%s %s\n", s->addr, s->size,
		       symbol_letters[s->kind], s->global ? "g" : "l",
		       s->dynamic ? "d" : "", s->ifunc ? "i" : "", s->name);
	}
}

/* place, type, kind, value, whose, symbol */
static void dump_relocs(const struct image *im)
{
	for (size_t i = 0; i < im->nreloc; i++) {
		const struct reloc *r = &im->reloc[i];

		printf("%" X " %x %s %" X " %s%s %s\n", r->place, r->type,
		       reloc_names[r->kind], r->value,
		       r->local ? "local" : "import", r->text ? ",text" : "",
		       r->symbol ? r->symbol : "-");
	}
}

/* pointers of init_array and the like */
static void dump_ctors(const struct image *im)
{
	for (size_t i = 0; i < im->nctor; i++)
		printf("%" X "\n", im->ctor[i]);
}

/* code covered, exception table, personality */
static void dump_fdes(const struct image *im, const struct unwind *u)
{
	(void)im;
	for (size_t i = 0; i < u->nfde; i++) {
		const struct fde *f = &u->fde[i];

		printf("%" X " %" X " lsda %" X " personality %" X "%s\n",
		       f->start, f->end, f->lsda, f->personality,
		       f->signal_frame ? " signal" : "");
	}
	if (u->bad)
		printf("bad %zu\n", u->bad);
}

/* two rows say the same, but for registers other than the frame pointer */
static bool same_row(const struct cfa_row *p, const struct cfa_row *q,
		     unsigned fp)
{
	return p->known == q->known && !((p->saved ^ q->saved) >> fp & 1) &&
	       (!p->known || (p->reg == q->reg && p->offset == q->offset));
}

/* for each FDE its CFA rows, and where the frame pointer is saved */
static void dump_rows(const struct image *im, const struct unwind *u)
{
	unsigned fp = isa_for_elf(im->machine)->dwarf_fp;
	cfa_rows rows = {0};

	for (size_t i = 0; i < u->nfde; i++) {
		int ret = unwind_rows(im, &u->fde[i], &rows);

		printf("fde %" X "%s\n", u->fde[i].start, ret ? " bad" : "");
		for (size_t k = 0; k < rows.n; k++) {
			const struct cfa_row *r = &rows.at[k];

			if (k && same_row(r - 1, r, fp))
				continue;
			if (r->known)
				printf("%" X " r%u%+" PRId64, r->start,
				       r->reg, r->offset);
			else
				printf("%" X " exp", r->start);
			printf("%s\n", r->saved >> fp & 1 ? " fp" : "");
		}
	}
	vec_free(&rows);
}

/* for each exception table its call sites */
static void dump_sites(const struct image *im, const struct unwind *u)
{
	call_sites sites = {0};

	for (size_t i = 0; i < u->nfde; i++) {
		int ret = unwind_call_sites(im, &u->fde[i], &sites);

		if (!u->fde[i].lsda)
			continue;
		printf("fde %" X "%s\n", u->fde[i].start, ret ? " bad" : "");
		for (size_t k = 0; k < sites.n; k++) {
			const struct call_site *s = &sites.at[k];

			printf("%" X " %" X " %" X " %s\n", s->start, s->end,
			       s->pad, s->catches ? "catch" : "cleanup");
		}
	}
	vec_free(&sites);
}

/* milliseconds since *t, which is set to now */
static double lap(struct timespec *t)
{
	struct timespec now;
	double ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (double)(now.tv_sec - t->tv_sec) * 1e3 +
	     (double)(now.tv_nsec - t->tv_nsec) / 1e6;
	*t = now;
	return ms;
}

/* reads everything and says how long each part took */
static int dump_time(const char *path)
{
	struct image im;
	struct unwind u;
	struct err e;
	struct timespec t;
	cfa_rows rows = {0};
	call_sites sites = {0};
	size_t nrow = 0, nsite = 0, bad_rows = 0, bad_sites = 0;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (image_open(&im, path, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	printf("open %.1f ms: %zu symbols %zu relocs\n", lap(&t), im.nsymbol,
	       im.nreloc);
	unwind_read(&u, &im);
	printf("unwind %.1f ms: %zu fdes %zu bad\n", lap(&t), u.nfde, u.bad);
	for (size_t i = 0; i < u.nfde; i++) {
		bad_rows += unwind_rows(&im, &u.fde[i], &rows) < 0;
		nrow += rows.n;
	}
	printf("rows %.1f ms: %zu rows %zu bad\n", lap(&t), nrow, bad_rows);
	for (size_t i = 0; i < u.nfde; i++) {
		bad_sites += unwind_call_sites(&im, &u.fde[i], &sites) < 0;
		nsite += sites.n;
	}
	printf("sites %.1f ms: %zu sites %zu bad\n", lap(&t), nsite, bad_sites);
	vec_free(&rows);
	vec_free(&sites);
	unwind_free(&u);
	image_close(&im);
	return 0;
}

static const struct part {
	const char *name;
	void (*image)(const struct image *im);
	void (*unwind)(const struct image *im, const struct unwind *u);
} parts[] = {
	{"head", dump_head, NULL},	   {"segments", dump_segments, NULL},
	{"sections", dump_sections, NULL}, {"code", dump_code, NULL},
	{"symbols", dump_symbols, NULL},   {"relocs", dump_relocs, NULL},
	{"ctors", dump_ctors, NULL},	   {"fdes", NULL, dump_fdes},
	{"rows", NULL, dump_rows},	   {"sites", NULL, dump_sites},
};

/* prints one part of one file */
static int dump(const struct part *part, const char *path)
{
	struct image im;
	struct unwind u;
	struct err e;

	if (image_open(&im, path, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	if (part->image) {
		part->image(&im);
	} else {
		unwind_read(&u, &im);
		part->unwind(&im, &u);
		unwind_free(&u);
	}
	image_close(&im);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "time"))
		return dump_time(argv[2]);
	for (size_t i = 0; i < sizeof parts / sizeof *parts && argc == 3; i++)
		if (!strcmp(argv[1], parts[i].name))
			return dump(&parts[i], argv[2]);
	fprintf(stderr, "usage: elf-dump WHAT FILE\n");
	return 2;
}
