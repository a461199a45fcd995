/*
 * needs: what a loader asks of a file before it runs: the machine, the
 * loader's name, needed libraries and where they are looked for. Reads some
 * hundred bytes of a file of any size, where image_open() reads all symbols.
 */
#ifndef ELF_NEEDS_H
#define ELF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* a machine, as loaders, distributions and emulators name it */
struct machine {
	uint16_t id;	      /* e_machine */
	const char *name;     /* for people */
	const char *isa;      /* in the names of our files: "x86_64" */
	const char *triplet;  /* Debian's folders of libraries */
	const char *platform; /* $PLATFORM, unless the processor knows more */
	const char *emulator; /* runs its programs on other machines */
	uint32_t cache_flags; /* of its libraries in ld.so.cache */
	uint32_t tls_align; /* of static TLS that glibc has in any case */
	bool host;	      /* tally runs on it */
};

struct needs {
	const struct machine *machine;
	bool dynamic;	   /* has PT_DYNAMIC */
	bool loads;	   /* has PT_INTERP: a loader runs before it */
	bool program;	   /* ET_EXEC, or says that it is a program */
	uint64_t tls; /* bytes of variables that each thread has of its own,
			 with room to align them */
	uint64_t tls_align;
	bool binds_now;	   /* no linkage stub is bound when it is first used */
	bool no_default;   /* DF_1_NODEFLIB: not in the system's folders */
	const char *interp; /* strings are "" if there is none */
	const char *soname;
	const char *rpath, *runpath;
	VEC(const char *) needed;
	uint8_t build_id[64];
	unsigned build_id_len; /* 0 if none */
	struct arena arena;    /* owns the strings */
};

/* the machine of an ELF file's e_machine, or NULL */
const struct machine *machine_of(uint16_t id);

/* reads the file; on -1 *e says what it is instead, nothing to free */
int needs_read(struct needs *n, const char *path, struct err *e);
void needs_free(struct needs *n);

/* the loader that the program names is musl's */
bool needs_is_musl(const struct needs *n);
/*
 * Can its loader have an audit module? Not musl's, and not glibc's for a
 * program that needs no library at all, as Go makes them: with variables of
 * threads it stops there at an assertion.
 */
bool needs_audits(const struct needs *n);

#endif
