/*
 * counting: counters of a running process, in the profile's file
 * (profile_format.h), so that they are on disk however it ends.
 *
 * Every rewritten object has its counters in memory of its own, which code
 * reaches by its distance. Pages of the profile are mapped over them before
 * the object runs. Each thread but the first has a block of counters of its
 * own: pieces, one per object, all at the same distance from the objects'
 * counters. That distance is the thread's slot, which counting code adds once
 * there are threads; 0 means the object's own. Where it is kept is the
 * machine's business (arch_slot()): in a word of memory that belongs to the
 * thread, or in a register that only the thread itself can change.
 *
 *	 object A     object B        profile: process 1, A, block 0
 *	[counters]   [counters]                           B, block 0
 *	     | slot       | slot                          A, block 1
 *	     v            v                               B, block 1
 *	 [piece]      [piece]
 *
 * A slot in memory is never positive, as most objects lie at the upper end of
 * the addresses; those at the lower end (OBJECT_HEADER_ABOVE) subtract it. One
 * in a register is never negative: the kernel refuses such a base.
 *
 *	lock.c      one thread at a time
 *	live_profile.c  room in the profile
 *	images.c    objects with counters
 *	running.c   running counters, the same in all objects
 *	trace.c     what threads write to traces
 *	trace_ring.c
 *	            the parts that they write to
 *	trace_state.c
 *	            where they are when an epoch begins
 *	client.c    what the program asks of them itself
 *	threads.c   blocks
 *	slots.c     where their counters can be
 *	sites.c     code that counts for one thread, and then for all; or the
 *	            other way around
 *	forks.c     processes
 *	calls.c     open calls, and what they cost
 *	signals.c   handlers
 *	signal_context.c
 *	            the addresses that handlers see
 *	places.c    where threads are, in objects that count
 *	exits.c     where threads ended, and how the process did
 *	interruptions.c
 *	            handlers that never return
 *	trim.c      what they reserved and did not need
 *	pairs.c     where indirect jumps and calls lead
 *	counting.c  what hooks and the loader report
 *	interpose*.c what is seen where the C library has no hooks
 *
 * Whatever fails, the program goes on: a bit of profile_header.trouble says
 * what is not exact then.
 */
#ifndef RUNTIME_COUNTING_H
#define RUNTIME_COUNTING_H

#include "runtime/audit_int.h"
#include "abi/client.h"
#include "abi/object_header.h"
#include "abi/running.h"

/* an array that grows; where it was before it stays, for those that read it */
struct list {
	void *at;
	uint32_t n, max;
};

/* memory that is never given back */
struct room {
	char *at;
	uint64_t left;
};

/* a part of the profile's file, mapped somewhere for the moment */
struct region {
	char *at; /* NULL: none */
	uint64_t offset, size;
	_Bool thin; /* not reserved on disk */
};

/* a process that is about to be made */
struct child {
	struct region chunks; /* its own, mapped anywhere */
	uint64_t running; /* where in them; 0: none */
	uint64_t phases;  /* and the phases of the one that makes it */
	uint32_t number;
	char *calls; /* open calls, a copy; or NULL */
	uint64_t calls_size;
	_Bool calls_lost; /* not all of them are known */
};

enum image_state {
	IMAGE_OPEN,
	IMAGE_CLOSED, /* the loader says so, but it may still be there */
	IMAGE_GONE,   /* its memory was unmapped */
};

/* an object with counters */
struct counted_image {
	uint8_t state; /* enum image_state */
	uint8_t id[PROFILE_ID];
	_Bool above;   /* OBJECT_HEADER_ABOVE */
	_Bool changed; /* its code is (sites.c) */
	_Bool shared; /* all threads count in its own counters */
	_Bool libc; /* the C library, which blocks all signals at times */
	const struct object_header *object_header;
	uintptr_t base; /* what is added to addresses of the file */
	uint64_t low;	/* the file's lowest */
	uintptr_t room; /* of code for threads: struct object_header */
	int64_t site;
	uint32_t nsite;
	const char *path;
	char *counters;
	uint64_t ncounter;
	uint64_t size; /* of the counters, whole pages */
	uint64_t run; /* so far before them the running page begins; or 0 */
	uint64_t head; /* of what is before them in a chunk, whole pages */
	uint64_t piece; /* of block 0: where in the file; 0: nowhere */
};

