/*
 * cache_int: what the files of the cache share.
 *
 *	cache.c    the folder: which, whose, opened and closed
 *	cache_entry.c    one entry: found, checked, made
 *	path_mirror.c   the original's folders below an entry
 *	evict.c    the least recently used entries go
 *	tree.c     whole folders are removed
 */
#ifndef INSTRUMENT_CACHE_INT_H
#define INSTRUMENT_CACHE_INT_H

#include <sys/stat.h>

#include "elf/needs.h"
#include "instrument/cache.h"
#include "abi/cache_record.h"

/* a record and its strings, as read */
union entry_record {
	struct record r;
	char bytes[RECORD_MAX];
};

/* "DIR/NAME", to be freed */
char *path_join(const char *dir, const char *name);
struct file_id file_id_of(const struct stat *st);

/* the record of an entry's folder; false if there is no good one */
bool entry_read(const char *folder, union entry_record *to);

/*
 * Makes the folders of the absolute path `file` below the entry, but not
 * `file` itself. Never follows a link out of the entry.
 */
int mirror_folders(const char *entry, const char *file, struct err *e);
/*
 * Where `file` looks for libraries relative to itself ($ORIGIN), the entry
 * gets links to the real folders: ld.so gives up a folder that is not there
 * for good, before it asks the audit module about the second library.
 */
void mirror_origin(const char *entry, const char *file, const char *list);

/* removes the folder `name` in `dir` and all in it; follows no links */
void tree_remove(const char *dir, const char *name);

/* removes entries until the folder is within its limit */
void cache_evict(const struct cache *c);

/* r->rewrite(), in a child; its death is an error like any other */
int sandboxed_rewrite(const struct file_rewriter *r, const char *in,
		      const char *out, struct err *e);

#endif
