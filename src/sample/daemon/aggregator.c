/* aggregator: see aggregator.h. */
#include "sample/daemon/aggregator.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "sample/jit/jit.h"

enum { NOBODY = HARVEST_NOBODY };
enum {
	/* of what is mapped: of a process, and of all (32 megabytes) */
	MAPPED = 1 << 13,
	MAPPED_BY_ALL = 1 << 20,
	IDS = 1 << 12, /* build-ids that are remembered */
	SCAN = 5000,   /* milliseconds for all that are read at once */
};

/* --- processes */

/* another program, or name, under this number: samples so far are not its */
static void process_begin(struct space *s, const char *name)
{
	snprintf(s->name, sizeof s->name, "%s", *name ? name : "?");
	s->process = NOBODY;
}

/* the process that samples are of; many live and die without any */
static uint32_t process_of(struct aggregator *c, struct space *s)
{
	if (!s)
		return NOBODY;
	if (s->process == NOBODY)
		s->process = sample_buffer_process(&c->sample_buffer, s->pid,
						   *s->name ? s->name : "?");
	return s->process;
}

static const struct stored_image memory = {.kind = IMAGE_MEMORY,
					   .path = "[memory]"};

/* the jit_process of what a process makes itself; *image: of that, by address
 */
static struct jit_process *make_maker(struct aggregator *c,
				      const struct space *s, uint32_t *image)
{
	return sample_buffer_new_maker(&c->sample_buffer, s->pid,
				       *s->name ? s->name : "?", image);
}

/* a file is mapped: is it one that names code? */
static void find_dump(struct aggregator *c, uint32_t pid, const char *path,
		      uint64_t inode)
{
	struct space *s;
	struct jit_process *m;
	uint32_t image;

	if (!jitdump_is(path))
		return;
	s = space_make(&c->spaces, pid);
	m = make_maker(c, s, &image);
	if (m && !jit_process_dump(m, path, inode, s->ended,
				   &c->sample_buffer.trouble))
		s->made = image;
}

/* what a file, or memory, is by the name that the kernel gives to it */
static struct stored_image image_named(const char *name)
{
	struct stored_image is = {.kind = IMAGE_FILE, .path = name};

	if (!strcmp(name, "[vdso]"))
		is.kind = IMAGE_VDSO;
	else if (name[0] != '/' || !strncmp(name, "//anon", 6))
		is = memory;
	return is;
}

/* a file that its path does not open, and that is no program: shared memory */
static struct stored_image image_settled(struct stored_image is)
{
	static const char *const shared[] = {"/memfd:", "/dev/zero", "/SYSV"};

	if (is.kind == IMAGE_FILE && !is.build_id_len)
		for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
			if (!strncmp(is.path, shared[i], strlen(shared[i])))
				return memory;
	return is;
}

static void map(struct aggregator *c, struct space *s, struct mapping m,
		struct stored_image is, uint64_t time)
{
	if (s->map.n >= MAPPED || c->mapped >= MAPPED_BY_ALL)
		return;
	is = image_settled(is);
	m.image = sample_buffer_image(&c->sample_buffer, &is);
	if (is.kind == IMAGE_MEMORY || m.image == HARVEST_UNKNOWN)
		m.offset = m.start;
	c->mapped++;
	/*
	 * The kernel tells how much it wanted for the loader, and puts the
	 * vdso into what it did not need, before the program's first step.
	 */
	if (is.kind != IMAGE_VDSO)
		history_remap(&c->history, s, &m, time);
	space_map(s, &m);
}

/* by the 24 bytes of a record: size, 3 bytes, build-id; or device and inode */
static void identify(struct aggregator *c, struct stored_image *is,
		     uint32_t pid, const uint8_t *id, bool has_id)
{
	uint64_t inode;

	if (has_id && id[0] <= 20) {
		is->build_id_len = id[0];
		memcpy(is->build_id, id + 4, id[0]);
	} else if (!has_id) {
		memcpy(&inode, id + 8, sizeof inode);
		proc_file(pid, is->path, inode, is);
		find_dump(c, pid, is->path, inode);
	}
}

