/*
 * profile_open: opens one profile or several, whatever their form, and adds up
 * their counters. See profile.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bisect.h"
#include "base/debug.h"
#include "base/dict.h"
#include "count/profile/profile_int.h"

/* what the header says must be possible */
static int profile_check(const struct profile *p, struct err *e)
{
	const struct profile_header *h = &p->header;

	if (h->magic != PROFILE_MAGIC)
		return err_set(e, ERR_INPUT, "%s: not a profile of tally",
			       p->file.name);
	if (h->version < PROFILE_OLDEST || h->version > PROFILE_VERSION)
		return err_set(e, ERR_INPUT, "%s: the profile has version %"
			       PRIu32 "; this tally reads %d to %d",
			       p->file.name, h->version, PROFILE_OLDEST,
			       PROFILE_VERSION);
	if (h->form != PROFILE_LIVE && h->form != PROFILE_FINISHED)
		return err_set(e, ERR_INPUT, "%s: the profile has form %u, "
			       "which this tally does not know", p->file.name,
			       h->form);
	return 0;
}

static int profile_scan(struct profile *p, struct err *e)
{
	uint64_t at = sizeof p->header;

	if (p->file.size < sizeof p->header.magic)
		return err_set(e, ERR_INPUT, "%s: not a profile of tally",
			       p->file.name);
	if (file_read(&p->file, 0, &p->header, sizeof p->header, e) ||
	    profile_check(p, e))
		return -1;
	p->options = profile_string(p, at, p->header.options_len, e);
	if (!p->options)
		return -1;
	at += p->header.options_len + 1;
	p->command = profile_string(p, at, p->header.command_len, e);
	if (!p->command)
		return -1;
	p->finished = p->header.form == PROFILE_FINISHED;
	if (p->finished ? profile_scan_finished(p, e) :
			  profile_scan_live(p, e) || profile_live_calls(p, e))
		return -1;
	vec_free(&p->running);
	profile_sort_pieces(p);
	profile_sort_left(p);
	return profile_sort_pairs(p, e);
}

static void trace(const struct profile *p)
{
	debug(DEBUG_COUNT, "%s: a %s profile of version %" PRIu32 "; "
	      "processes: %zu, images: %zu, pieces: %zu", p->file.name,
	      p->finished ? "finished" : "live", p->header.version,
	      p->process.n, p->image.n, p->piece.n);
	for (size_t i = 0; i < p->image.n; i++) {
		const struct profile_image *m = &p->image.at[i];

		debug(DEBUG_COUNT, "%s: image %s: %" PRIu64 " counters%s%s",
		      p->file.name, m->file, m->ncounter,
		      m->missing ? ", no map: " : "",
		      m->missing ? m->missing : "");
	}
}

int profile_open_packed(struct profile *p, const char *path, struct err *e)
{
	*p = (struct profile){0};
	if (file_open(&p->file, path, e))
		return -1;
	if (profile_scan(p, e)) {
		profile_close(p);
		return -1;
	}
	if (debug_is_on(DEBUG_COUNT))
		trace(p);
	return 0;
}

int profile_open(struct profile *p, const char *path, struct err *e)
{
	if (profile_open_packed(p, path, e))
		return -1;
	if (profile_unpack_all(p, e)) {
		profile_close(p);
		return -1;
	}
	return 0;
}

/* the first piece of the image and process, or where it would be */
static size_t profile_first(const struct profile *p, uint32_t image,
			    uint32_t process)
{
	const struct profile_piece *x = p->piece.at;
	size_t i;

	bisect(i, p->piece.n, x[i].image < image ||
		(x[i].image == image && x[i].process < process));
	return i;
}

/* whether piece i is of the image and process, or (0) of any */
static bool profile_is_of(const struct profile *p, size_t i, uint32_t image,
			  uint32_t process)
{
	return i < p->piece.n && p->piece.at[i].image == image &&
	       (!process || p->piece.at[i].process == process);
}

uint32_t profile_program(const struct profile *p)
{
	for (uint32_t i = 0; p->process.n && i < p->image.n; i++)
		if (!p->image.at[i].missing &&
		    !strcmp(p->image.at[i].map.path, p->process.at[0].name))
			return i;
	return UINT32_MAX;
}

bool profile_has(const struct profile *p, uint32_t image, uint32_t process)
{
	return profile_is_of(p, profile_first(p, image, process), image,
			     process);
}

/* increments of all counters together are a number, too */
static int profile_check_sum(const struct profile *p, const uint64_t *value,
			     uint64_t n, struct err *e)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, value[i], &sum))
			return err_set(e, ERR_INPUT, "%s: counters add up to "
				       "more than 64 bits", p->file.name);
	return 0;
}

