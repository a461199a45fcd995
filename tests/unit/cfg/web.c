/*
 * cfg/web: how far a value is followed through joins (value.c).
 *
 *	CODE    cmp $5, %edi; ja OUT; mov %edi, %eax
 *	LOOP    mov %rax, %rdx; mov %rdx, %rax; dec %ecx; jne LOOP
 *	        ... many of them
 *	        jmp *TABLE(,%rax,8)
 *	OUT     ret
 *	        16 targets
 *	TABLE   their addresses
 *
 * The index is one choice at every loop. Through a few hundred of them it is
 * found to be what was compared. Through thousands that would cost too much,
 * and then it must be unknown: no bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cfg/cfg.h"
#include "elf_build.h"

enum { ENTRIES = 16, FEW = 300, MANY = 1300 };

/* appends the code with so many loops; returns the address of its targets */
static uint64_t append_code(struct elf_build *b, unsigned loops)
{
	size_t table;

	elf_append(b, "\x83\xff\x05\x0f\x87", 5);
	elf_append_uint(b, 4, 2 + loops * 10 + 7); /* to OUT */
	elf_append(b, "\x89\xf8", 2);
	for (unsigned i = 0; i < loops; i++)
		elf_append(b, "\x48\x89\xc2\x48\x89\xd0\xff\xc9\x75\xf6", 10);
	elf_append(b, "\xff\x24\xc5", 3);
	table = b->n + 4 + 1 + ENTRIES * 3;
	elf_append_uint(b, 4, ELF_BASE + (table + 7) / 8 * 8);
	elf_append(b, "\xc3", 1);
	return ELF_BASE + b->n;
}

/* the dispatch behind so many loops */
static struct dispatch resolve(unsigned loops)
{
	static struct elf_build b;
	struct image im;
	struct unwind u;
	struct cfg c;
	struct err e;
	struct dispatch d;
	uint64_t target, end;

	elf_begin(&b, ET_EXEC, EM_X86_64);
	b.header->e_entry = ELF_BASE + ELF_DATA;
	target = append_code(&b, loops);
	for (unsigned i = 0; i < ENTRIES; i++)
		elf_append(&b, "\xb0\x01\xc3", 3);
	end = ELF_BASE + b.n;
	elf_align(&b, 8);
	for (unsigned i = 0; i < ENTRIES; i++)
		elf_append_uint(&b, 8, target + i * 3);
	elf_add_unwind(&b, ELF_BASE + ELF_DATA, end - ELF_BASE - ELF_DATA);
	assert_true(b.n <= ELF_ROOM);
	assert_int_equal(elf_open(&b, &im, &e), 0);
	unwind_read(&u, &im);
	assert_int_equal(cfg_build(&c, &im, &u, &e), 0);
	assert_int_equal(c.dispatch.n, 1);
	d = c.dispatch.at[0];
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return d;
}

static void test_few(void **state)
{
	struct dispatch d = resolve(FEW);

	(void)state;
	assert_int_equal(d.status, DISPATCH_BOUNDED);
	assert_int_equal(d.ntarget, 6);
}

static void test_many(void **state)
{
	struct dispatch d = resolve(MANY);

	(void)state;
	assert_int_equal(d.status, DISPATCH_APPROXIMATED);
	assert_int_equal(d.ntarget, ENTRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
