/*
 * store: the database of samples. DB is a directory with one SQLite file per
 * host (doc/database.md); SQLite, since any crash of who writes it leaves it
 * whole. What is written between store_begin() and store_commit() is there
 * entirely or not at all.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/run.h"

enum { STORE_VERSION = 2, STORE_BUILD_ID = 32 };

struct sqlite3;

struct store {
	struct sqlite3 *db;
	char *path; /* of the file */
};

enum image_kind {
	IMAGE_FILE,
	IMAGE_KERNEL,
	IMAGE_MODULE, /* of the kernel */
	IMAGE_VDSO,
	IMAGE_MEMORY, /* code that is in no file: offsets are addresses */
	IMAGE_UNKNOWN, /* nobody knows what was there */
	IMAGE_KINDS,
};

struct stored_image {
	enum image_kind kind;
	const char *path;
	uint8_t build_id[STORE_BUILD_ID];
	uint32_t build_id_len; /* 0: it has none */
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

/* makes the directory, if there is none */
int store_directory(const char *directory, struct err *e);
/* the path of this host's file in a directory; to be freed */
char *store_path(const char *directory);
/* opens it, and makes both if need be */
int store_create(struct store *s, const char *directory, struct err *e);
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

/* --- reading */

/* is this a directory with files of databases in it? */
bool store_is(const char *path);
/*
 * The files in it, one per host; how many, or -1. To be freed with mem_free(),
 * each of them and the list, which ends with NULL.
 */
int store_files(char ***path, const char *directory, struct err *e);
/* opens one file, to be read only */
int store_open(struct store *s, const char *path, struct err *e);

/* what one row says; texts live until the next */
struct stored_row {
	int64_t epoch, image, event;
	struct stored_image of;
	run samples;
};
/* calls fn with all rows of samples; stops at what is not 0, and returns it */
int store_each_run(struct store *s,
		   int (*fn)(void *arg, const struct stored_row *r,
			     struct err *e),
		   void *arg, struct err *e);
int store_each_event(struct store *s,
		     int (*fn)(void *arg, int64_t epoch, int64_t event,
			       const struct stored_event *x, struct err *e),
		     void *arg, struct err *e);
int store_each_process(struct store *s,
		       int (*fn)(void *arg, int64_t epoch, int64_t event,
				 const struct stored_process *x,
				 struct err *e),
		       void *arg, struct err *e);

void store_close(struct store *s);

#endif
