/*
 * atomic_file: a file that has its name only when all of it is written. A
 * process that opens it finds the old file or the new one, never a part.
 */
#ifndef BASE_ATOMIC_FILE_H
#define BASE_ATOMIC_FILE_H

#include <stdbool.h>

struct atomic_file {
	int fd; /* to write to; negative, with errno, if that failed */
	bool unnamed;
	char *proc;      /* unnamed: what stands for it in /proc */
	char *temporary; /* a name beside its own */
};

/*
 * Begins a file. One without a name is gone when we are; where the file system
 * has no such thing a temporary name has to do.
 */
void atomic_file_begin(struct atomic_file *n, const char *path);
/*
 * 0 or -1: all of it has its place on the disk, holes as well. Some file
 * systems tell only of a file that is closed.
 */
int atomic_file_flush(const struct atomic_file *n);
/* 0 or -1: gives a finished file its name, whatever had it before */
int atomic_file_name(const struct atomic_file *n, const char *path);
/* ends it, errno as it was; one that has not got its name is gone */
void atomic_file_end(struct atomic_file *n, bool failed);

#endif