/* PERF_RECORD_MMAP2 */
static void on_mmap(struct aggregator *c, struct bytes *b, bool has_id)
{
	uint32_t pid = (uint32_t)bytes_uint(b, 4);
	struct stored_image is;
	struct mapping m = {0};
	const uint8_t *id;
	const char *name;

	bytes_uint(b, 4); /* the thread */
	m.start = bytes_uint(b, 8);
	m.end = m.start + bytes_uint(b, 8);
	m.offset = bytes_uint(b, 8);
	id = bytes_take(b, 24);
	bytes_uint(b, 8); /* what may be done there, and flags */
	name = bytes_string(b, PATH_MAX);
	if (b->bad || !name)
		return;
	is = image_named(name);
	if (is.kind == IMAGE_FILE)
		identify(c, &is, pid, id, has_id);
	/* behind it: process and thread, and the time, which is the last */
	if (bytes_left(b) >= 8)
		bytes_take(b, bytes_left(b) - 8);
	map(c, space_make(&c->spaces, pid), m, is, bytes_uint(b, 8));
}

/* PERF_RECORD_COMM: a name, or a new program */
static void on_comm(struct aggregator *c, struct bytes *b, bool exec)
{
	uint32_t pid = (uint32_t)bytes_uint(b, 4);
	uint32_t tid = (uint32_t)bytes_uint(b, 4);
	const char *name = bytes_string(b, 64);
	struct space *s;

	if (b->bad || !name)
		return;
	s = space_make(&c->spaces, pid);
	if (exec)
		history_exec(&c->history, s);
	if (exec || pid == tid) /* threads have names of their own */
		process_begin(s, name);
}

/* PERF_RECORD_FORK, of a thread or a process */
static void on_fork(struct aggregator *c, struct bytes *b)
{
	uint32_t pid = (uint32_t)bytes_uint(b, 4);
	uint32_t parent = (uint32_t)bytes_uint(b, 4);
	uint64_t time;
	const struct space *from;
	struct space *s;

	bytes_uint(b, 8); /* the threads */
	time = bytes_uint(b, 8);
	if (b->bad || pid == parent)
		return;
	history_end(&c->history, space_make(&c->spaces, pid));
	s = c->mapped < MAPPED_BY_ALL ? space_copy(&c->spaces, pid, parent) :
					space_make(&c->spaces, pid);
	from = space_of(&c->spaces, parent);
	history_child(s, from, time);
	if (!from)
		process_begin(s, "?");
	c->mapped += s->map.n;
}

/* PERF_RECORD_EXIT, of a thread or a process */
static void on_exit_of(struct aggregator *c, struct bytes *b)
{
	uint32_t pid = (uint32_t)bytes_uint(b, 4), tid;
	struct space *s;

	bytes_uint(b, 4); /* the parent */
	tid = (uint32_t)bytes_uint(b, 4);
	s = b->bad || pid != tid ? NULL : space_of(&c->spaces, pid);
	if (!s)
		return;
	s->ended = true;
	s->until = c->history.generation;
}

/* --- samples */

/* what /proc says of a process */
struct asked {
	struct aggregator *c;
	uint32_t pid;
};

/* proc_each_map(): adds what the kernel has not reported */
static void take_map(void *asked, struct proc_map *p)
{
	const struct asked *x = asked;
	struct space *s = space_of(&x->c->spaces, x->pid);
	struct mapping m = {p->start, p->end, p->offset, 0};
	struct stored_image is = image_named(p->name);

	if (space_find(s, p->start))
		return;
	if (is.kind == IMAGE_FILE)
		proc_identify(&x->c->ids, &x->c->sample_buffer.parser, x->pid,
			      p, &is);
	if (is.kind == IMAGE_FILE && !is.build_id_len)
		find_dump(x->c, x->pid, is.path, p->inode);
	map(x->c, space_of(&x->c->spaces, x->pid), m, is, 0); /* over nothing */
}

