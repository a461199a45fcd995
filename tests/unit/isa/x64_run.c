/*
 * Counters and hooks of x86-64, run by the processor: what they do to
 * registers, flags, counters, and the stack of the code around them.
 *
 * Skipped on other machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "isa/x64/x64_int.h"
#include "isa/x64/x64_move.h"
#include "x64_only.h"

#ifdef __x86_64__

#include <sys/syscall.h>
#include <unistd.h>

#include "x64_machine.h"

enum {
	ROUNDS = 2000,
	RED_ZONE = 128,
	SET_GS = 0x1001,
	CARRY = 1,
	OFFSET = 24, /* of the procedure to ask, in what the word points to */
	HOOK_AT = 4096,
	WORD_AT = 0, /* in the room's data */
};

static struct machine_room *room;
static uint64_t seed = 1;

static uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

static void set_gs(uint64_t base)
{
	assert_int_equal(syscall(SYS_arch_prctl, SET_GS, base), 0);
}

/* nothing has changed but perhaps these */
static void assert_same(const struct machine *a, const struct machine *b,
			regset regs, uint64_t flags)
{
	for (unsigned r = 0; r < X64_NREGS; r++)
		if (!(regs & REG(r)))
			assert_true(a->reg[r] == b->reg[r]);
	assert_int_equal((a->flags ^ b->flags) & ~flags &
				 (MACHINE_STATUS | MACHINE_DIRECTION), 0);
}

/* --- counters */

/* constants of one byte, of four, and those at their ends */
static int64_t random_constant(void)
{
	static const int64_t ends[] = {1, -1, 127, -128, 128, -129, INT32_MAX,
				       INT32_MIN};
	uint64_t r = splitmix(&seed);

	return r & 1 ? ends[r / 2 % 8] : r & 2 ? (int8_t)(r >> 8) :
						 (int32_t)(r >> 8);
}

/* counter number i of those that are added to */
static uint64_t *counter_of(const struct addition *a, unsigned i, bool thread)
{
	return (uint64_t *)(uintptr_t)a[i].counter + (thread ? 1024 : 0);
}

static void check_match(const struct addition *a, unsigned n, unsigned size)
{
	uint64_t at = address(room->code);
	struct addition_seen seen[ADD_MAX];
	unsigned done = 0, found;

	for (unsigned i = 0; i < n; i++) {
		unsigned one = x64_add_match(room->code + done, size - done,
					     at + done, seen, &found);

		assert_true(one && found == 1 && seen[0].end == one);
		assert_true(seen[0].is.counter == a[i].counter);
		assert_true(seen[0].is.constant == a[i].constant);
		assert_int_equal(x64_add_match(room->code + done, one - 1,
					       at + done, seen, &found), 0);
		done += one;
	}
	assert_int_equal(done, size);
}

static void check_add(enum count_form f, uint8_t reg, bool thread, unsigned n)
{
	uint64_t at = address(room->code), before[ADD_MAX];
	uint8_t stack[MACHINE_STACK];
	struct addition a[ADD_MAX];
	struct machine m = machine_random(room, &seed), was = m;
	unsigned size;

	for (unsigned i = 0; i < n; i++) {
		a[i] = (struct addition){
			.counter = address(room->data) + i * 8,
			.constant = n == 1 ? 1 : random_constant()};
		*counter_of(a, i, !thread) = 7;
		before[i] = *counter_of(a, i, thread) = splitmix(&seed);
	}
	memcpy(stack, room->stack, sizeof stack);
	size = x64_add_size(f, a, n);
	assert_true(x64_add(f, at, a, n, &reg, room->code));
	check_match(a, n, size);
	set_gs(thread ? 8192 : 0);
	machine_run(room, 0, size, &m);
	set_gs(0);
	for (unsigned i = 0; i < n; i++) {
		assert_true(*counter_of(a, i, thread) ==
			    before[i] + (uint64_t)a[i].constant);
		assert_true(*counter_of(a, i, !thread) == 7);
	}
	assert_memory_equal(stack, room->stack, sizeof stack);
	assert_same(&m, &was, f == COUNT_KEEPS ? REG(reg) : 0,
		    f == COUNT_KEEPS ? 0 :
		    n == 1	     ? MACHINE_STATUS & ~CARRY :
				       MACHINE_STATUS);
}

static void test_count(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++)
		check_add(COUNT_SPOILS, 255, i & 1, 1 + i % 4);
	for (uint8_t r = 0; r < X64_NREGS; r++)
		for (unsigned i = 0; isa_x64.scratch & REG(r) && i < 200; i++)
			check_add(COUNT_KEEPS, r, i & 1, 1 + i % 4);
}

