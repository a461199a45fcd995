/*
 * ends: where threads ended, and how the process did, in its chunk.
 *
 * What a thread counted tells everything if it ended in a call, a system call
 * too. In the middle of a block it does not: nobody knows where it was. A
 * signal that ends the process comes by way of us (signals.c), and the place
 * where it arrived is written down here. Who reads the profile finds out what
 * that means (count/ends.h): which increments were done, and whose block it
 * is.
 *
 * Other threads end where they are at that moment. In a system call that is
 * exact; if one was running, the chunk says so.
 */
#include "runtime/counting.h"

enum {
	NAMES = 512, /* bytes of a folder's names, read at once */
	TASK_NAME = 64,
};

/* is the address in the object's code? */
static _Bool is_inside(const struct counted_image *m, uintptr_t at)
{
	return m->state != IMAGE_GONE && at >= m->base + m->low &&
	       at < (uintptr_t)m->counters;
}

/* is the address in code that was written while the object ran? */
static _Bool is_in_room(const struct counted_image *m, uintptr_t at)
{
	return m->state != IMAGE_GONE && at >= m->room &&
	       at - m->room < (uintptr_t)m->nsite * ARCH_THREAD_ROOM;
}

/* the place of the file that such code stands for */
static uintptr_t out_of_room(const struct counted_image *m, uintptr_t at)
{
	const struct passport *p = m->passport;
	const int32_t *list = (const int32_t *)((char *)p + p->site);
	uint32_t i;
	_Bool counted = arch_in_room(at - m->room, &i);
	uintptr_t site = (uintptr_t)list + (uintptr_t)list[i];

	return counted ? site + ARCH_COUNT_SIZE : site;
}

/* the object in whose code the address is, NULL: none; *at as in its file */
static const struct counted_image *find_image(const struct counting *c,
					      uintptr_t *at)
{
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (is_in_room(m, *at))
			*at = out_of_room(m, *at);
		if (is_inside(m, *at))
			return m;
	}
	return NULL;
}

_Bool frame_readable(const struct frame *f)
{
	return !((uintptr_t)f % sizeof f->back) && sys_readable(f) &&
	       sys_readable(&f->back);
}

static uint64_t back_of(const struct counted_image *m, uintptr_t back)
{
	back = arch_plain(back);
	return is_inside(m, back) ? back - m->base : END_ELSEWHERE;
}

static void note_callers(const struct counted_image *m, const void *context,
			 uint64_t *back)
{
	const struct frame *f = (const void *)arch_frame(context);

	if (!ARCH_FRAME_RECORDS)
		return;
	back[0] = back_of(m, arch_link(context));
	for (unsigned i = 1; i < END_BACKS && frame_readable(f);
	     i++) {
		back[i] = back_of(m, f->back);
		if (f->next <= f)
			break;
		f = f->next;
	}
}

/* the same end, but for how often */
static _Bool same_end(const struct process_end *a, const struct process_end *b)
{
	_Bool same = a->address == b->address && a->counters == b->counters;

	for (unsigned i = 0; i < PROFILE_ID; i++)
		same &= a->id[i] == b->id[i];
	for (unsigned i = 0; i < END_BACKS; i++)
		same &= a->back[i] == b->back[i];
	return same;
}

/* notes an end, with those that were the same */
static void add_end(struct chunk_process *k, const struct process_end *e)
{
	struct process_end *x = k->end;
	uint32_t i;

	for (; x < k->end + PROCESS_ENDS; x++)
		if (__atomic_load_n(&x->count, __ATOMIC_ACQUIRE) &&
		    same_end(x, e)) {
			__atomic_fetch_add(&x->count, 1, __ATOMIC_RELAXED);
			return;
		}
	i = __atomic_fetch_add(&k->nend, 1, __ATOMIC_RELAXED);
	if (i >= PROCESS_ENDS) {
		k->nend = PROCESS_ENDS;
		k->lost = 1;
		return;
	}
	x = &k->end[i];
	__builtin_memcpy(x->id, e->id, sizeof x->id);
	__builtin_memcpy(x->back, e->back, sizeof x->back);
	x->address = e->address;
	x->counters = e->counters;
	__atomic_store_n(&x->count, 1, __ATOMIC_RELEASE);
}

void end_note(struct counting *c, const void *context)
{
	uintptr_t at = arch_pc(context);
	const struct counted_image *m = find_image(c, &at);
	struct process_end e = {.count = 1};

	if (!c->process)
		return;
	if (!m) {
		c->process->lost |= counting_holds(at);
		return;
	}
	__builtin_memcpy(e.id, m->id, sizeof e.id);
	e.address = at - m->base;
	e.counters = (uintptr_t)m->counters - m->base;
	note_callers(m, context, e.back);
	add_end(c->process, &e);
}

/* is the thread of that number, in decimal, neither waiting nor gone? */
static _Bool runs(const char *number)
{
	char name[TASK_NAME], said[TASK_NAME];
	struct text t = {.at = name, .max = sizeof name};
	long n;

	text_add(&t, "/proc/self/task/");
	text_add(&t, number);
	text_add(&t, "/syscall");
	n = t.full ? 0 : sys_read_file(name, said, sizeof said - 1);
	if (n <= 0)
		return 1;
	said[n] = 0;
	return !(said[0] >= '0' && said[0] <= '9') &&
	       !str_after(said, "-1 0x0 0x0");
}

/* what getdents64() gives */
struct name {
	uint64_t inode, offset;
	uint16_t size;
	uint8_t type;
	char text[];
};

static _Bool any_runs(long fd, const char *self)
{
	_Alignas(struct name) char names[NAMES];
	long n;

	while ((n = arch_call(SYS_GETDENTS64, fd, (long)names, sizeof names,
			      0, 0)) > 0)
		for (long at = 0; at < n;) {
			const struct name *d = (const void *)(names + at);

			if (d->text[0] != '.' && !str_equal(d->text, self) &&
			    runs(d->text))
				return 1;
			at += d->size;
		}
	return n < 0;
}

/* does another thread run, or is that not known? */
static _Bool others_run(const struct counting *c)
{
	char self[24];
	_Bool any;
	long fd;

	if (!threads_beside(c))
		return 0;
	/* who waits for the lock is in a system call of ours */
	if (c->confined || __atomic_load_n(&c->lock, __ATOMIC_RELAXED))
		return 1;
	fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)"/proc/self/task",
		       SYS_O_CLOEXEC, 0, 0);
	if (fd < 0)
		return 1;
	str_number(self, arch_call(SYS_GETTID, 0, 0, 0, 0, 0));
	any = any_runs(fd, self);
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return any;
}

void process_ends(struct counting *c, enum process_ended how)
{
	struct chunk_process *k = c->process;

	if (!k || (!c->confined && !process_is_own(c)))
		return;
	k->moving = how != ENDED_NOT && others_run(c);
	k->ended = how;
}