/* running counters of a thread, mapped; also in every image that has such */
struct running {
	uint64_t *at;    /* NULL: there are none */
	uint64_t offset; /* where in the file */
};

enum block_state {
	BLOCK_FREE,
	BLOCK_USED,
	BLOCK_RETIRED, /* no thread gets it any more */
};

/* the counters of a thread */
struct thread_block {
	uint8_t state; /* enum block_state */
	int64_t slot;
	uintptr_t thread;  /* whose it is */
	int64_t *word;	   /* where the slot is, if others may change it */
	uintptr_t creator; /* the thread that is making it, or 0 */
	/*
	 * The block that its thread finds instead, + 1: it was reserved, and
	 * the thread has not come yet. UINT32_MAX: none; 0: this one.
	 */
	uint32_t instead;
	uint32_t number;   /* the kernel's, of a thread whose end no hook
			      reports; or 0 */
	const uint32_t *alive; /* is that number while it lives; or NULL */
	/*
	 * The thread has to set its slot itself, and has not yet. It is not
	 * the one with number `parent`. Signals are blocked meanwhile in
	 * both: the mask that they have to get.
	 */
	_Bool arriving, masked;
	/* its trace does not say yet where it begins */
	_Bool unannounced;
	long parent;
	uint64_t mask;
	void *lent; /* memory for its thread pointer to lead to, or NULL */
	struct list piece; /* uint64_t by image: as counted_image.piece */
	struct running running;
	struct thread_record *record; /* of its thread, or NULL */
};

enum { SIGNALS = 64, INTERRUPTIONS = 64, NEAR = 256, SAID = 16,
       SUSPENDED = 1024 };

/* a frame record: the next one, and where its owner's caller goes on */
struct frame {
	const struct frame *next;
	uintptr_t back;
};

/* a handler that began, and perhaps has returned */
struct interruption {
	uintptr_t thread; /* 0: none */
	const struct frame *record; /* the kernel's, on its stack; where there
				       are none, the kernel's frame */
	struct frame was;	    /* what is in it */
	const void *context;	    /* what was interrupted */
	uintptr_t pc;		    /* and where */
	uintptr_t shown; /* what the handler sees instead, or 0 */
};

/* so many threads were interrupted at an address of new code, and are to go on
   at another, or the same: Go begins some sequences anew */
struct suspended {
	uintptr_t at, to;
	uint32_t n;
};

/* the kernel's struct sigaction */
struct kernel_action {
	uintptr_t handler;
	uint64_t flags;
	uintptr_t restorer;
	uint64_t mask;
};