/* what a process has mapped */
static void look_at(struct asked *x)
{
	struct parser *p = &x->c->sample_buffer.parser;
	bool alone = !p->until;

	if (alone)
		parser_turn(p, SCAN / 10);
	proc_each_map(x->pid, take_map, x);
	if (alone)
		parser_end(p);
}

/* asks /proc for code that no record is of: memory that became code later */
static void ask_process(struct aggregator *c, struct space *s)
{
	struct asked x = {c, s->pid};

	if (s->misses++ < s->patience)
		return;
	s->patience = 2 * s->patience + 16;
	s->misses = 0;
	look_at(&x);
}

/* proc_each(): a process that perhaps no record is of */
static void take_process(void *aggregator, uint32_t pid, const char *name)
{
	struct asked x = {aggregator, pid};
	struct space *s = space_make(&x.c->spaces, pid);

	if (!*s->name)
		process_begin(s, name);
	look_at(&x);
}

/* what was there then, if that is known, or can be asked */
static const struct mapping *find_or_ask(struct aggregator *c, struct space *s,
					 const struct counted *x)
{
	const struct mapping *m;
	bool remapped;

	if (!s)
		return NULL;
	m = history_look(s, x->address, x->from, x->to, &remapped);
	if (m || remapped || s != space_of(&c->spaces, s->pid))
		return m; /* /proc has no history */
	ask_process(c, s);
	return space_find(s, x->address);
}

/* the samples are of that place in an image, and of a process or none (NULL) */
static void add(struct aggregator *c, uint32_t image, struct space *s,
		const struct counted *x, uint64_t offset)
{
	struct hit h = {offset, x->count};

	c->samples += x->count;
	sample_buffer_samples(&c->sample_buffer, image, process_of(c, s),
			      x->event, h);
}

static bool is_memory(const struct aggregator *c, const struct mapping *m)
{
	return c->sample_buffer.image.at[m->image].is.kind == IMAGE_MEMORY;
}

/*
 * The image of what a process makes itself, if it names that, else
 * `plain`. It is asked at its first samples there, and more and more seldom.
 */
static uint32_t made_by(struct aggregator *c, struct space *s, uint32_t plain)
{
	struct jit_process *m;
	uint32_t image;
	int fd;

	if (s->made)
		return s->made;
	if (s->misses++ < s->patience)
		return plain;
	s->patience = 2 * s->patience + 16;
	s->misses = 0;
	/* the pid of a process that is gone may be another's by now */
	fd = jit_open(s->pid, s->ended || s != space_of(&c->spaces, s->pid));
	if (fd < 0)
		return plain;
	m = make_maker(c, s, &image);
	if (!m) {
		close(fd);
		return plain;
	}
	jit_process_map(m, fd);
	return s->made = image;
}

/*
 * Samples of memory. Where a dump says when each code was there, it has to be
 * known when they were, as closely as can be.
 */
static void memory_samples(struct aggregator *c, struct space *s,
			   const struct counted *x, uint32_t plain)
{
	uint32_t image = made_by(c, s, plain);
	const struct jit_process *m =
		sample_buffer_maker(&c->sample_buffer, image);
	struct made_hit hit = {x->address, x->count, x->from, x->to,
			       x->event, process_of(c, s)};

	if (!m || m->dump.fd < 0) {
		add(c, image, s, x, x->address);
		return;
	}
	c->samples += x->count;
	c->history.remapped = true;
	sample_buffer_made(&c->sample_buffer, image, &hit);
}

static void user_samples(struct aggregator *c, struct space *s,
			 const struct counted *x)
{
	const struct mapping *m = find_or_ask(c, s, x);

	if (m && is_memory(c, m)) {
		memory_samples(c, s, x, m->image);
		return;
	}
	if (m && m->image != HARVEST_UNKNOWN) {
		add(c, m->image, s, x, x->address - m->start + m->offset);
		return;
	}
	c->unknown += x->count;
	add(c, HARVEST_UNKNOWN, s, x, x->address);
}

