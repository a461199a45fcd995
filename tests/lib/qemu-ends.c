/*
 * qemu-ends: how often every stretch of straight code of an emulated program
 * was begun, also if a signal ends it (qemu_plugin.h):
 *
 *	qemu-ISA -singlestep -plugin ./qemu-ends.so,out=FILE,exe=EXE EXE [ARG..]
 *
 * qemu tells nobody that a signal ended its program. So the counts are in
 * FILE.PID from the beginning, one file per process: three words each, first
 * and last address, as in the ELF file, and count. A child counts from 0. With
 * -singlestep every instruction is a stretch; one that faults was begun.
 */
#include <sys/mman.h>

#include "qemu_plugin.h"

enum { STRETCHES = 1 << 20 };

struct code_range {
	uint64_t first, last, count;
};

static char exe_name[PATH_MAX];
static struct code_range *stretches;
static size_t nstretch;
static __thread struct code_range *before; /* what began last */
static struct maps maps;
static bool x64;

/* memory that is this process's file, in place of what was there */
static void map_file(void)
{
	char name[PATH_MAX + 16];
	size_t size = STRETCHES * sizeof *stretches;
	int fd;

	plugin_name(name);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		abort();
	stretches = mmap(stretches, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | (stretches ? MAP_FIXED : 0), fd, 0);
	if (stretches == MAP_FAILED)
		abort();
	close(fd);
}

/* in a child: the same stretches, from 0 */
static void on_fork(void)
{
	struct code_range *old = malloc(nstretch * sizeof *old + 1);

	memcpy(old, stretches, nstretch * sizeof *old);
	map_file();
	for (size_t i = 0; i < nstretch; i++)
		stretches[i] =
			(struct code_range){old[i].first, old[i].last, 0};
	free(old);
}

/* how far the program is from where its file says, if the address is in it */
static bool is_inside(uint64_t addr, uint64_t *delta)
{
	const struct map *m = maps_find(&maps, addr);

	if (!m) {
		maps.n = 0;
		maps_read(&maps, "/proc/self/maps");
		m = maps_find(&maps, addr);
	}
	*delta = m ? m->delta : 0;
	return m && !strcmp(m->path, exe_name);
}

/* an instruction begins to run */
static void on_run(unsigned vcpu, void *data)
{
	(void)vcpu;
	before = data;
	__atomic_fetch_add(&before->count, 1, __ATOMIC_RELAXED);
}

/* the same, if it does not go on */
static void on_repeated_run(unsigned vcpu, void *data)
{
	if (before != data)
		on_run(vcpu, data);
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	uint64_t first, last, delta;

	(void)id;
	plugin_bounds(tb, &first, &last);
	pthread_mutex_lock(&plugin_lock);
	if (is_inside(first, &delta)) {
		struct code_range *s = &stretches[nstretch++];

		if (nstretch > STRETCHES)
			abort();
		*s = (struct code_range){first - delta, last - delta, 0};
		qemu_plugin_register_vcpu_tb_exec_cb(
			tb, x64 && plugin_repeats(tb) ? on_repeated_run :
							on_run, 0, s);
	}
	pthread_mutex_unlock(&plugin_lock);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	x64 = plugin_is_x64(info);
	if (!plugin_option(argc, argv, "out", plugin_out) ||
	    !plugin_option(argc, argv, "exe", exe_name))
		return 1;
	map_file();
	pthread_atfork(NULL, NULL, on_fork);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
