/*
 * qemu-signals: signals that arrive anywhere in a program's code.
 *
 *	qemu-ISA -singlestep -plugin ./qemu-signals.so,out=OUT,in=NAME,
 *		every=N,seed=N PROGRAM [ARG...]
 *
 * With -singlestep a signal that is sent to the thread as it begins an
 * instruction arrives behind it. Of instructions of files that are called NAME
 * one of N, on average, is followed by SIGUSR1, between one getppid() of the
 * program and the next. Until its handler has returned there is no other.
 * OUT.PID gets the number of those that were sent.
 */
#include <signal.h>
#include <sys/syscall.h>

#include "qemu_plugin.h"
#include "splitmix.h"

enum { A64_GETPPID = 173, A64_SIGRETURN = 139 };

static struct maps maps;
static char in[PATH_MAX];
static uint64_t every, state, sent;
static bool armed;
static __thread bool waits;

static void on_run(unsigned vcpu, void *data)
{
	(void)vcpu, (void)data;
	if (!armed || waits || splitmix(&state) % every)
		return;
	waits = true;
	sent++;
	syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
}

static bool is_in(uint64_t pc)
{
	const struct map *m = maps_find(&maps, pc);
	const char *name;

	if (!m) {
		maps_free(&maps);
		maps_read(&maps, "/proc/self/maps");
		m = maps_find(&maps, pc);
	}
	name = m ? strrchr(m->path, '/') : NULL;
	return name && !strcmp(name + 1, in);
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	uint64_t first, last;

	(void)id;
	plugin_bounds(tb, &first, &last);
	pthread_mutex_lock(&plugin_lock);
	if (is_in(first))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_run, 0, NULL);
	pthread_mutex_unlock(&plugin_lock);
}

static void on_syscall(plugin_id id, unsigned vcpu, int64_t number,
		       uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		       uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)vcpu, (void)a, (void)b, (void)c, (void)d, (void)e;
	(void)f, (void)g, (void)h;
	if (number == A64_GETPPID)
		armed = !armed;
	if (number == A64_SIGRETURN)
		waits = false;
}

static void on_end(plugin_id id, void *data)
{
	FILE *f = plugin_open();

	(void)id, (void)data;
	if (!f)
		return;
	fprintf(f, "%" PRIu64 "\n", sent);
	fclose(f);
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info,
			       int argc, char **argv)
{
	char number[PATH_MAX];

	(void)info;
	if (!plugin_option(argc, argv, "in", in) ||
	    !plugin_option(argc, argv, "every", number))
		return -1;
	every = strtoull(number, NULL, 10);
	if (!every || !plugin_option(argc, argv, "seed", number))
		return -1;
	state = strtoull(number, NULL, 10);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	return plugin_begin(id, argc, argv, on_translation, on_end);
}
