/*
 * qemu-touched: which memory the threads of an emulated program accessed, for
 * either machine (qemu_plugin.h):
 *
 *	qemu-ISA -plugin ./qemu-touched.so,out=OUT PROGRAM [ARG...]
 *
 * Files are those of step_trace.h, but records are others: of each instruction
 * that began {its address, 0}, then of each of its accesses {address, size and
 * TOUCHED_LOAD or TOUCHED_STORE, or both}. With further options signals arrive
 * meanwhile (interrupting.h).
 */
#include "interrupting.h"
#include "step_trace.h"
#include "touched.h"

enum { LOADS_AND_STORES = 3, WHAT_SHIFT = 16 };

typedef void access_cb(unsigned cpu, uint32_t info, uint64_t addr, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(
	struct qemu_plugin_insn *insn, void (*cb)(unsigned, void *), int flags,
	void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      access_cb *cb, int flags, int which,
				      void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t info);

static struct step_maps maps;
static __thread struct step_trace self;

static struct step_trace *trace_self(void)
{
	if (!self.open)
		step_trace_open(&self, plugin_out, getpid(), gettid());
	return &self;
}

/* the process is a copy from now on */
static void on_fork(void)
{
	step_trace_close(&self);
}

static void on_run(unsigned cpu, void *pc)
{
	(void)cpu;
	step_trace_add(trace_self(), (uintptr_t)pc, 0);
}

static void on_interrupted_run(unsigned cpu, void *pc)
{
	on_run(cpu, pc);
	interrupting_run();
}

/* qemu keeps what is done in the upper half of `info` */
static void on_access(unsigned cpu, uint32_t info, uint64_t addr, void *data)
{
	(void)cpu, (void)data;
	step_trace_add(trace_self(), addr,
		       1u << qemu_plugin_mem_size_shift(info) |
			       (info >> WHAT_SHIFT & LOADS_AND_STORES)
				       << TOUCHED_SHIFT);
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(insn);
		bool interrupted;

		pthread_mutex_lock(&plugin_lock);
		step_maps_look(&maps, plugin_out, getpid(), pc);
		interrupted = interrupting.every && interrupting_is_in(pc);
		pthread_mutex_unlock(&plugin_lock);
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, interrupted ? on_interrupted_run : on_run, 0,
			(void *)(uintptr_t)pc);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, 0,
						 LOADS_AND_STORES, NULL);
	}
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	if (!plugin_option(argc, argv, "out", plugin_out) ||
	    (argc > 1 && !interrupting_begin(id, argc, argv)))
		return -1;
	pthread_atfork(NULL, NULL, on_fork);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