/* what only looks like one is none, or another one */
static void test_match(void **state)
{
	uint8_t code[X64_ADD_MAX], reg = R9;
	struct addition_seen seen[ADD_MAX];
	struct addition a = {.counter = 8192, .constant = 1};
	unsigned n;

	(void)state;
	for (unsigned f = 0; f < COUNT_FORMS; f++)
		for (unsigned i = 0; i < x64_add_size(f, &a, 1); i++)
			for (unsigned bit = 0; bit < 8; bit++) {
				unsigned size = x64_add_size(f, &a, 1);

				assert_true(x64_add(f, 4096, &a, 1, &reg,
						    code));
				code[i] ^= (uint8_t)(1 << bit);
				if (x64_add_match(code, size, 4096, seen, &n))
					assert_true(
						seen[0].is.counter != 8192 ||
						seen[0].is.constant != 1);
			}
	a.counter = UINT64_C(0x80000007);
	assert_true(x64_add(COUNT_SPOILS, 0, &a, 1, &reg, code));
	a.counter++;
	assert_false(x64_add(COUNT_SPOILS, 0, &a, 1, &reg, code));
	/* the store is further away than the load */
	a.counter = (UINT64_C(1) << 31) + 8;
	assert_false(x64_add(COUNT_KEEPS, UINT64_C(1) << 32, &a, 1, &reg,
			     code));
	assert_int_equal(x64_add_match(code, 0, 0, seen, &n), 0);
}

/* instructions that write to gs */
static void test_takes(void **state)
{
	static const struct {
		uint8_t code[8], len;
		bool takes;
	} v[] = {
		{{0xf3, 0x48, 0x0f, 0xae, 0xd8}, 5, true}, /* wrgsbase %rax */
		{{0xf3, 0x49, 0x0f, 0xae, 0xdc}, 5, true}, /* %r12 */
		{{0xf3, 0x0f, 0xae, 0xdf}, 4, true},	    /* %edi */
		{{0x8e, 0xe8}, 2, true},		    /* mov %eax, %gs */
		{{0x41, 0x8e, 0x2a}, 3, true},		    /* mov (%r10), %gs */
		{{0xf3, 0x48, 0x0f, 0xae, 0xd0}, 5, false}, /* wrfsbase */
		{{0xf3, 0x48, 0x0f, 0xae, 0xc8}, 5, false}, /* rdgsbase */
		{{0x0f, 0xae, 0xd8}, 3, false},
		{{0x0f, 0xae, 0x18}, 3, false},		    /* stmxcsr */
		{{0x8e, 0xd8}, 2, false},		    /* mov %eax, %ds */
		{{0x8c, 0xe8}, 2, false},		    /* mov %gs, %eax */
		{{0x65, 0x48, 0x8b, 0x04, 0x25, 8}, 9, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof v / sizeof *v; i++) {
		struct insn in = {.len = v[i].len};

		assert_int_equal(x64_takes_slot(v[i].code, &in), v[i].takes);
	}
}

/* --- hooks */

/* what a hook hands over */
struct shown {
	uint64_t rdi, rsi, rdx, r10, r8, r9, rax, r11, rcx, flags, rbp, back;
};

static struct shown seen, answer;
static unsigned asks;
static bool aligned, forward;
static const void *told;
static uint64_t frame;

/* plays the procedure that is asked, with no registers of its own */
__attribute__((target("general-regs-only")))
static void on_call(struct shown *s, const void *h)
{
	uint64_t flags;

	__asm__ volatile("pushfq\n pop %0" : "=r"(flags));
	forward = !(flags & MACHINE_DIRECTION);
	aligned = !((uintptr_t)__builtin_frame_address(0) % 16);
	frame = *(const uint64_t *)__builtin_frame_address(0);
	seen = *s;
	told = h;
	asks++;
	answer.rbp = s->rbp;
	answer.back = s->back;
	*s = answer;
	/* a procedure may lose these */
	__asm__ volatile("xor %%ecx, %%ecx\n xor %%r11d, %%r11d\n"
			 "mov $1, %%eax\n mov $2, %%edx\n mov $3, %%esi\n"
			 "mov $4, %%r8d\n mov $5, %%r9d\n mov $6, %%r10d\n"
			 : : : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			       "r11", "cc");
}

/* the registers in the order of struct shown */
static const uint8_t order[] = {RDI, RSI, RDX, R10, R8, R9, RAX, R11, RCX};

static void pass_gate(enum hook_kind k, bool expected, struct machine m)
{
	static struct {
		uint64_t first[OFFSET / 8];
		void (*ask)(struct shown *s, const void *h);
	} launch_env;
	const uint64_t *show = &seen.rdi, *say = &answer.rdi;
	uint64_t at = address(room->code);
	struct machine before = m;
	uint8_t stack[MACHINE_STACK];
	void *h = &launch_env;
	size_t sp = m.reg[RSP] - address(room->stack);

	launch_env.ask = on_call;
	memcpy(room->data + WORD_AT, &h, sizeof h);
	assert_true(x64_hook(k, at + HOOK_AT, address(room->data + WORD_AT),
			     OFFSET, room->code + HOOK_AT));
	assert_true(x64_call(at, at + HOOK_AT, 255, room->code));
	memcpy(stack, room->stack, sizeof stack);
	for (unsigned i = 0; i < sizeof answer / 8; i++)
		(&answer.rdi)[i] = splitmix(&seed);
	answer.flags = 0x202 | (answer.flags & MACHINE_STATUS);
	asks = 0;
	machine_run(room, 0, X64_CALL_SIZE, &m);
	assert_int_equal(asks, expected);
	/* nothing is written above the red zone's end */
	assert_memory_equal(stack + sp - RED_ZONE,
			    room->stack + sp - RED_ZONE,
			    sizeof stack - sp + RED_ZONE);
	if (!expected) {
		assert_same(&m, &before, 0, 0);
		return;
	}
	assert_true(told == h && aligned && forward);
	for (unsigned i = 0; i < sizeof order; i++) {
		assert_true(show[i] == before.reg[order[i]]);
		assert_true(m.reg[order[i]] == say[i]);
		before.reg[order[i]] = say[i];
	}
	assert_true(seen.rbp == before.reg[RBP]);
	assert_true(seen.back == at + 10);
	/* a walk along frame pointers finds hook, then caller */
	assert_true(((const uint64_t *)frame)[0] == before.reg[RBP] &&
		    ((const uint64_t *)frame)[1] == seen.back);
	assert_int_equal((seen.flags ^ before.flags) &
				 (MACHINE_STATUS | MACHINE_DIRECTION), 0);
	before.flags = answer.flags;
	assert_same(&m, &before, 0, 0);
}

static void test_gates(void **state)
{
	(void)state;
	for (unsigned k = 0; k < HOOK_KINDS; k++)
		for (uint64_t nr = 0; nr < 700; nr++) {
			struct machine m = machine_random(room, &seed);
			bool tested = k == HOOK_NAMES || k == HOOK_LIFE;

			m.reg[RAX] = nr;
			pass_gate(k, !tested || x64_hook_asks(k, nr), m);
		}
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct machine m = machine_random(room, &seed);

		/* numbers that are none: of them no more than 9 bits */
		m.reg[RAX] |= UINT64_C(1) << (9 + i % 55);
		pass_gate(HOOK_LIFE, false, m);
		pass_gate(HOOK_BEHIND, true, m);
	}
}

