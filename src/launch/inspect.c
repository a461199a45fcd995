/* inspect: see inspect.h. */
#include "launch/inspect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/stop_thread.h"
#include "launch/view.h"

enum {
	TRIES = 16, /* until a thread is seen to sleep all the time, or not */
	TEXT = 256, /* of what /proc says */
};

/*
 * Running counters of a block, or the records of threads, mapped. The program
 * can write there at any time: what was checked is a copy of the head.
 */
struct mapped {
	char *map;
	size_t size;
	char *at;
	union {
		struct profile_chunk chunk;
		struct chunk_running running;
		struct chunk_threads threads;
		struct chunk_phases phases;
	} head;
};

struct inspection {
	int profile;
	bool write;
	pid_t pid;
	uint32_t own; /* the process's number in its own name space */
	uint64_t end; /* of the profile, when it was opened */
	uint64_t chunk;
	uint32_t number; /* of the process in the profile */
	uint32_t nevent;
	VEC(struct mapped) running; /* struct chunk_running of each block */
	VEC(struct mapped) threads; /* struct chunk_threads */
	VEC(struct mapped) phases;  /* struct chunk_phases */
};

/* --- the profile */

static bool map_at(const struct inspection *x, uint64_t at, size_t size,
		   struct mapped *m)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = at & -page;

	m->size = at - from + size;
	m->map = mmap(NULL, m->size, PROT_READ | (x->write ? PROT_WRITE : 0),
		      MAP_SHARED, x->profile, (off_t)from);
	m->at = m->map + (at - from);
	return m->map != MAP_FAILED;
}

/* a chunk of the process; false: it cannot be mapped */
static bool take_chunk(struct inspection *x, const struct profile_chunk *k)
{
	struct mapped m;

	if (k->process != x->number)
		return true;
	if (k->kind != CHUNK_RUNNING && k->kind != CHUNK_THREADS &&
	    k->kind != CHUNK_PHASES)
		return true;
	if (!map_at(x, k->at, k->size, &m))
		return false;
	memcpy(&m.head, m.at, sizeof m.head);
	m.head.chunk = *k;
	if (k->kind == CHUNK_RUNNING)
		vec_push(&x->running, m);
	else if (k->kind == CHUNK_THREADS)
		vec_push(&x->threads, m);
	else
		vec_push(&x->phases, m);
	return true;
}

/* does a chunk hold what it says? The program may have written anything */
static bool is_sound(const struct mapped *m)
{
	const struct profile_chunk *k = &m->head.chunk;
	const struct chunk_running *r = &m->head.running;
	const struct chunk_threads *t = &m->head.threads;
	const struct chunk_phases *p = &m->head.phases;

	if (k->kind == CHUNK_PHASES)
		return p->nevent <= RUNNING_EVENTS &&
		       k->size >= phases_size(p->nevent);
	if (k->kind == CHUNK_RUNNING)
		return r->nevent <= RUNNING_EVENTS && r->first <= k->size &&
		       !(r->first % sizeof(uint64_t)) &&
		       k->size - r->first >= RUNNING_WORDS * 8;
	return t->nevent <= RUNNING_EVENTS &&
	       t->size == sizeof(struct thread_record) + 16 * t->nevent &&
	       t->nrecord <= (k->size - sizeof *t) / t->size;
}

static bool read_chunks(struct inspection *x)
{
	struct profile_header h;
	struct profile_chunk k;
	uint64_t size;

	if (pread(x->profile, &h, sizeof h, 0) != sizeof h ||
	    h.magic != PROFILE_MAGIC || h.version != PROFILE_VERSION ||
	    h.form != PROFILE_LIVE)
		return false;
	x->end = h.end;
	for (uint64_t at = PROFILE_FIRST; at < h.end; at += size) {
		size = PROFILE_UNIT;
		if (pread(x->profile, &k, sizeof k, (off_t)at) != sizeof k ||
		    k.magic != CHUNK_MAGIC || k.at != at)
			continue;
		if (k.size >= PROFILE_UNIT && k.size <= h.end - at)
			size = k.size;
		if (size == k.size && !take_chunk(x, &k))
			return false;
	}
	for (size_t i = 0; i < x->running.n; i++)
		if (!is_sound(&x->running.at[i]))
			return false;
	if (x->running.n)
		x->nevent = x->running.at[0].head.running.nevent;
	for (size_t i = 0; i < x->threads.n; i++)
		if (!is_sound(&x->threads.at[i]) ||
		    x->threads.at[i].head.threads.nevent != x->nevent)
			return false;
	for (size_t i = 0; i < x->phases.n; i++)
		if (!is_sound(&x->phases.at[i]) ||
		    x->phases.at[i].head.phases.nevent != x->nevent)
			return false;
	return true;
}

