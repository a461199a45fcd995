/*
 * qemu-addresses: where instructions of an emulated program access memory
 * (qemu_plugin.h), in qemu's own log, between the registers:
 *
 *	qemu-ISA -singlestep -d cpu,nochain,plugin -D LOG
 *	    -plugin ./qemu-addresses.so,from=A,to=B,most=N PROGRAM
 *
 * At most N instructions at addresses from A to B, without B, are told of; then
 * the program ends. -dfilter A+LENGTH leaves the others' registers out. An
 * instruction is told by "@ ADDRESS BYTES", each of its accesses by "! WHAT
 * ADDRESS SIZE", where WHAT is 1 for a load, 2 for a store and 3 for both. All
 * but SIZE and WHAT are hexadecimal.
 *
 * tests/tools/compare-accesses.c reads this. For programs of one thread.
 */
#include "qemu_plugin.h"

enum { LINE = 128, OF_LOADS_AND_STORES = 3, WHAT_SHIFT = 16 };

typedef void access_cb(unsigned cpu, uint32_t info, uint64_t addr, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(
	struct qemu_plugin_insn *insn, void (*cb)(unsigned, void *), int flags,
	void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      access_cb *cb, int flags, int which,
				      void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
void qemu_plugin_outs(const char *line);

static uint64_t from, to, most, told;

static void starts(unsigned cpu, void *line)
{
	(void)cpu;
	if (told++ >= most)
		_exit(0);
	qemu_plugin_outs(line);
}

/* qemu keeps what is done in the upper half of `info` */
static void accesses(unsigned cpu, uint32_t info, uint64_t addr, void *data)
{
	char line[LINE];

	(void)cpu, (void)data;
	snprintf(line, sizeof line, "! %u %" PRIx64 " %u\n",
		 info >> WHAT_SHIFT & OF_LOADS_AND_STORES, addr,
		 1u << qemu_plugin_mem_size_shift(info));
	qemu_plugin_outs(line);
}

/* the line that tells of an instruction */
static char *line_of(const struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_data(insn);
	char *line = malloc(LINE);
	int n = snprintf(line, LINE, "@ %" PRIx64 " ",
			 qemu_plugin_insn_vaddr(insn));

	for (size_t i = 0; i < qemu_plugin_insn_size(insn); i++)
		n += snprintf(line + n, LINE - (size_t)n, "%02x", bytes[i]);
	snprintf(line + n, LINE - (size_t)n, "\n");
	return line;
}

/* single steps: only the first instruction is executed */
static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, 0);
	uint64_t addr = qemu_plugin_insn_vaddr(insn);

	(void)id;
	if (addr < from || addr >= to)
		return;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, starts, 0, line_of(insn));
	qemu_plugin_register_vcpu_mem_cb(insn, accesses, 0,
					 OF_LOADS_AND_STORES, NULL);
}

/* the number that an option gives; false if it does not */
static bool number(int argc, char **argv, const char *name, uint64_t *out)
{
	char value[PATH_MAX];

	if (!plugin_option(argc, argv, name, value))
		return false;
	*out = strtoull(value, NULL, 0);
	return true;
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	if (!number(argc, argv, "from", &from) ||
	    !number(argc, argv, "to", &to) ||
	    !number(argc, argv, "most", &most))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