struct counting {
	uint32_t lock;
	uint64_t mask; /* signal mask to be set when the lock is opened */
	const char *path; /* the profile's */
	uint64_t dev, ino; /* and which file that is */
	long kept; /* a descriptor of it, 0: none */
	struct profile_header *header;
	const char *program;
	uint64_t page;
	uint32_t number; /* of this process; 0: it has no counters */
	uint32_t pid;
	struct chunk_process *process; /* its chunk, or NULL */
	_Bool emulated;
	_Bool apart; /* threads do not use each other's counters */
	_Bool late;    /* something may have been counted before it began */
	_Bool first_ended; /* the first thread did */
	_Bool threads; /* there are, or were, others than the first */
	_Bool trimmed; /* there are holes under its counters */
	_Bool thick;   /* nor may there be under a thread's: live_profile.c */
	_Bool confined; /* it locked itself in: no system calls of ours */
	_Bool quick; /* the machine tells of threads without the kernel */
	_Bool silent; /* calls are not noted any more */
	_Bool given_up; /* the program has taken the threads' slots */
	uintptr_t stack; /* an address on the first thread's */
	uintptr_t lent; /* the first thread's pointer, if it came from us */
	struct room room;
	struct list image; /* struct counted_image */
	struct list block; /* struct thread_block */
	uint32_t nevent; /* of running counters */
	_Bool traps; /* code that adds to them does (OBJECT_HEADER_TRAPS) */
	_Bool calls; /* calls are seen (calls.c) */
	_Bool pages; /* there are running pages */
	_Bool traces; /* which traces are written by (trace.c) */
	_Bool addresses; /* with values of registers */
	_Bool waits; /* nothing is, until a thread comes to a certain procedure:
			TRACE_WAITS */
	uint64_t from, insns; /* instructions of a thread before it is traced,
				 and that then are; 0: all */
	_Bool small; /* in small parts, for tests */
	_Bool brief; /* in brief epochs */
	uint64_t traced; /* threads that were, so far */
	uint32_t loads;	 /* images that were loaded so far, for traces */
	uint64_t loaded; /* when the last one was */
	uintptr_t vforker; /* the thread that waits for a child that runs in
			      its memory, or 0 */
	struct running running; /* of the first thread */
	struct chunk_threads *records; /* the newest, or NULL */
	uint32_t nrecord;	       /* of these that are in use */
	struct client_calls client; /* for all objects that have a client */
	uintptr_t client_code, client_code_end; /* its functions are there */
	struct list uncounted; /* uint64_t: hashes of paths, see uncounted.c */
	int64_t next_slot, slot_step; /* where to look for free addresses */
	uint32_t making; /* blocks whose threads are just being made */
	uint32_t look_at; /* block whose thread may have ended unnoticed */
	uintptr_t executing; /* the hook that execve() was called by, or 0 */
	struct interposed *interposed; /* hooks.h; NULL: none */
	struct pair_table *pairs; /* the newest; NULL: none yet */
	_Bool pairs_lost; /* there was no room for a larger one */
	struct list home; /* struct home *, by image */
	uint16_t near[NEAR]; /* by page: a guess whose address it is, + 1 */
	/* while a child is made: the thread pointers of both */
	uintptr_t forker, forked;
	struct child child;
	/*
	 * The handlers that the program has, by signal, where the kernel has
	 * ours. While rt_sigaction() is called: which thread calls it for which
	 * signal, what was there before, and what the kernel gets.
	 */
	struct kernel_action reported[SIGNALS + 1];
	uintptr_t acting;
	uint64_t acting_signal;
	unsigned long acting_with; /* what the program called it with */
	struct kernel_action reported_before, action;
	struct interruption interruption[INTERRUPTIONS];
	struct suspended suspended[SUSPENDED];
	_Bool sees_returns; /* of handlers: ARCH_SEES_RETURNS */
	/* where code of ours lies that no object of the program holds */
	uintptr_t own_code, own_code_end;
	/* threads that are about to end and have said where */
	uint32_t said[SAID], nsaid;
	/* copies memory of the process, words; false: it cannot be read */
	_Bool (*peek)(const struct counting *c, const void *at, void *to,
		      size_t n);
};

/* --- lock.c */
/* of this process */
struct counting *counting_here(void);
/* waits for it; all signals are blocked until it is open again */
void counting_lock(struct counting *c);
void counting_unlock(struct counting *c);
/* in a new process: another thread that held it is not there */
void lock_forget(struct counting *c);

/* --- live_profile.c */
/* maps the profile's header; false: there is none */
_Bool live_profile_open(struct counting *c);
/* the file, open, or -1; and when it is not needed any more */
long live_profile_file(const struct counting *c);
void live_profile_file_end(const struct counting *c, long fd);
/* makes sure of the disk; beyond the limit of files there is a signal */
_Bool live_profile_reserve(long fd, uint64_t offset, uint64_t size);
/* the file will perhaps not be found again by its name */
void live_profile_keep(struct counting *c);
void live_profile_trouble(struct counting *c, uint64_t bits);
/* takes new room of `size` bytes, reserved on disk; false: there is none */
_Bool live_profile_take(struct counting *c, uint64_t size, struct region *r);
/*
 * Takes room for counters of a thread, which are many, most of them never used:
 * r->thin if nothing is reserved, since there is plenty of room on disk.
 */