static void unmap_all(struct inspection *x)
{
	for (size_t i = 0; i < x->running.n; i++)
		munmap(x->running.at[i].map, x->running.at[i].size);
	for (size_t i = 0; i < x->threads.n; i++)
		munmap(x->threads.at[i].map, x->threads.at[i].size);
	for (size_t i = 0; i < x->phases.n; i++)
		munmap(x->phases.at[i].map, x->phases.at[i].size);
	vec_free(&x->running);
	vec_free(&x->threads);
	vec_free(&x->phases);
}

struct inspection *inspect_open(const char *profile, pid_t pid, bool write,
				struct err *e)
{
	struct inspection *x = NEW_ARRAY(struct inspection, 1);
	struct chunk_process k;

	x->pid = pid;
	x->own = (uint32_t)view_status(pid, "NStgid:");
	x->write = write;
	x->profile = open(profile, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (x->profile < 0) {
		err_set(e, ERR_INPUT, "%s: %s", profile, strerror(errno));
		mem_free(x);
		return NULL;
	}
	x->chunk = view_find_chunk(x->profile, x->own);
	if (!x->chunk || pread(x->profile, &k, sizeof k, (off_t)x->chunk) !=
				 sizeof k) {
		err_set(e, ERR_INPUT, "%s: process %ld does not count in it",
			profile, (long)pid);
		inspect_close(x);
		return NULL;
	}
	x->number = k.chunk.process;
	if (!read_chunks(x)) {
		err_set(e, ERR_INPUT, "%s: it cannot be read as a profile that "
			"is being written by this tally", profile);
		inspect_close(x);
		return NULL;
	}
	return x;
}

void inspect_close(struct inspection *x)
{
	unmap_all(x);
	close(x->profile);
	mem_free(x);
}

bool inspect_is_old(const struct inspection *x)
{
	struct profile_header h;

	return pread(x->profile, &h, sizeof h, 0) != sizeof h ||
	       h.end != x->end;
}

/* --- counters of a thread */

/* the running page of a block; NULL: there is none */
static uint64_t *page_of(const struct inspection *x, uint32_t block)
{
	for (size_t i = 0; i < x->running.n; i++) {
		const struct chunk_running *k =
			&x->running.at[i].head.running;

		if (k->block == block)
			return (void *)(x->running.at[i].at + k->first);
	}
	return NULL;
}

/* the record of a thread that has not ended, or NULL; *number: which it is */
static const struct thread_record *record_of(const struct inspection *x,
					     uint32_t tid, unsigned *number)
{
	*number = 1;
	for (size_t i = 0; i < x->threads.n; i++) {
		const struct chunk_threads *k =
			&x->threads.at[i].head.threads;
		const char *first = x->threads.at[i].at + sizeof *k;

		for (uint32_t j = 0; j < k->nrecord; j++) {
			const struct thread_record *r =
				(const void *)(first + (size_t)j * k->size);

			*number += r->state != THREAD_NONE;
			if (r->state == THREAD_BEGAN && r->tid == tid)
				return r;
		}
	}
	return NULL;
}

bool inspect_page(const struct inspection *x, pid_t tid,
		  struct inspected_page *p)
{
	/* where processes have the numbers that we see, so have threads */
	uint32_t own = x->own == (uint32_t)x->pid ?
			       (uint32_t)tid :
			       (uint32_t)view_status(tid, "NSpid:");
	const struct thread_record *r;

