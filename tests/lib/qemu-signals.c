/*
 * qemu-signals: signals that arrive anywhere in a program's code
 * (interrupting.h).
 *
 *	qemu-ISA -singlestep -plugin ./qemu-signals.so,out=OUT,in=NAME,
 *		every=N,seed=N PROGRAM [ARG...]
 */
#include "interrupting.h"

static void on_run(unsigned vcpu, void *data)
{
	(void)vcpu, (void)data;
	interrupting_run();
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	uint64_t first, last;

	(void)id;
	plugin_bounds(tb, &first, &last);
	pthread_mutex_lock(&plugin_lock);
	if (interrupting_is_in(first))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_run, 0, NULL);
	pthread_mutex_unlock(&plugin_lock);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	(void)info;
	if (!plugin_option(argc, argv, "out", plugin_out) ||
	    !interrupting_begin(id, argc, argv))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
