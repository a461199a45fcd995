/*
 * qemu-insns: how many instructions an emulated program executes
 * (qemu_plugin.h). FILE gets one line, the number.
 */
#include "qemu_plugin.h"

static uint64_t executed;

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, PLUGIN_ADD, &executed,
						 qemu_plugin_tb_n_insns(tb));
}

static void ended(plugin_id id, void *data)
{
	FILE *f = plugin_create(plugin_out);

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
	return plugin_begin(id, argc, argv, translated, ended);
}
