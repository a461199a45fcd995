/*
 * gate: stands in for gates on x86-64, whose code is not moved yet. As a
 * preloaded library it puts a call in the place of the system calls execve
 * and execveat in the C library, and asks the audit module as a gate does
 * (src/isa/a64/gate.c). What the module and tally do then is the real thing.
 *
 * tests/lib/launch.py adds the entry of the dynamic section by which the
 * module finds `gate_passport`.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* a passport whose word is the one behind it */
struct {
	uint64_t magic;
	int64_t word, counters;
	uint64_t ncounter;
	uint8_t id[16];
	void *gate_word;
} gate_passport = {.magic = UINT64_C(0x3173736170796c74), .word = 48};
extern void *gate_word;
__asm__(".globl gate_word\n.set gate_word, gate_passport + 48\n");
void gate_execve(void), gate_execveat(void);

__asm__(".text\n"
	"gate_execve: mov $59, %eax\n"
	"jmp 1f\n"
	"gate_execveat: mov $322, %eax\n"
	"1: push %rbp\n"
	"mov %rsp, %rbp\n"
	"and $-16, %rsp\n"
	"sub $64, %rsp\n"
	"mov %rdi, (%rsp)\n"
	"mov %rsi, 8(%rsp)\n"
	"mov %rdx, 16(%rsp)\n"
	"mov %r10, 24(%rsp)\n"
	"mov %r8, 32(%rsp)\n"
	"mov %r9, 40(%rsp)\n"
	"mov %rax, 48(%rsp)\n"
	"mov gate_word@GOTPCREL(%rip), %rax\n"
	"mov (%rax), %rsi\n"
	"test %rsi, %rsi\n"
	"jz 2f\n"
	"mov %rsp, %rdi\n"
	"call *8(%rsi)\n"
	"2: mov (%rsp), %rdi\n"
	"mov 8(%rsp), %rsi\n"
	"mov 16(%rsp), %rdx\n"
	"mov 24(%rsp), %r10\n"
	"mov 32(%rsp), %r8\n"
	"mov 40(%rsp), %r9\n"
	"mov 48(%rsp), %rax\n"
	"leave\n"
	"syscall\n"
	"ret\n");

/* mov $number, %eax; syscall */
static void patch(uint8_t *text, size_t n, uint32_t number, void (*to)(void))
{
	uint8_t want[7] = {0xb8, (uint8_t)number, (uint8_t)(number >> 8), 0, 0,
			   0x0f, 0x05};

	for (uint8_t *p = text; p + 7 <= text + n; p++)
		if (!memcmp(p, want, 7)) {
			int32_t d = (int32_t)((uint8_t *)to - (p + 5));

			p[0] = 0xe8; /* call; nop */
			memcpy(p + 1, &d, 4);
			memcpy(p + 5, "\x66\x90", 2);
		}
}

static int patch_object(struct dl_phdr_info *i, size_t size, void *libc)
{
	(void)size;
	if (i->dlpi_addr != (uintptr_t)libc)
		return 0;
	for (int k = 0; k < i->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &i->dlpi_phdr[k];
		uint8_t *at = (uint8_t *)i->dlpi_addr + p->p_vaddr;
		uint8_t *page = (uint8_t *)((uintptr_t)at & -4096);
		size_t n = (size_t)(at + p->p_memsz - page);

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		mprotect(page, n, PROT_READ | PROT_WRITE | PROT_EXEC);
		patch(at, p->p_memsz, 59, gate_execve);
		patch(at, p->p_memsz, 322, gate_execveat);
		mprotect(page, n, PROT_READ | PROT_EXEC);
	}
	return 1;
}

__attribute__((constructor))
static void begin(void)
{
	Dl_info d;

	if (dladdr((void *)execve, &d))
		dl_iterate_phdr(patch_object, d.dli_fbase);
}
