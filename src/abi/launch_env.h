/*
 * launch_env: what the launcher hands to the code that travels inside the
 * program.
 *
 * The launcher appends exactly four variables to the environment:
 *
 *	LD_AUDIT=[THE USER'S:]MODULE
 *	GLIBC_TUNABLES=[THE USER'S:]glibc.rtld.optional_static_tls=BYTES
 *	TALLY_FILLER=
 *	TALLY_LAUNCH=FIELD FIELD ...
 *
 * and the audit module takes them out again before anything of the program
 * runs. Four, because a pair of words is as large as one entry of the
 * auxiliary vector behind the environment: AT_IGNORE fills the gap. The user's
 * own go in as XD_AUDIT and XLIBC_TUNABLES, where ld.so does not look, and get
 * their names back in place.
 *
 * The tunable: with an audit module ld.so decides how much static TLS there
 * will be before it has seen the program's libraries, and has room for 2 kB
 * of theirs. Allocators ask for more (tcmalloc, jemalloc).
 *
 * Fields are separated by single spaces; bytes that are not letters, digits
 * or one of "/._+-=:@" are written as %HH, for qemu's -E splits at commas. An
 * empty field is "%".
 */
#ifndef ABI_LAUNCH_ENV_H
#define ABI_LAUNCH_ENV_H

#include <stdint.h>

#define LAUNCH_ENV_VARIABLE "TALLY_LAUNCH"
#define LAUNCH_ENV_FILLER "TALLY_FILLER"
#define LAUNCH_ENV_FORMAT "1"

enum launch_env_field {
	LAUNCH_ENV_VERSION, /* LAUNCH_ENV_FORMAT; with another all is ignored */
	LAUNCH_ENV_FLAGS,   /* letters: 's' strict, 'f' follow, 'a' there is a
		       user's LD_AUDIT, 't' the user has tunables,
		       'e' an emulator runs this,
		       'o' threads have counters of their own, not those of
		       one that has ended,
		       'w' its tracer is tally,
		       'p' parts of traces are small, for tests,
		       'q' their epochs are brief: little of them is kept */
	LAUNCH_ENV_KEY,     /* struct record's key, 16 hexadecimal digits */
	LAUNCH_ENV_CACHE,   /* the folder, absolute, links resolved */
	LAUNCH_ENV_TALLY,   /* the program to ask for what is not there */
	LAUNCH_ENV_OPTIONS, /* how to rewrite, for it; opaque here */
	LAUNCH_ENV_ROOT,    /* where an emulator finds libraries, or empty */
	LAUNCH_ENV_LIBS,    /* "all", "none" or NAME,NAME.. */
	LAUNCH_ENV_EXECFN,  /* the name that the kernel would have been given */
	LAUNCH_ENV_EXE,     /* what /proc/self/exe has to say */
	LAUNCH_ENV_LINK,    /* a symbolic link that says so, or empty */
	LAUNCH_ENV_COPY,    /* the program's rewritten file */
	LAUNCH_ENV_PROFILE, /* where counters are kept, absolute, or empty */
	LAUNCH_ENV_PARENT,  /* the number, there, of the process that executes
			     this program; "0": tally started it */
	LAUNCH_ENV_N,
};

/*
 * The module keeps it for the hooks in rewritten objects (isa/move.h), which
 * ask on_call() before system calls that name a file, and where something is
 * counted before those that make threads and processes, and after_call() behind
 * these. Where pairs are counted, on_indirect() gets indirect jumps and calls.
 *
 * An object gets its address in a word of its own, which its object_header
 * names (object_header.h), to which an entry of its dynamic section leads. It
 * is written before the object is relocated. Without LD_AUDIT (static programs,
 * musl) the word stays as it is in the file, but for cache_entry.c.
 */
#define LAUNCH_ENV_TAG 0x6d74616c6c

struct arch_hook; /* registers before a system call */
struct launch_env;
struct counting;  /* counting.h */
struct arch_jump; /* all registers before a jump or call through one */
struct arch_asked; /* those that calls keep, when a routine asks */
struct object_header;
struct altstack;
/* offsets of what is asked */
enum {
	LAUNCH_ENV_ON_CALL = 8,
	LAUNCH_ENV_AFTER_CALL = 16,
	LAUNCH_ENV_ON_JUMP = 24,
	LAUNCH_ENV_ON_INDIRECT = 32,
	LAUNCH_ENV_ON_RESUME = 40,
	LAUNCH_ENV_ON_CALLS = 48,
	LAUNCH_ENV_ON_TRACE = 56,
	LAUNCH_ENV_ON_SYSCALL = 64,
};

struct launch_env {
	uint32_t version; /* 1 */
	uint32_t nfield;
	void (*on_call)(struct arch_hook *g, const struct launch_env *h);
	void (*after_call)(struct arch_hook *g, const struct launch_env *h);
	/* longjmp() is called, where something is counted */
	void (*on_jump)(struct arch_hook *g, const struct launch_env *h);
	/* an indirect jump or call of the object with that object_header */
	void (*on_indirect)(const struct arch_jump *j,
			    const struct launch_env *h,
			    const struct object_header *p);
	/* a thread is about to return to an old address */
	void (*on_resume)(struct arch_hook *g, const struct launch_env *h);
	/*
	 * A routine of calls.S leaves something to be done (CALLS_PUSH ..), to
	 * a record or a procedure's word, with that stack pointer, of the
	 * thread with that running page.
	 */
	void (*on_calls)(unsigned what, uint64_t about, uint64_t sp,
			 uint64_t *page, const struct launch_env *h);
	/* the same of trace.S (TRACE_FLUSH ..): what it is about, and where
	   on the stack, or the stack pointer, is what else is to know */
	void (*on_trace)(unsigned what, uint64_t about, uint64_t at,
			 uint64_t *page, const struct launch_env *h,
			 const struct arch_asked *k);
	/* any system call, before on_call(), where a trace is to have them */
	void (*on_syscall)(struct arch_hook *g, const struct launch_env *h);
	const char *field[LAUNCH_ENV_N]; /* decoded */
	uint64_t page;                   /* bytes: the kernel's */
	uint64_t hwcap2;           /* AT_HWCAP2: what the machine can do */
	struct counting *counting; /* NULL: nothing is counted */
	struct altstack *altstack; /* NULL: hooks use the thread's stack */
};

/* one of the letters of LAUNCH_ENV_FLAGS */
static inline _Bool launch_env_has(const struct launch_env *h, char flag)
{
	for (const char *f = h->field[LAUNCH_ENV_FLAGS]; *f; f++)
		if (*f == flag)
			return 1;
	return 0;
}

/*
 * The least that a program's limits on memory (RLIMIT_AS, RLIMIT_DATA)
 * have to allow, or nothing of ours takes part: tally does with a third of it
 * to start, and counters take a few MiB of the program's own share.
 */
#define MEMORY_LEAST_TEXT "32 MiB"
enum { MEMORY_LEAST = 32 << 20 };

#endif