	*p = (struct inspected_page){.thread = 1};
	if (own == x->own) {
		p->word = page_of(x, 0);
		return p->word;
	}
	r = record_of(x, own, &p->thread);
	if (!r)
		return false;
	p->record = r;
	p->block = r->block;
	p->word = page_of(x, p->block);
	p->began = (const uint64_t *)(r + 1);
	return p->word;
}

static void read_counters(const struct inspection *x,
			  const struct inspected_page *k,
			  struct inspected *t)
{
	for (uint32_t e = 0; e < x->nevent; e++)
		t->value[e] = running_sum(k->word, e) -
			      (k->began ? k->began[e] : 0);
}

/* --- phases */

static const struct mapped *phases_of(const struct inspection *x,
				      uint32_t block)
{
	for (size_t i = 0; i < x->phases.n; i++)
		if (x->phases.at[i].head.phases.block == block)
			return &x->phases.at[i];
	return NULL;
}

/* those of a block, as they are now, to be freed; NULL: it has none */
static struct inspected_phases *read_phases(const struct inspection *x,
					    uint32_t block)
{
	const struct mapped *m = phases_of(x, block);
	const uint64_t *page = page_of(x, block), *word;
	const struct chunk_phases *k;
	struct inspected_phases *p;
	uint64_t state;

	if (!m || !page)
		return NULL;
	k = (const void *)m->at;
	word = (const uint64_t *)(k + 1);
	state = __atomic_load_n(&k->state, __ATOMIC_ACQUIRE);
	p = NEW_ARRAY(struct inspected_phases, 1);
	p->block = block;
	p->row = phases_row(state);
	for (unsigned row = 0; row < PHASES; row++) {
		memcpy(p->name[row], k->name[row], PHASE_NAME - 1);
		for (uint32_t e = 0; e < x->nevent; e++)
			p->value[row][e] =
				phases_count(word, x->nevent, state, row, e,
					     running_sum(page, e));
	}
	return p;
}

/* those of blocks whose threads were not read have none any more */
static void read_other_phases(const struct inspection *x,
			      struct inspected_list *l)
{
	size_t n = l->phases.n;

	for (size_t i = 0; i < x->phases.n; i++) {
		uint32_t block = x->phases.at[i].head.phases.block;
		struct inspected_phases *p = NULL;
		size_t j = 0;

		while (j < n && l->phases.at[j]->block != block)
			j++;
		if (j == n)
			p = read_phases(x, block);
		if (!p)
			continue;
		p->row = PHASE_NONE;
		vec_push(&l->phases, p);
	}
}

void inspected_list_free(struct inspected_list *l)
{
	for (size_t i = 0; i < l->phases.n; i++)
		mem_free(l->phases.at[i]);
	vec_free(&l->phases);
	vec_free(&l->v);
}

void inspect_quiet(const struct inspection *x)
{
	uint64_t *word;

	for (size_t i = 0; i < x->running.n; i++) {
		const struct chunk_running *k =
			&x->running.at[i].head.running;

		word = (void *)(x->running.at[i].at + k->first);
		for (unsigned l = 0; l < RUNNING_LANES; l++) {
			uint64_t *lane = &word[l * RUNNING_EVENTS];

			word[RUNNING_BIAS + l] += *lane - (uint64_t)RUNNING_FAR;
			*lane = (uint64_t)RUNNING_FAR;
		}
	}
	word = page_of(x, 0);
	if (word)
		word[RUNNING_QUIET] = 1;
}

/* --- a thread that sleeps */

static bool read_proc(pid_t tid, const char *file, char text[TEXT])
{
	char name[64];
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "/proc/%ld/%s", (long)tid, file);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, TEXT - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* how often it was given a processor; false: that is not told */
static bool read_slices(pid_t tid, uint64_t *n)
{
	char text[TEXT];

	return read_proc(tid, "schedstat", text) &&
	       sscanf(text, "%*u %*u %" SCNu64, n) == 1;
}

/* the stack pointer and address of one in a system call; false: it runs, or
   was interrupted elsewhere */
static bool read_asleep(pid_t tid, uint64_t *sp, uint64_t *pc)
{
	char text[TEXT], *last, *before;

	if (!read_proc(tid, "syscall", text) || text[0] < '0' || text[0] > '9')
		return false;
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*last = 0;
	before = strrchr(text, ' ');
	if (!before)
		return false;
	*pc = strtoull(last + 1, NULL, 16);
	*sp = strtoull(before + 1, NULL, 16);
	return true;
}

enum sleeper {
	SLEEPS_NOT,
	SLEEPS, /* and its counters were read */
	WOKE_UP, /* before they were */
};

/*
 * Counters of a thread that sleeps in a system call of the program: all of its
 * blocks have been left.
 */
static enum sleeper read_sleeper(const struct inspection *x,
				 const struct view *v,
				 const struct inspected_page *k, pid_t tid,
				 struct inspected *t)
{
	uint64_t before, after, sp, pc;

	if (!read_slices(tid, &before) || !read_asleep(tid, &sp, &pc) ||
	    view_is_own(v, pc) || view_is_interrupted(v, sp))
		return SLEEPS_NOT;
	mem_free(t->phases);
	read_counters(x, k, t);
	t->phases = read_phases(x, k->block);
	return read_slices(tid, &after) && before == after ? SLEEPS : WOKE_UP;
}

/* --- a thread that runs */

/* steps: it is in no system call */
static void read_stopped(const struct inspection *x, struct view *v,
			 const struct inspected_page *k, bool steps,
			 struct inspected *t)
{
	struct chunk_process *places = v->c.process;
	struct watch_regs r;

