/*
 * trace_profile: see trace_profile.h.
 *
 * A walk counts edges in the plans of procedures; when all threads of a process
 * were walked, its counts are taken from there. Of what is said twice (the law
 * of flow) solve.h sees whether it agrees: if a replay went wrong, counts of
 * the procedure are unknown.
 */
#include "profile/trace_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "trace/file/image.h"
#include "trace/regenerate/pieces.h"
#include "trace/regenerate/replay.h"
#include "trace/regenerate/runs.h"

struct counting {
	struct profile *p;
	const struct trace_file *f;
	struct walks walks;
	struct walk_counts counts;
	struct progress *progress;
	uint32_t nchunk, chunks; /* that were read, and all */
	uint32_t *image; /* in the profile, by number in the trace */
	uint64_t trouble;
};

/* --- what is known without replaying */

static const char *note_or(const struct trace_file *f, const char *key,
			   const char *other)
{
	const char *value = trace_note(f, key);

	return value ? value : other;
}

static int begin(struct profile *p, const struct trace_file *f, struct err *e)
{
	struct profile_header h = {
		.started = strtoull(note_or(f, "started", "0"), NULL, 10),
	};
	char options[64];

	snprintf(options, sizeof options, "trace-%.32s",
		 note_or(f, "encoding", "?"));
	return profile_make_begin(p, f->file.name, &h, options,
				  note_or(f, "command", ""), e);
}

static void add_processes(struct counting *k)
{
	for (size_t i = 0; i < k->f->process.n; i++) {
		const struct trace_process *t = &k->f->process.at[i];
		struct profile_process q = {
			.number = t->number,
			.pid = t->pid,
			.parent = t->parent,
			.origin = PROCESS_STARTED,
			.ended = ENDED_BY_ITSELF,
			.name = t->name,
		};
		char key[TRACE_BASE_TEXT];

		trace_forked_note(t->number, key);
		if (t->parent)
			q.origin = trace_note(k->f, key) ? PROCESS_FORKED
							 : PROCESS_EXECUTED;
		profile_make_process(k->p, &q);
	}
}

static int add_image(struct counting *k, const struct replay_image *m,
		     struct err *e)
{
	const char *name = k->f->file.name;
	struct trace_image x;

	return trace_image_parse(&x, m->bytes.at, m->bytes.n, name, e) ||
			       profile_make_image(k->p, m->id, m->map.path,
						  x.map, x.nmap,
						  (uint32_t)m->map.edge.n,
						  &k->image[m->number], e)
		       ? -1 : 0;
}

static int add_images(struct counting *k, struct err *e)
{
	const struct replay_images *x = &k->walks.images;

	k->image = NEW_ARRAY(uint32_t, x->image.n + 1);
	for (size_t i = 0; i < x->image.n; i++) {
		k->p->header.machine = x->image.at[i]->map.machine;
		if (add_image(k, x->image.at[i], e))
			return -1;
	}
	return 0;
}

static void add_left(struct counting *k)
{
	for (size_t i = 0; i < k->f->note.n; i++) {
		const struct trace_note *n = &k->f->note.at[i];
		struct trace_left x;
		struct profile_left left;

		if (!trace_left_parse(&x, n->key, n->value))
			continue;
		left = (struct profile_left){x.process, x.why, x.path,
					     x.reason};
		if (!x.process || trace_process(k->f, x.process))
			profile_make_left(k->p, &left);
	}
}

/* --- one process */

enum {
	PIECE = 8,     /* chunks that are worth a thread */
	PIECES_EACH = 4, /* of each, so that all have about as much to do */
};

/* a long one, in pieces at the same time; false: it is not */
static bool walk_pieces(struct counting *k, const struct trace_thread *t)
{
	unsigned shares = parallel_count(t->nchunk, PIECE);
	struct pieces p = {.most = (size_t)shares * PIECES_EACH,
			   .chunks = PIECE / PIECES_EACH};

	if (shares < 2 || !pieces_count(&p, &k->walks, t, &k->counts))
		return false;
	k->trouble |= p.lost ? TROUBLE_WAY : 0;
	k->trouble |= p.broken ? TROUBLE_PART : 0;
	k->nchunk += (uint32_t)t->nchunk;
	progress_at(k->progress, "counting", k->nchunk, k->chunks);
	return true;
}

static void walk_whole(struct counting *k, const struct trace_thread *t)
{
	const struct walk_step *s;
	struct walk w;
	size_t before = 0;

	walk_begin(&w, &k->walks, t);
	w.counts = &k->counts;
	do {
		s = walk_next(&w);
		if (s->kind == WALK_LOST)
			k->trouble |= TROUBLE_WAY;
		if (before == w.stream.nchunk)
			continue;
		k->nchunk += (uint32_t)(w.stream.nchunk - before);
		before = w.stream.nchunk;
		progress_at(k->progress, "counting", k->nchunk, k->chunks);
	} while (s->kind != WALK_END);
	if (w.stream.broken)
		k->trouble |= TROUBLE_PART;
	walk_end(&w);
}

static void walk_thread(struct counting *k, const struct trace_thread *t)
{
	if (!walk_pieces(k, t))
		walk_whole(k, t);
	if (t->ended == TRACE_ENDED_KILLED)
		k->trouble |= TROUBLE_KILLED;
	else if (t->ended != TRACE_ENDED_COMPLETE)
		k->trouble |= TROUBLE_PART;
	if (t->first)
		k->trouble |= TROUBLE_PART;
}

