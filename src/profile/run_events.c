/* run_events: see run_events.h. */
#include "profile/run_events.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/dict.h"
#include "count/place/plan.h"
#include "elf/needs.h"
#include "events/heights.h"

struct run_making {
	struct run_events *r;
	struct counts *t;
	struct counts_image *m; /* the image that is looked at */
	struct image_events x;  /* and its events */
};

static void add_left(struct run_making *k, struct not_measured n)
{
	vec_push(&k->r->left, n);
}

/* --- totals */

static void add_totals(struct event_total *to, const struct event_total *from,
		       unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		bool over = __builtin_add_overflow(to[i].n, from[i].n,
						   &to[i].n);

		to[i].more |= from[i].more || over;
		to[i].near |= from[i].near;
	}
}

/* instructions without a constant, as the user is told */
static void tell_varying(struct run_making *k, const struct event_varies *v)
{
	const struct event *event = &k->r->list->at[v->event];
	char text[160];

	snprintf(text, sizeof text,
		 event->kind == EVENT_TAKEN ?
			 "how often the branch at 0x%" PRIx64 " is taken is "
			 "not known" :
			 "what the instruction at 0x%" PRIx64 " does is not "
			 "the same each time, or not known",
		 v->address);
	add_left(k, (struct not_measured){
			    .image = k->m->name,
			    .procedure = symbolizer_procedure(k->m->symbolizer,
							 v->proc),
			    .event = event->name,
			    .reason = arena_string(&k->r->arena, text,
						   strlen(text)),
			    .executions = v->count,
		    });
}

static void derive_all(struct run_making *k)
{
	struct event_totals all = {0};

	events_derive(&k->x, &k->m->solved, &all);
	add_totals(k->r->at, all.at, k->r->list->n);
	for (size_t i = 0; i < all.varies.n; i++)
		tell_varying(k, &all.varies.at[i]);
	event_totals_free(&all);
}

static int derive_process(struct run_making *k, struct process_events *p,
			  struct err *e)
{
	struct event_totals one = {0};
	struct arena a = {0};
	struct solved s;
	int failed;

	if (!profile_has(&k->t->profile, k->m->image, p->number))
		return 0;
	failed = counts_solve_process(k->t, &a, k->m, p->number, &s, e);
	if (!failed) {
		events_derive(&k->x, &s, &one);
		add_totals(p->at, one.at, k->r->list->n);
	}
	event_totals_free(&one);
	arena_free(&a);
	return failed;
}

/*
 * A thread of a live profile, by its block of counters. Where others ended in
 * the middle of a block, as they may have in this one, is not its own.
 */
static int derive_thread(struct run_making *k, uint32_t process,
			 uint32_t block, struct event_total *to, struct err *e)
{
	const struct map *m = counts_map(k->t, k->m);
	struct event_totals one = {0};
	struct arena a = {0};
	struct solved s;
	uint64_t *value = ARENA_ARRAY(&a, uint64_t, m->ncounter);
	int failed = profile_add_block(&k->t->profile, k->m->image, process,
				       block, value, e);

	if (!failed) {
		solve_counts(&a, m, value, NULL, &s);
		events_derive(&k->x, &s, &one);
		add_totals(to, one.at, k->r->list->n);
	}
	event_totals_free(&one);
	arena_free(&a);
	return failed;
}

/* does the profile tell threads of the process apart? */
static bool tells_threads(const struct profile *p, uint32_t process)
{
	uint32_t last = 0;

	if (p->finished || p->npart)
		return false;
	for (size_t i = 0; i < p->end.n; i++)
		if (p->end.at[i].process == process)
			return false;
	/* each has a block of its own, higher than that of the one before */
	for (size_t i = 0; i < p->thread.n; i++) {
		const struct profile_thread *t = &p->thread.at[i];

		if (t->process != process)
			continue;
		if (t->block && t->block <= last)
			return false;
		last = t->block;
	}
	return true;
}