/* the image of a part of the kernel, or of what is in none (NULL) */
static uint32_t kernel_image(struct aggregator *c, const struct kernel_part *p)
{
	struct stored_image is = {.kind = IMAGE_KERNEL, .path = "[kernel]"};

	if (p && p->module) {
		is.kind = IMAGE_MODULE;
		is.path = p->name;
	} else {
		memcpy(is.build_id, c->kernel.build_id, sizeof is.build_id);
		is.build_id_len = c->kernel.build_id_len;
	}
	return sample_buffer_image(&c->sample_buffer, &is);
}

/* by part, and that of what is in none */
static void name_parts(struct aggregator *c)
{
	c->kernel_image.n = 0;
	for (size_t i = 0; i < c->kernel.part.n; i++)
		vec_push(&c->kernel_image,
			 kernel_image(c, &c->kernel.part.at[i]));
	vec_push(&c->kernel_image, kernel_image(c, NULL));
}

static void know_kernel(struct aggregator *c)
{
	kernel_read(&c->kernel);
	name_parts(c);
}

/* the part that an address is in; modules come and go */
static const struct kernel_part *find_part(struct aggregator *c, uint64_t addr)
{
	const struct kernel_part *p = kernel_find(&c->kernel, addr);

	if (p || !kernel_look_again(&c->kernel))
		return p;
	name_parts(c);
	return kernel_find(&c->kernel, addr);
}

/* the kernel's symbols are many: to read them takes longer than a burst */
void aggregator_scan(struct aggregator *c)
{
	if (!c->kernel_image.n)
		know_kernel(c);
	parser_turn(&c->sample_buffer.parser, SCAN);
	proc_each(take_process, c);
	parser_end(&c->sample_buffer.parser);
}

static void kernel_samples(struct aggregator *c, struct space *s,
			   const struct counted *x)
{
	const struct kernel_part *p;
	size_t part;

	if (!c->kernel_image.n)
		know_kernel(c);
	p = find_part(c, x->address);
	part = p ? (size_t)(p - c->kernel.part.at) : c->kernel.part.n;
	add(c, c->kernel_image.at[part], s, x,
	    p ? x->address - p->start : x->address);
}

/* samples of a process, or of one that is not known (NULL) */
static void add_samples(struct aggregator *c, struct space *s,
			const struct counted *x)
{
	if (x->kernel)
		kernel_samples(c, s, x);
	else
		user_samples(c, s, x);
}

static void on_sample(struct aggregator *c, struct bytes *b, uint32_t event,
		      unsigned mode)
{
	struct counted one = {.address = bytes_uint(b, 8), .count = 1,
			      .event = event,
			      .kernel = mode == PERF_RECORD_MISC_KERNEL};
	struct space *s;

	if (c->paused)
		return;
	s = space_make(&c->spaces, (uint32_t)bytes_uint(b, 4));
	bytes_uint(b, 4); /* the thread */
	one.from = one.to = bytes_uint(b, 8);
	add_samples(c, s, &one);
}

void collect_counted(void *aggregator, const struct counted *x)
{
	struct aggregator *c = aggregator;
	struct space *s = history_find(&c->history, &c->spaces, x->pid, x->exec,
				    x->birth);

	if (!s)
		c->needs_rescan = true;
	add_samples(c, s, x);
}

/* TABLE_CITIZEN */
static void on_citizen(struct aggregator *c, const struct citizen *x)
{
	struct space *s = space_make(&c->spaces, x->pid);
	char name[PROC_NAME];

	if (!history_number(&c->history, s, x->exec, x->birth) &&
	    proc_name(x->pid, name))
		take_process(c, x->pid, name);
}

/* PERF_RECORD_LOST: samples, or sideband records */
static void on_lost(struct aggregator *c, struct bytes *b, uint32_t event)
{
	uint64_t n;

	bytes_uint(b, 8); /* which event's */
	n = bytes_uint(b, 8);
	if (c->history.kept)
		c->needs_rescan = true;
	else
		c->lost[event] += n;
}

