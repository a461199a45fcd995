/*
 * profile_format: the profile while its program runs (its form when all is
 * over is another, which only tally knows). Written by the code that
 * travels inside the program and by tally, read by tally
 * (count/profile/profile.h); plain structs, for both machines are 64-bit and
 * little-endian. doc/profile.md says the same for people.
 *
 *	0          struct profile_header, text behind it
 *	64 KB      chunks, one behind the other, each of whole pages
 *
 * Counters are mapped from here into the program, so that they are on disk
 * however it ends. There is no lock: room for a chunk is taken by raising
 * `end`; it is reserved on disk, its header is written last. A process that
 * is killed in between leaves a gap without a header: readers look for the
 * next magic number, page by page.
 */
#ifndef ABI_PROFILE_FORMAT_H
#define ABI_PROFILE_FORMAT_H

#include <stdint.h>

#define PROFILE_MAGIC UINT64_C(0x31666f7270796c74) /* "tlyprof1" */
#define CHUNK_MAGIC UINT64_C(0x316b6e6863796c74)   /* "tlychnk1" */

#define PROFILE_ASKED " -e "

enum {
	PROFILE_VERSION = 7,
	/* of a live one: the first with running pages as they are */
	PROFILE_RUNNING = 7,
	PROFILE_OLDEST = 3,    /* read, too: there is no CHUNK_LEFT in it */
	PROFILE_UNIT = 4096,   /* chunks begin at multiples of it */
	PROFILE_FIRST = 65536, /* and of any page size: the first one's place */
	PROFILE_ID = 16,       /* bytes of an image's identity */
};

/* what follows the header */
enum profile_form {
	PROFILE_LIVE = 0,     /* chunks, as above */
	PROFILE_FINISHED = 1, /* count/profile/profile_int.h */
};

/* why counts are missing or not exact: bits of profile_header.trouble */
enum profile_trouble {
	TROUBLE_NO_SPACE = 1, /* no room on disk: counted in memory, lost */
	TROUBLE_NO_FILE = 2,  /* the profile could not be opened */
	TROUBLE_THREADS = 4,  /* threads had to share counters */
	TROUBLE_FORK = 8,     /* a child could not get counters of its own */
	/* the C library is as it was: not all threads and children are seen */
	TROUBLE_UNSEEN = 64,
	TROUBLE_PAIRS = 512, /* not all pairs of site and target found room */
	/* of counts from a trace: where a thread went was lost for a while; it
	   has a part of the run; the last branches of a thread are missing */
	TROUBLE_WAY = 1024,
	TROUBLE_PART = 2048,
	TROUBLE_KILLED = 4096,
	TROUBLE_OF_TRACES = TROUBLE_WAY | TROUBLE_PART | TROUBLE_KILLED,
	/* said by readers, and kept in copies */
	TROUBLE_RUNNING = 16, /* it was read while a process was counting */
	TROUBLE_CUT = 32,     /* the file is shorter than it says */
	/* by what processes say: struct chunk_process */
	TROUBLE_MOVING = 128, /* one ended while other threads of it ran */
	TROUBLE_LOST = 256,   /* where one ended is not known */
};

struct profile_header {
	uint64_t magic;
	uint32_t version;
	uint16_t machine;  /* e_machine of the program */
	uint16_t form;     /* enum profile_form */
	uint64_t end;      /* bytes in use: raised atomically */
	uint64_t nprocess; /* numbers given so far: raised atomically */
	uint64_t trouble;  /* enum profile_trouble: set atomically */
	uint64_t started;  /* nanoseconds since 1970 */
	uint32_t options_len, command_len; /* without the zero behind each */
	/* options '\0' command '\0' (arguments separated by spaces); behind
	   PROFILE_ASKED, options say what events it is read for */
};

enum chunk_kind {
	CHUNK_PROCESS = 1,  /* struct chunk_process */
	CHUNK_COUNTERS = 2, /* struct chunk_counters, counters behind a page */
	CHUNK_PAIRS = 3,    /* struct chunk_pairs */
	CHUNK_LEFT = 4,     /* struct chunk_left */
	CHUNK_RUNNING = 5,  /* struct chunk_running */
	CHUNK_THREADS = 6,  /* struct chunk_threads */
	CHUNK_STACK = 7,    /* struct chunk_stack */
	CHUNK_CALLS = 8,    /* struct chunk_calls */
	CHUNK_PHASES = 9,   /* struct chunk_phases (phases.h) */
	CHUNK_TRACE = 10,   /* struct chunk_trace (trace.h) */
	CHUNK_TRACED = 11,  /* struct chunk_traced */
};

struct profile_chunk {
	uint64_t magic;
	uint64_t at;   /* where it begins in the file */
	uint64_t size; /* a multiple of PROFILE_UNIT, this included */
	uint32_t kind; /* enum chunk_kind */
	/* the number of the process, from 1; CHUNK_LEFT: or 0, see there */
	uint32_t process;
};

/* how a process came to be */
enum process_origin {
	PROCESS_STARTED = 1, /* by tally */
	PROCESS_FORKED = 2,
	PROCESS_EXECUTED = 3, /* the same process, another program */
};