static int derive_threads(struct run_making *k, struct process_events *q,
			  struct err *e)
{
	const struct profile *p = &k->t->profile;
	uint32_t n = 0;

	for (size_t i = 0; q->thread && i < p->thread.n; i++)
		if (p->thread.at[i].process == q->number &&
		    derive_thread(k, q->number, p->thread.at[i].block,
				  q->thread[n++].at, e))
			return -1;
	return 0;
}

/* room for the threads of a process, if these can be told apart */
static void name_threads(struct run_making *k, struct process_events *q)
{
	const struct profile *p = &k->t->profile;

	if (!tells_threads(p, q->number))
		return;
	q->thread = ARENA_ARRAY(&k->r->arena, struct thread_events,
				p->thread.n + 1);
	for (size_t i = 0; i < p->thread.n; i++)
		if (p->thread.at[i].process == q->number)
			q->thread[q->nthread++].tid = p->thread.at[i].tid;
}

/* --- what is not measured */

static void tell_unknown_procs(struct run_making *k)
{
	const struct counts_image *m = k->m;

	for (uint32_t p = 0; p < m->map->proc.n; p++)
		if (!m->solved.idle[p] && !m->solved.insns_known[p])
			add_left(k, (struct not_measured){
					    .image = m->name,
					    .procedure = symbolizer_procedure(
						    m->symbolizer, p),
					    .reason = counts_unknown(m, p),
				    });
	if (m->solved.in_place)
		add_left(k, (struct not_measured){
				    .image = m->name,
				    .reason = "code of it that stays in place "
					      "was called, and is not counted",
			    });
}

static void tell_left(struct run_making *k)
{
	for (uint32_t i = 0; i < k->t->nleft; i++)
		add_left(k, (struct not_measured){
				    .image = k->t->left[i].name,
				    .reason = k->t->left[i].why,
			    });
}

/* why no event of the image can be told, or NULL */
static const char *open_original(struct run_making *k, struct image *im)
{
	const struct map *m = counts_map(k->t, k->m);
	struct err e;

	if (k->m->missing && !k->m->running)
		return k->m->missing;
	if (k->m->running && !k->t->profile.nevent)
		return "its running counters are not in the profile";
	if (image_open(im, m->path, &e))
		return arena_string(&k->r->arena, e.text, strlen(e.text));
	if (count_file_sum(im) == m->file_sum && isa_for_elf(im->machine))
		return NULL;
	image_close(im);
	return "the file has changed since it was measured";
}

/* does a linkage stub of it call for the loader when it is first used? */
static bool binds_lazily(const struct image *im)
{
	struct needs n;
	struct err e;
	bool lazily;
	size_t i = 0;

	while (i < im->nreloc && im->reloc[i].kind != RELOC_JUMP_SLOT)
		i++;
	if (i == im->nreloc || needs_read(&n, im->path, &e))
		return false;
	lazily = !n.binds_now;
	needs_free(&n);
	return lazily;
}

static void tell_plt0(struct run_making *k, const struct image *im)
{
	if (binds_lazily(im))
		add_left(k, (struct not_measured){
				    .image = k->m->name,
				    .procedure = "PLT0",
				    .reason = "it runs when a linkage stub is "
					      "first used, and stays in place",
			    });
}

/* is there an instruction in code that is counted? */
static bool is_insn(const struct map *m, uint64_t address)
{
	uint32_t block = map_block_at(m, address);
	const struct map_block *b;
	uint64_t at;

	if (block == MAP_NONE)
		return false;
	b = &m->block.at[block];
	at = b->start;
	if (m->insn_size)
		return !((address - at) % m->insn_size);
	for (uint32_t i = 0; i < b->ninsn && at < address; i++)
		at += m->length.at[b->length + i];
	return at == address;
}

