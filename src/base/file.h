/*
 * file: a file that may change while it is read. It is not mapped: if another
 * process truncates it, a mapped page is a signal (SIGBUS), a read an error.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct file {
	int fd;
	const char *name; /* the caller's */
	uint64_t size;	  /* when it was opened, or last looked at */
};

/* opens a regular file; on -1 nothing needs closing */
int file_open(struct file *f, const char *name, struct err *e);
void file_close(struct file *f);
/* looks how large it is now */
int file_look(struct file *f, struct err *e);
/* 0 if n bytes at `at` are within the size */
int file_has(const struct file *f, uint64_t at, uint64_t n, struct err *e);
/* where the next bytes are that are no hole, at or behind `at`; or `end` */
uint64_t file_data(const struct file *f, uint64_t at, uint64_t end);
/* where the next hole is, at or behind `at`; or `end` */
uint64_t file_hole(const struct file *f, uint64_t at, uint64_t end);
/*
 * Nothing is read ahead of what is asked for: holes that were read cannot be
 * distinguished from what was written.
 */
void file_spare(const struct file *f);
/* exactly n bytes at `at`, or -1 */
int file_read(const struct file *f, uint64_t at, void *to, size_t n,
	      struct err *e);

/* all that is in a file, with a zero behind it, to be freed; NULL and *e */
char *file_text(const char *name, size_t *size, struct err *e);

/* the mode that open() would give a new file */
mode_t file_usual_mode(void);

/*
 * A file of these bytes takes the place of whatever had the name; mode 0: that
 * of a new file. 0, or -1 and errno.
 */
int file_replace(const char *path, const void *bytes, size_t n, mode_t mode);

#endif
