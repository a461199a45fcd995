/*
 * cfg/bounds: what `tally cfg` says of an index, snippet by snippet.
 *
 * Every snippet (tests/progs/bounds-*.txt, where the source is) is a procedure
 * in a file of its own that ends in a jump through a table:
 *
 *	CODE   the snippet; `out:` ret; 16 targets of the same size
 *	TABLE  16 absolute addresses of those, then zeroes
 *	FRAME  a CIE, one FDE for the code, and a header that points to them
 *
 * Where the index is bounded by the code, exactly that many entries must be
 * found. Where it only looks so, a dispatch that is called bounded and has
 * fewer than all 16 targets would be a lie, and so would an approximation
 * with fewer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cfg/cfg.h"
#include "elf_build.h"
#include "sample.h"

enum {
	CODE = ELF_BASE + ELF_DATA,
	TABLE = ELF_BASE + 0x600, /* tests/tools/bounds.py knows both */
	FRAME = ELF_BASE + 0x800,
	ENTRIES = 16,
};

struct snippet {
	uint16_t machine;
	const char *name;
	char sign;	/* '=', '~' or '!', see bounds-x86_64.txt */
	unsigned n;	/* so many entries are possible */
	unsigned size;
	const char *code;
};

static const struct snippet snippets[] = {
#include "bounds_cases.h"
};

enum { NSNIPPETS = sizeof snippets / sizeof *snippets };

/* the file around a snippet, not yet read */
static void build_file(struct elf_build *b, const struct snippet *s)
{
	/* CFA: sp + 0; after 12 bytes, x29 + 96, with x29 saved there */
	static const char late_frame[] = "\x0c\x1f\0\x4c\x0c\x1d\x60\x9d\x0c";
	bool late = !strncmp(s->name, "late_frame", 10);
	unsigned each = s->machine == EM_AARCH64 ? 8 : 3;
	uint64_t target = CODE + s->size - ENTRIES * each, at;

	elf_begin(b, ET_EXEC, s->machine);
	b->header->e_entry = CODE;
	elf_append(b, s->code, s->size);
	assert_true(b->n <= TABLE - ELF_BASE);
	b->n = TABLE - ELF_BASE;
	for (unsigned i = 0; i < ENTRIES; i++)
		elf_append_uint(b, 8, target + i * each);
	b->n = FRAME - ELF_BASE;
	elf_append_uint(b, 4, 4 + 1 + 3 + 3 + 2 + 3); /* CIE */
	elf_append_uint(b, 4, 0);
	elf_append(b, "\1zR\0\1\x78\x10\1\0\x0c\7\x08", 12);
	elf_append_uint(b, 4, 4 + 8 + 8 + 1 + (late ? sizeof late_frame - 1 :
						       0)); /* FDE */
	elf_append_uint(b, 4, ELF_BASE + b->n - FRAME);
	elf_append_uint(b, 8, CODE);
	elf_append_uint(b, 8, s->size);
	elf_append_uint(b, 1, 0);
	if (late)
		elf_append(b, late_frame, sizeof late_frame - 1);
	elf_append_uint(b, 4, 0);
	elf_align(b, 4);
	at = elf_append(b, "\1\x1b\xff\xff", 4);
	elf_append_uint(b, 4, (uint64_t)FRAME - (at + 4));
	elf_add_phdr(b, PT_GNU_EH_FRAME, at, 8);
	if (strstr(s->name, "writable"))
		b->phdr[0].p_flags |= PF_W;
}

/* what is wrong with the dispatch, or NULL */
static const char *wrong_of(const struct snippet *s, const struct dispatch *d)
{
	if (d->status == DISPATCH_TAIL)
		return "is taken for a tail call";
	if (d->status == DISPATCH_BOUNDED && d->ntarget < s->n)
		return "is said to be bounded";
	if (d->status == DISPATCH_APPROXIMATED && d->ntarget < s->n)
		return "is approximated from below";
	if (s->sign == '=' && d->status != DISPATCH_BOUNDED)
		return "is not bounded";
	if (s->sign != '!' && d->status == DISPATCH_BOUNDED &&
	    d->ntarget != s->n)
		return "has a bound that is too large";
	return NULL;
}

/* reads the file and looks for the one jump; what is wrong, or NULL */
static const char *try_snippet(const struct snippet *s)
{
	struct elf_build b;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;
	const char *wrong = "is not there";

	build_file(&b, s);
	if (elf_open(&b, &im, &e))
		return "is not read";
	unwind_read(&u, &im);
	assert_int_equal(u.nfde, 1);
	assert_int_equal(cfg_build(&c, &im, &u, &e), 0);
	for (size_t i = 0; i < c.dispatch.n; i++) {
		const struct dispatch *d = &c.dispatch.at[i];

		if (d->addr < CODE || d->addr >= CODE + s->size)
			continue;
		wrong = wrong_of(s, d);
		if (wrong && getenv("VERBOSE"))
			print_message("%u %u %s\n", d->status, d->ntarget,
				      d->reason ? d->reason : "");
		break;
	}
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return wrong;
}

/*
 * all snippets of a machine, those with a bound or those without; where a
 * sample is enough, one in so many
 */
static void try_all(uint16_t machine, bool bounded)
{
	unsigned failed = 0, n = 0;
	unsigned step = NSNIPPETS / sample_of(NSNIPPETS, NSNIPPETS / 5);

	for (size_t i = 0; i < NSNIPPETS; i++) {
		const struct snippet *s = &snippets[i];
		const char *wrong;

		if (s->machine != machine || (s->sign != '!') != bounded)
			continue;
		if (n++ % step)
			continue;
		wrong = try_snippet(s);
		if (wrong)
			print_message("%s: the jump %s\n", s->name, wrong);
		failed += wrong != NULL;
	}
	assert_true(n > 10);
	assert_int_equal(failed, 0);
}

static void test_x64_bounded(void **state)
{
	(void)state;
	try_all(EM_X86_64, true);
}

static void test_x64_open(void **state)
{
	(void)state;
	try_all(EM_X86_64, false);
}

static void test_a64_bounded(void **state)
{
	(void)state;
	try_all(EM_AARCH64, true);
}

static void test_a64_open(void **state)
{
	(void)state;
	try_all(EM_AARCH64, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x64_bounded),
		cmocka_unit_test(test_x64_open),
		cmocka_unit_test(test_a64_bounded),
		cmocka_unit_test(test_a64_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
