/*
 * jit_process: a process that makes code while it runs, and writes what it is:
 * in /tmp/perf-PID.map (jit.h), in a jitdump (jitdump.h), or both.
 *
 * Both are opened while the process is there, as it sees them, and read when
 * samples are stored, by another process (parser.h): it may write late. Samples
 * wait here until then, with their time, if there is a dump. Of code that was
 * always alone at its addresses they are kept by address; of code that took the
 * place of other code, or whose place was taken, by where it is in the dump.
 * What was not written in time has no name, but gets one with a later write, if
 * it can only be that one.
 */
#ifndef SAMPLE_JIT_JIT_PROCESS_H
#define SAMPLE_JIT_JIT_PROCESS_H

#include "sample/jit/jitdump.h"
#include "sample/processes/parser.h"
#include "store/store.h"

struct made_hit {
	uint64_t address, count;
	uint64_t from, to; /* they were taken then */
	uint32_t event, process;
};

/* a procedure that has samples, of the image by address or the other */
struct made_name {
	struct stored_procedure is;
	bool placed;
};

struct jit_process {
	uint32_t pid;
	int map;                  /* the descriptor of the first kind, or -1 */
	struct jitdump dump;      /* of which only what opening it has found */
	VEC(struct made_hit) hit; /* that wait */
	VEC(uint64_t) nameless;   /* addresses of samples that have none */
	VEC(struct made_name) name; /* that are not stored yet */
	struct arena text;          /* of names */
	size_t text_size;
	bool looked;   /* at the dump: what is wrong with it is reported */
	uint64_t cost; /* milliseconds that it took to read what it wrote */
	unsigned late; /* how often that was not done in time */
	struct err trouble; /* why it is not believed any more */
};

struct jit_process *jit_process_new(uint32_t pid);
/* it writes the first kind: the descriptor is the jit_process's from now on */
void jit_process_map(struct jit_process *m, int fd);
/* it has mapped a dump, by that name; -1: which is not to be read */
int jit_process_dump(struct jit_process *m, const char *path, uint64_t inode,
		     bool gone, struct err *e);
/*
 * Reads what the dump has by now, and calls fn for each sample with where it
 * is: at an offset of the image by address or, placed, of the other one. Names
 * that they need are in m->name then.
 */
void jit_process_settle(struct jit_process *m, struct parser *p,
			void (*fn)(void *arg, const struct made_hit *x,
				   bool placed, uint64_t offset),
			void *arg);
/* reads names in the map, of samples at addresses; requires: in order */
void jit_process_name(struct jit_process *m, struct parser *p, const run *r);
/* names are stored */
void jit_process_forget_names(struct jit_process *m);
void jit_process_free(struct jit_process *m);

#endif
