/*
 * drmemtrace: entries of 12 bytes, as DynamoRIO's memory traces have them
 * (trace_entry_t of version 4): type, size, address. Here all threads are in
 * one file, as what readers get by a pipe; entries of threads tell them apart.
 */
#include "export/trace/code.h"
#include "export/trace/sinks.h"

enum entry_type {
	ENTRY_READ,
	ENTRY_WRITE,
	ENTRY_INSN = 10,
	ENTRY_JUMP,
	ENTRY_IJUMP,
	ENTRY_COND,
	ENTRY_CALL,
	ENTRY_ICALL,
	ENTRY_RETURN,
	ENTRY_THREAD = 22,
	ENTRY_THREAD_EXIT,
	ENTRY_PROCESS,
	ENTRY_HEADER,
	ENTRY_FOOTER,
	ENTRY_MARKER = 28,
};

/* of a marker its size says what its address means */
enum marker {
	MARKER_FILE = 9,
	MARKER_VERSION = 12,
};

enum {
	FORMAT = 4,
	FILE_INSNS_ONLY = 4,
	BYTES = 12,
};

struct drmemtrace {
	struct replay_sink is;
	FILE *to;
	struct code code;
};

static void put(struct drmemtrace *k, unsigned type, unsigned size,
		uint64_t address)
{
	const uint16_t head[2] = {(uint16_t)type, (uint16_t)size};
	uint8_t entry[BYTES];

	memcpy(entry, head, sizeof head);
	memcpy(entry + sizeof head, &address, sizeof address);
	fwrite(entry, 1, sizeof entry, k->to);
}

static unsigned type_of(const struct insn *x)
{
	switch (x->kind) {
	case INSN_JUMP:
		return ENTRY_JUMP;
	case INSN_IJUMP:
		return ENTRY_IJUMP;
	case INSN_COND:
		return ENTRY_COND;
	case INSN_CALL:
		return ENTRY_CALL;
	case INSN_ICALL:
		return ENTRY_ICALL;
	case INSN_RET:
		return ENTRY_RETURN;
	}
	return ENTRY_INSN;
}

/* 0 in the system: made up from its number in the trace */
static uint64_t thread_id(const struct trace_thread *t)
{
	return t->tid ? t->tid : (uint64_t)t->process << 20 | (t->thread + 1);
}

static void put_thread(struct drmemtrace *k, const struct trace_thread *t)
{
	const struct trace_process *p =
		trace_process(k->code.walks->file, t->process);

	put(k, ENTRY_THREAD, 0, thread_id(t));
	put(k, ENTRY_PROCESS, 0, p && p->pid ? p->pid : t->process);
}

/* what is not known is left out */
static void put_data(struct drmemtrace *k, const struct replay_data *d)
{
	if (!d->known || d->size == MEM_SIZE_UNKNOWN)
		return;
	if (d->kind != ACCESS_STORE)
		put(k, ENTRY_READ, d->size, d->address);
	if (d->kind != ACCESS_LOAD)
		put(k, ENTRY_WRITE, d->size, d->address);
}

static void put_block(struct drmemtrace *k, const struct replay_event *x)
{
	struct replay_accesses a = {.x = x};
	uint32_t n = x->step->first;
	struct replay_insn i;
	struct replay_data d;

	replay_insns(&i, x);
	for (; replay_insn_next(&i); n++) {
		put(k, type_of(code_insn(&k->code, x->step, n,
					 i.pc - x->step->base)),
		    i.size, i.pc);
		while (replay_data_next(&a, n, &d))
			put_data(k, &d);
	}
}

static void take(struct replay_sink *s, const struct replay_event *x)
{
	struct drmemtrace *k = (struct drmemtrace *)s;

	if (x->kind == REPLAY_THREAD)
		put_thread(k, x->thread);
	else if (x->kind == REPLAY_BLOCK)
		put_block(k, x);
	else if (x->kind == REPLAY_END)
		put(k, ENTRY_THREAD_EXIT, 0, thread_id(x->thread));
}

static void end(struct replay_sink *s)
{
	struct drmemtrace *k = (struct drmemtrace *)s;

	put(k, ENTRY_FOOTER, 0, 0);
	code_close(&k->code);
	mem_free(k);
}

struct replay_sink *sink_drmemtrace(FILE *to, const struct sink_options *o)
{
	struct drmemtrace *k = NEW_ARRAY(struct drmemtrace, 1);

	k->is = (struct replay_sink){take, end};
	k->to = to;
	code_open(&k->code, o->walks);
	put(k, ENTRY_HEADER, 0, FORMAT);
	put(k, ENTRY_MARKER, MARKER_VERSION, FORMAT);
	put(k, ENTRY_MARKER, MARKER_FILE, o->data ? 0 : FILE_INSNS_ONLY);
	return &k->is;
}
