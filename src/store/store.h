/*
 * store: the database of samples. DB is a directory with one SQLite file per
 * host (doc/database.md); SQLite, since a writer that crashes leaves it whole.
 * What is written between store_begin() and store_commit() is there entirely or
 * not at all.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "store/run.h"

/*
 * file_id: which file it is that has a path, of those that do not say so by a
 * build-id: one that is made anew has another number, size or time.
 */

/* as the database has them: none is negative */
struct file_id {
	uint64_t device, inode, size;
	uint64_t changed; /* nanoseconds since 1970; 0: not known */
};

static inline struct file_id file_id_of(const struct stat *s)
{
	uint64_t changed = (uint64_t)s->st_mtim.tv_sec * 1000000000 +
			   (uint64_t)s->st_mtim.tv_nsec;

	return (struct file_id){s->st_dev & INT64_MAX, s->st_ino & INT64_MAX,
				(uint64_t)s->st_size, changed & INT64_MAX};
}

/* a device may have another number after the machine has begun anew */
static inline bool file_id_same(const struct file_id *a,
				const struct file_id *b)
{
	return a->inode == b->inode && a->size == b->size &&
	       a->changed == b->changed;
}

enum {
	STORE_VERSION = 4,
	STORE_APART = 3, /* since that version processes are kept apart */
	STORE_FILE = 4,	 /* since that one it is known which file it was */
	STORE_BUILD_ID = 32,
	STORE_HOST = 256,
};

struct sqlite3;

struct store {
	struct sqlite3 *db;
	char *path; /* of the file */
	int64_t version; /* its format; once written to, the latest */
	bool reading;	 /* it is not written to */
	/* guard.h */
	int lock;	 /* the descriptor of what we have locked, */
	bool locked;	 /* if we have */
	bool blocked;	 /* readers have kept us from writing for too long */
	bool forced;	 /* they are not asked, */
	uint64_t ask_again; /* until then, in seconds of the steady clock */
	uint32_t changes; /* of the file, when reading it began */
	size_t largest;	 /* places of a run that was written */
};

enum image_kind {
	IMAGE_FILE,
	IMAGE_KERNEL,
	IMAGE_MODULE, /* of the kernel */
	IMAGE_VDSO,
	IMAGE_MEMORY, /* code that is in no file: offsets are addresses */
	IMAGE_UNKNOWN, /* what was there is not known */
	IMAGE_MADE, /* memory, but its process says which code it made there */
	IMAGE_KINDS,
};

struct stored_image {
	enum image_kind kind;
	const char *path;
	uint8_t build_id[STORE_BUILD_ID];
	uint32_t build_id_len; /* 0: it has none */
	bool has_file; /* then this says which file it was */
	struct file_id file;
};

/* what an epoch is about */
struct stored_epoch {
	uint64_t start, end; /* seconds since 1970 */
	const char *reason;  /* why it was begun: "record", .. */
	const char *command; /* what was recorded, "" */
};

/* how an event was sampled in an epoch */
struct stored_event {
	const char *name;
	uint64_t period; /* mean, in the event's own unit */
	uint64_t lost;	 /* samples */
};

struct stored_process {
	uint32_t pid;
	const char *name;
	uint64_t samples;
};

/* --- writing; where nothing is said, 0, or -1 and *e */

/*
 * Makes the directory, if there is none; -1 and *e: it cannot be made, or
 * others may write there.
 */
int store_directory(const char *directory, struct err *e);
/*
 * Sees to it that its owner alone can write, and a group, if any, read this
 * host's file and find it; gid: that one's, or -1: the one that it has.
 */
int store_protect(const char *directory, gid_t gid, struct err *e);
/* the path of this host's file in a directory; to be freed */
char *store_path(const char *directory);
/* opens it, and makes both if need be */
int store_create(struct store *s, const char *directory, struct err *e);
/*
 * Waits for readers, for a moment; -1, and s->blocked: they do not let us. The
 * next time they are not asked: what they read then may be torn, and they know.
 * So does store_commit(); what it did not write is to be rolled back.
 */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
/* nothing of it is written */
int store_rollback(struct store *s, struct err *e);
/* a new epoch; its number, or -1 */
int64_t store_epoch(struct store *s, const struct stored_epoch *x,
		    struct err *e);
/* when it ended, so far */
int store_epoch_end(struct store *s, int64_t epoch, uint64_t end,
		    struct err *e);
/* the image, as of now or before; its number, or -1 */
int64_t store_image(struct store *s, const struct stored_image *x,
		    struct err *e);
/* sets how an event was sampled; the event's number, or -1 */
int64_t store_event(struct store *s, int64_t epoch,
		    const struct stored_event *x, struct err *e);
/* adds to what the epoch has of the image and the event */
int store_samples(struct store *s, int64_t epoch, int64_t image,
		  int64_t event, const run *r, struct err *e);
/*
 * Adds samples of all processes of one name alone, where it is wanted to know
 * where these spent their time; store_samples() has them, too.
 */
int store_apart(struct store *s, int64_t epoch, const char *process,
		int64_t image, int64_t event, const run *r, struct err *e);
