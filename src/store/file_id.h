/*
 * file_id: which file it is that has a path, of those that do not say so by a
 * build-id: one that is made anew has another number, size or time.
 */
#ifndef STORE_FILE_ID_H
#define STORE_FILE_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

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

#endif
