/*
 * qemu-insns: how many instructions an emulated program executes. A plugin of
 * qemu's user mode:
 *
 *	cc -shared -fPIC -o qemu-insns.so qemu-insns.c
 *	qemu-ISA -plugin ./qemu-insns.so,out=FILE PROGRAM [ARG...]
 *
 * FILE gets one line, the number. The declarations are qemu's plugin
 * interface, version 1, as in qemu-flow.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
typedef uint64_t plugin_id;

void qemu_plugin_register_vcpu_tb_trans_cb(
	plugin_id id, void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
					      int op, void *ptr, uint64_t imm);
void qemu_plugin_register_atexit_cb(plugin_id id,
				    void (*cb)(plugin_id, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);

EXPORT int qemu_plugin_version = 1;

static uint64_t executed;
static char out[4096];

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, 0 /* add */, &executed,
						 qemu_plugin_tb_n_insns(tb));
}

static void ended(plugin_id id, void *data)
{
	FILE *f = fopen(out, "w");

	(void)id;
	(void)data;
	if (!f)
		return;
	fprintf(f, "%" PRIu64 "\n", executed);
	fclose(f);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	if (argc < 1 || strncmp(argv[0], "out=", 4))
		return 1;
	snprintf(out, sizeof out, "%s", argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