/*
 * Counting code that was not finished, or should not have been begun. What was
 * lost, because there was no room for it, cannot be put right.
 */
static void profile_correct(const struct profile *p, uint32_t image,
			    uint32_t process, uint64_t *value)
{
	for (size_t i = 0; i < p->correction.n; i++) {
		const struct profile_correction *c = &p->correction.at[i];
		uint64_t *v = &value[c->counter];

		if (c->image == image && (!process || c->process == process) &&
		    ((int64_t)c->add > 0 || *v >= -c->add))
			*v += c->add;
	}
}

void profile_endings(const struct profile *p, uint32_t image,
		     uint32_t process, struct endings *x)
{
	*x = (struct endings){0};
	for (size_t i = 0; i < p->end.n; i++)
		if (p->end.at[i].image == image &&
		    (!process || p->end.at[i].process == process))
			vec_push(&x->v, p->end.at[i].ending);
}

int profile_add_block(const struct profile *p, uint32_t image,
		      uint32_t process, uint32_t block, uint64_t *value,
		      struct err *e)
{
	for (size_t i = profile_first(p, image, process);
	     profile_is_of(p, i, image, process); i++)
		if (p->piece.at[i].block == block &&
		    profile_add_live(p, &p->piece.at[i], value, e))
			return -1;
	return profile_check_sum(p, value, p->image.at[image].ncounter, e);
}

static int profile_add_values(const struct profile *p,
			      const struct profile_piece *x, uint64_t ncounter,
			      uint64_t *value, struct err *e)
{
	for (uint64_t i = 0; i < ncounter; i++)
		if (x->value[i] && profile_sum(p, 0, &value[i], x->value[i], e))
			return -1;
	return 0;
}

int profile_add(const struct profile *p, uint32_t image, uint32_t process,
		uint64_t *value, struct err *e)
{
	uint64_t ncounter = p->image.at[image].ncounter;

	for (size_t i = profile_first(p, image, process);
	     profile_is_of(p, i, image, process); i++) {
		const struct profile_piece *x = &p->piece.at[i];
		const struct profile *q = p->npart ? &p->part[x->part] : p;

		if (x->value ? profile_add_values(q, x, ncounter, value, e) :
		    q->finished ? profile_add_finished(q, x, ncounter, value,
						       e) :
				  profile_add_live(q, x, value, e))
			return -1;
	}
	profile_correct(p, image, process, value);
	return profile_check_sum(p, value, ncounter, e);
}

/* --- several

   Images are taken together, processes get new numbers, and counters stay where
   they are: each piece knows which part it is in.

   Counters can only be added if they count the same: the same bytes of the
   image, rewritten in the same way. Both are in an image's identity. A library
   that only one of the runs loaded does no harm. */

/* parts while they are joined */
struct join {
	struct profile *all;
	struct profile *part;
	uint32_t number;    /* of the part */
	uint32_t *image;    /* of the part: in all->image */
	uint32_t processes; /* numbers before the part's */
};

/* the image that the first process of a profile runs, or NULL */
static const struct profile_image *program_of(const struct profile *p)
{
	uint32_t i = profile_program(p);

	return i < p->image.n ? &p->image.at[i] : NULL;
}

/* what a file is known by: its build-id, or else the hash of its bytes */
enum { BUILD_TEXT = 80 };
static const char *build_of(const struct map *m, char text[BUILD_TEXT])
{
	int n = sprintf(text, "build ");

	for (uint32_t i = 0; i < m->build_id_len; i++)
		n += sprintf(text + n, "%02x", m->build_id[i]);
	if (!m->build_id_len)
		sprintf(text, "hash %016" PRIx64, m->file_sum);
	return text;
}

/* a and b are images of the same path, but not the same */
static int refuse_image(const struct join *j, const struct profile_image *a,
			const struct profile_image *b, struct err *e)
{
	char x[BUILD_TEXT], y[BUILD_TEXT];

	if (a->map.file_sum == b->map.file_sum)
		return err_set(e, ERR_INPUT, "%s and %s cannot be added: %s "
			       "was counted in two ways, '%s' and '%s'",
			       j->all->part[0].file.name, j->part->file.name,
			       a->map.path, j->all->options,
			       j->part->options);
	return err_set(e, ERR_INPUT, "%s and %s cannot be added: %s is %s in "
		       "the one and %s in the other",
		       j->all->part[0].file.name, j->part->file.name,
		       a->map.path, build_of(&a->map, x),
		       build_of(&b->map, y));
}

