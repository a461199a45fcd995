/*
 * forks: a new process has counters of its own.
 *
 * The parent takes and maps its chunks before there is a child, which then
 * only moves them to where it counts: it may have no right to open files any
 * more by the time it runs, and its first counted instruction is near. Other
 * threads of the parent are not in the child, nor are their blocks.
 *
 *	region of the file:  process | head counters | head counters | ...
 *
 * If that fails the child counts in memory that is lost with it: counting on
 * in the parent's would make that wrong, too.
 */
#include "runtime/counting.h"

static uint32_t new_number(struct counting *c)
{
	return (uint32_t)__atomic_add_fetch(&c->header->nprocess, 1,
					    __ATOMIC_RELAXED);
}

/* the chunk of a process at the beginning of *r, but for what it says last */
static void write_process(const struct counting *c, const struct region *r,
			  uint32_t number, uint32_t parent,
			  enum process_origin origin)
{
	struct chunk_process *k = (void *)r->at;

	k->chunk.at = r->offset;
	k->chunk.size = process_size(c);
	k->chunk.kind = CHUNK_PROCESS;
	k->chunk.process = number;
	k->parent = parent;
	k->origin = origin;
	k->name_len = (uint32_t)str_len(c->program);
	__builtin_memcpy(k + 1, c->program, k->name_len + 1);
}

/* the process that is running says which one it is */
static void sign_process(struct counting *c, const struct region *r)
{
	struct chunk_process *k = (void *)r->at;

	k->pid = c->pid;
	k->started = environ_started();
	k->here = (uint64_t)(uintptr_t)c;
	chunk_done(&k->chunk);
	c->process = k;
}

void process_begins(struct counting *c, uint32_t parent)
{
	struct region r;

	c->pid = sys_pid();
	if (!live_profile_take(c, process_size(c), &r))
		return;
	c->number = new_number(c);
	write_process(c, &r, c->number, parent,
		      parent ? PROCESS_EXECUTED : PROCESS_STARTED);
	sign_process(c, &r);
}

void child_take(struct counting *c, struct child *k)
{
	struct region *r = &k->chunks;
	uint64_t at = process_size(c), phases = client_child_size(c);

	k->running = k->phases = 0;
	k->calls = NULL;
	if (!live_profile_take(c, at + running_size(c) + phases +
				       images_size(c), r))
		return;
	k->number = new_number(c);
	write_process(c, r, k->number, c->number, PROCESS_FORKED);
	if (running_size(c)) {
		struct running x;

		running_chunk(c, r, at, k->number, 0, &x);
		running_calm(c, &x);
		calls_fork(c, k);
		k->running = at;
		at += running_size(c);
	}
	if (phases) {
		client_child(c, r, at, k->number);
		k->phases = at;
		at += phases;
	}
	for (uint32_t i = 0; i < c->image.n; i++) {
		const struct counted_image *m = image_of(c, i);

		if (m->state == IMAGE_GONE)
			continue;
		image_chunk(m, r, at, k->number, 0);
		at += m->head + m->size;
	}
}

void child_leave(struct counting *c, struct child *k, _Bool failed)
{
	uint64_t number = k->number;

	if (!k->chunks.at)
		return;
	if (k->calls)
		sys_unmap(k->calls, round_up(k->calls_size, c->page));
	if (!failed) {
		sys_unmap(k->chunks.at, k->chunks.size);
		return;
	}
	live_profile_give_back(c, &k->chunks);
	__atomic_compare_exchange_n(&c->header->nprocess, &number, number - 1,
				    0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* what an image counts from now on is lost: it gets memory without a file */
static void lose(struct counting *c, struct counted_image *m)
{
	if (image_is_there(m))
		sys_map_over(m->counters, m->size);
	if (m->run && image_is_there(m))
		sys_map_over(m->counters - m->run, c->page);
	m->piece = 0;
	live_profile_trouble(c, TROUBLE_FORK);
}

/* the image's chunk, `at` bytes into the region, is the child's */
static void adopt(struct counting *c, struct counted_image *m,
		  const struct region *r, uint64_t at)
{
	if (!image_is_there(m)) {
		sys_unmap(r->at + at, m->head + m->size);
		m->piece = 0;
	} else if (image_place(m, r, at, m->counters) &&
		   running_place(c, m, 0, &c->running)) {
		m->piece = r->offset + at + m->head;
	} else {
		lose(c, m);
	}
}

/* all images have counters of this process's own from now on */
static void adopt_all(struct counting *c, const struct child *k)
{
	const struct region *r = &k->chunks;
	uint64_t at = process_size(c);

	running_forget(c);
	if (r->at && k->running) {
		c->running = (struct running){
			(void *)(r->at + k->running + c->page),
			r->offset + k->running + c->page};
		running_keep(c, r, k->running);
		at += running_size(c);
	}
	if (r->at && k->phases)
		at += client_adopt(&c->running, r, k->phases);
	for (uint32_t i = 0; i < c->image.n; i++) {
		struct counted_image *m = image_of(c, i);

		if (m->state == IMAGE_GONE) {
			m->piece = 0;
		} else if (!r->at) {
			lose(c, m);
		} else {
			adopt(c, m, r, at);
			at += m->head + m->size;
		}
	}
}

void child_adopt(struct counting *c, struct child *k)
{
	threads_forget(c);
	handlers_forget(c);
	suspended_forget(c);
	c->nsaid = 0;
	if (c->process)
		sys_unmap(c->process, process_size(c));
	c->process = NULL;
	c->pid = sys_pid();
	pairs_forget(c);
	c->number = k->chunks.at ? k->number : 0;
	adopt_all(c, k);
	if (k->chunks.at)
		sign_process(c, &k->chunks);
	/* the first one of a container is not ended by what it ignores */
	if (c->pid == 1)
		signals_leave(c);
	c->first_ended = 0;
	if (!c->given_up)
		arch_set_slot(c->quick, 0);
	calls_forked(c, k);
	if (c->traces)
		trace_forked(c);
}

void fork_begins(struct counting *c, uintptr_t thread)
{
	counting_lock(c);
	c->forker = thread_self(c);
	c->forked = thread;
	child_take(c, &c->child);
}

void fork_ends(struct counting *c, long result)
{
	if (result)
		child_leave(c, &c->child, result < 0);
	else
		child_adopt(c, &c->child);
	c->child.chunks.at = NULL;
	c->forker = c->forked = 0;
	counting_unlock(c);
}
