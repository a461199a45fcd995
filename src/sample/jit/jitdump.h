/*
 * jitdump: a file in which a program writes what code it makes, and when, in
 * the format of perf's tools (node --perf-prof, java with perf's agent, LLVM
 * ...). The program maps a page of it as code, so that a profiler sees its
 * name:
 *
 *	jit-PID.dump	header	"JiTD", version 1, ... flags
 *			record	what, size, time | what it is about
 *			...
 *	load	address, size, number | name | the code itself
 *	move	from, to, size, number		of what was loaded
 *	close	nothing follows
 *
 * It grows while the program runs, and some write only when they have much, or
 * at their end. Other records (lines, unwind tables) are passed over. Codes are
 * known by address and time, as one may be loaded over another; those of files
 * whose times are not of our clock, by their order.
 *
 * Any user that can run a program can write one: nothing in it is believed.
 */
#ifndef SAMPLE_JIT_JITDUMP_H
#define SAMPLE_JIT_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dict.h"
#include "base/err.h"
#include "base/mem.h"

enum { JITDUMP_NAME = 512 }; /* of a name, at most */

struct jitdump_code {
	uint64_t start, end; /* addresses */
	uint64_t since;	     /* nanoseconds of the steady clock; 0: unknown */
	uint64_t place;	     /* in the file: where the code itself is, */
	uint64_t name;	     /* and its name */
	bool alone; /* no other was ever at any of its addresses */
	/* for the caller of jitdump_find(): samples of it are kept by that */
	bool by_address, by_place;
};

/* by start */
struct jitdump_order {
	uint64_t start, reach; /* none before it ends later */
	uint32_t code;
};

struct jitdump {
	int fd; /* -1: none is open */
	uint64_t inode;
	char *path;
	uint64_t at;  /* so much has been read */
	bool timed;   /* its clock is ours */
	bool closed;  /* by its writer: nothing follows */
	VEC(struct jitdump_code) code; /* in the file's order */
	VEC(struct jitdump_order) order;
	struct dict by_number;
	struct err trouble; /* nothing is read any more */
};

/* is that the name of one? */
bool jitdump_is(const char *path);
/*
 * Opens what a process has mapped, by the path that it has for it; -1: it is
 * not there any more, another file, or of another user. Of a process that is
 * gone the user is not known: then it has to be ours.
 */
int jitdump_open(struct jitdump *d, uint32_t pid, const char *path,
		 uint64_t inode, bool gone, struct err *e);
/*
 * Takes what has been added; over: its writer is gone, and what is not whole
 * never will be. What is wrong is in d->trouble; what was before that counts.
 */
void jitdump_read(struct jitdump *d, bool over);
/*
 * The code that was at the address at some time between these two, or NULL:
 * none is known, or it may have been more than one.
 */
struct jitdump_code *jitdump_find(const struct jitdump *d, uint64_t address,
				  uint64_t from, uint64_t to);
/* its name, as far as it fits; false: it has none */
bool jitdump_name(const struct jitdump *d, const struct jitdump_code *c,
		  char name[JITDUMP_NAME]);
/* of one that was never opened, or could not be, too: fd is -1 */
void jitdump_close(struct jitdump *d);

#endif
