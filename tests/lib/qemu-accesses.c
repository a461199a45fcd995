/*
 * qemu-accesses: how many bytes of memory every instruction of an emulated
 * program reads and writes (qemu_plugin.h).
 *
 * FILE gets a line for each sequence of bytes that was executed as an
 * instruction: the bytes, then the least and the most bytes read by one
 * execution, and the least and the most written. For programs of one thread.
 * An instruction that was interrupted has done less.
 */
#include "qemu_plugin.h"

enum { BYTES_MAX = 16, BUCKETS = 1 << 20, OF_LOADS_AND_STORES = 3 };

/* one sequence of bytes, in a hash table; n is 0 where it is empty */
struct executed {
	uint8_t bytes[BYTES_MAX];
	uint32_t n;
	bool ran;
	uint64_t least[2], most[2]; /* of reads, of writes */
};

typedef void access_cb(unsigned cpu, uint32_t info, uint64_t addr, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(
	struct qemu_plugin_insn *insn, void (*cb)(unsigned, void *), int flags,
	void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      access_cb *cb, int flags, int which,
				      void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

static struct executed table[BUCKETS], *running;
static uint64_t so_far[2];

/* the entry of an instruction's bytes */
static struct executed *find(const struct qemu_plugin_insn *insn)
{
	const uint8_t *bytes = qemu_plugin_insn_data(insn);
	size_t n = qemu_plugin_insn_size(insn);
	uint64_t h = 1;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
	for (h >>= 40;; h++) {
		struct executed *e = &table[h % BUCKETS];

		if (!e->n) {
			e->n = (uint32_t)n;
			memcpy(e->bytes, bytes, n);
		}
		if (e->n == n && !memcmp(e->bytes, bytes, n))
			return e;
	}
}

/* the instruction that was running is done */
static void finish(void)
{
	struct executed *e = running;

	for (int i = 0; e && i < 2; i++) {
		if (!e->ran || so_far[i] < e->least[i])
			e->least[i] = so_far[i];
		if (!e->ran || so_far[i] > e->most[i])
			e->most[i] = so_far[i];
	}
	if (e)
		e->ran = true;
	so_far[0] = so_far[1] = 0;
}

static void starts(unsigned cpu, void *data)
{
	(void)cpu;
	finish();
	running = data;
}

static void accesses(unsigned cpu, uint32_t info, uint64_t addr, void *data)
{
	(void)cpu, (void)addr, (void)data;
	so_far[qemu_plugin_mem_is_store(info)] +=
		UINT64_C(1) << qemu_plugin_mem_size_shift(info);
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, starts, 0,
						       find(insn));
		qemu_plugin_register_vcpu_mem_cb(insn, accesses, 0,
						 OF_LOADS_AND_STORES, NULL);
	}
}

static void print(FILE *f, const struct executed *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		fprintf(f, "%02x", e->bytes[i]);
	fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		e->least[0], e->most[0], e->least[1], e->most[1]);
}

static void ended(plugin_id id, void *data)
{
	FILE *f = plugin_create(plugin_out);

	(void)id, (void)data;
	if (!f)
		return;
	finish();
	for (size_t i = 0; i < BUCKETS; i++)
		if (table[i].ran)
			print(f, &table[i]);
	fclose(f);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info;
	return plugin_begin(id, argc, argv, translated, ended);
}
