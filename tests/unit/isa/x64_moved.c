/*
 * isa/x64_moved: what isa/x64 writes for moved code, run by the processor.
 *
 * Instructions that become several, jumps through tables, and code that saves
 * and restores registers and flags: each has to do what the original did and
 * nothing else, above all not to the 128 bytes below the stack pointer.
 *
 * Skipped on other machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "isa/isa.h"
#include "isa/move.h"
#include "splitmix.h"
#include "x64_only.h"

#ifdef __x86_64__

enum { PAGE = 4096, STATUS = 0x8d5, RED_ZONE = 128 };
enum { RAX, RCX, RDX, RSI = 6, RDI, R8, R11 = 11 };

static const uint8_t scratch[] = {RAX, RCX, RDX, RSI, RDI, R8, 9, 10, R11};
enum { NSCRATCH = sizeof scratch };

/* what a run begins and ends with; harness_before knows the offsets */
struct state {
	uint64_t in[NSCRATCH], out[NSCRATCH];
	uint64_t flags_in, flags_out, sp_in, sp_between;
	uint64_t zone[RED_ZONE / 8];
};

extern const uint8_t harness_before[], harness_between[], harness_after[],
	harness_end[];

/*
 * before | save | between | garbage | restore | after. Nothing here may
 * change flags after they are set or before they are stored.
 */
__asm__(".text\n"
	"harness_before:\n"
	"	push %rbx\n"
	"	mov %rdi, %rbx\n"
	"	sub $256, %rsp\n"
	"	pushq 144(%rbx)\n"
	"	popfq\n"
	"	mov $-128, %rcx\n"
	"1:	mov %rcx, (%rsp,%rcx)\n"
	"	lea 8(%rcx), %rcx\n"
	"	jrcxz 2f\n"
	"	jmp 1b\n"
	"2:	mov %rsp, 160(%rbx)\n"
	"	mov 0(%rbx), %rax\n"
	"	mov 8(%rbx), %rcx\n"
	"	mov 16(%rbx), %rdx\n"
	"	mov 24(%rbx), %rsi\n"
	"	mov 32(%rbx), %rdi\n"
	"	mov 40(%rbx), %r8\n"
	"	mov 48(%rbx), %r9\n"
	"	mov 56(%rbx), %r10\n"
	"	mov 64(%rbx), %r11\n"
	"harness_between:\n"
	"	mov %rsp, 168(%rbx)\n"
	"harness_after:\n"
	"	mov %rax, 72(%rbx)\n"
	"	mov %rcx, 80(%rbx)\n"
	"	mov %rdx, 88(%rbx)\n"
	"	mov %rsi, 96(%rbx)\n"
	"	mov %rdi, 104(%rbx)\n"
	"	mov %r8, 112(%rbx)\n"
	"	mov %r9, 120(%rbx)\n"
	"	mov %r10, 128(%rbx)\n"
	"	mov %r11, 136(%rbx)\n"
	"	mov $-128, %rcx\n"
	"1:	mov (%rsp,%rcx), %rdx\n"
	"	mov %rdx, 304(%rbx,%rcx)\n"
	"	lea 8(%rcx), %rcx\n"
	"	jrcxz 2f\n"
	"	jmp 1b\n"
	"2:	pushfq\n"
	"	popq 152(%rbx)\n"
	"	cld\n"
	"	add $256, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	"harness_end:\n");

static uint8_t *page;
static uint64_t seed = 11;

static const struct isa_move *move(void)
{
	return isa_x64.move;
}

static uint8_t *put(uint8_t *at, const uint8_t *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

#define PUT(at, ...) \
	put(at, (const uint8_t[]){__VA_ARGS__}, \
	    sizeof((const uint8_t[]){__VA_ARGS__}))

/* mov $0xdead, %r */
static uint8_t *put_garbage(uint8_t *at, unsigned r)
{
	return PUT(at, 0x48 | r >> 3, 0xc7, 0xc0 | (r & 7), 0xad, 0xde, 0, 0);
}

static void run_state(struct state *s)
{
	void (*f)(struct state *);

	memcpy(&f, &page, sizeof f);
	f(s);
}

/* the registers that the plan's code may overwrite are, and the flags */
static void build_saving(const struct move_saved *m)
{
	uint8_t *at = put(page, harness_before,
			  (size_t)(harness_between - harness_before));
	unsigned n = move()->save(m, at);

	assert_int_equal(n, move()->save(m, NULL));
	at = put(at + n, harness_between,
		 (size_t)(harness_after - harness_between));
	for (unsigned i = 0; i < m->nreg; i++)
		if (!m->flags || m->reg[i] != m->flags_reg)
			at = put_garbage(at, m->reg[i]);
	if (m->flags)
		at = PUT(at, 0x48, 0x85, 0xe4, 0xf9); /* test rsp; stc */
	n = move()->restore(m, at);
	assert_int_equal(n, move()->restore(m, NULL));
	put(at + n, harness_after, (size_t)(harness_end - harness_after));
}

static bool is_saved(const struct move_saved *m, unsigned r)
{
	for (unsigned i = 0; i < m->nreg; i++)
		if (m->reg[i] == r)
			return true;
	return false;
}

static void check_saving(const struct move_saved *m)
{
	struct state s = {.flags_in = (splitmix(&seed) & STATUS) | 2};

	for (unsigned i = 0; i < NSCRATCH; i++)
		s.in[i] = splitmix(&seed);
	build_saving(m);
	run_state(&s);
	assert_int_equal(s.flags_out & STATUS, s.flags_in & STATUS);
	assert_true(s.sp_in - s.sp_between == move()->save_depth(m));
	for (unsigned i = 0; i < NSCRATCH; i++)
		if (!m->flags || scratch[i] != m->flags_reg ||
		    is_saved(m, scratch[i]))
			assert_true(s.out[i] == s.in[i]);
	for (int i = 0; i < RED_ZONE / 8; i++)
		assert_true(s.zone[i] == (uint64_t)(int64_t)(8 * i - RED_ZONE));
}

static void test_saving(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct state, zone), 304 - RED_ZONE);
	for (unsigned round = 0; round < 64; round++)
		for (unsigned n = 0; n <= 6; n++) {
			uint8_t reg[6], dead = scratch[(round + 7) % NSCRATCH];

			for (unsigned i = 0; i < n; i++)
				reg[i] = scratch[(round + i) % NSCRATCH];
			check_saving(&(struct move_saved){reg, n, false, 0});
			check_saving(&(struct move_saved){reg, n, true, dead});
			if (n)
				check_saving(&(struct move_saved){
					reg, n, true, reg[n - 1]});
		}
}

