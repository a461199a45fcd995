/*
 * handover: what the launcher tells the code that travels inside the program.
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
#ifndef RUNTIME_HANDOVER_H
#define RUNTIME_HANDOVER_H

#include <stdint.h>

#define HANDOVER_VARIABLE "TALLY_LAUNCH"
#define HANDOVER_FILLER "TALLY_FILLER"
#define HANDOVER_FORMAT "1"

enum handover_field {
	HANDOVER_VERSION, /* HANDOVER_FORMAT; with another all is ignored */
	HANDOVER_FLAGS,	  /* letters: 's' strict, 'f' follow, 'a' there is a
			     user's LD_AUDIT, 't' the user has tunables,
			     'e' an emulator runs this,
			     'w' its tracer is tally */
	HANDOVER_KEY,	  /* struct record's key, 16 hexadecimal digits */
	HANDOVER_CACHE,	  /* the folder, absolute, links resolved */
	HANDOVER_TALLY,	  /* the program to ask for what is not there */
	HANDOVER_OPTIONS, /* how to rewrite, for it; opaque here */
	HANDOVER_ROOT,	  /* where an emulator finds libraries, or empty */
	HANDOVER_LIBS,	  /* "all", "none" or NAME,NAME.. */
	HANDOVER_EXECFN,  /* the name that the kernel would have been given */
	HANDOVER_EXE,	  /* what /proc/self/exe has to say */
	HANDOVER_LINK,	  /* a symbolic link that says so, or empty */
	HANDOVER_COPY,	  /* the program's rewritten file */
	HANDOVER_PROFILE, /* where counters are kept, absolute, or empty */
	HANDOVER_PARENT,  /* the number, there, of the process that executes
			     this program; "0": tally started it */
	HANDOVER_N,
};

/*
 * The module keeps it for the gates in rewritten objects (isa/move.h), which
 * ask on_call() before system calls that name a file, and where something is
 * counted before those that make threads and processes, and after_call() behind
 * these. Where pairs are counted, on_indirect() is told of indirect jumps and
 * calls.
 *
 * An object gets its address in a word of its own, which its passport names
 * (passport.h), to which an entry of its dynamic section leads. It is written
 * before the object is relocated. Without LD_AUDIT (static programs, musl)
 * the word stays as it is in the file, but for entry.c.
 */
#define HANDOVER_TAG 0x6d74616c6c

struct arch_gate; /* registers before a system call */
struct handover;
struct counting; /* counting.h */
struct arch_jump; /* all registers before a jump or call through one */
struct passport;
struct aside;
/* offsets of what is asked */
enum {
	HANDOVER_ON_CALL = 8,
	HANDOVER_AFTER_CALL = 16,
	HANDOVER_ON_JUMP = 24,
	HANDOVER_ON_INDIRECT = 32,
	HANDOVER_ON_RESUME = 40,
};

struct handover {
	uint32_t version; /* 1 */
	uint32_t nfield;
	void (*on_call)(struct arch_gate *g, const struct handover *h);
	void (*after_call)(struct arch_gate *g, const struct handover *h);
	/* longjmp() is called, where something is counted */
	void (*on_jump)(struct arch_gate *g, const struct handover *h);
	/* an indirect jump or call of the object with that passport */
	void (*on_indirect)(const struct arch_jump *j,
			    const struct handover *h,
			    const struct passport *p);
	/* a thread is about to return to an old address */
	void (*on_resume)(struct arch_gate *g, const struct handover *h);
	const char *field[HANDOVER_N]; /* decoded */
	uint64_t page; /* bytes: the kernel's */
	uint64_t hwcap2; /* AT_HWCAP2: what the machine can do */
	struct counting *counting; /* NULL: nothing is counted */
	struct aside *aside; /* aside.h; NULL: gates use the thread's stack */
};

/* one of the letters of HANDOVER_FLAGS */
static inline _Bool handover_has(const struct handover *h, char flag)
{
	for (const char *f = h->field[HANDOVER_FLAGS]; *f; f++)
		if (*f == flag)
			return 1;
	return 0;
}

#endif