/* without a procedure to ask, nothing happens */
static void test_nobody(void **state)
{
	static const uint64_t none[OFFSET / 8 + 1];
	const void *word[2] = {NULL, none};
	uint64_t at = address(room->code);

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < HOOK_KINDS; k++) {
			struct machine m = machine_random(room, &seed);
			struct machine before;

			m.reg[RAX] = SYS_execve;
			before = m;
			memcpy(room->data, &word[i], sizeof word[i]);
			x64_hook(k, at + HOOK_AT, address(room->data), OFFSET,
				 room->code + HOOK_AT);
			x64_call(at, at + HOOK_AT, 255, room->code);
			machine_run(room, 0, X64_CALL_SIZE, &m);
			assert_same(&m, &before, 0, 0);
		}
}

static void test_reach(void **state)
{
	uint8_t out[512];
	uint64_t far = UINT64_C(1) << 32;

	(void)state;
	for (unsigned k = 0; k < HOOK_KINDS; k++) {
		assert_true(x64_hook_size(k) <= sizeof out);
		assert_true(x64_hook(k, far, far + (1 << 30), 8, out));
		assert_false(x64_hook(k, far, 2 * far, 8, out));
	}
	assert_true(x64_call(far, far + UINT64_C(0x80000009), 0, out));
	assert_false(x64_call(far, far + 10 + UINT64_C(0x80000000), 0, out));
}

