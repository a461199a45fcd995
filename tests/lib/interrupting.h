/*
 * interrupting: signals that arrive anywhere in a program's code, for plugins of
 * qemu with options in=NAME,every=N,seed=N.
 *
 * With -singlestep a signal that is sent to the thread as it begins an
 * instruction arrives behind it. Of instructions of files that are called NAME
 * one of N, on average, is followed by SIGUSR1, between one getppid() of the
 * program and the next. Until its handler has returned there is no other.
 */
#ifndef TEST_INTERRUPTING_H
#define TEST_INTERRUPTING_H

#include <signal.h>
#include <sys/syscall.h>

#include "qemu_plugin.h"
#include "splitmix.h"

enum { A64_GETPPID = 173, A64_SIGRETURN = 139 };

static struct {
	struct maps maps;
	char in[PATH_MAX];
	uint64_t every, state, sent;
	bool armed;
} interrupting;
static __thread bool interrupting_waits;

/* an instruction of the file begins */
static inline void interrupting_run(void)
{
	if (!interrupting.armed || interrupting_waits ||
	    splitmix(&interrupting.state) % interrupting.every)
		return;
	interrupting_waits = true;
	interrupting.sent++;
	syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
}

/* is the instruction one of the file? */
static inline bool interrupting_is_in(uint64_t pc)
{
	const struct map *m = maps_find(&interrupting.maps, pc);
	const char *name;

	if (!m) {
		maps_free(&interrupting.maps);
		maps_read(&interrupting.maps, "/proc/self/maps");
		m = maps_find(&interrupting.maps, pc);
	}
	name = m ? strrchr(m->path, '/') : NULL;
	return name && !strcmp(name + 1, interrupting.in);
}

static inline void interrupting_syscall(plugin_id id, unsigned vcpu,
					int64_t number, uint64_t a, uint64_t b,
					uint64_t c, uint64_t d, uint64_t e,
					uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)vcpu, (void)a, (void)b, (void)c, (void)d, (void)e;
	(void)f, (void)g, (void)h;
	if (number == A64_GETPPID)
		interrupting.armed = !interrupting.armed;
	if (number == A64_SIGRETURN)
		interrupting_waits = false;
}

/* OUT.PID gets the number of those that were sent */
static inline void interrupting_end(plugin_id id, void *data)
{
	FILE *f = plugin_open();

	(void)id, (void)data;
	if (!f)
		return;
	fprintf(f, "%" PRIu64 "\n", interrupting.sent);
	fclose(f);
}

/* false: the options do not ask for it */
static inline bool interrupting_begin(plugin_id id, int argc, char **argv)
{
	char value[PATH_MAX];

	if (!plugin_option(argc, argv, "in", interrupting.in) ||
	    !plugin_option(argc, argv, "every", value))
		return false;
	interrupting.every = strtoull(value, NULL, 10);
	if (!plugin_option(argc, argv, "seed", value))
		return false;
	interrupting.state = strtoull(value, NULL, 10);
	qemu_plugin_register_vcpu_syscall_cb(id, interrupting_syscall);
	qemu_plugin_register_atexit_cb(id, interrupting_end, NULL);
	return interrupting.every;
}

#endif