_Bool live_profile_take_thin(struct counting *c, uint64_t size,
			     struct region *r);
/* reserves a part of what was taken so, which will be written to */
_Bool live_profile_thicken(struct counting *c, const struct region *r,
			   uint64_t at, uint64_t size);
/* maps room that was taken before */
_Bool live_profile_map(struct counting *c, uint64_t offset, uint64_t size,
		       struct region *r);
/*
 * Counters at a place of the file, which are mapped at `at`, are in memory
 * alone from now on: there are holes under them.
 */
void live_profile_detach(struct counting *c, uint64_t offset, char *at,
			 uint64_t size);
/* gives room back that has no valid chunk yet */
void live_profile_give_back(struct counting *c, struct region *r);
uint64_t round_up(uint64_t n, uint64_t to);
/* bytes of what a process says of itself in the profile, whole pages */
uint64_t process_size(const struct counting *c);
/* zeroed memory for good, or NULL */
void *room_take(struct counting *c, uint64_t n);
/* the list has room for an element number n; its elements may move */
_Bool list_reach(struct counting *c, struct list *l, uint32_t n, size_t size);

/* --- images.c */
/*
 * An object was loaded; `path` is its file's name. False: there is no room for
 * its counters in the profile, which are lost.
 */
_Bool image_opened(struct counting *c, const struct object_header *p,
		   const char *path);