/* calls by which threads and processes begin and end, or that name files */
static void test_asked(void **state)
{
	static const uint8_t own[] = {0x0f, 0x05}, other[] = {0xcd, 0x80};

	(void)state;
	assert_true(x64_own_call(own) && !x64_own_call(other));
	assert_true(x64_hook_asks(HOOK_NAMES, SYS_readlink) &&
		    x64_hook_asks(HOOK_NAMES, SYS_execveat) &&
		    !x64_hook_asks(HOOK_NAMES, SYS_clone));
	assert_true(x64_hook_asks(HOOK_LIFE, SYS_openat) &&
		    x64_hook_asks(HOOK_LIFE, SYS_vfork) &&
		    x64_hook_asks(HOOK_LIFE, SYS_exit) &&
		    x64_hook_asks(HOOK_LIFE, SYS_exit_group) &&
		    x64_hook_asks(HOOK_LIFE, SYS_arch_prctl) &&
		    !x64_hook_asks(HOOK_LIFE, SYS_read));
	assert_true(x64_hook_asks(HOOK_BEHIND, SYS_execve) &&
		    x64_hook_asks(HOOK_BEHIND, SYS_fork) &&
		    x64_hook_asks(HOOK_BEHIND, SYS_clone3) &&
		    x64_hook_asks(HOOK_BEHIND, SYS_rt_sigaction) &&
		    !x64_hook_asks(HOOK_BEHIND, SYS_openat) &&
		    !x64_hook_asks(HOOK_BEHIND, SYS_setuid));
}

/* --- telling of jumps */

/* what a hook before a jump shows */
struct jump_shown {
	const uint8_t *back;
	uint64_t pushed;
};

static struct jump_shown jump_seen;
static const void *about_seen;

__attribute__((target("general-regs-only")))
static void on_indirect(const struct jump_shown *j, const void *h,
			const void *about)
{
	jump_seen = *j;
	told = h;
	about_seen = about;
	asks++;
	__asm__ volatile("xor %%ecx, %%ecx\n xor %%r11d, %%r11d\n"
			 "mov $1, %%eax\n mov $2, %%edx\n mov $3, %%esi\n"
			 "mov $4, %%r8d\n mov $5, %%r9d\n mov $6, %%r10d\n"
			 : : : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			       "r11", "cc");
}

/* tells of `t`, with the machine as given; what is pushed */
static uint64_t run_tell(const struct tell *t, struct machine m)
{
	static struct {
		uint64_t first[OFFSET / 8];
		void (*ask)(const struct jump_shown *j, const void *h,
			    const void *about);
	} launch_env;
	uint64_t at = address(room->code);
	struct machine before = m;
	uint8_t stack[MACHINE_STACK];
	void *h = &launch_env;
	size_t sp = m.reg[RSP] - address(room->stack);
	uint32_t what;

	launch_env.ask = on_indirect;
	memcpy(room->data + WORD_AT, &h, sizeof h);
	assert_true(x64_tell_hook(at + HOOK_AT, address(room->data + WORD_AT),
				  OFFSET, at + 77, room->code + HOOK_AT));
	assert_true(x64_tell(t, at, at + HOOK_AT, 255, room->code));
	memcpy(stack, room->stack, sizeof stack);
	asks = 0;
	machine_run(room, 0, X64_TELL_SIZE, &m);
	assert_int_equal(asks, 1);
	assert_true(told == h && about_seen == room->code + 77);
	assert_same(&m, &before, 0, 0);
	assert_memory_equal(stack + sp - RED_ZONE,
			    room->stack + sp - RED_ZONE,
			    sizeof stack - sp + RED_ZONE);
	memcpy(&what, jump_seen.back + 4, sizeof what);
	assert_true(what == (t->number << TELL_REG |
			     (t->table ? TELL_TABLE : 0)));
	return jump_seen.pushed;
}

/* jumps and calls, and what has to be in registers for them to be run */
static const struct {
	uint8_t code[10], len;
	int8_t base, index; /* -1: none */
	uint8_t scale;
	int32_t disp;
} jumps[] = {
	{{0xff, 0xe0}, 2, RAX, -1, 0, 0},		  /* jmp *%rax */
	{{0x41, 0xff, 0xd3}, 3, R11, -1, 0, 0},		  /* call *%r11 */
	{{0x3e, 0xff, 0xe2}, 3, RDX, -1, 0, 0},		  /* notrack jmp */
	{{0xff, 0x13}, 2, RBX, -1, 0, 1},		  /* call *(%rbx) */
	{{0xff, 0x50, 0x20}, 3, RAX, -1, 0, 0x20},
	{{0x41, 0xff, 0x54, 0x24, 0x10}, 5, R12, -1, 0, 0x10},
	{{0x41, 0xff, 0x65, 0xf8}, 4, R13, -1, 0, -8},
	{{0x48, 0xff, 0xa3, 0, 1, 0, 0}, 7, RBX, -1, 0, 0x100}, /* rex.W */
	{{0xff, 0x24, 0xcb}, 3, RBX, RCX, 8, 1},	  /* (%rbx,%rcx,8) */
	{{0x42, 0xff, 0x64, 0xcb, 0x18}, 5, RBX, R9, 8, 0x18},
	{{0x43, 0xff, 0xa4, 0xc7, 0, 2, 0, 0}, 8, R15, R8, 8, 0x200},
};