/* an address of a set that counts nothing: what runs there is not known */
static void tell_no_insn(struct run_making *k, unsigned event, uint64_t address)
{
	char text[80];

	snprintf(text, sizeof text, "0x%" PRIx64 " is no instruction in code "
		 "that is counted", address);
	add_left(k, (struct not_measured){
			    .image = k->m->name,
			    .event = k->r->list->at[event].name,
			    .reason = arena_string(&k->r->arena, text,
						   strlen(text)),
		    });
	k->r->at[event].more = true;
}

static void note_seen(struct run_making *k)
{
	for (unsigned i = 0; i < k->r->list->n; i++) {
		const struct event_addresses *a = &k->x.at[i];

		k->r->seen[i] |= a->v.n > 0;
		for (size_t j = 0; j < a->v.n; j++)
			if (!is_insn(counts_map(k->t, k->m), a->v.at[j]))
				tell_no_insn(k, i, a->v.at[j]);
	}
}

static int add_image(struct run_making *k, struct err *e)
{
	struct run_events *r = k->r;
	struct image im;
	const char *why = open_original(k, &im);
	int failed = 0;

	if (why) {
		add_left(k, (struct not_measured){.image = k->m->name,
						  .reason = why});
		for (unsigned i = 0; i < r->list->n; i++)
			r->at[i].more = true;
		return 0;
	}
	image_events_begin(&k->x, &im, r->list);
	note_seen(k);
	derive_all(k);
	for (size_t i = 0; !failed && i < r->process.n; i++)
		failed = derive_process(k, &r->process.at[i], e) ||
			 derive_threads(k, &r->process.at[i], e);
	if (counts_unmeasured(k->m))
		add_left(k, (struct not_measured){
				    .image = k->m->name,
				    .reason = counts_unmeasured(k->m)});
	else
		tell_unknown_procs(k);
	tell_plt0(k, &im);
	image_events_free(&k->x);
	image_close(&im);
	return failed;
}

/* --- running counters */

static struct process_events *process_of(struct run_events *r, uint32_t number)
{
	for (size_t i = 0; i < r->process.n; i++)
		if (r->process.at[i].number == number)
			return &r->process.at[i];
	return NULL;
}

static void add_values(struct event_total *to, const uint64_t *value,
		       unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i].n += value[i];
}

/* threads of a process, which lie together, from number i on; the end */
static size_t add_threads(struct run_making *k, size_t i)
{
	const struct profile *p = &k->t->profile;
	uint32_t process = p->thread.at[i].process;
	struct process_events *q = process_of(k->r, process);
	size_t end = i;

	while (end < p->thread.n && p->thread.at[end].process == process)
		end++;
	if (q)
		q->thread = ARENA_ARRAY(&k->r->arena, struct thread_events,
					end - i);
	for (; i < end; i++) {
		const struct profile_thread *t = &p->thread.at[i];

		add_values(k->r->at, t->value, p->nevent);
		if (!q)
			continue;
		add_values(q->at, t->value, p->nevent);
		q->thread[q->nthread].tid = t->tid;
		add_values(q->thread[q->nthread++].at, t->value, p->nevent);
	}
	return end;
}

/* where threads of the process were is not known: of which, if there are
   several? Running counters may be above what was counted, or below, and so
   may phases that threads were in. 0: of any process */
static void spoil(struct run_making *k, uint32_t process)
{
	struct process_events *q = process_of(k->r, process);

	for (size_t i = 0; i < k->r->phase.n; i++) {
		struct phase_events *x = &k->r->phase.at[i];

		if (!x->open || (process && x->process != process))
			continue;
		for (unsigned e = 0; e < k->r->list->n; e++)
			x->at[e].near = true;
	}
	for (unsigned i = 0; i < k->r->list->n; i++) {
		k->r->at[i].near = true;
		if (q)
			q->at[i].near = true;
		for (uint32_t j = 0; q && j < q->nthread; j++)
			q->thread[j].at[i].near = true;
	}
}

/* --- phases */

