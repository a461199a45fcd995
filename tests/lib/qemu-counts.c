/*
 * qemu-counts: how often every instruction of an emulated program ran
 * (qemu_plugin.h). FILE.PID, one per process, gets
 *
 *	ran<TAB>IMAGE<TAB>ADDRESS<TAB>IMAGE<TAB>ADDRESS<TAB>COUNT
 *
 * with the address, twice, as in the ELF file. qemu translates stretches of
 * straight code, which overlap: an instruction ran as often as all that hold
 * it.
 */
#include "qemu_plugin.h"

struct code_range {
	struct code_range *next;
	uint64_t count;
	bool repeats, crosses; /* its first instruction */
	size_t n;
	uint64_t at[];
};

static bool x64;
static struct code_range *stretches;
static struct seen crossing; /* instructions in two pages */
static __thread const struct code_range *before;

/* a stretch begins to run, or a string instruction goes on */
static void on_run(unsigned vcpu, void *data)
{
	struct code_range *s = data;
	bool goes_on = s->repeats && before &&
		       before->at[before->n - 1] == s->at[0] &&
		       (before->n == 1 || !s->crosses);

	(void)vcpu;
	before = s;
	if (!goes_on)
		__atomic_fetch_add(&s->count, 1, __ATOMIC_RELAXED);
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct code_range *s = calloc(1, sizeof *s + n * sizeof *s->at);

	(void)id;
	if (!s)
		abort();
	s->n = n;
	for (size_t i = 0; i < n; i++)
		s->at[i] = qemu_plugin_insn_vaddr(
			qemu_plugin_tb_get_insn(tb, i));
	s->repeats = x64 && plugin_repeats(tb);
	s->crosses = plugin_crosses(tb);
	pthread_mutex_lock(&plugin_lock);
	if (s->crosses)
		seen_add(&crossing, s->at[0], s->at[0], 1);
	s->next = stretches;
	stretches = s;
	pthread_mutex_unlock(&plugin_lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_run, 0, s);
}

/* the stretch told of its instruction i, and did not run it */
static bool is_left_out(const struct code_range *s, size_t i)
{
	return i && i == s->n - 1 && crossing.n &&
	       seen_find(&crossing, s->at[i], s->at[i])->from;
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
	for (const struct code_range *s = stretches; s; s = s->next)
		for (size_t i = 0; i < s->n; i++)
			if (!is_left_out(s, i))
				seen_add(&all, s->at[i], s->at[i], s->count);
	seen_print(&all, &maps, f, "ran");
	fclose(f);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	x64 = plugin_is_x64(info);
	return plugin_begin(id, argc, argv, on_translation, on_end);
}
