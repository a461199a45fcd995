/*
 * qemu-steps: what the threads of an emulated program did, as step_trace.h
 * says, for either machine on any host (qemu_plugin.h).
 *
 *	qemu-ISA -singlestep -plugin ./qemu-steps.so,out=OUT PROGRAM [ARG...]
 *
 * With -singlestep each instruction is a stretch of its own, and between two
 * of them all registers of the guest are in memory. The interface has no way
 * to read them; but code that qemu generates has their address in one register
 * of the host, always the same, which functions that it calls keep. So it is
 * taken from there at the beginning of each stretch; where the program counter
 * that one finds is not the stretch's, this is not so, and the run is ended.
 *
 * A handler begins at an address that rt_sigaction was told, with code as
 * return address that does rt_sigreturn. What comes before an exec is told,
 * and what the other program does is not; qemu starts a new one for it.
 */
#include "qemu_plugin.h"
#include "step_trace.h"

enum {
	/* of the guest's registers, from where qemu has them: 8 bytes each */
	X64_SP = 4, X64_DI = 7, X64_PC = 16, X64_SIGRETURN = 15,
	A64_X0 = 8, A64_LINK = 38, A64_SP = 39, A64_PC = 40,
	A64_SIGRETURN = 139
};

/* an instruction */
struct code {
	uint64_t pc;
	bool repeats, handles;
};

struct thread {
	struct step_trace trace;
	uint64_t last;
	int tid;
};

static bool x86;
static uint64_t handlers[256];
static unsigned nhandlers;
static struct step_maps maps;
static __thread struct thread self;
static __thread bool left; /* there was an rt_sigreturn */


static bool is_sigreturn(uint64_t at)
{
	static const uint8_t x64[] = {0x48, 0xc7, 0xc0, X64_SIGRETURN, 0, 0, 0,
				      0x0f, 0x05};
	static const uint32_t a64[] = {0xd2801168, 0xd4000001};
	const void *code = (const void *)(uintptr_t)at;

	return x86 ? !memcmp(code, x64, sizeof x64) :
		     !memcmp(code, a64, sizeof a64);
}

/* the kernel called it: the number of the signal; 0: the program did */
static uint64_t signal_of(const uint64_t *reg)
{
	uint64_t back = x86 ? *(const uint64_t *)(uintptr_t)reg[X64_SP] :
			      reg[A64_LINK];

	if (!is_sigreturn(back))
		return 0;
	return reg[x86 ? X64_DI : A64_X0];
}

static struct thread *thread_self(void)
{
	if (!self.trace.open) {
		self.tid = gettid();
		step_trace_open(&self.trace, plugin_out, getpid(), self.tid);
	}
	return &self;
}

/* the process is a copy from now on */
static void on_fork(void)
{
	int parent = self.tid;
	uint64_t n = self.trace.n;

	step_trace_close(&self.trace);
	step_trace_forked(&thread_self()->trace, parent, n);
}

/* an instruction is about to run */
__attribute__((used))
static void on_run(const struct code *now, const uint64_t *reg)
{
	struct thread *t = thread_self();
	uint64_t sp = reg[x86 ? X64_SP : A64_SP];
	uint64_t sig = now->handles ? signal_of(reg) : 0;

	if (reg[x86 ? X64_PC : A64_PC] != now->pc) {
		fprintf(stderr, "qemu-steps: no registers\n");
		_exit(125);
	}
	if (left)
		step_trace_add(&t->trace, STEP_SIGRETURN, 0);
	left = false;
	if (sig)
		step_trace_add(&t->trace, STEP_SIGNAL, sig);
	if (now->repeats && t->last == now->pc && !sig)
		return;
	t->last = now->pc;
	step_trace_add(&t->trace, now->pc, sp);
}

/* what generated code calls: the registers are where it has them */
void on_stretch(unsigned vcpu, void *data);
__asm__(".text\n"
	".type on_stretch, %function\n"
	"on_stretch:\n"
#if defined(__aarch64__)
	"mov x0, x1\n"
	"mov x1, x19\n"
	"b on_run\n"
#elif defined(__x86_64__)
	"mov %rsi, %rdi\n"
	"mov %rbp, %rsi\n"
	"jmp on_run\n"
#endif
	".size on_stretch, . - on_stretch\n");

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	struct code *c = calloc(1, sizeof *c);
	uint64_t last;

	(void)id;
	if (!c)
		abort();
	plugin_bounds(tb, &c->pc, &last);
	if (last != c->pc) {
		fprintf(stderr, "qemu-steps: where is -singlestep?\n");
		_exit(125);
	}
	pthread_mutex_lock(&plugin_lock);
	step_maps_look(&maps, plugin_out, getpid(), c->pc);
	for (unsigned i = 0; i < nhandlers; i++)
		c->handles |= handlers[i] == c->pc;
	pthread_mutex_unlock(&plugin_lock);
	c->repeats = x86 && plugin_repeats(tb);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_stretch, 0, c);
}

static void note_handler(uint64_t action)
{
	if (!action)
		return;
	pthread_mutex_lock(&plugin_lock);
	if (nhandlers < sizeof handlers / sizeof *handlers)
		memcpy(&handlers[nhandlers++], (void *)(uintptr_t)action, 8);
	pthread_mutex_unlock(&plugin_lock);
}

static void on_syscall(plugin_id id, unsigned vcpu, int64_t number,
		       uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		       uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)vcpu, (void)a, (void)c, (void)d, (void)e;
	(void)f, (void)g, (void)h;
	left = number == (x86 ? X64_SIGRETURN : A64_SIGRETURN);
	if (number == (x86 ? 13 : 134))
		note_handler(b);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	x86 = plugin_is_x64(info);
	if (!plugin_option(argc, argv, "out", plugin_out))
		return -1;
	pthread_atfork(NULL, NULL, on_fork);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	return 0;
}