/* the stack pointer goes down once, and after so many bytes */
static void test_lead(void **state)
{
	const uint8_t reg[] = {RAX, R11};
	struct move_saved m = {reg, 2, false, 0};
	uint8_t out[MOVE_SAVE_MAX];
	struct insn in;
	unsigned n = move()->save(&m, out);

	(void)state;
	for (unsigned i = 0; i < n; i += in.len) {
		isa_x64.decode(out + i, n - i, i, &in);
		assert_true(in.len && i + in.len <= n);
		assert_int_equal(in.writes >> isa_x64.sp & 1, !i);
		if (!i)
			assert_int_equal(in.len, move()->save_lead);
	}
}

/* runs code(rcx): 1 if the moved branch is taken; *rcx as it is then */
static unsigned run_branch(const uint8_t *insn, unsigned len, uint64_t *rcx,
			   bool zero_flag)
{
	struct insn in;
	uint8_t *at = PUT(page, 0x48, 0x8b, 0x0f); /* mov (%rdi), %rcx */
	unsigned (*f)(uint64_t *);
	uint8_t form, *far = page + 512;

	at = zero_flag ? PUT(at, 0x39, 0xc0) : PUT(at, 0x85, 0xe4);
	isa_x64.scan(insn, len, 0x1000, &in);
	form = move()->longer(move()->form(insn, &in));
	assert_true(move()->write(form, insn, &in, (uintptr_t)at,
				  (uintptr_t)far, at));
	at += move()->size(form, &in);
	/* mov %rcx, (%rdi); xor %eax, %eax; ret */
	PUT(at, 0x48, 0x89, 0x0f, 0x31, 0xc0, 0xc3);
	/* mov %rcx, (%rdi); mov $1, %eax; ret */
	PUT(far, 0x48, 0x89, 0x0f, 0xb8, 1, 0, 0, 0, 0xc3);
	memcpy(&f, &page, sizeof f);
	return f(rcx);
}