	places->nend = places->lost = 0;
	memset(places->end, 0, sizeof places->end);
	if (!watch_regs(v->tid, &r)) {
		t->lost = true;
		return;
	}
	r.in_call &= !steps;
	read_counters(x, k, t);
	view_note(v, &r);
	t->lost |= places->lost;
	for (uint32_t i = 0; i < PROCESS_ENDS && i < places->nend; i++)
		if (places->end[i].count)
			t->end[t->nend++] = places->end[i];
}

/* 1, 0: there is no such thread any more, -1 and *e */
static int inspect_thread(struct inspection *x, struct view *v, pid_t tid,
			  struct inspected *t, struct err *e)
{
	struct inspected_page k;
	int signo;

	*t = (struct inspected){.tid = (uint32_t)tid};
	/* one that is just beginning has counted nothing yet */
	if (!inspect_page(x, tid, &k))
		return 0;
	t->record = k.record;
	v->tid = tid;
	for (unsigned i = 0; i < TRIES; i++) {
		enum sleeper s = read_sleeper(x, v, &k, tid, t);

		if (s == SLEEPS)
			return 1;
		if (s == SLEEPS_NOT)
			break;
	}
	if (!stop_thread(tid, &signo)) {
		mem_free(t->phases);
		if (errno == ESRCH)
			return 0;
		return err_set(e, ERR_MACHINE, "thread %ld cannot be stopped "
			       "to be read: %s", (long)tid, strerror(errno));
	}
	mem_free(t->phases);
	read_stopped(x, v, &k, false, t);
	t->phases = read_phases(x, k.block);
	let_thread_go(tid, signo);
	return 1;
}

bool inspect_view(const struct inspection *x, pid_t tid, struct view *v,
		      struct chunk_process *places)
{
	return pread(x->profile, places, sizeof *places, (off_t)x->chunk) ==
		       sizeof *places && view_open(v, tid, places);
}

static int is_gone(const struct inspection *x, struct err *e)
{
	return err_set(e, ERR_INPUT, "process %ld is gone, or may not be "
		       "looked at", (long)x->pid);
}

int inspect_stopped(struct inspection *x, pid_t tid, struct inspected *t,
		    struct err *e)
{
	struct chunk_process places;
	struct inspected_page k;
	struct view v;

	*t = (struct inspected){.tid = (uint32_t)tid};
	if (!inspect_page(x, tid, &k) || !inspect_view(x, tid, &v, &places))
		return is_gone(x, e);
	read_stopped(x, &v, &k, true, t);
	view_close(&v);
	return 0;
}

static bool is_listed(const struct inspected_list *l,
		      const struct thread_record *r)
{
	for (size_t i = 0; i < l->v.n; i++)
		if (l->v.at[i].record == r)
			return true;
	return false;
}

/* what threads have counted that were not there any more to be read */
static void read_ended(const struct inspection *x, struct inspected_list *l)
{
	for (size_t i = 0; i < x->threads.n; i++) {
		const struct chunk_threads *k =
			&x->threads.at[i].head.threads;
		const char *first = x->threads.at[i].at + sizeof *k;

		for (uint32_t j = 0; j < k->nrecord; j++) {
			const struct thread_record *r =
				(const void *)(first + (size_t)j * k->size);
			const uint64_t *value = (const uint64_t *)(r + 1);

			if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) !=
				    THREAD_ENDED || is_listed(l, r))
				continue;
			for (uint32_t e = 0; e < x->nevent; e++)
				l->ended[e] += value[x->nevent + e] - value[e];
		}
	}
}

int inspect_threads(struct inspection *x, struct inspected_list *l,
		    struct err *e)
{
	struct chunk_process places;
	struct inspected t;
	struct dirent *d;
	char name[64];
	struct view v;
	int found = 0;
	DIR *dir;

	snprintf(name, sizeof name, "/proc/%ld/task", (long)x->pid);
	dir = opendir(name);
	if (!dir || !inspect_view(x, x->pid, &v, &places)) {
		if (dir)
			closedir(dir);
		return is_gone(x, e);
	}
	while (found >= 0 && (d = readdir(dir)))
		if (d->d_name[0] != '.') {
			found = inspect_thread(x, &v, atoi(d->d_name), &t, e);
			if (found > 0)
				vec_push(&l->v, t);
			if (found > 0 && t.phases)
				vec_push(&l->phases, t.phases);
		}
	read_ended(x, l);
	read_other_phases(x, l);
	view_close(&v);
	closedir(dir);
	return found < 0 ? -1 : 0;
}
