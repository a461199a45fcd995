/*
 * qemu_plugin: what plugins of qemu's user mode share here. Each of them is one
 * file:
 *
 *	cc -shared -fPIC -o NAME.so NAME.c
 *	qemu-ISA -plugin ./NAME.so,out=FILE PROGRAM [ARG...]
 *
 * The few declarations are qemu's plugin interface, version 1
 * (include/qemu/qemu-plugin.h of qemu 4.2 and later), which Debian does not
 * package. Guest addresses are taken to be ours: qemu's guest_base is 0
 * wherever a 64-bit guest fits into a 64-bit host.
 */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <pthread.h>

#include "observe.h"
#include "repeated.h"

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;

void qemu_plugin_register_vcpu_tb_trans_cb(
	plugin_id id, void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(
	struct qemu_plugin_tb *tb, void (*cb)(unsigned, void *), int flags,
	void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
					      int op, void *ptr, uint64_t imm);
void qemu_plugin_register_vcpu_syscall_cb(
	plugin_id id, void (*cb)(plugin_id, unsigned, int64_t, uint64_t,
				 uint64_t, uint64_t, uint64_t, uint64_t,
				 uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(plugin_id id,
				    void (*cb)(plugin_id, void *),
				    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(
	const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

/* qemu's struct qemu_info_t begins so */
struct plugin_info {
	const char *machine; /* the guest's */
};

enum { PLUGIN_ADD = 0 }; /* of ..._exec_inline */

static char plugin_out[PATH_MAX];
__attribute__((unused))
static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;

/* the value of an option NAME=VALUE; false if it is not given */
static inline bool plugin_option(int argc, char **argv, const char *name,
				 char value[PATH_MAX])
{
	size_t n = strlen(name);

	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=') {
			snprintf(value, PATH_MAX, "%s", argv[i] + n + 1);
			return true;
		}
	fprintf(stderr, "where is %s=?\n", name);
	return false;
}

/*
 * What is done when code is translated, and when the program ends, whose option
 * out=FILE says where to; what qemu_plugin_install() returns.
 */
static inline int plugin_begin(
	plugin_id id, int argc, char **argv,
	void (*translated)(plugin_id, struct qemu_plugin_tb *),
	void (*ended)(plugin_id, void *))
{
	if (!plugin_option(argc, argv, "out", plugin_out))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}

/* the name of this process's file */
static inline void plugin_name(char name[PATH_MAX + 16])
{
	snprintf(name, PATH_MAX + 16, "%s.%d", plugin_out, getpid());
}

/* a file to be written; NULL, and a message */
static inline FILE *plugin_create(const char *name)
{
	FILE *f = fopen(name, "we");

	if (!f)
		perror(name);
	return f;
}

/* that of this process */
static inline FILE *plugin_open(void)
{
	char name[PATH_MAX + 16];

	plugin_name(name);
	return plugin_create(name);
}

/* the addresses of the first and the last instruction */
static inline void plugin_bounds(const struct qemu_plugin_tb *tb,
				 uint64_t *first, uint64_t *last)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	*first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	*last = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, n - 1));
}

/*
 * The first instruction lies in two pages. Then qemu, if it met it in a stretch,
 * ended that before it, but tells of it there as well.
 */
static inline bool plugin_crosses(const struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *i = qemu_plugin_tb_get_insn(tb, 0);
	uint64_t at = qemu_plugin_insn_vaddr(i);

	return at >> 12 != (at + qemu_plugin_insn_size(i) - 1) >> 12;
}

static inline bool plugin_is_x64(const struct plugin_info *info)
{
	return !strcmp(info->machine, "x86_64");
}

/* the code is a string instruction that repeats: qemu ends a stretch there */
static inline bool plugin_repeats(const struct qemu_plugin_tb *tb)
{
	return qemu_plugin_tb_n_insns(tb) == 1 &&
	       x64_is_repeated(qemu_plugin_insn_data(
		       qemu_plugin_tb_get_insn(tb, 0)));
}

#endif
