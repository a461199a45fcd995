/* jitdump: see jitdump.h. */
#include "sample/jit/jitdump.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "sample/jit/jit.h"

enum {
	MAGIC = 0x4a695444,
	MAGIC_SWAPPED = 0x4454694a,
	VERSION = 1,
	OTHER_CLOCK = 1, /* of the header's flags */
	HEADER = 40,
	PREFIX = 16, /* of a record: what, size, time */
	LOAD_SIZE = PREFIX + 40,
	MOVE_SIZE = PREFIX + 48,
	CODES = 1 << 18,  /* more are not taken: twelve megabytes */
	BEFORE_MOST = 64, /* codes that an address may be behind */
};

enum record { LOAD, MOVE, LINES, CLOSE };

bool jitdump_is(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

/* --- opening */

/* a process may map what it reads, but only what is its own is its word */
static const char *distrust(const struct stat *file, uid_t owner,
			    uint64_t inode)
{
	if (file->st_ino != inode)
		return "another file than the process has mapped";
	if (owner != file->st_uid)
		return "not of the user whose process has mapped it";
	return NULL;
}

int jitdump_open(struct jitdump *d, uint32_t pid, const char *path,
		 uint64_t inode, bool gone, struct err *e)
{
	struct stat file;
	uid_t owner;
	const char *why;
	struct err why_not;

	*d = (struct jitdump){.fd = jit_open_file(pid, gone, path, path, &file,
						  &owner, &why_not),
			      .inode = inode};
	if (d->fd < 0)
		return err_set(e, ERR_INPUT, "names of code are not read: %s",
			       why_not.text);
	why = distrust(&file, owner, inode);
	if (!why) {
		d->path = mem_alloc(strlen(path) + 1);
		strcpy(d->path, path);
		return 0;
	}
	close(d->fd);
	d->fd = -1;
	return err_set(e, ERR_INPUT, "%s: names of code are not read: %s",
		       path, why);
}

void jitdump_close(struct jitdump *d)
{
	if (d->fd >= 0)
		close(d->fd);
	mem_free(d->path);
	vec_free(&d->code);
	vec_free(&d->order);
	dict_free(&d->by_number);
	*d = (struct jitdump){.fd = -1};
}

/* --- reading */

#define broken(d, ...) \
	((void)err_at(&(d)->trouble, (d)->path, (d)->at, __VA_ARGS__))

/* up to n bytes from where we are */
static struct bytes look(const struct jitdump *d, uint8_t *to, size_t n)
{
	ssize_t got = pread(d->fd, to, n, (off_t)d->at);

	return bytes_window(to, got > 0 ? (size_t)got : 0, d->at);
}

/* false: it is not there yet, or wrong */
static bool take_header(struct jitdump *d)
{
	uint8_t raw[HEADER];
	struct bytes b = look(d, raw, sizeof raw);
	uint32_t magic = (uint32_t)bytes_uint(&b, 4);
	uint32_t version = (uint32_t)bytes_uint(&b, 4);
	uint32_t size = (uint32_t)bytes_uint(&b, 4);

	bytes_take(&b, 20); /* the machine, the process, when it was begun */
	d->timed = !(bytes_uint(&b, 8) & OTHER_CLOCK);
	if (b.bad)
		return false;
	if (magic == MAGIC_SWAPPED)
		broken(d, "a machine with another order of bytes wrote it");
	else if (magic != MAGIC)
		broken(d, "does not begin as such a file does");
	else if (version != VERSION)
		broken(d, "version %" PRIu32 ", and only 1 is known", version);
	else if (size < HEADER)
		broken(d, "a header of %" PRIu32 " bytes", size);
	d->at += size;
	return !d->trouble.code;
}

static void add(struct jitdump *d, struct jitdump_code c, uint64_t size,
		uint64_t number)
{
	if (!size)
		return;
	if (__builtin_add_overflow(c.start, size, &c.end) ||
	    c.end > INT64_MAX) {
		broken(d, "code at addresses that there are not");
	} else if (d->code.n == CODES) {
		broken(d, "more than %d codes: no more are read", CODES);
	} else {
		dict_put(&d->by_number, number, (uint32_t)d->code.n);
		vec_push(&d->code, c);
	}
}

static void take_load(struct jitdump *d, struct bytes *b, uint32_t size,
		      uint64_t time)
{
	struct jitdump_code c = {.since = time, .name = d->at + LOAD_SIZE};
	uint64_t bytes, number;

	bytes_take(b, 16); /* pid, tid, vma */
	c.start = bytes_uint(b, 8);
	bytes = bytes_uint(b, 8);
	number = bytes_uint(b, 8);
	/* between the numbers and the code there is a name, if only "" */
	if (b->bad || size <= LOAD_SIZE || bytes >= size - LOAD_SIZE) {
		broken(d, "%" PRIu64 " bytes of code, in a record of %" PRIu32,
		       bytes, size);
		return;
	}
	c.place = d->at + size - bytes;
	add(d, c, bytes, number);
}

/* a record that code, with its name, is elsewhere now */
static void take_move(struct jitdump *d, struct bytes *b, uint64_t time)
{
	struct jitdump_code c;
	uint64_t start, bytes, number;
	uint32_t i;

	bytes_take(b, 24); /* pid, tid, vma, the old address */
	start = bytes_uint(b, 8);
	bytes = bytes_uint(b, 8);
	number = bytes_uint(b, 8);
	if (b->bad) {
		broken(d, "a move that is not whole");
		return;
	}
	i = dict_get(&d->by_number, number);
	if (i == DICT_NONE)
		return; /* of code that was never loaded */
	c = d->code.at[i];
	if (bytes > c.end - c.start) {
		broken(d, "%" PRIu64 " bytes are moved, of %" PRIu64, bytes,
		       c.end - c.start);
		return;
	}
	c.start = start;
	c.since = time;
	add(d, c, bytes, number);
}

/* false: there is no whole one, or nothing is to follow */
static bool take_record(struct jitdump *d, uint64_t end)
{
	uint8_t raw[MOVE_SIZE];
	struct bytes b = look(d, raw, sizeof raw);
	uint32_t what = (uint32_t)bytes_uint(&b, 4);
	uint32_t size = (uint32_t)bytes_uint(&b, 4);
	uint64_t time = bytes_uint(&b, 8);

	if (b.bad)
		return false;
	if (size < PREFIX)
		broken(d, "a record of %" PRIu32 " bytes", size);
	else if (size > end - d->at)
		return false;
	if (b.n > size)
		b.n = size;
	if (!d->trouble.code && what == LOAD)
		take_load(d, &b, size, d->timed ? time : 0);
	else if (!d->trouble.code && what == MOVE)
		take_move(d, &b, d->timed ? time : 0);
	if (d->trouble.code)
		return false;
	d->closed = what == CLOSE;
	d->at += size;
	return !d->closed;
}

static int by_start(const void *a, const void *b)
{
	const struct jitdump_order *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->code < q->code ? -1 : p->code > q->code;
}

/* all codes, anew: one that was alone may be so no longer */
static void put_in_order(struct jitdump *d)
{
	uint64_t reach = 0;

	d->order.n = 0;
	for (uint32_t i = 0; i < d->code.n; i++) {
		struct jitdump_order o = {.start = d->code.at[i].start,
					  .code = i};

		vec_push(&d->order, o);
	}
	mem_sort(d->order.at, d->order.n, sizeof *d->order.at, by_start);
	for (size_t i = 0; i < d->order.n; i++) {
		struct jitdump_order *o = &d->order.at[i];
		struct jitdump_code *c = &d->code.at[o->code];

		c->alone = reach <= c->start &&
			   (i + 1 == d->order.n || o[1].start >= c->end);
		if (reach < c->end)
			reach = c->end;
		o->reach = reach;
	}
}

void jitdump_read(struct jitdump *d, bool over)
{
	size_t before = d->code.n;
	struct stat s;
	uint64_t end;

	if (d->fd < 0 || d->trouble.code || d->closed || fstat(d->fd, &s))
		return;
	end = (uint64_t)s.st_size;
	if (end < d->at) {
		broken(d, "it has become shorter");
		return;
	}
	if (d->at || take_header(d))
		while (d->at < end && take_record(d, end))
			;
	if (over && !d->trouble.code && !d->closed && d->at != end)
		broken(d, "the last record is not whole");
	if (d->code.n != before)
		put_in_order(d);
}

/* --- asking */

struct jitdump_code *jitdump_find(const struct jitdump *d, uint64_t address,
				  uint64_t from, uint64_t to)
{
	struct jitdump_code *best = NULL, *later = NULL;
	size_t i, many = 0;

	bisect(i, d->order.n, d->order.at[i].start <= address);
	for (size_t k = 0; i-- && d->order.at[i].reach > address; k++) {
		struct jitdump_code *c = &d->code.at[d->order.at[i].code];

		if (k == BEFORE_MOST)
			return NULL;
		if (address >= c->end || c->since > to)
			continue;
		if (c->since > from) {
			later = c;
			many++;
		} else if (!best || c->since > best->since ||
			   (c->since == best->since && c > best)) {
			best = c;
		}
	}
	if (!later)
		return best;
	return best || many > 1 ? NULL : later;
}

bool jitdump_name(const struct jitdump *d, const struct jitdump_code *c,
		  char name[JITDUMP_NAME])
{
	size_t room = JITDUMP_NAME - 1;
	ssize_t n;

	if (c->place - c->name < room)
		room = (size_t)(c->place - c->name);
	n = pread(d->fd, name, room, (off_t)c->name);
	name[n > 0 ? n : 0] = 0;
	return *name;
}