static void check_count(uint8_t op, uint64_t rcx, bool zero, bool taken,
			uint64_t after)
{
	const uint8_t insn[2] = {op, 0};
	uint64_t r = rcx;

	assert_int_equal(run_branch(insn, 2, &r, zero), taken);
	assert_true(r == after);
}

static void test_counts(void **state)
{
	const uint8_t jecxz[3] = {0x67, 0xe3, 0};
	uint64_t high = UINT64_C(1) << 32;

	(void)state;
	check_count(0xe3, 0, false, true, 0); /* jrcxz */
	check_count(0xe3, high, false, false, high);
	assert_int_equal(run_branch(jecxz, 3, &high, false), 1);
	check_count(0xe2, 1, false, false, 0); /* loop */
	check_count(0xe2, 2, false, true, 1);
	check_count(0xe2, 0, false, true, UINT64_MAX);
	check_count(0xe1, 2, true, true, 1); /* loope */
	check_count(0xe1, 2, false, false, 1);
	check_count(0xe0, 2, true, false, 1); /* loopne */
	check_count(0xe0, 2, false, true, 1);
}

/* call .+5; pop: the old address, whatever register has what */
static void test_get_pc(void **state)
{
	const uint8_t call[5] = {0xe8, 0, 0, 0, 0};
	struct state s = {.flags_in = STATUS | 2};
	uint64_t old = (uintptr_t)page + 0x12345;
	struct insn in;
	uint8_t form, *at;

	(void)state;
	isa_x64.scan(call, 5, old, &in);
	form = move()->form(call, &in);
	assert_int_not_equal(form, MOVE_NEVER);
	for (unsigned i = 0; i < NSCRATCH; i++)
		s.in[i] = splitmix(&seed);
	at = put(page, harness_before,
		 (size_t)(harness_between - harness_before));
	at = PUT(at, 0x48, 0x8d, 0xa4, 0x24, 0, 0xff, 0xff, 0xff); /* -256 */
	assert_true(move()->write(form, call, &in, (uintptr_t)at, 0, at));
	at += move()->size(form, &in);
	at = PUT(at, 0x5a);					/* pop %rdx */
	at = PUT(at, 0x48, 0x8d, 0xa4, 0x24, 0, 1, 0, 0);	/* +256 */
	put(at, harness_after, (size_t)(harness_end - harness_after));
	run_state(&s);
	assert_true(s.out[2] == old + 5);
	assert_int_equal(s.flags_out & STATUS, STATUS);
	for (unsigned i = 0; i < NSCRATCH; i++)
		assert_true(i == 2 || s.out[i] == s.in[i]);
}

/* jumps through a table of three, by all registers */
static void check_table(const uint8_t reg[2], uint8_t index)
{
	struct table_jump t = {.index = index};
	int32_t *table = (int32_t *)(page + 1024);
	unsigned (*f)(uint64_t);
	uint8_t *at;

	/* mov %rdi, %index */
	at = PUT(page, 0x48 | index >> 3, 0x89, 0xf8 | (index & 7));
	assert_true(move()->table_write(&t, reg, false, (uintptr_t)at,
					(uintptr_t)table, at));
	memset(at + move()->table_size, 0xcc, 8);
	for (int i = 0; i < 3; i++) {
		PUT(page + 2048 + 16 * i, 0xb8, 40 + i, 0, 0, 0, 0xc3);
		table[i] = (int32_t)(page + 2048 + 16 * i - (uint8_t *)table);
	}
	memcpy(&f, &page, sizeof f);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(f(i), 40 + i);
}

static void test_tables(void **state)
{
	(void)state;
	for (unsigned a = 0; a < NSCRATCH; a++)
		for (unsigned b = 0; b < NSCRATCH; b++)
			for (unsigned i = 0; i < NSCRATCH; i++)
				if (a != b && i != a)
					check_table((uint8_t[]){scratch[a],
								scratch[b]},
						    scratch[i]);
}

static int set_up(void **state)
{
	(void)state;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saving),
		cmocka_unit_test(test_lead),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_get_pc),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

#endif
