/* view: see view.h. */
#include "launch/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "count/profile/live_walk.h"

enum {
	RECORDS = 4096,	     /* frame records looked at, at most */
	IMAGES_MOST = 65536, /* objects of a process */
};

/* --- memory of the process */

static _Bool peek(const struct counting *c, const void *at, void *to, size_t n)
{
	const struct view *v = (const struct view *)c;
	struct iovec local = {to, n};
	struct iovec remote = {(void *)(uintptr_t)at, n}; /* not in here */
	const char *from = at;
	long *word = to;
	ssize_t got;

	/* where chains of frames end */
	if (!at)
		return false;
	got = process_vm_readv(v->tid, &local, 1, &remote, 1, 0);
	if (got >= 0 || errno == EFAULT)
		return got == (ssize_t)n;
	/* sandboxes allow a tracer the slow way only */
	for (size_t i = 0; i < n / sizeof *word; i++) {
		errno = 0;
		word[i] = ptrace(PTRACE_PEEKDATA, v->tid,
				 from + i * sizeof *word, NULL);
		if (errno)
			return false;
	}
	return true;
}

/* the last number behind a key of /proc/TID/status, 0: there is none */
long view_status(pid_t tid, const char *key)
{
	char name[64], line[512];
	size_t n = strlen(key);
	long found = 0;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%ld/status", (long)tid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (!found && fgets(line, sizeof line, f)) {
		char *last = strrchr(line, '\t');

		if (!strncmp(line, key, n) && last)
			found = strtol(last + 1, NULL, 10);
	}
	fclose(f);
	return found;
}

/* --- its chunk */

uint64_t view_find_chunk(int profile, uint32_t pid)
{
	struct chunk_process k;
	struct live_walk w;
	uint64_t found = 0;

	if (!live_walk_begin(&w, profile))
		return 0;
	while (live_walk_next_sound(&w))
		if (w.chunk.kind == CHUNK_PROCESS &&
		    live_read(profile, w.at, &k,
			      offsetof(struct chunk_process, end)) &&
		    k.pid == pid)
			found = w.at;
	return found;
}

bool view_open(struct view *v, pid_t tid, struct chunk_process *k)
{
	struct counting *c = &v->c;
	void *image;

	v->tid = tid;
	if (!peek(c, (const void *)(uintptr_t)k->here, c, sizeof *c) ||
	    c->number != k->chunk.process || c->pid != k->pid ||
	    c->image.n > IMAGES_MOST)
		return false;
	c->process = k;
	c->peek = peek;
	image = mem_alloc(c->image.n * sizeof(struct counted_image) + 1);
	if (!peek(c, c->image.at, image,
		  c->image.n * sizeof(struct counted_image))) {
		mem_free(image);
		return false;
	}
	c->image.at = image;
	return true;
}

void view_close(struct view *v)
{
	mem_free(v->c.image.at);
}

uint64_t view_highest(const struct view *v, unsigned event)
{
	uint64_t highest = 0;

	for (uint32_t i = 0; i < v->c.image.n; i++) {
		const struct counted_image *m = image_of(&v->c, i);
		struct object_header h;
		uint64_t most;

		if (m->state == IMAGE_GONE ||
		    !peek(&v->c, m->object_header, &h, sizeof h))
			continue;
		most = event ? h.high - h.low : h.highest;
		highest = most > highest ? most : highest;
	}
	return highest;
}

/* --- the thread */

/* has it said so itself? Numbers are those that it knows */
static bool has_said(const struct view *v)
{
	uint32_t own = v->c.nsaid ?
			       (uint32_t)view_status(v->tid, "NSpid:") : 0;

	for (uint32_t i = 0; i < v->c.nsaid && i < SAID; i++)
		if (v->c.said[i] == own)
			return true;
	return false;
}

/* what a handler interrupted ends, too, unless it has returned */
static void note_handler(const struct view *v, const struct interruption *x)
{
	unsigned long context[ARCH_UC_WORDS];

	if (!handler_is_intact(&v->c, x, context))
		return;
	if (ARCH_FRAME_RECORDS || v->c.sees_returns)
		place_note(&v->c, x->thread, context, 1);
	else
		note_begins(v->c.process); /* and never ends */
}

/* those whose frames are among the thread's */
static void note_records(const struct view *v, const struct watch_regs *r)
{
	const struct frame *f = (const void *)arch_frame(r->context);
	struct frame copy;

	for (unsigned i = 0; i < RECORDS; i++, f = copy.next) {
		const struct interruption *x;

		if ((uintptr_t)f % sizeof copy.back ||
		    !peek(&v->c, f, &copy, sizeof copy))
			return;
		x = handler_find(&v->c, r->thread, f);
		if (x)
			note_handler(v, x);
	}
}

/* those that lie above where its stack is */
static void note_above(const struct view *v, const struct watch_regs *r)
{
	const struct frame *f = (const void *)arch_frame(r->context);

	for (unsigned i = 0; i < INTERRUPTIONS; i++) {
		const struct interruption *x = &v->c.interruption[i];

		if (x->thread == r->thread && x->record >= f)
			note_handler(v, x);
	}
}

bool view_is_own(const struct view *v, uintptr_t pc)
{
	return pc >= v->c.own_code && pc < v->c.own_code_end;
}

bool view_is_interrupted(const struct view *v, uintptr_t sp)
{
	unsigned long context[ARCH_UC_WORDS];

	for (unsigned i = 0; i < INTERRUPTIONS; i++) {
		const struct interruption *x = &v->c.interruption[i];

		if (x->thread && (uintptr_t)x->record >= sp &&
		    handler_is_intact(&v->c, x, context))
			return true;
	}
	return false;
}

void view_note(const struct view *v, const struct watch_regs *r)
{
	if (has_said(v))
		return;
	note_begins(v->c.process);
	/* a thread that waits in a system call has left its block, unless the
	   call is the runtime's own */
	if (!r->in_call || view_is_own(v, arch_pc(r->context)))
		place_note(&v->c, r->thread, r->context, 1);
	if (ARCH_FRAME_RECORDS)
		note_records(v, r);
	else
		note_above(v, r);
	note_ends(v->c.process);
}
