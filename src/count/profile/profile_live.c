/*
 * profile_live: the profile of a run that may still go on: chunks, which
 * processes took and filled as they needed them (abi/profile_format.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "count/profile/embedded.h"
#include "count/profile/live_walk.h"
#include "count/profile/profile_int.h"

enum {
	LIVE_STEP = 2048,  /* counters read at once */
	STAT_STARTED = 22, /* field of /proc/PID/stat, proc(5) */
	/*
	 * Ticks, ten seconds: an emulator shows its program when it began
	 * itself, which is later. Taking another process for this one does no
	 * harm; the other way round, counts would be lost.
	 */
	STARTED_SLACK = 1000,
};

/* reads /proc/PID/stat; what follows the name, which may hold anything */
static const char *stat_fields(uint32_t pid, char *text, size_t size)
{
	char name[32], *end;
	FILE *f;
	size_t n;

	snprintf(name, sizeof name, "/proc/%" PRIu32 "/stat", pid);
	f = fopen(name, "re");
	if (!f)
		return NULL;
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

bool profile_is_alive(const struct profile_process *q)
{
	char text[1024];
	const char *at;
	int64_t off;

	if (!q->pid || q->pid > INT32_MAX ||
	    (kill((pid_t)q->pid, 0) && errno == ESRCH))
		return false;
	at = stat_fields(q->pid, text, sizeof text);
	if (!at) /* gone meanwhile, or hidden from us */
		return !kill((pid_t)q->pid, 0) || errno != ESRCH;
	if (*at == 'Z' || *at == 'X')
		return false;
	for (int field = 3; at && field < STAT_STARTED; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (!at || !q->started)
		return true;
	off = (int64_t)(strtoull(at, NULL, 10) - q->started);
	return off >= -STARTED_SLACK && off <= STARTED_SLACK;
}

/* a chunk's own numbers must be possible */
static int live_check(const struct profile *p, const struct live_walk *w,
		      struct err *e)
{
	const struct profile_chunk *c = &w->chunk;

	if (c->at != w->at)
		return err_at(e, p->file.name, w->at, "a chunk that says it is "
			      "at 0x%" PRIx64, c->at);
	if (!live_walk_is_sound(w))
		return err_at(e, p->file.name, w->at, "a chunk of %" PRIu64
			      " bytes, %" PRIu64 " are left", c->size,
			      w->end - w->at);
	if (!c->process && c->kind != CHUNK_LEFT)
		return err_at(e, p->file.name, w->at, "a chunk of no process");
	if (c->kind == CHUNK_RUNNING && p->header.version < PROFILE_RUNNING)
		return err_at(e, p->file.name, w->at, "running counters of a "
			      "run that was not finished, version %" PRIu32
			      ": only the tally that wrote them reads them",
			      p->header.version);
	return 0;
}

/* a string behind a struct of `head` bytes, inside its chunk */
static const char *live_string(struct profile *p, const struct profile_chunk *c,
			       uint64_t head, uint64_t len, struct err *e)
{
	if (len >= c->size - head) {
		err_at(e, p->file.name, c->at, "a name of %" PRIu64 " bytes "
		       "is longer than its chunk", len);
		return NULL;
	}
	return profile_string(p, c->at + head, len, e);
}

/* how the process ended, and where its threads did, as it said */
static void live_ended(struct profile *p, const struct chunk_process *c)
{
	if (c->moving)
		p->header.trouble |= TROUBLE_MOVING;
	if (c->lost)
		p->header.trouble |= TROUBLE_LOST;
	for (uint32_t i = 0; i < PROCESS_ENDS && i < c->nend; i++) {
		struct profile_said x = {c->chunk.process, c->end[i]};

		if (x.end.count)
			vec_push(&p->said, x);
	}
}

static int live_process(struct profile *p, const struct profile_chunk *k,
			struct err *e)
{
	struct chunk_process c;
	struct profile_process q;

	if (file_read(&p->file, k->at, &c, sizeof c, e))
		return -1;
	c.chunk = *k;
	q = (struct profile_process){
		.number = c.chunk.process, .pid = c.pid, .parent = c.parent,
		.origin = c.origin, .started = c.started, .ended = c.ended,
		.name = live_string(p, &c.chunk, sizeof c, c.name_len, e),
	};
	if (!q.name)
		return -1;
	vec_push(&p->process, q);
	live_ended(p, &c);
	return 0;
}

/* the counters lie inside their chunk, behind its head */
static int live_check_counters(const struct profile *p,
			       const struct chunk_counters *c, struct err *e)
{
	if (c->first < sizeof *c || c->first > c->chunk.size ||
	    c->first % sizeof(uint64_t) ||
	    c->ncounter > (c->chunk.size - c->first) / sizeof(uint64_t))
		return err_at(e, p->file.name, c->chunk.at, "%" PRIu64
			      " counters at 0x%" PRIx64 " do not fit into a "
			      "chunk of %" PRIu64 " bytes", c->ncounter,
			      c->first, c->chunk.size);
	return 0;
}

static int live_counters(struct profile *p, const struct profile_chunk *k,
			 struct err *e)
{
	struct chunk_counters c;
	struct profile_piece x = {0};
	const char *file;

	if (file_read(&p->file, k->at, &c, sizeof c, e))
		return -1;
	c.chunk = *k;
	if (live_check_counters(p, &c, e))
		return -1;
	file = live_string(p, &c.chunk, sizeof c, c.path_len, e);
	if (!file ||
	    profile_image_of(p, c.id, c.ncounter, k->at, &x.image, e))
		return -1;
	if (!*p->image.at[x.image].file)
		p->image.at[x.image].file = file;
	x.process = c.chunk.process;
	x.block = c.block;
	x.at = k->at + c.first;
	x.size = c.ncounter * sizeof(uint64_t);
	vec_push(&p->piece, x);
	return 0;
}

/* an image that runs uncounted */
static int live_left(struct profile *p, const struct profile_chunk *k,
		     struct err *e)
{
	struct profile_left x;
	struct chunk_left c;
	uint64_t reason;

	if (file_read(&p->file, k->at, &c, sizeof c, e))
		return -1;
	c.chunk = *k;
	reason = sizeof c + (uint64_t)c.path_len + 1;
	x = (struct profile_left){
		.process = c.chunk.process, .why = c.why,
		.path = live_string(p, &c.chunk, sizeof c, c.path_len, e),
	};
	if (!x.path)
		return -1;
	x.reason = live_string(p, &c.chunk, reason, c.reason_len, e);
	if (!x.reason)
		return -1;
	vec_push(&p->left, x);
	return 0;
}

/* what was checked of a chunk is what counts: it may be written meanwhile */
static int live_chunk(struct profile *p, const struct live_walk *w,
		      struct err *e)
{
	const struct profile_chunk *k = &w->chunk;

	if (live_check(p, w, e))
		return -1;
	switch (k->kind) {
	case CHUNK_PROCESS:
		return live_process(p, k, e);
	case CHUNK_COUNTERS:
		return live_counters(p, k, e);
	case CHUNK_LEFT:
		return live_left(p, k, e);
	case CHUNK_RUNNING:
		return profile_live_running(p, k, e);
	case CHUNK_THREADS:
		return profile_live_threads(p, k, e);
	case CHUNK_PHASES:
		return profile_live_phases(p, k, e);
	case CHUNK_PAIRS:
		vec_push(&p->pair_chunk, k->at);
		return 0;
	case CHUNK_STACK:
		p->calls = true;
		vec_push(&p->stack_chunk, k->at);
		return 0;
	case CHUNK_CALLS:
		p->calls = true;
		vec_push(&p->calls_chunk, k->at);
		return 0;
	}
	return err_at(e, p->file.name, k->at, "a chunk of kind %" PRIu32
		      ", which this tally does not know", k->kind);
}

/* processes that may only have left counters */
static void live_nameless(struct profile *p)
{
	uint32_t last = 0;

	for (size_t i = 0; i < p->piece.n; i++) {
		struct profile_process q = {.number = p->piece.at[i].process};

		/* the chunks of a process lie together, mostly */
		if (q.number != last)
			vec_push(&p->process, q);
		last = q.number;
	}
	for (size_t i = 0; i < p->left.n; i++) {
		struct profile_process q = {.number = p->left.at[i].process};

		if (q.number && q.number != last)
			vec_push(&p->process, q);
		last = q.number;
	}
}

/* the image's map, from the rewritten file if it is still the same */
static void live_map(struct profile *p, uint32_t image)
{
	struct profile_image *m = &p->image.at[image];
	struct err why;
	size_t size;
	uint8_t *bytes = embedded_read(m->file, MAP_SECTION, &size, &why);

	if (!bytes || profile_take_map(p, image, bytes, size, m->file, &why))
		m->missing = arena_string(&p->arena, why.text,
					  strlen(why.text));
}

/* reads all chunks below `end` */
static int live_chunks(struct profile *p, uint64_t end, struct err *e)
{
	struct live_walk w;

	live_walk_from(&w, p->file.fd, PROFILE_FIRST, end);
	while (live_walk_next(&w))
		if (live_chunk(p, &w, e))
			return -1;
	if (w.cut)
		return err_at(e, p->file.name, w.at, "the file ends here, too "
			      "early");
	live_nameless(p);
	if (profile_sort(p, e))
		return -1;
	if (profile_live_phases_end(p, e))
		return -1;
	profile_live_threads_end(p);
	return 0;
}

/*
 * What readers see themselves. Room is taken before it is reserved on disk:
 * the file may well be shorter than its header says, but not for long.
 */
static void live_trouble(struct profile *p, bool cut)
{
	uint64_t *trouble = &p->header.trouble;

	for (size_t i = 0; i < p->process.n; i++) {
		struct profile_process *q = &p->process.at[i];

		if (profile_is_alive(q))
			*trouble |= TROUBLE_RUNNING;
		else
			q->killed = q->ended == ENDED_NOT;
	}
	if (cut && !(*trouble & (TROUBLE_RUNNING | TROUBLE_NO_SPACE)))
		*trouble |= TROUBLE_CUT;
}

int profile_scan_live(struct profile *p, struct err *e)
{
	uint64_t end = p->header.end;
	bool cut;

	file_spare(&p->file);
	/* it may have grown since it was opened */
	if (file_look(&p->file, e))
		return -1;
	if (end < PROFILE_FIRST || p->file.size < PROFILE_FIRST)
		return err_at(e, p->file.name, 16, "%" PRIu64 " bytes should "
			      "be in use, the file has %" PRIu64, end,
			      p->file.size);
	cut = end > p->file.size;
	if (live_chunks(p, cut ? p->file.size : end, e))
		return -1;
	live_trouble(p, cut);
	for (uint32_t i = 0; i < p->image.n; i++)
		live_map(p, i);
	profile_understand(p);
	return profile_live_pairs(p, e);
}

/* adds n counters, the first of which is at `at` */
static int live_add(const struct profile *p, uint64_t at, uint64_t n,
		    uint64_t *value, struct err *e)
{
	uint64_t step[LIVE_STEP];

	if (file_read(&p->file, at, step, n * sizeof *step, e))
		return -1;
	for (uint64_t i = 0; i < n; i++)
		if (step[i] && profile_sum(p, at, &value[i], step[i], e))
			return -1;
	return 0;
}

/* adds counters of a piece from `at` on, which were written, up to `end` */
static int live_add_run(const struct profile *p, const struct profile_piece *x,
			uint64_t at, uint64_t end, uint64_t *value,
			struct err *e)
{
	uint64_t i = (at - x->at) / sizeof *value;
	uint64_t last = (end - x->at + sizeof *value - 1) / sizeof *value;

	while (i < last) {
		uint64_t n = last - i < LIVE_STEP ? last - i : LIVE_STEP;

		if (live_add(p, x->at + i * sizeof *value, n, value + i, e))
			return -1;
		i += n;
	}
	return 0;
}

/* pages that were never written are passed over: they are most of it */
int profile_add_live(const struct profile *p, const struct profile_piece *x,
		     uint64_t *value, struct err *e)
{
	uint64_t at = x->at, end = x->at + x->size, hole;

	while ((at = file_data(&p->file, at, end)) < end) {
		hole = file_hole(&p->file, at, end);
		if (hole <= at) /* it became one meanwhile */
			hole = end;
		if (live_add_run(p, x, at, hole, value, e))
			return -1;
		at = hole;
	}
	return 0;
}
