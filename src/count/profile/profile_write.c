/* profile_write: the finished form of a profile (profile_int.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/compress.h"
#include "count/profile/profile_int.h"
#include "abi/hash.h"

struct writer {
	const struct profile *p, *minus;
	buffer out;
	uint64_t hash; /* of the parts so far */
};

static void write_part(struct writer *w, enum finished_kind kind,
		       uint32_t process, uint32_t image, const void *bytes,
		       uint64_t size)
{
	struct finished_part f = {.kind = kind, .process = process,
				  .image = image, .size = size};

	buffer_bytes(&w->out, &f, sizeof f);
	buffer_bytes(&w->out, bytes, size);
	w->hash = hash_bytes(&f, sizeof f, w->hash);
	w->hash = hash_bytes(bytes, size, w->hash);
}

/* frees *b; an empty one is not written */
static void write_compressed(struct writer *w, enum finished_kind kind,
			     uint32_t process, uint32_t image, buffer *b)
{
	buffer small = {0};

	if (b->n) {
		compress(&small, b->at, b->n);
		write_part(w, kind, process, image, small.at, small.n);
	}
	vec_free(b);
	vec_free(&small);
}

static void write_head(struct writer *w)
{
	const struct profile *p = w->p;
	struct profile_header h = p->header;

	h.version = PROFILE_VERSION;
	h.form = PROFILE_FINISHED;
	h.trouble |= w->minus ? w->minus->header.trouble : 0;
	h.options_len = (uint32_t)strlen(p->options);
	h.command_len = (uint32_t)strlen(p->command);
	buffer_bytes(&w->out, &h, sizeof h);
	buffer_bytes(&w->out, p->options, h.options_len + 1);
	buffer_bytes(&w->out, p->command, h.command_len + 1);
}

static void write_index(struct writer *w)
{
	const struct profile *p = w->p;
	buffer b = {0};

	buffer_uleb(&b, p->process.n);
	for (size_t i = 0; i < p->process.n; i++) {
		const struct profile_process *q = &p->process.at[i];

		buffer_uleb(&b, q->number);
		buffer_uleb(&b, q->pid);
		buffer_uleb(&b, q->parent);
		buffer_uleb(&b, q->origin);
		buffer_uleb(&b, q->started);
		buffer_uleb(&b, (uint64_t)q->ended << 1 | q->killed);
		buffer_bytes(&b, q->name, strlen(q->name) + 1);
	}
	buffer_uleb(&b, p->image.n);
	for (size_t i = 0; i < p->image.n; i++) {
		const struct profile_image *m = &p->image.at[i];

		buffer_bytes(&b, m->id, PROFILE_ID);
		buffer_uleb(&b, m->ncounter);
		buffer_bytes(&b, m->file, strlen(m->file) + 1);
	}
	write_compressed(w, FINISHED_INDEX, 0, 0, &b);
}

/* as they were found: the reader of the profile unpacks them */
static void write_maps(struct writer *w)
{
	for (uint32_t i = 0; i < w->p->image.n; i++)
		write_part(w, FINISHED_MAP, 0, i, w->p->image.at[i].packed.at,
			   w->p->image.at[i].packed.n);
}

/* takes away what was counted earlier; counters only grow */
static int write_minus(const struct writer *w, uint32_t image,
		       uint32_t process, uint64_t *value, struct err *e)
{
	const struct profile_image *m = &w->p->image.at[image];
	uint64_t *less;
	uint32_t other;
	int status;

	if (!w->minus || !profile_find_image(w->minus, m->id, &other))
		return 0;
	less = NEW_ARRAY(uint64_t, m->ncounter);
	status = w->minus->image.at[other].ncounter != m->ncounter ?
		err_set(e, ERR_INPUT, "%s: other counters of %s",
			w->minus->file.name, m->map.path) :
		profile_add(w->minus, other, process, less, e);
	for (uint64_t i = 0; !status && i < m->ncounter; i++) {
		if (value[i] < less[i])
			status = err_set(e, ERR_INPUT, "%s: a counter of %s "
					 "was %" PRIu64 " there and is %"
					 PRIu64 " now: not an earlier state "
					 "of this run", w->minus->file.name,
					 m->map.path, less[i], value[i]);
		value[i] -= less[i];
	}
	mem_free(less);
	return status;
}