/* how it ended */
enum process_ended {
	ENDED_NOT = 0,       /* it runs, or it was killed */
	ENDED_BY_ITSELF = 1, /* exit_group(), or its last thread's exit() */
	ENDED_BY_SIGNAL = 2, /* and said where */
	ENDED_BY_EXEC = 3,   /* it became another program */
	/* it was killed, and tally, its tracer, said where (launch/watch.h) */
	ENDED_WATCHED = 4,
};

enum { PROCESS_ENDS = 32, END_BACKS = 8 };
#define END_ELSEWHERE UINT64_MAX

/*
 * Where a thread ended between two instructions of an image. Addresses are
 * those of the rewritten file as linked.
 */
struct process_end {
	uint8_t id[PROFILE_ID]; /* of the image */
	uint64_t address;       /* what would have run next */
	uint64_t counters;      /* where the image's counters are */
	uint64_t count; /* how often; written last, 0: nothing is noted here */
	/* not 0: it ran code of ours, which had been called from there */
	uint64_t called;
	/*
	 * Perhaps where its callers go on, the innermost first: the link
	 * register, then frame records. END_ELSEWHERE: in another object; 0:
	 * no more are known.
	 */
	uint64_t back[END_BACKS];
};

struct chunk_process {
	struct profile_chunk chunk;
	uint32_t pid;
	uint32_t parent; /* number of the process it came from, 0: none */
	uint32_t origin; /* enum process_origin */
	uint32_t name_len;
	uint64_t started; /* as /proc/PID/stat says, ticks since boot; 0: ? */
	uint32_t ended;   /* enum process_ended */
	uint32_t moving;  /* not 0: when it ended other threads of it ran */
	/*
	 * Not 0: where a thread ended could not be said, or is just being
	 * noted.
	 */
	uint32_t lost;
	uint32_t nend; /* raised atomically, beyond PROCESS_ENDS too */
	uint64_t here; /* where in the process its struct counting is */
	struct process_end end[PROCESS_ENDS];
	/* the program's name '\0' */
};

struct chunk_counters {
	struct profile_chunk chunk;
	uint8_t id[PROFILE_ID]; /* of the image: struct object_header's */
	uint64_t ncounter;
	uint64_t first; /* offset of the counters from the chunk's start */
	uint32_t block; /* 0: the process's own; others: its threads' */
	uint32_t path_len;
	/* the rewritten file's name '\0' */
};

/*
 * How often an indirect jump or call led where. The process looks for a pair
 * from a place on that its hash says (runtime/pairs.c); the same one may be
 * there more than once.
 */
struct chunk_pairs {
	struct profile_chunk chunk;
	uint64_t npair;
	/* struct pair of each */
};

enum pair_state {
	PAIR_FREE,
	PAIR_TAKEN, /* a thread is writing it */
	PAIR_READY,
};

struct pair {
	uint32_t state; /* enum pair_state; written last but for the count */
	uint32_t site;  /* number, in the map of the image */
	uint64_t image; /* the first half of its identity */
	/* where to: 0, 0 is elsewhere, in nothing that is counted */
	uint64_t to_image;
	uint64_t to; /* link-time address, of old code or of new */
	uint64_t count;
};

/* why nothing is counted in an image that runs as it is */
enum left_why {
	LEFT_REFUSED = 1, /* it cannot be rewritten: the reason says why */
	LEFT_OUT = 2,     /* it was not asked for, by --libs */
};

/*
 * An image that a process runs uncounted; a process reports each once, and
 * for its children. Process 0: a program in which nothing of ours runs, said
 * by tally.
 */
struct chunk_left {
	struct profile_chunk chunk;
	uint32_t why;                  /* enum left_why */
	uint32_t path_len, reason_len; /* without the zero behind each */
	uint32_t reserved;
	/* the image's file, links followed '\0' reason or nothing '\0' */
};

/* running counters of a thread (running.h) */
struct chunk_running {
	struct profile_chunk chunk;
	uint64_t first; /* offset of the page from the chunk's start */
	uint32_t block; /* 0: of the process's first thread; others' */
	uint32_t nevent;
};

/* the open calls of a thread (calls.h); its running page says how many */
struct chunk_stack {
	struct profile_chunk chunk;
	uint64_t first;   /* offset of the entries from the chunk's start */
	uint64_t address; /* where that is in the process; 0: given up */
	uint32_t block;	  /* as in chunk_running */
	uint32_t nevent;
};

/* more records of calls: those of sites with several callees */
struct chunk_calls {
	struct profile_chunk chunk;
	uint32_t block;
	uint32_t nevent;
	/* struct more_calls of each, a record behind it; it is in use if it
	   says where it is */
};

struct more_calls {
	/* whose: the site's image, half its identity, and the number of its
	   record; or 0 and a signal's number */
	uint64_t image, site;
};

/* threads but the first, as they begin and end */
struct chunk_threads {
	struct profile_chunk chunk;
	uint32_t size;    /* bytes of a record */
	uint32_t nrecord; /* for which there is room */
	uint32_t nevent;
	uint32_t reserved;
	/* records */
};

enum thread_state {
	THREAD_NONE,
	THREAD_BEGAN,
	THREAD_ENDED,
};

/*
 * Threads use a block of counters one after the other: a thread's counts of
 * events are what its block has, or had at its end, less what it began with.
 */
struct thread_record {
	uint32_t state; /* enum thread_state; written last */
	uint32_t block;
	uint32_t tid;   /* 0: not known yet */
	uint32_t reserved;
	/* uint64_t of each event when it began, then when it ended */
};

#endif