static void copy_phases(struct run_making *k)
{
	const struct profile *p = &k->t->profile;

	for (size_t i = 0; i < p->phase.n; i++) {
		const struct profile_phase *x = &p->phase.at[i];
		struct phase_events y = {
			.name = arena_string(&k->r->arena, x->name,
					     strlen(x->name)),
			.process = x->process,
			.open = x->open,
		};

		add_values(y.at, x->value, p->nevent);
		vec_push(&k->r->phase, y);
	}
}

/* how many threads had the process at its end? */
static uint32_t threads_left(const struct profile *p, uint32_t process)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->thread.n; i++)
		n += p->thread.at[i].process == process &&
		     !p->thread.at[i].ended;
	return n;
}

/*
 * The phase that a thread of the process was in at its end, or NULL. If there
 * were several threads, it is not known which, nor what is to be added to it.
 */
static struct phase_events *open_phase(struct run_making *k, uint32_t process)
{
	bool one = threads_left(&k->t->profile, process) <= 1;

	for (size_t i = 0; i < k->r->phase.n; i++) {
		struct phase_events *x = &k->r->phase.at[i];

		if (x->process != process || !x->open)
			continue;
		if (one)
			return x;
		for (unsigned e = 0; e < k->r->list->n; e++)
			x->at[e].near = true;
		if (!*x->name)
			spoil(k, process);
	}
	return NULL;
}

/* the phase of that name in the list of the run, whose names have numbers */
static void add_phase(struct run_events *r, struct intern *names,
		      const struct phase_events *x)
{
	uint32_t i = intern(names, x->name);

	if (i == r->run_phase.n) {
		struct phase_events y = {.name = x->name};

		vec_push(&r->run_phase, y);
	}
	add_totals(r->run_phase.at[i].at, x->at, r->list->n);
	r->run_phase.at[i].open += x->open;
}

void run_events_add_phases(struct run_events *r)
{
	struct intern names = {0};

	for (size_t i = 0; i < r->phase.n; i++)
		add_phase(r, &names, &r->phase.at[i]);
	intern_free(&names);
}

/* --- where threads were at the end */

/* threads that ended in the middle of a block of the image */
static void add_stopped(struct run_making *k, struct heights *h,
			const struct profile_stopped *s)
{
	struct process_events *q = process_of(k->r, s->process);
	struct phase_events *in = open_phase(k, s->process);
	int64_t add[EVENTS_MAX];

	if (!heights_at(h, s->address, add)) {
		spoil(k, s->process);
		return;
	}
	for (unsigned i = 0; i < k->r->list->n; i++) {
		uint64_t n = (uint64_t)(add[i] + s->add[i]) * s->count;

		if (in)
			in->at[i].n += n;
		if (in && !*in->name)
			continue;
		k->r->at[i].n += n;
		if (q)
			q->at[i].n += n;
		for (uint32_t j = 0; q && j < q->nthread; j++)
			if (q->nthread == 1)
				q->thread[j].at[i].n += n;
			else
				q->thread[j].at[i].near = true;
	}
}

/* procedures that could not be seen, and what has no constant */
static void add_running_image(struct run_making *k)
{
	const struct map *m = counts_map(k->t, k->m);

	for (uint32_t p = 0; p < m->proc.n; p++)
		if (m->proc.at[p].unknown)
			add_left(k, (struct not_measured){
					    .image = k->m->name,
					    .procedure = symbolizer_procedure(
						    k->m->symbolizer, p),
					    .reason = m->proc.at[p].unknown,
				    });
	for (unsigned i = 0; i < k->r->list->n && i < m->ncounter; i++) {
		if (!k->m->value[i])
			continue;
		k->r->at[i].more = true;
		for (size_t j = 0; j < k->r->process.n; j++) {
			struct process_events *q = &k->r->process.at[j];

			q->at[i].more = true;
			for (uint32_t t = 0; t < q->nthread; t++)
				q->thread[t].at[i].more = true;
		}
		add_left(k, (struct not_measured){
				    .image = k->m->name,
				    .event = k->r->list->at[i].name,
				    .reason = "instructions ran whose events "
					      "are not the same each time, or "
					      "not known",
				    .executions = k->m->value[i],
			    });
	}
}

