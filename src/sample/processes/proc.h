/*
 * proc: what /proc says of processes: which run already when samples begin, and
 * what they have mapped.
 */
#ifndef SAMPLE_PROCESSES_PROC_H
#define SAMPLE_PROCESSES_PROC_H

#include <stdbool.h>

#include "base/dict.h"
#include "sample/processes/parser.h"
#include "store/store.h"

/* memory of a process that may be executed */
struct proc_map {
	uint64_t start, end, offset;
	char *name; /* "" of memory that has none */
	const char *file; /* which of all files it is: device and inode */
	uint64_t inode;
};

/* false: there is no such process, or it is not ours to know */
bool proc_each_map(uint32_t pid,
		   void (*fn)(void *arg, struct proc_map *m), void *arg);
enum { PROC_NAME = 64 };
/* the process's name, as the kernel shortens it; false: it is gone */
bool proc_name(uint32_t pid, char name[PROC_NAME]);
/* all processes there are; name: as the kernel shortens it */
void proc_each(void (*fn)(void *arg, uint32_t pid, const char *name),
	       void *arg);
bool proc_is_alive(uint32_t pid);

/* which files these are that were asked for; each is read once */
struct proc_id {
	struct stored_image is; /* of which build-id and file are used */
	bool deleted;
};

struct proc_ids {
	struct intern key;
	VEC(struct proc_id) v;
};

/*
 * Sets which image it is that a process has mapped: by its build-id or, if
 * it has none or cannot be read, by its file. The name of one that has been
 * deleted is what it was called before.
 */
void proc_identify(struct proc_ids *ids, struct parser *p, uint32_t pid,
		   struct proc_map *m, struct stored_image *is);
/*
 * Sets which file it is that a process has mapped, by its path, one without a
 * build-id. What has that path by now may be another one: then only the number
 * is known, and it never is the same.
 */
void proc_file(uint32_t pid, const char *path, uint64_t inode,
	       struct stored_image *is);
void proc_ids_free(struct proc_ids *ids);

#endif