/* the counters that are not 0; nothing if there is none */
static void write_values(struct writer *w, uint32_t image, uint32_t process,
			 const uint64_t *value)
{
	uint64_t n = w->p->image.at[image].ncounter, next = 0;
	buffer b = {0};

	for (uint64_t i = 0; i < n; i++)
		if (value[i]) {
			buffer_uleb(&b, i - next);
			buffer_uleb(&b, value[i]);
			next = i + 1;
		}
	write_compressed(w, FINISHED_COUNTS, process, image, &b);
}

static int write_counts(struct writer *w, uint32_t image, uint32_t process,
			struct err *e)
{
	uint64_t *value;
	int status;

	if (!profile_has(w->p, image, process))
		return 0;
	value = NEW_ARRAY(uint64_t, w->p->image.at[image].ncounter);
	status = profile_add(w->p, image, process, value, e);
	if (!status)
		status = write_minus(w, image, process, value, e);
	if (!status)
		write_values(w, image, process, value);
	mem_free(value);
	return status;
}

/* how many of them the earlier profile has */
static uint64_t ended_before(const struct writer *w,
			     const struct profile_end *e)
{
	const uint8_t *id = w->p->image.at[e->image].id;
	uint64_t n = 0;
	uint32_t image;

	if (!w->minus || !profile_find_image(w->minus, id, &image))
		return 0;
	for (size_t i = 0; i < w->minus->end.n; i++) {
		const struct profile_end *x = &w->minus->end.at[i];

		if (x->process == e->process && x->image == image &&
		    x->ending.address == e->ending.address &&
		    x->ending.ran == e->ending.ran)
			n += x->ending.count;
	}
	return n;
}

static void write_exits(struct writer *w)
{
	buffer b = {0};

	for (size_t i = 0; i < w->p->end.n; i++) {
		const struct profile_end *e = &w->p->end.at[i];
		uint64_t before = ended_before(w, e);

		if (before >= e->ending.count)
			continue;
		buffer_uleb(&b, e->process);
		buffer_uleb(&b, e->image);
		buffer_uleb(&b, e->ending.address);
		buffer_uleb(&b, e->ending.ran);
		buffer_uleb(&b, e->ending.count - before);
	}
	write_compressed(w, FINISHED_ENDS, 0, 0, &b);
}

/* a part for each process that has pairs */
static int write_pairs(struct writer *w, struct err *e)
{
	struct pair_list all = {0};
	int status = profile_list_pairs(w->p, w->minus, &all, e);
	size_t i = 0, end;

	for (; !status && i < all.v.n; i = end) {
		uint32_t process = all.v.at[i].process;
		buffer b = {0};

		end = i + 1;
		while (end < all.v.n && all.v.at[end].process == process)
			end++;
		profile_pack_pairs(all.v.at + i, end - i, &b);
		write_compressed(w, FINISHED_PAIRS, process, 0, &b);
	}
	vec_free(&all.v);
	return status;
}

/* the last part, and what the header says of the whole file */
static void write_end(struct writer *w, uint64_t head)
{
	uint64_t end = w->out.n + sizeof(struct finished_part) + sizeof end;
	uint64_t hash;

	memcpy(w->out.at + offsetof(struct profile_header, end), &end,
	       sizeof end);
	hash = hash_bytes(w->out.at, head, w->hash);
	write_part(w, FINISHED_END, 0, 0, &hash, sizeof hash);
}

/* all of the file in memory */
static int write_all(struct writer *w, struct err *e)
{
	const struct profile *p = w->p;
	buffer left = {0}, threads = {0}, calls = {0}, phases = {0};
	uint64_t head;

	write_head(w);
	head = w->out.n;
	write_index(w);
	write_maps(w);
	for (uint32_t m = 0; m < p->image.n; m++)
		for (size_t i = 0; i < p->process.n; i++)
			if (write_counts(w, m, p->process.at[i].number, e))
				return -1;
	write_exits(w);
	profile_pack_left(p, &left);
	write_compressed(w, FINISHED_LEFT, 0, 0, &left);
	profile_pack_threads(p, w->minus, &threads);
	write_compressed(w, FINISHED_THREADS, 0, 0, &threads);
	profile_pack_calls(p, w->minus, &calls);
	write_compressed(w, FINISHED_CALLS, 0, 0, &calls);
	profile_pack_phases(p, w->minus, &phases);
	write_compressed(w, FINISHED_PHASES, 0, 0, &phases);
	if (write_pairs(w, e))
		return -1;
	write_end(w, head);
	return 0;
}