/* the image of all that has the path of one that is new, or NULL */
static const struct profile_image *same_path(const struct profile *all,
					     const struct profile_image *m)
{
	for (size_t i = 0; !m->missing && i < all->image.n; i++)
		if (!all->image.at[i].missing &&
		    !strcmp(all->image.at[i].map.path, m->map.path))
			return &all->image.at[i];
	return NULL;
}

static int join_image(struct join *j, uint32_t image, uint32_t *common,
		      struct err *e)
{
	const struct profile_image *m = &j->part->image.at[image], *other;
	uint32_t before = (uint32_t)j->all->image.n, *to = &j->image[image];

	other = same_path(j->all, m);
	if (other && memcmp(other->id, m->id, PROFILE_ID))
		return refuse_image(j, other, m, e);
	if (profile_image_of(j->all, m->id, m->ncounter, 0, to, e))
		return -1;
	*common += *to < before;
	/* the first part that has the map lends it */
	if (*to == before || j->all->image.at[*to].missing)
		j->all->image.at[*to] = *m;
	return 0;
}

/* all of them are of one program */
static int check_program(const struct join *j, uint32_t common, struct err *e)
{
	const struct profile *first = &j->all->part[0];
	const struct profile_image *a = program_of(first);
	const struct profile_image *b = program_of(j->part);

	if (a && b && memcmp(a->id, b->id, PROFILE_ID))
		return err_set(e, ERR_INPUT, "%s and %s cannot be added: the "
			       "one is of %s, the other of %s",
			       first->file.name, j->part->file.name,
			       a->map.path, b->map.path);
	if (j->number && !common)
		return err_set(e, ERR_INPUT, "%s and %s cannot be added: they "
			       "have no image in common", first->file.name,
			       j->part->file.name);
	if (strcmp(first->options, j->part->options))
		return err_set(e, ERR_INPUT, "%s and %s cannot be added: the "
			       "one was counted with '%s', the other with "
			       "'%s'", first->file.name, j->part->file.name,
			       first->options, j->part->options);
	return 0;
}

/* options name the events: but a file may have others */
static int check_events(const struct join *j, struct err *e)
{
	const struct profile *first = &j->all->part[0];

	if (first->nevent == j->part->nevent && first->calls == j->part->calls)
		return 0;
	return err_set(e, ERR_INPUT, "%s and %s cannot be added: the one has "
		       "%" PRIu32 " events%s, the other %" PRIu32 "%s",
		       first->file.name, j->part->file.name, first->nevent,
		       first->calls ? " by call site" : "", j->part->nevent,
		       j->part->calls ? " by call site" : "");
}

static int join_processes(struct join *j, struct err *e)
{
	for (size_t i = 0; i < j->part->process.n; i++) {
		struct profile_process q = j->part->process.at[i];

		if (__builtin_add_overflow(q.number, j->processes, &q.number))
			return err_set(e, ERR_INPUT, "%s: too many processes",
				       j->part->file.name);
		q.parent += q.parent ? j->processes : 0;
		vec_push(&j->all->process, q);
	}
	return 0;
}

/* everything that says which process and image it is of */
static void join_counts(struct join *j)
{
	const struct profile *p = j->part;

	for (size_t i = 0; i < p->piece.n; i++) {
		struct profile_piece x = p->piece.at[i];

		x.part = j->number;
		x.process += j->processes;
		x.image = j->image[x.image];
		vec_push(&j->all->piece, x);
	}
	for (size_t i = 0; i < p->end.n; i++) {
		struct profile_end x = p->end.at[i];

		x.process += j->processes;
		x.image = j->image[x.image];
		vec_push(&j->all->end, x);
	}
	for (size_t i = 0; i < p->correction.n; i++) {
		struct profile_correction x = p->correction.at[i];

		x.process += j->processes;
		x.image = j->image[x.image];
		vec_push(&j->all->correction, x);
	}
	for (size_t i = 0; i < p->pair.n; i++) {
		struct profile_pair x = p->pair.at[i];

		x.process += j->processes;
		x.image = j->image[x.image];
		if (x.to_image != PROFILE_ELSEWHERE)
			x.to_image = j->image[x.to_image];
		vec_push(&j->all->pair, x);
	}
	for (size_t i = 0; i < p->left.n; i++) {
		struct profile_left x = p->left.at[i];

		x.process += x.process ? j->processes : 0;
		vec_push(&j->all->left, x);
	}
}

