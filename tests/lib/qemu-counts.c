/*
 * qemu-counts: how often every stretch of straight code of an emulated
 * program ran. A plugin of qemu's user mode:
 *
 *	cc -shared -fPIC -o qemu-counts.so qemu-counts.c
 *	qemu-ISA -plugin ./qemu-counts.so,out=FILE PROGRAM [ARG...]
 *
 * FILE.PID, one per process, gets
 *
 *	ran<TAB>IMAGE<TAB>FIRST<TAB>IMAGE<TAB>LAST<TAB>COUNT
 *
 * with the addresses, as in the ELF file, of the first and last instruction.
 * Stretches overlap: an instruction ran as often as all that hold it. The
 * declarations are qemu's plugin interface, version 1, as in qemu-flow.c.
 */
#include <pthread.h>

#include "observe.h"

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;

void qemu_plugin_register_vcpu_tb_trans_cb(
	plugin_id id, void (*cb)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
					      int op, void *ptr, uint64_t imm);
void qemu_plugin_register_atexit_cb(plugin_id id,
				    void (*cb)(plugin_id, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(
	const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

struct stretch {
	uint64_t first, last, count;
	struct stretch *next;
};

static char out_name[PATH_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stretch *stretches;

static void on_translation(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct stretch *s = calloc(1, sizeof *s);

	(void)id;
	if (!s)
		abort();
	s->first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	s->last = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, n - 1));
	pthread_mutex_lock(&lock);
	s->next = stretches;
	stretches = s;
	pthread_mutex_unlock(&lock);
	qemu_plugin_register_vcpu_tb_exec_inline(tb, 0 /* add */, &s->count,
						 1);
}

static void on_end(plugin_id id, void *data)
{
	struct maps maps = {0};
	struct seen all = {0};
	char name[PATH_MAX + 16];
	FILE *f;

	(void)id, (void)data;
	snprintf(name, sizeof name, "%s.%d", out_name, getpid());
	f = fopen(name, "we");
	if (!f) {
		perror(name);
		return;
	}
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
	if (argc < 1 || strncmp(argv[0], "out=", 4))
		return 1;
	snprintf(out_name, sizeof out_name, "%s", argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