/* moves what was counted in a procedure */
static bool take_proc(struct proc_plan *plan, uint64_t *value)
{
	bool any = false;

	runs_add_up(plan);
	for (uint32_t e = 0; e < plan->p->nedge; e++) {
		value[plan->p->edge + e] = plan->ran[e];
		any |= plan->ran[e];
		plan->ran[e] = 0;
	}
	return any;
}

/* moves what was counted in an image */
static bool take_image(const struct replay_image *m, uint64_t *value)
{
	bool any = false;

	for (size_t i = 0; i < m->map.proc.n; i++)
		if (m->plan[i])
			any |= take_proc(m->plan[i], value);
	return any;
}

static bool has_image(const struct counting *k, uint32_t process,
		      const struct replay_image *m)
{
	const struct replay_images *x = &k->walks.images;

	for (size_t i = 0; i < x->base.n; i++)
		if (x->base.at[i].process == process &&
		    x->base.at[i].image == m)
			return true;
	return false;
}

static void take_images(struct counting *k, uint32_t process)
{
	const struct replay_images *x = &k->walks.images;

	for (size_t i = 0; i < x->image.n; i++) {
		const struct replay_image *m = x->image.at[i];
		uint64_t *value = NEW_ARRAY(uint64_t, m->map.edge.n + 1);

		if (take_image(m, value) || has_image(k, process, m))
			profile_make_piece(k->p, process, k->image[i], value);
		else
			mem_free(value);
	}
}

/* --- where frames ended */

static struct ending ending_of(const struct walk_death *d)
{
	const struct map *m = &d->image->map;
	const struct map_block *b = &d->plan->block[d->vertex];
	struct ending x = {.address = b->start, .count = 1,
			   .ran = d->insn >= b->ninsn};

	for (uint32_t i = 0; i < d->insn && i + 1 < b->ninsn; i++)
		x.address += replay_size(m, b, i);
	return x;
}

static int by_place(const void *a, const void *b)
{
	const struct profile_end *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->ending.address != y->ending.address)
		return x->ending.address < y->ending.address ? -1 : 1;
	return x->ending.ran - y->ending.ran;
}

/* what is said of one place is said once */
static void take_deaths(struct counting *k, uint32_t process)
{
	size_t n = k->counts.death.n;
	VEC(struct profile_end) all = {0};

	for (size_t i = 0; i < n; i++) {
		const struct walk_death *d = &k->counts.death.at[i];
		struct profile_end x = {process, k->image[d->image->number],
					ending_of(d)};

		vec_push(&all, x);
	}
	mem_sort(all.at, n, sizeof *all.at, by_place);
	for (size_t i = 0; i < n; i++)
		if (i && !by_place(&all.at[i - 1], &all.at[i]))
			k->p->end.at[k->p->end.n - 1].ending.count++;
		else
			vec_push(&k->p->end, all.at[i]);
	vec_free(&all);
	k->counts.death.n = 0;
}

/* --- all */

/* is there a thread of each process? */
static bool all_wrote(const struct trace_file *f)
{
	size_t t = 0;

	for (size_t i = 0; i < f->process.n; i++) {
		while (t < f->thread.n &&
		       f->thread.at[t].process < f->process.at[i].number)
			t++;
		if (t == f->thread.n ||
		    f->thread.at[t].process != f->process.at[i].number)
			return false;
	}
	return true;
}

static void count_all(struct counting *k)
{
	const struct trace_file *f = k->f;

	for (size_t i = 0; i < f->thread.n; i++)
		k->chunks += (uint32_t)f->thread.at[i].nchunk;
	for (size_t i = 0, end; i < f->thread.n; i = end) {
		uint32_t process = f->thread.at[i].process;

		for (end = i; end < f->thread.n &&
			      f->thread.at[end].process == process; end++)
			walk_thread(k, &f->thread.at[end]);
		if (!trace_process(f, process)) {
			struct profile_process q = {.number = process,
						    .name = ""};

			profile_make_process(k->p, &q);
		}
		take_images(k, process);
		take_deaths(k, process);
	}
	if (f->truncated || !all_wrote(f))
		k->trouble |= TROUBLE_PART;
	if (k->counts.unsure)
		k->trouble |= TROUBLE_LOST;
	k->p->header.trouble |= k->trouble;
}

static int count(struct counting *k, struct err *e)
{
	int status = walks_open(&k->walks, k->f, e);

	if (status)
		return status;
	add_processes(k);
	add_left(k);
	status = add_images(k, e);
	if (!status) {
		count_all(k);
		status = profile_make_end(k->p, e);
	}
	walks_close(&k->walks);
	mem_free(k->image);
	vec_free(&k->counts.death);
	return status;
}

static int open_trace(struct profile *p, const char *path,
		      struct progress *progress, struct err *e)
{
	struct trace_file f;
	struct counting k = {.p = p, .f = &f, .progress = progress};
	int status;

	if (trace_open(&f, path, e))
		return -1;
	status = begin(p, &f, e);
	if (!status) {
		status = count(&k, e);
		if (status)
			profile_close(p);
	}
	trace_close(&f);
	return status;
}

static int open_any(const struct profile_opener *o, struct profile *p,
		    const char *path, struct err *e)
{
	const struct trace_opener *x = (const struct trace_opener *)o;

	return trace_is(path) ? open_trace(p, path, x->progress, e)
			      : profile_open(p, path, e);
}

struct trace_opener trace_opener(struct progress *progress)
{
	return (struct trace_opener){{open_any}, progress};
}