/* it will perhaps be unloaded */
void image_closed(struct counting *c, const struct object_header *p);
/* unloading is over: closed objects that are still there are open again */
void images_settled(struct counting *c);
static inline _Bool id_equal(const uint8_t *a, const uint8_t *b)
{
	for (unsigned i = 0; i < PROFILE_ID; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

static inline struct counted_image *image_of(const struct counting *c,
					     uint32_t i)
{
	return (struct counted_image *)c->image.at + i;
}

/* --- slots.c */
/* can its counters be written to? Certain only if no thread unmaps them now */
_Bool image_is_there(const struct counted_image *m);
/* bytes of the chunks of all that are not gone */
uint64_t images_size(const struct counting *c);
/* where a thread with that slot counts; addresses from m->run before it on are
   reserved for it, m->run + m->size bytes */
static inline char *image_piece(const struct counted_image *m, int64_t slot)
{
	return m->counters + (m->above ? -slot : slot);
}

/* writes the chunk of an image at r->at + at, all but its magic number */
void image_chunk(const struct counted_image *m, const struct region *r,
		 uint64_t at, uint32_t process, uint32_t block);
/*
 * Makes the chunk valid and moves its counters to where they are counted; the
 * rest is unmapped. False: so are they.
 */
_Bool image_place(const struct counted_image *m, const struct region *r,
		  uint64_t at, const char *to);

/* --- running.c */
/* bytes of a chunk of running counters; 0: there are none */
uint64_t running_size(const struct counting *c);
/* writes such a chunk at r->at + at, and *x: it is not valid yet */
void running_chunk(const struct counting *c, const struct region *r,
		   uint64_t at, uint32_t process, uint32_t block,
		   struct running *x);
/* no code traps because of them */
void running_calm(const struct counting *c, const struct running *x);
/* it is from now on, and mapped at x->at */
void running_keep(const struct counting *c, const struct region *r,
		  uint64_t at);
/* running counters for a thread of the process; false: there is no room */
_Bool running_take(struct counting *c, uint32_t block, struct running *x);
/* those of a thread with that slot are in the image, too; false: not so */
_Bool running_place(struct counting *c, const struct counted_image *m,
		    int64_t slot, const struct running *x);
/* an image of the first thread; requires: it is there */
void running_opened(struct counting *c, struct counted_image *m);
void running_forget(struct counting *c);

/* a thread is about to begin with a block; NULL: there is no room */
struct thread_record *record_begins(struct counting *c, uint32_t block,
				    const struct running *x);
/* it ends */
void record_ends(const struct counting *c, struct thread_record *r,
		 const struct running *x);

/* --- client.c */
/* the count of an event of a thread's page, less what it left out */
uint64_t running_counted(const uint64_t *page, unsigned event);
/* another thread begins with that page: it is in no phase */
void client_thread_begins(const struct running *x);
/* with the lock: a thread goes on with the page of another block, a new one */
void client_thread_moves(struct counting *c, const struct running *from,
			 const struct running *to, uint32_t block);
/* what the options of the run ask for, and where that ends: the names of all
   events, separated by commas */
const char *client_asked(const struct counting *c, const char **end);
/* a child of this thread is in the same phase: bytes of that chunk, or 0 */
uint64_t client_child_size(const struct counting *c);
/* writes it at r->at + at, all but its magic number; requires: there is one */
void client_child(const struct counting *c, const struct region *r,
		  uint64_t at, uint32_t process);
/* this process is that child; its bytes */
uint64_t client_adopt(const struct running *x, const struct region *r,
		      uint64_t at);
/* an object was loaded: if it has a client, that is answered from now on */
void client_bind(struct counting *c, const struct object_header *p);

/* --- trace.c */
enum ring_end;
/* a routine of trace.S leaves something to be done: see launch_env.on_trace */
__attribute__((visibility("hidden"))) void
trace_asked(unsigned what, uint64_t about, uint64_t at, uint64_t *page,
	    const struct launch_env *h, const struct arch_asked *k);
/* reads what is asked for, before the first thread begins */
void trace_begins(struct counting *c);
/* with the lock: a thread is about to begin with a block, or 0: the first */
void trace_thread_begins(struct counting *c, const struct running *x,
			 uint32_t block);
/* this thread is about to end, or its process; it goes on there if not */
void trace_ends(struct counting *c, enum ring_end how, uintptr_t at);
/* this thread has just begun, behind the hook */
void trace_arrives(struct counting *c, const struct arch_hook *g);
/* a signal arrives, and a handler is about to be called; what was interrupted
   goes on where nothing is half written */
void trace_signal(struct counting *c, uint64_t signal, void *context);
/* it has returned, to that context; NULL: not known */
void trace_resumes(struct counting *c, const void *context);
/* the signal is about to end the process */
void trace_killed(struct counting *c, uint64_t signal, void *context);
/* this thread is not to be traced any more, or again, where it goes on there
   with that stack pointer: what tally.h's functions return */
int trace_stops(struct counting *c);
int trace_starts(struct counting *c, uintptr_t at, uintptr_t sp);
/* this thread is about to make a system call: see launch_env.on_syscall */
__attribute__((visibility("hidden"))) void
trace_syscall(struct arch_hook *g, const struct launch_env *h);
/* this process is a child that has just been made */
void trace_forked(struct counting *c);
/* this thread is about to make a process, which begins there */
void trace_forks(struct counting *c, uintptr_t at);
/* this thread is about to make a process in its memory, which begins there;
   or (c->vforker) goes on there behind that */
void trace_vforks(struct counting *c, uintptr_t at);
/* an image is there */
void trace_image(struct counting *c, const struct counted_image *m);
/* it is not there any more */
void trace_image_gone(struct counting *c, const struct counted_image *m);

/* --- uncounted.c */
/* an object was loaded in which nothing is counted; the reason may be "" */
void image_uncounted(struct counting *c, enum left_why why, const char *path,
		const char *reason);

/* --- trim.c: the process is about to end, or to become another program */
void images_trim(struct counting *c, _Bool ends);
/* it did not */
void images_refill(struct counting *c);

/* have threads counters of their own for it? */
_Bool image_has_pieces(const struct counted_image *m);
/* a slot at which all pieces of a block have their addresses reserved, or 0 */
int64_t slot_take(struct counting *c);
/* unmaps what slot_take() reserved */
void slot_leave(const struct counting *c, int64_t slot);

/* --- threads.c */
/*
 * Did the thread pointer come from us? A program that has none (Go, without C)
 * gets one for each thread, in order to find its slot.
 */
_Bool thread_is_lent(const struct counting *c, uintptr_t thread);
/* one with that thread pointer is going to be made */
void thread_begins(struct counting *c, uintptr_t thread);
/* this thread's attempt to make one came to an end: its number, or below 0 */
void thread_began(struct counting *c, long made);
/* this thread has just begun, perhaps */
void thread_arrives(struct counting *c);
/* it has, and this is asked for the first time */
_Bool thread_is_new(const struct counting *c);
/* it ends: its block is free */
void thread_ends(struct counting *c);
/*
 * Threads that no hook reports. With the lock: a block for one that is to be
 * made, or 0; it is free again if there is no thread after all.
 */
uint32_t thread_reserve(struct counting *c);
void thread_release(struct counting *c, uint32_t reserved);
/* this thread has it from now on; with the lock unless c->confined */
void thread_enters(struct counting *c, uint32_t reserved);
/*
 * With the lock: it has this number of the kernel's. `alive`: a word that is
 * the number as long as the thread lives, or NULL.
 */
void thread_entered(struct counting *c, uint32_t reserved, uint32_t number,
		    const uint32_t *alive);
/* are there other threads than the first, as far as we know? */
_Bool threads_used(const struct counting *c);
/* are there others than this one? */
_Bool threads_beside(const struct counting *c);
/* an image is new: all blocks get a piece */
void threads_add_image(struct counting *c, uint32_t i);
/* is an image that is gone in open calls of some thread? Requires: the lock */
_Bool threads_call_image(struct counting *c, uint32_t i);
/* it is gone */
void threads_drop_image(struct counting *c, uint32_t i);
/* an image cannot have pieces: all threads count in its own counters */
void threads_share(struct counting *c, const struct object_header *p);
/* the program takes the slots for itself: all share everything */
void threads_give_up(struct counting *c);
/* all that threads count is reserved from now on: no SIGBUS may arrive */
void threads_thicken(struct counting *c);
/* no threads are left: in a new process */
void threads_forget(struct counting *c);
/* the number of the block that has that running page; 0: the first thread's */
uint32_t thread_block_of(const struct counting *c, const uint64_t *page);
/* the slot of this thread */
int64_t thread_slot(const struct counting *c);
/* the pointer of this thread, by which it is known */
static inline uintptr_t thread_self(const struct counting *c)
{
	return arch_thread(c->quick);
}

/* --- sites.c */
/* the image's code counts for threads from now on, if it did not */
void sites_convert(struct counting *c, struct counted_image *m);
/* calls are not noted any more, as two threads would on one stack */
void sites_silence(struct counting *c);
/* that of all images, and of those to come */
void sites_convert_all(struct counting *c);
/* it counts in its own counters only, if it did not; false: it cannot */
_Bool sites_share(struct counting *c, const struct object_header *p);

/* --- the head of a chunk. It is one when chunk_done() has been called: all
   else is written before */
static inline void chunk_head(struct profile_chunk *k, uint64_t at,
			      uint64_t size, uint32_t kind, uint32_t process)
{
	k->at = at;
	k->size = size;
	k->kind = kind;
	k->process = process;
}
static inline void chunk_done(struct profile_chunk *k)
{
	__atomic_store_n(&k->magic, CHUNK_MAGIC, __ATOMIC_RELEASE);
}

/* --- forks.c */
/* the first process of a program */
void process_begins(struct counting *c, uint32_t parent);
/* this thread is about to fork; the lock is held until it has */
void fork_begins(struct counting *c, uintptr_t thread);
void fork_ends(struct counting *c, long result);
/* the parts of it, with the lock: chunks for a child, if there is room */
void child_take(struct counting *c, struct child *k);
/* this process goes on without them; `failed`: there is no child */
void child_leave(struct counting *c, struct child *k, _Bool failed);
/* this process is that child */
void child_adopt(struct counting *c, struct child *k);
/* is this the process that counts, not one that shares its memory? */
static inline _Bool process_is_own(const struct counting *c)
{
	return sys_pid() == c->pid;
}

/* --- threads.c: the number of a slot's block, and its page, or NULL */
uint32_t thread_block_number(const struct counting *c, int64_t slot);
const struct running *running_of(const struct counting *c, int64_t slot);

/* --- calls.c */
struct signal_context;
/* what calls.S calls, see launch_env.h */
__attribute__((visibility("hidden"))) void
calls_asked(unsigned what, uint64_t about, uint64_t sp, uint64_t *page,
	    const struct launch_env *h);
/* a handler is about to be called; fills shown->calls */
void calls_handler_begins(struct counting *c, uint64_t signal,
			  struct signal_context *shown);
/* it has returned */
void calls_handler_ends(struct counting *c,
			const struct signal_context *shown);
/* is it code of calls.S? */
_Bool calls_in_code(const struct counting *c, uintptr_t pc);
/* an object is there */
void calls_opened(struct counting *c, const struct object_header *p);
/*
 * A thread's records of calls of what was there before are none of this
 * image's. piece: as thread_block.piece, NULL: it is the first thread's.
 * Requires: the lock
 */
void calls_image_opened(struct counting *c, const struct counted_image *m,
			const struct running *x, int64_t slot,
			const struct list *piece);
/* an object is about to go: what of it was called from outside has ended */
void calls_closing(struct counting *c);
/* do open calls of a thread lead to counters of the image? Requires: the
   lock */
_Bool calls_lead_to(struct counting *c, const struct counted_image *m,
		    const struct running *x, int64_t slot);
/* from now on code asks which thread it is. Requires: it can be written to */
void calls_convert(const struct object_header *p);
/* the thread with that slot has ended, or is about to; requires: the lock */
void calls_thread_ends(struct counting *c, const struct running *x,
		       int64_t slot);
/* what its open calls cost is not known from now on: others are noted among
   them, or none. Requires: the lock */
void calls_share_block(struct counting *c, const struct running *x,
		       int64_t slot);
/* it gets other counters; requires: the lock */
void calls_leave_block(struct counting *c, const struct running *x,
		       int64_t slot);
/* routines do nothing any more: threads cannot have words of their own.
   Requires: they can be written to */
void calls_silence(const struct object_header *p);
/* what this thread calls now returns twice, once in a child that shares all */
void calls_vfork(struct counting *c);
/* a child is made, has been made: in the parent, in the child */
void calls_fork(struct counting *c, struct child *k);
void calls_forked(struct counting *c, struct child *k);

/* --- signal_context.c: the address that a handler sees, and the one it stands
   for; signal_arrives() has room for it */
struct signal_context {
	uintptr_t old, new; /* both 0: it sees what there is */
	void *context;
	uintptr_t calls; /* not 0: it is seen to return */
};
/* a handler is about to be called */
void context_begins(struct counting *c, void *context,
		  const struct frame *record, struct signal_context *s);
/* it has returned */
void context_ends(struct counting *c, const struct signal_context *s);
/* what hooks call, see launch_env.h */
__attribute__((visibility("hidden"))) void
context_resume(struct arch_hook *g, const struct launch_env *h);
/* called by context_resume(): the new address to go on at, for an old one */
__attribute__((visibility("hidden"), used)) uintptr_t
context_target(uintptr_t old, const struct launch_env *h);

/* --- signal_context.c: threads that a scheduler has interrupted */
/* a thread was interrupted there, and will go on at `to` */
void suspended_add(struct counting *c, uintptr_t at, uintptr_t to);
/* it does */
void suspended_remove(struct counting *c, uintptr_t to);
/* the process ends: those that have not will not */
void suspended_end(struct counting *c);
/* they are those of another process */
void suspended_forget(struct counting *c);

/* --- places.c: a part of tally, too, which looks on from outside */
/*
 * Notes in the process's chunk that a thread ended where a context says, which
 * can be read, with all its frames or (!frames) in that block alone; c->process
 * may be anywhere.
 */
void place_note(const struct counting *c, uintptr_t thread,
		const void *context, _Bool frames);
/* a place is about to be noted; if note_ends() is never reached, it is lost */
static inline void note_begins(struct chunk_process *k)
{
	__atomic_fetch_add(&k->lost, 1, __ATOMIC_SEQ_CST);
}

static inline void note_ends(struct chunk_process *k)
{
	__atomic_fetch_sub(&k->lost, 1, __ATOMIC_SEQ_CST);
}

/* the handler of that thread which the kernel made the record for, or NULL */
const struct interruption *handler_find(const struct counting *c,
					uintptr_t thread,
					const struct frame *record);
/* is the stack there as the kernel left it? The context is copied, too */
_Bool handler_is_intact(const struct counting *c, const struct interruption *x,
			unsigned long context[ARCH_UC_WORDS]);

/* --- exits.c */
/* this thread ends, where it was interrupted, and does nothing any more */
void end_note(struct counting *c, const void *context);
/* the process is about to end so, or (ENDED_NOT) it did not after all */
void process_ends(struct counting *c, enum process_ended how);

/* --- interruptions.c */
/* a handler begins, the program's or what stands for none */
void handler_begins(struct counting *c, const void *context,
		    const struct frame *record);
/* it is shown another address than that of the context */
void handler_sees(struct counting *c, const struct frame *record,
		  uintptr_t shown);
/*
 * This thread leaves all frames from f on, up to the one with the record `end`
 * or (NULL) all, and with them handlers.
 */
void handlers_end(struct counting *c, const struct frame *f,
		  const struct frame *end);
/* it has returned */
void handler_returned(struct counting *c, const struct frame *record);
/* what was interrupted there is noted: its handler has nothing to report */
void handler_noted(struct counting *c, const void *context);
/* in a new process: what was interrupted is its parent's */
void handlers_forget(struct counting *c);
/* longjmp() is called */
__attribute__((visibility("hidden"))) void
counting_on_jump(struct arch_hook *g, const struct launch_env *h);
/* --- pairs.c */
/* image number i is at addresses that its object_header says */
void pairs_opened(struct counting *c, uint32_t i,
		  const struct object_header *p);
/* it is not any more */
void pairs_gone(struct counting *c, uint32_t i);
/* a new process: pairs are its own from now on */
void pairs_forget(struct counting *c);
/* what hooks call, see launch_env.h */
__attribute__((visibility("hidden"))) void
pairs_on_indirect(const struct arch_jump *j, const struct launch_env *h,
		  const struct object_header *p);

/* --- signals.c */
/* where handlers begin; tail-calls what signal_real() says */
__attribute__((visibility("hidden"))) void signal_arrives(void);
/* called by signal_arrives(): the program's handler, or ours */
__attribute__((visibility("hidden"), used)) uintptr_t
signal_real(uint64_t signal, void *info, void *context,
	    const struct frame *record, struct signal_context *shown);
/* called by signal_arrives(), if it sees that */
__attribute__((visibility("hidden"), used)) void
signal_returned(const struct frame *record, const struct signal_context *shown);
/*
 * Default actions that end the process go by way of us from now on. Requires:
 * the C library has hooks, so that a program that asks is shown SIG_DFL.
 */
void signals_begin(struct counting *c);
/* and do not any more */
void signals_leave(struct counting *c);
/* rt_sigaction() is called; if c->acting is set, the lock is held until */
void signals_before(struct counting *c, struct arch_hook *g);
/* it was */
void signals_after(struct counting *c, struct arch_hook *g, long result);
/* rt_sigprocmask() is called */
void signals_on_mask(struct counting *c, const struct arch_hook *g);

/* --- by_hand.c */
/*
 * Fills *launcher as a launcher would have, and makes a profile. False: nothing
 * can be kept.
 */
_Bool by_hand(uintptr_t *stack, struct counts *launcher);

/* --- ancestors.c */
/*
 * The number, in the profile of that name, of the process that this one comes
 * from; 0: it has nothing to do with it, or there is none.
 */
uint32_t ancestor_number(const char *path);

/* --- counting.c */
/* begins to count, if the launcher said so: sets h->counting to c or NULL */
void counting_begin(struct counting *c, struct launch_env *h);
/* a thread or process is to be made, or a thread to end */
void counting_on_call(struct arch_hook *g, const struct launch_env *h);
/* or was made */
__attribute__((visibility("hidden"))) void
counting_after_call(struct arch_hook *g, const struct launch_env *h);

#endif
