/*
 * step_trace: what a thread did, one record for each instruction that it has
 * completed: where that was, and the stack pointer before it. Whoever steps
 * writes it (step-counts.c, qemu-steps.c); call_tree.py reads it.
 *
 *	OUT.steps.PID.TID	records {pc, sp}, 8 bytes each, up to one whose
 *				pc is 0: the file is longer than what was
 *				written, and is whole however a process ends
 *	OUT.maps.PID		START END DELTA PATH of code that is mapped, as
 *				it is met; DELTA is what an address in memory
 *				has more than that in the file
 *
 * A pc below STEP_MARKS is no instruction, but tells what the kernel did:
 *
 *	STEP_SIGNAL	the handler of signal sp begins with the next record
 *	STEP_SIGRETURN	the record before this was rt_sigreturn
 *	STEP_FORKED	the first: the thread is a process's copy of thread sp,
 *			which had STEP_FORKED_AT's sp records then
 */
#ifndef TEST_STEP_TRACE_H
#define TEST_STEP_TRACE_H

#include <sys/mman.h>

#include "observe.h"

enum {
	STEP_SIGNAL = 1,
	STEP_SIGRETURN,
	STEP_FORKED,
	STEP_FORKED_AT,
	STEP_MARKS = 16,
	STEP_CHUNK = 1 << 16 /* records */
};

struct step {
	uint64_t pc, sp;
};

struct step_trace {
	struct step *at; /* the last chunk, as it is mapped */
	uint64_t n;
	int fd;
	bool open;
};

/* code that is known to be mapped, and pages where there is none */
struct step_maps {
	struct maps known;
	uint64_t nowhere[8];
	unsigned next;
};

static inline void step_trace_open(struct step_trace *t, const char *out,
				   int pid, int tid)
{
	char name[PATH_MAX + 32];

	snprintf(name, sizeof name, "%s.steps.%d.%d", out, pid, tid);
	*t = (struct step_trace){.open = true};
	t->fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (t->fd < 0)
		abort();
}

static inline void step_trace_chunk(struct step_trace *t)
{
	const size_t size = STEP_CHUNK * sizeof *t->at;
	off_t at = (off_t)(t->n * sizeof *t->at);

	if (t->at)
		munmap(t->at, size);
	if (ftruncate(t->fd, at + (off_t)size))
		abort();
	t->at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, at);
	if (t->at == MAP_FAILED)
		abort();
}

static inline void step_trace_add(struct step_trace *t, uint64_t pc,
				  uint64_t sp)
{
	if (t->n % STEP_CHUNK == 0)
		step_trace_chunk(t);
	t->at[t->n++ % STEP_CHUNK] = (struct step){pc, sp};
}

static inline void step_trace_close(struct step_trace *t)
{
	if (t->at)
		munmap(t->at, STEP_CHUNK * sizeof *t->at);
	if (t->open)
		close(t->fd);
	*t = (struct step_trace){0};
}

/* the thread is a copy of one whose trace is another */
static inline void step_trace_forked(struct step_trace *t, int parent,
				     uint64_t at)
{
	step_trace_add(t, STEP_FORKED, (uint64_t)parent);
	step_trace_add(t, STEP_FORKED_AT, at);
}

/* all code that is mapped now is written down, if this is news */
static inline void step_maps_look(struct step_maps *m, const char *out,
				  int pid, uint64_t pc)
{
	char name[PATH_MAX + 32];
	FILE *f;

	for (unsigned i = 0; i < 8; i++)
		if (m->nowhere[i] == pc >> 12)
			return;
	if (maps_find(&m->known, pc))
		return;
	maps_free(&m->known);
	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	maps_read(&m->known, name);
	if (!maps_find(&m->known, pc)) {
		m->nowhere[m->next++ % 8] = pc >> 12;
		return;
	}
	snprintf(name, sizeof name, "%s.maps.%d", out, pid);
	f = fopen(name, "ae");
	for (size_t i = 0; f && i < m->known.n; i++) {
		const struct map *x = &m->known.at[i];

		fprintf(f, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n",
			x->start, x->end, x->delta, x->path);
	}
	if (f)
		fclose(f);
}

#endif