/* whether all is known without the rewritten files */
static int write_check(const struct profile *p, struct err *e)
{
	for (size_t i = 0; i < p->image.n; i++)
		if (p->image.at[i].missing)
			return err_set(e, ERR_INPUT, "%s",
				       p->image.at[i].missing);
	return 0;
}

/* of several: what is written must be readable as one */
static int write_check_sums(const struct profile *p, struct err *e)
{
	int status = profile_check_calls(p, e);

	for (uint32_t i = 0; !status && i < p->image.n; i++) {
		uint64_t *value = NEW_ARRAY(uint64_t, p->image.at[i].ncounter);

		status = profile_add(p, i, 0, value, e);
		mem_free(value);
	}
	return status;
}

/* `minus` is an earlier state of the same run: all of it is still there */
static int write_check_minus(const struct profile *p,
			     const struct profile *minus, struct err *e)
{
	uint32_t image;

	if (minus->header.started != p->header.started ||
	    strcmp(minus->command, p->command))
		return err_set(e, ERR_INPUT, "%s: not of the same run as %s",
			       minus->file.name, p->file.name);
	if (!profile_threads_follow(p, minus) ||
	    !profile_phases_follow(p, minus))
		return err_set(e, ERR_INPUT, "%s: a thread has counted more "
			       "there than in %s: not an earlier state of it",
			       minus->file.name, p->file.name);
	for (size_t i = 0; i < minus->piece.n; i++) {
		const struct profile_piece *x = &minus->piece.at[i];

		if (!profile_find_image(p, minus->image.at[x->image].id,
					&image) ||
		    !profile_has(p, image, x->process))
			return err_set(e, ERR_INPUT, "%s: it has counts that "
				       "%s has not: not an earlier state of "
				       "it", minus->file.name, p->file.name);
	}
	return 0;
}

static int write_failed(const char *path, struct err *e)
{
	return err_set(e, ERR_MACHINE, "%s: cannot write it: %s", path,
		       strerror(errno));
}

/* a device or pipe must not become a file: others use it */
static int write_target(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	return err_set(e, ERR_INPUT, "%s: is no regular file: nothing is "
		       "written there", path);
}

int profile_write(const struct profile *p, const struct profile *minus,
		  const char *path, struct err *e)
{
	struct writer w = {.p = p, .minus = minus, .hash = FINISHED_SEED};
	char *target = resolve_file(path); /* a link stays one */
	struct stat st;
	int status = !target && errno != ENOENT ? write_failed(path, e) :
						  write_target(path, e);

	if (!status)
		status = write_check(p, e);
	if (!status && minus)
		status = write_check_minus(p, minus, e);
	if (!status && p->npart)
		status = write_check_sums(p, e);
	if (!status)
		status = write_all(&w, e);
	if (!status && file_replace(target ? target : path, w.out.at, w.out.n,
				    stat(path, &st) ? 0 : st.st_mode))
		status = write_failed(path, e);
	vec_free(&w.out);
	free(target);
	return status;
}

int profile_finish(const char *path,
		   bool (*alive)(const struct profile_process *q),
		   struct err *e)
{
	struct profile p;
	int status = 1;

	if (!alive)
		alive = profile_is_alive;
	if (profile_open_packed(&p, path, e))
		return -1;
	for (size_t i = 0; i < p.process.n; i++)
		if (!p.finished && alive(&p.process.at[i]))
			status = 0;
	for (size_t i = 0; i < p.image.n; i++)
		if (p.image.at[i].missing)
			status = 0;
	if (!p.finished)
		p.header.trouble &= ~(uint64_t)TROUBLE_RUNNING;
	if (status && !p.finished && profile_write(&p, NULL, path, e))
		status = -1;
	profile_close(&p);
	return status;
}
