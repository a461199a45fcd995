/*
 * running_pages: the running counters of a process's threads, in the live
 * profile (abi/running.h).
 *
 * The profile is read and written, not mapped: the program may truncate it, or
 * write anything there. What was found right of its chunks is kept, so that it
 * stays as it was.
 *
 * A thread has a record that says which page it counts in, and what was there
 * already when it began. One that had to go on with another page has two.
 */
#ifndef LAUNCH_RUNNING_PAGES_H
#define LAUNCH_RUNNING_PAGES_H

#include <stdbool.h>

#include "abi/running.h"
#include "base/mem.h"
#include "launch/running_phases.h"

/* a thread that has begun, and has not ended when it was looked at */
struct running_thread {
	uint32_t tid;	 /* as its process knows it; 0: not known yet */
	unsigned number; /* which it is of its process, from 1 */
	uint32_t block;	 /* of counters */
	uint64_t page;	 /* where in the profile it counts */
	uint64_t record; /* .. and its record is; 0: the first one has none */
	uint64_t began[RUNNING_EVENTS]; /* what was in the page */
	bool told; /* its counts were, since all were looked at */
};

/* the page of a block of counters, or its phases */
struct running_block {
	uint32_t block;
	uint64_t at; /* in the profile */
};

struct running_pages {
	int profile; /* the caller's */
	uint32_t process; /* its number in the profile, */
	uint32_t pid;	  /* and in its own name space */
	uint64_t end;	  /* of the profile, when it was opened */
	uint32_t nevent;
	VEC(struct running_block) block;
	VEC(struct running_block) phases; /* struct chunk_phases of each */
	VEC(struct running_records) records;
	/* as all were when they were last looked at */
	VEC(struct running_thread) thread;
	uint64_t ended[RUNNING_EVENTS]; /* the counts of those that had */
};

/* false: nothing is counted so, or it cannot be read; to be closed anyway */
bool running_pages_open(struct running_pages *p, int profile, uint32_t process,
			uint32_t pid);
void running_pages_close(struct running_pages *p);
/* has the profile grown since? Then it is to be opened anew */
bool running_pages_are_old(const struct running_pages *p);

/* looks at all threads; false: they cannot be read */
bool running_pages_look(struct running_pages *p);
/* the counts of a thread were told: it is not among those that ended */
void running_pages_told(struct running_pages *p, uint32_t tid);
/* afterwards: others that have ended meanwhile have */
void running_pages_look_again(struct running_pages *p);

/* the words of a thread, and what belongs to its counts besides */
struct running_page {
	uint64_t word[RUNNING_WORDS];
	uint64_t add[RUNNING_EVENTS]; /* to what words say, modulo 2^64 */
	uint64_t at;	 /* where the words are in the profile */
	uint32_t block;	 /* whose they are */
	unsigned thread; /* which it is of its process, from 1 */
};
enum running_found {
	RUNNING_FOUND,
	RUNNING_NONE, /* the thread is not known yet, or has ended */
	RUNNING_UNREADABLE,
};
/*
 * Requires: running_pages_look(), since the thread began. What it has left out
 * (abi/phases.h) is a part of the words, and of nothing else.
 */
enum running_found running_page_read(const struct running_pages *p,
				     uint32_t tid, struct running_page *page);
/* how often the event happened in the thread, up to corrections, and to what
   it left out */
uint64_t running_page_count(const struct running_page *page, unsigned event);
/* the words of a block, whose thread may run; false: they cannot be read */
bool running_block_read(const struct running_pages *p, uint32_t block,
			struct running_page *page);
/* the phases of the block whose words these are, to be freed */
enum running_found running_page_phases(const struct running_pages *p,
				       const struct running_page *page,
				       struct inspected_phases **phases);
/* writes the words of a thread that is stopped, if the profile is open so */
bool running_page_write(const struct running_pages *p,
			const struct running_page *page);
/* no code of the process traps any more, nor of threads that it makes; all of
   it is stopped */
void running_pages_quiet(const struct running_pages *p);

#endif