/* edges without code, which were perhaps taken so often, or more often */
static void tell_blind(struct run_making *k)
{
	unsigned n = k->r->list->n;

	if (n < counts_map(k->t, k->m)->ncounter && k->m->value[n])
		add_left(k, (struct not_measured){
				    .image = k->m->name,
				    .reason = "loops of a load-exclusive and a "
					      "store-exclusive ran: rounds "
					      "that failed are not counted",
				    .executions = k->m->value[n],
			    });
}

static void add_running(struct run_making *k)
{
	const struct profile *p = &k->t->profile;

	for (size_t i = 0; i < p->thread.n;)
		i = add_threads(k, i);
	copy_phases(k);
	for (uint32_t i = 0; i < k->t->nimage; i++) {
		struct heights *h;
		struct image im;
		const char *why;

		k->m = &k->t->image[i];
		why = open_original(k, &im);
		if (why) {
			add_left(k, (struct not_measured){
					    .image = k->m->name,
					    .reason = why});
			spoil(k, 0);
			continue;
		}
		image_events_begin(&k->x, &im, k->r->list);
		note_seen(k);
		add_running_image(k);
		tell_blind(k);
		tell_plt0(k, &im);
		h = heights_open(counts_map(k->t, k->m), &k->x);
		for (size_t j = 0; j < p->stopped.n; j++)
			if (p->stopped.at[j].image == k->m->image)
				add_stopped(k, h, &p->stopped.at[j]);
		heights_close(h);
		image_events_free(&k->x);
		image_close(&im);
	}
}

/* --- what went wrong */

static void tell_killed(struct run_making *k, const struct profile_process *p)
{
	char text[160];
	const char *s;

	spoil(k, p->number);
	snprintf(text, sizeof text, "process %" PRIu32 " was killed, or ended "
		 "unseen: %s", p->pid, k->t->profile.nevent ?
		 "its counts may be off by what it did in the procedures that "
		 "it was in" :
		 "counts of what ran then may be off by one");
	s = arena_string(&k->r->arena, text, strlen(text));
	vec_push(&k->r->trouble, s);
}

static void tell_troubles(struct run_making *k)
{
	const struct profile *p = &k->t->profile;
	const char *text;
	unsigned bit = 0;

	while ((text = counts_trouble(k->t, &bit)))
		vec_push(&k->r->trouble, text);
	for (size_t i = 0; i < p->process.n; i++)
		if (p->process.at[i].killed)
			tell_killed(k, &p->process.at[i]);
}

int run_events_make(struct run_events *r, struct counts *t,
		    const struct event_list *list, bool by_process,
		    struct err *e)
{
	struct run_making k = {.r = r, .t = t};
	int failed = 0;

	*r = (struct run_events){.list = list, .shown = list->n};
	for (size_t i = 0; by_process && i < t->profile.process.n; i++) {
		const struct profile_process *q = &t->profile.process.at[i];
		struct process_events p = {.number = q->number, .pid = q->pid,
					   .name = q->name};

		if (!t->profile.nevent)
			name_threads(&k, &p);
		vec_push(&r->process, p);
	}
	if (t->profile.nevent)
		add_running(&k);
	for (uint32_t i = 0; !t->profile.nevent && !failed && i < t->nimage;
	     i++) {
		k.m = &t->image[i];
		failed = add_image(&k, e);
	}
	tell_left(&k);
	tell_troubles(&k);
	run_events_add_phases(r);
	if (failed)
		run_events_free(r);
	return failed;
}

void run_events_free(struct run_events *r)
{
	vec_free(&r->process);
	vec_free(&r->phase);
	vec_free(&r->run_phase);
	vec_free(&r->left);
	vec_free(&r->trouble);
	arena_free(&r->arena);
}
