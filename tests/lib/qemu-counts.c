/*
 * qemu-counts: how often every stretch of straight code of an emulated
 * program ran (qemu_plugin.h). FILE.PID, one per process, gets
 *
 *	ran<TAB>IMAGE<TAB>FIRST<TAB>IMAGE<TAB>LAST<TAB>COUNT
 *
 * with the addresses, as in the ELF file, of the first and last instruction.
 * Stretches overlap: an instruction ran as often as all that hold it.
 */
#include "qemu_plugin.h"

struct stretch {
	uint64_t first, last, count;
	struct stretch *next;
};

static struct stretch *stretches;

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	struct stretch *s = calloc(1, sizeof *s);

	(void)id;
	if (!s)
		abort();
	plugin_bounds(tb, &s->first, &s->last);
	pthread_mutex_lock(&plugin_lock);
	s->next = stretches;
	stretches = s;
	pthread_mutex_unlock(&plugin_lock);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, PLUGIN_ADD, &s->count, 1);
}

static void on_end(plugin_id id, void *data)
{
	struct maps maps = {0};
	struct seen all = {0};
	FILE *f = plugin_open();

	(void)id, (void)data;
	if (!f)
		return;
	maps_read(&maps, "/proc/self/maps");
	for (const struct stretch *s = stretches; s; s = s->next)
		seen_add(&all, s->first, s->last, s->count);
	seen_print(&all, &maps, f, "ran");
	fclose(f);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	if (!plugin_option(argc, argv, "out", plugin_out))
		return 1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