/* a procedure of an image that was made while a program ran */
struct stored_procedure {
	uint64_t start, end; /* offsets */
	const char *name;
};
/* sets what begins there */
int store_procedure(struct store *s, int64_t image,
		    const struct stored_procedure *x, struct err *e);
/* what collecting has cost in the epoch so far */
struct stored_cost {
	uint64_t cpu;	 /* microseconds */
	uint64_t memory; /* kilobytes, at most */
};
int store_cost(struct store *s, int64_t epoch, const struct stored_cost *x,
	       struct err *e);
/* adds to what the epoch has of a process, by its name */
int store_process(struct store *s, int64_t epoch, int64_t event,
		  const struct stored_process *x, struct err *e);

/*
 * Old epochs become one: those of a day (UTC) when that is longer ago than
 * `fine`, those of a week (from Monday) when it is longer ago than `daily`;
 * both in seconds. Only epochs that were begun for the same reason and of the
 * same command are put together, and never the last one, which is perhaps
 * being written. A whole has the number of its first part; its processes are
 * known by their names only (their pid is 0).
 */
struct store_rule {
	uint64_t fine, daily;
	/* clocks are set wrongly: epochs since must have lasted as long, too */
	bool sampled;
};
extern const struct store_rule store_rule_usual; /* a week, eight weeks */
/*
 * Does so, as of the second `now` since 1970, all in one: a crash leaves
 * everything as it was, or as it should be. How many epochs there are less, or
 * -1. requires: no store_begin()
 */
int64_t store_condense(struct store *s, const struct store_rule *r,
		       uint64_t now, struct err *e);

/* bytes of the file that hold something; what is not used is used first */
int store_size(struct store *s, uint64_t *bytes, struct err *e);
/*
 * Removes epochs, the oldest first and never the last, until the rest takes no
 * more than so many bytes; how many were removed, or -1. All in one, as above.
 * requires: no store_begin()
 */
int64_t store_shrink(struct store *s, uint64_t most, struct err *e);

/* --- reading */

/* is this a directory with files of databases in it? */
bool store_is(const char *path);
/*
 * The files in it, one per host; how many, or -1. To be freed with mem_free(),
 * each of them and the list, which ends with NULL.
 */
int store_files(char ***path, const char *directory, struct err *e);
/* the host that a file of store_files() is of */
const char *store_host(const char *path, char name[STORE_HOST]);
/* opens one file, to be read only */
int store_open(struct store *s, const char *path, struct err *e);
/*
 * What is read between these two is of one moment: writers wait for it, for a
 * while. result: what it came to; -1 and *e, if they did not.
 */
int store_read_begin(struct store *s, struct err *e);
int store_read_end(struct store *s, int result, struct err *e);

/*
 * These call fn with all rows, of an epoch or of all; they stop at what is not
 * 0, and return it. Texts live until the next row. Numbers are in their range,
 * and what rows are about is there, or it is an error.
 */
int store_each_epoch(struct store *s,
		     int (*fn)(void *arg, int64_t epoch,
			       const struct stored_epoch *x, struct err *e),
		     void *arg, struct err *e);
int store_each_event(struct store *s, int64_t epoch,
		     int (*fn)(void *arg, int64_t event,
			       const struct stored_event *x, struct err *e),
		     void *arg, struct err *e);
int store_each_process(struct store *s, int64_t epoch,
		       int (*fn)(void *arg, int64_t event,
				 const struct stored_process *x,
				 struct err *e),
		       void *arg, struct err *e);

struct stored_row {
	int64_t image, event;
	struct stored_image of;
	uint64_t count;
	run samples; /* places: where; else empty */
};
/* process: only samples of those that are called so and kept apart, or NULL */
int store_each_run(struct store *s, int64_t epoch, const char *process,
		   bool places,
		   int (*fn)(void *arg, const struct stored_row *r,
			     struct err *e),
		   void *arg, struct err *e);

/* how many there are of each event */
int store_each_sum(struct store *s, int64_t epoch, const char *process,
		   int (*fn)(void *arg, int64_t event, uint64_t samples,
			     struct err *e),
		   void *arg, struct err *e);

int store_each_procedure(struct store *s, int64_t image,
			 int (*fn)(void *arg, const struct stored_procedure *x,
				   struct err *e),
			 void *arg, struct err *e);

void store_close(struct store *s);

/* image_key: all that makes an image one, as a string. */

enum { IMAGE_KEY = 2 * STORE_BUILD_ID + PATH_MAX + 64 };

static inline void image_key(const struct stored_image *is,
			     char key[IMAGE_KEY])
{
	static const char digit[] = "0123456789abcdef";
	size_t n = 0;

	for (uint32_t i = 0; i < is->build_id_len; i++) {
		key[n++] = digit[is->build_id[i] >> 4];
		key[n++] = digit[is->build_id[i] & 15];
	}
	if (is->has_file)
		n += (size_t)sprintf(key + n, "%" PRIx64 ".%" PRIx64
				     ".%" PRIx64, is->file.inode,
				     is->file.size, is->file.changed);
	snprintf(key + n, IMAGE_KEY - n, ":%d:%s", (int)is->kind, is->path);
}

#endif