static void test_tell(void **state)
{
	uint8_t *base = room->data + 4096;

	(void)state;
	for (unsigned i = 0; i < sizeof jumps / sizeof *jumps; i++) {
		struct machine m = machine_random(room, &seed);
		struct insn in;
		struct tell t = {.code = jumps[i].code, .in = &in,
				 .number = 0x1234567 + i};
		uint64_t want = splitmix(&seed), read = 0;
		regset reads;

		isa_x64.decode(jumps[i].code, jumps[i].len, 0x1000, &in);
		assert_int_equal(in.len, jumps[i].len);
		assert_true(x64_jump_reads(jumps[i].code, &in, &reads));
		read |= REG(jumps[i].base);
		if (jumps[i].index >= 0) {
			read |= REG(jumps[i].index);
			m.reg[jumps[i].index] = 5;
		}
		assert_true(reads == read);
		if (!jumps[i].disp) {
			m.reg[jumps[i].base] = want;
		} else {
			int64_t d = (jumps[i].disp == 1 ? 0 : jumps[i].disp) +
				    jumps[i].scale * 5;

			m.reg[jumps[i].base] = address(base);
			memcpy(base + d, &want, sizeof want);
		}
		assert_true(run_tell(&t, m) == want);
	}
}

/* by the stack pointer, which may be lower than where the jump has it */
static void test_tell_by_stack(void **state)
{
	static const struct {
		uint8_t code[8], len;
		int32_t disp;
	} by_stack[] = {
		{{0xff, 0x24, 0x24}, 3, 0},		 /* jmp *(%rsp) */
		{{0xff, 0x54, 0x24, 8}, 4, 8},		 /* call *8(%rsp) */
		{{0x42, 0xff, 0x54, 0xcc, 0xf0}, 5, 24}, /* r9 is 5 */
		{{0xff, 0xa4, 0x24, 0x80, 0, 0, 0}, 7, 128},
	};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct tell t = {.code = by_stack[i / 2].code, .number = i,
				 .depth = i % 2 * 144};
		struct machine m = machine_random(room, &seed);
		uint64_t want = splitmix(&seed);
		struct insn in;
		regset reads;

		isa_x64.decode(t.code, by_stack[i / 2].len, 0x1000, &in);
		t.in = &in;
		assert_true(x64_jump_reads(t.code, &in, &reads));
		assert_true(reads == (i / 2 == 2 ? REG(R9) : 0));
		m.reg[R9] = 5;
		m.reg[RSP] -= 512;
		memcpy(room->stack + (m.reg[RSP] - address(room->stack)) +
			       t.depth + by_stack[i / 2].disp,
		       &want, sizeof want);
		assert_true(run_tell(&t, m) == want);
	}
}

/* by the instruction's own address, and by what is not told of */
static void test_tell_more(void **state)
{
	static const uint8_t by_rip[] = {0xff, 0x15, 0, 0, 0, 0};
	/* by rsp itself, and by its lower half */
	static const uint8_t untold[][4] = {{0xff, 0xe4},
					    {0x67, 0xff, 0x24, 0x24}};
	struct tell t = {.code = by_rip, .number = 3};
	uint64_t want = splitmix(&seed);
	struct insn in;
	regset reads;

	(void)state;
	memcpy(room->data + 64, &want, sizeof want);
	isa_x64.decode(by_rip, sizeof by_rip, address(room->data + 64) - 6,
		       &in);
	t.in = &in;
	assert_true(x64_jump_reads(by_rip, &in, &reads) && !reads);
	assert_true(run_tell(&t, machine_random(room, &seed)) == want);
	for (unsigned i = 0; i < 2; i++) {
		isa_x64.decode(untold[i], 4, 0, &in);
		assert_false(x64_jump_reads(untold[i], &in, &reads));
	}
	for (uint8_t r = 0; r < X64_NREGS; r++) {
		struct machine m = machine_random(room, &seed);

		if (r == RSP)
			continue;
		t = (struct tell){.table = true, .index = r, .number = r};
		assert_true(run_tell(&t, m) == m.reg[r]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tell),
		cmocka_unit_test(test_tell_by_stack),
		cmocka_unit_test(test_tell_more),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_takes),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_asked),
	};

	room = machine_room();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