void collect(void *aggregator, uint32_t event,
	     const struct perf_event_header *h)
{
	struct aggregator *c = aggregator;
	struct bytes b = bytes_window((const uint8_t *)(h + 1),
				      h->size - sizeof *h, 0);

	switch (h->type) {
	case TABLE_CITIZEN:
		on_citizen(c, (const struct citizen *)h);
		break;
	case PERF_RECORD_MMAP2:
		on_mmap(c, &b, h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
		break;
	case PERF_RECORD_COMM:
		on_comm(c, &b, h->misc & PERF_RECORD_MISC_COMM_EXEC);
		break;
	case PERF_RECORD_FORK:
		on_fork(c, &b);
		break;
	case PERF_RECORD_EXIT:
		on_exit_of(c, &b);
		break;
	case PERF_RECORD_LOST:
		on_lost(c, &b, event);
		break;
	case PERF_RECORD_SAMPLE:
		on_sample(c, &b, event,
			  h->misc & PERF_RECORD_MISC_CPUMODE_MASK);
		break;
	}
}

/* --- what is still there */

void aggregator_shed(struct aggregator *c, size_t most)
{
	if (sample_buffer_places(&c->sample_buffer) <= most &&
	    !sample_buffer_is_full(&c->sample_buffer))
		return;
	for (size_t i = 0; i < EVENTS; i++)
		c->lost[i] += c->sample_buffer.fresh[i];
	sample_buffer_forget(&c->sample_buffer);
}

/*
 * spaces_keep(): not if its process is gone, all its threads with it, and no
 * samples of it are to come. A process may run on for a while after the record
 * of its end, and as long as it does it has samples in this generation.
 */
static bool is_needed(void *aggregator, struct space *s)
{
	const struct aggregator *c = aggregator;
	bool alive = !s->ended || proc_is_alive(s->pid);

	if (alive)
		s->until = c->history.generation;
	return alive || history_has_samples(&c->history, s->until);
}

static size_t count_mapped(const struct space *s, size_t n)
{
	size_t mapped = 0;

	for (size_t i = 0; i < n; i++)
		mapped += s[i].map.n;
	return mapped;
}

void aggregator_turn(struct aggregator *c)
{
	history_turn(&c->history, &c->spaces);
	spaces_keep(&c->spaces, is_needed, c);
	c->mapped = count_mapped(c->spaces.v.at, c->spaces.v.n) +
		    count_mapped(c->history.v.at, c->history.v.n);
}

static void keep_images(struct space *s, size_t n, struct sample_buffer_kept *k)
{
	for (size_t i = 0; i < n; i++) {
		s[i].process = NOBODY;
		if (s[i].made)
			s[i].made = sample_buffer_keep(k, s[i].made);
		for (size_t j = 0; j < s[i].map.n; j++)
			s[i].map.at[j].image =
				sample_buffer_keep(k, s[i].map.at[j].image);
		for (size_t j = 0; j < s[i].remapped.n; j++)
			s[i].remapped.at[j].was.image = sample_buffer_keep(
				k, s[i].remapped.at[j].was.image);
	}
}

/* sample_buffer_tidy(): those of the spaces and of the kernel */
static void keep_all(void *aggregator, struct sample_buffer_kept *k)
{
	struct aggregator *c = aggregator;

	keep_images(c->spaces.v.at, c->spaces.v.n, k);
	keep_images(c->history.v.at, c->history.v.n, k);
	for (size_t i = 0; i < c->kernel_image.n; i++)
		c->kernel_image.at[i] =
			sample_buffer_keep(k, c->kernel_image.at[i]);
}

void aggregator_tidy(struct aggregator *c)
{
	spaces_keep(&c->spaces, is_needed, c);
	if (c->ids.v.n > IDS)
		proc_ids_free(&c->ids);
	sample_buffer_tidy(&c->sample_buffer, keep_all, c);
}

void aggregator_free(struct aggregator *c)
{
	sample_buffer_free(&c->sample_buffer);
	spaces_free(&c->spaces);
	history_free(&c->history);
	kernel_free(&c->kernel);
	vec_free(&c->kernel_image);
	proc_ids_free(&c->ids);
}
