/*
 * nascent: a file that has its name only when all of it is written. A process
 * that opens it finds the old file or the new one, never a part.
 */
#ifndef BASE_NASCENT_H
#define BASE_NASCENT_H

#include <stdbool.h>

struct nascent {
	int fd; /* to write to; negative, with errno, if that failed */
	bool unnamed;
	char *proc;	 /* unnamed: what stands for it in /proc */
	char *temporary; /* a name beside its own */
};

/*
 * Begins a file. One without a name is gone when we are; where the file system
 * has no such thing a temporary name has to do.
 */
void nascent_begin(struct nascent *n, const char *path);
/*
 * 0 or -1: all of it has its place on the disk, holes as well. Some file
 * systems tell only of a file that is closed.
 */
int nascent_flush(const struct nascent *n);
/* 0 or -1: gives a finished file its name, whatever had it before */
int nascent_name(const struct nascent *n, const char *path);
/* ends it, errno as it was; one that has not got its name is gone */
void nascent_end(struct nascent *n, bool failed);

#endif