/* what running counters tell; requires: check_events() */
static void join_running(struct join *j)
{
	const struct profile *p = j->part;

	for (size_t i = 0; i < p->thread.n; i++) {
		struct profile_thread x = p->thread.at[i];

		x.process += j->processes;
		vec_push(&j->all->thread, x);
	}
	for (size_t i = 0; i < p->stopped.n; i++) {
		struct profile_stopped x = p->stopped.at[i];

		x.process += j->processes;
		x.image = j->image[x.image];
		vec_push(&j->all->stopped, x);
	}
	for (size_t i = 0; i < p->phase.n; i++) {
		struct profile_phase x = p->phase.at[i];

		x.process += j->processes;
		vec_push(&j->all->phase, x);
	}
	for (size_t i = 0; i < p->call.n; i++) {
		struct profile_call x = p->call.at[i];

		x.process += j->processes;
		if (x.image != PROFILE_ELSEWHERE)
			x.image = j->image[x.image];
		if (x.to_image != PROFILE_ELSEWHERE)
			x.to_image = j->image[x.to_image];
		vec_push(&j->all->call, x);
	}
	j->all->nevent = p->nevent;
	j->all->calls = p->calls;
}

/* one map of an image is enough: there may be hundreds of runs */
static void return_maps(struct join *j)
{
	for (uint32_t i = 0; i < j->part->image.n; i++) {
		struct profile_image *m = &j->part->image.at[i];

		if (j->all->image.at[j->image[i]].packed.at == m->packed.at)
			continue;
		map_release(&m->map);
		m->map = (struct map){0};
		vec_free(&m->packed);
	}
}

static int join_part(struct join *j, struct err *e)
{
	struct profile_header *h = &j->all->header;
	uint32_t common = 0;

	for (uint32_t i = 0; i < j->part->image.n; i++)
		if (join_image(j, i, &common, e))
			return -1;
	if (check_program(j, common, e) || check_events(j, e) ||
	    join_processes(j, e))
		return -1;
	join_counts(j);
	join_running(j);
	if (j->number)
		h->nprocess += j->part->header.nprocess;
	h->trouble |= j->part->header.trouble;
	if (j->part->header.started < h->started)
		h->started = j->part->header.started;
	j->all->finished &= j->part->finished;
	return_maps(j);
	if (j->all->process.n)
		j->processes =
			j->all->process.at[j->all->process.n - 1].number;
	return 0;
}

/* what was run: each command once */
static const char *join_commands(struct profile *all)
{
	struct intern known = {0};
	size_t size = 1;
	char *text, *at;

	for (uint32_t i = 0; i < all->npart; i++)
		intern(&known, all->part[i].command);
	for (size_t i = 0; i < known.string.n; i++)
		size += strlen(known.string.at[i]) + 2;
	text = at = arena_alloc(&all->arena, size);
	for (size_t i = 0; i < known.string.n; i++)
		at += sprintf(at, "%s%s", i ? "; " : "", known.string.at[i]);
	intern_free(&known);
	return text;
}

/* how messages call all of them */
static const char *join_names(struct profile *all, size_t n)
{
	const char *first = all->part[0].file.name;
	char *text = arena_alloc(&all->arena, strlen(first) + 48);

	sprintf(text, "%s and %zu more", first, n - 1);
	return text;
}

static void join_begin(struct profile *all, size_t n)
{
	all->header = all->part[0].header;
	all->file = all->part[0].file;
	all->file.name = join_names(all, n);
	all->options = all->part[0].options;
	all->finished = true;
}

static int open_one(const struct profile_opener *o, struct profile *p,
		    const char *path, struct err *e)
{
	return o ? o->open(o, p, path, e) : profile_open(p, path, e);
}

/* opens the next part and joins it; all->npart says how many are open */
static int join_next(struct join *j, const char *path, size_t n,
		     const struct profile_opener *o, struct err *e)
{
	int status;

	j->part = &j->all->part[j->number];
	if (open_one(o, j->part, path, e))
		return -1;
	j->all->npart++;
	if (!j->number)
		join_begin(j->all, n);
	j->image = NEW_ARRAY(uint32_t, j->part->image.n + 1);
	status = join_part(j, e);
	mem_free(j->image);
	j->number++;
	return status;
}

int profile_open_all(struct profile *p, const char *const *path, size_t n,
		     const struct profile_opener *o, struct err *e)
{
	struct join j = {.all = p};
	int status = 0;

	if (n == 1)
		return open_one(o, p, path[0], e);
	*p = (struct profile){.part = NEW_ARRAY(struct profile, n)};
	while (!status && j.number < n)
		status = join_next(&j, path[j.number], n, o, e);
	if (!status) {
		p->command = join_commands(p);
		profile_sort_pieces(p);
		profile_sort_left(p);
		profile_sort_calls(p);
		status = profile_sort_pairs(p, e);
	}
	if (status && p->npart)
		profile_close(p);
	else if (status)
		mem_free(p->part);
	return status;
}
