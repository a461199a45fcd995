/*
 * cache: rewritten files, each made once. abi/cache_record.h draws the folder.
 *
 * An entry is locked while it is made (flock on its folder): a second process
 * waits and finds it there, and if the first one died takes over. Until
 * cache_close() a shared lock keeps what was got from being evicted. Nothing
 * of an entry is believed that its record does not confirm: one that was
 * changed, truncated or copied from elsewhere is made again.
 *
 * Failing is never the end: callers run the original instead.
 */
#ifndef INSTRUMENT_CACHE_H
#define INSTRUMENT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* how files are rewritten, without saying what for */
struct file_rewriter {
	const void *ctx;
	/*
	 * Writes `out`, the rewritten `in`. On -1, ERR_INPUT means that this
	 * file cannot be rewritten (which is remembered), any other code that
	 * it did not work this time.
	 */
	int (*rewrite)(const void *ctx, const char *in, const char *out,
		       struct err *e);
	const char *options; /* all that the result depends on but the file;
				without white space */
	const char *version; /* of tally */
};

struct cache {
	const struct file_rewriter *rewriter;
	char *dir;      /* absolute, links resolved */
	bool temporary; /* to be removed at the end */
	bool wrote;     /* an entry was made: its size may be too much now */
	bool guest;     /* opened by cache_open_at(): evicts nothing, but
			   leaves a mark, so that the next run does */
	uint64_t key;   /* hash of version and options */
	VEC(int) held;  /* shared locks of what is in use */
};

struct cached {
	bool left;    /* the file cannot be rewritten: use the original */
	char *path;   /* the rewritten file; NULL if left */
	char *reason; /* why it was left; NULL if not */
};

/*
 * Opens the folder that the environment chooses, or makes a private one for
 * this run if that cannot be used: then *note says why, else it is empty.
 */
int cache_open(struct cache *c, const struct file_rewriter *r, struct err *note,
	       struct err *e);
/* opens the folder `dir`, as a running program that uses it asks for */
int cache_open_at(struct cache *c, const struct file_rewriter *r,
		  const char *dir, struct err *e);
/* lets go of all entries, evicts the oldest if there are too many */
void cache_close(struct cache *c);

/* the rewritten file, made if need be; 0 and *out, or -1 and *e */
int cache_get(struct cache *c, const char *file, struct cached *out,
	      struct err *e);
/*
 * Makes the entry answer to another name, too: absolute, as the program opens
 * it. 0 and the path by that name (to be freed), or -1 and *e.
 */
int cache_name(struct cache *c, const char *file, const char *name, char **path,
	       struct err *e);
/*
 * A list of folders that the loader of this program will look into, some
 * perhaps relative to it ($ORIGIN): those are made visible from the entry.
 */
void cache_origin(struct cache *c, const char *file, const char *list);
void cached_free(struct cached *out);

#endif
