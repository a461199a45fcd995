/*
 * qemu-flow: every transfer of control of an emulated program, for either
 * machine on any host (qemu_plugin.h).
 *
 * qemu translates straight stretches of code: an indirect or conditional
 * jump, a call, a return, a system call ends one. So the last instruction of
 * one and the first of the next that runs are a transfer, and inside of it
 * instructions follow each other. FILE.PID, one per process, gets
 *
 *	flow<TAB>IMAGE<TAB>FROM<TAB>IMAGE<TAB>TO<TAB>COUNT
 *	run<TAB>IMAGE<TAB>FIRST<TAB>IMAGE<TAB>LAST<TAB>TIMES TRANSLATED
 *
 * with addresses as in the ELF file. Images are those mapped at the end.
 * Transfers into handlers that the program installed by rt_sigaction are left
 * out, and so are those after rt_sigreturn: the kernel made them.
 */
#include "qemu_plugin.h"

/* a stretch of straight code */
struct code_range {
	uint64_t first, last;
	bool handler; /* of a signal */
	bool crosses;
};

/* what one thread did */
struct thread {
	struct seen seen;
	const struct code_range *before;
	struct thread *next;
};

static int64_t sigreturn, sigaction_call; /* numbers of system calls */
static uint64_t handlers[256];
static unsigned nhandlers;
static struct thread *threads;
static struct seen runs;
static __thread struct thread *self;

/* this thread's record */
static struct thread *thread_self(void)
{
	if (!self) {
		self = calloc(1, sizeof *self);
		if (!self)
			abort();
		pthread_mutex_lock(&plugin_lock);
		self->next = threads;
		threads = self;
		pthread_mutex_unlock(&plugin_lock);
	}
	return self;
}

/* a stretch begins to run */
static void on_run(unsigned vcpu, void *data)
{
	const struct code_range *now = data;
	struct thread *t = thread_self();

	(void)vcpu;
	if (t->before && !now->handler &&
	    !(now->crosses && t->before->last == now->first))
		seen_add(&t->seen, t->before->last, now->first, 1);
	t->before = now;
}

/* a stretch was translated */
static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	struct code_range *s = malloc(sizeof *s);

	(void)id;
	if (!s)
		abort();
	plugin_bounds(tb, &s->first, &s->last);
	s->handler = false;
	s->crosses = plugin_crosses(tb);
	pthread_mutex_lock(&plugin_lock);
	for (unsigned i = 0; i < nhandlers; i++)
		s->handler |= handlers[i] == s->first;
	seen_add(&runs, s->first, s->last, 1);
	pthread_mutex_unlock(&plugin_lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_run, 0, s);
}

/* the program has a handler: the first word of what rt_sigaction is given */
static void note_handler(uint64_t action)
{
	uint64_t handler;

	if (!action)
		return;
	memcpy(&handler, (const void *)(uintptr_t)action, sizeof handler);
	pthread_mutex_lock(&plugin_lock);
	if (nhandlers < sizeof handlers / sizeof *handlers)
		handlers[nhandlers++] = handler;
	pthread_mutex_unlock(&plugin_lock);
}

static void on_syscall(plugin_id id, unsigned vcpu, int64_t number,
		       uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		       uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)vcpu, (void)a, (void)c, (void)d, (void)e;
	(void)f, (void)g, (void)h;
	if (number == sigreturn)
		thread_self()->before = NULL;
	else if (number == sigaction_call)
		note_handler(b);
}

/* writes everything down */
static void on_end(plugin_id id, void *data)
{
	struct maps maps = {0};
	FILE *f = plugin_open();

	(void)id, (void)data;
	if (!f)
		return;
	maps_read(&maps, "/proc/self/maps");
	pthread_mutex_lock(&plugin_lock);
	/* threads that still run go on into sets that nobody reads */
	for (struct thread *t = threads; t; t = t->next) {
		struct seen s = t->seen;

		t->seen = (struct seen){0};
		seen_print(&s, &maps, f, "flow");
	}
	seen_print(&runs, &maps, f, "run");
	pthread_mutex_unlock(&plugin_lock);
	fclose(f);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	bool x86 = plugin_is_x64(info);

	sigreturn = x86 ? 15 : 139;
	sigaction_call = x86 ? 13 : 134;
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	return plugin_begin(id, argc, argv, on_translation, on_end);
}
