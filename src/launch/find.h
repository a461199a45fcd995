/*
 * find: which file a command means, and what the kernel would make of it.
 *
 * PROGRAM is searched in PATH as a POSIX shell does. A file that starts with
 * "#!" names its interpreter; that is what runs, with the arguments that the
 * kernel would give it, up to five levels deep. A file that the kernel does
 * not know at all is for /bin/sh, as execvp() has it.
 */
#ifndef LAUNCH_FIND_H
#define LAUNCH_FIND_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

enum found {
	FOUND = 0,
	FOUND_NOT = 127,	/* there is no such file */
	FOUND_NO_PROGRAM = 126, /* there is, but it cannot be executed */
	FOUND_REFUSED = 125,	/* it runs with other rights than ours */
};

struct program {
	char *path;   /* of the ELF file to run, as the kernel would see it */
	char *real;   /* path, absolute and without links; NULL if that is
			 not to be had: too long, or the way there is barred */
	int why_unreal; /* errno of that */
	char *execfn; /* the file that was asked to be executed: a script */
	VEC(char *) argv; /* NULL at the end */
	struct arena arena;
};

/*
 * Finds the program that argv[0] names; the rest of argv, up to NULL, are its
 * arguments. Not FOUND: *e says why. To be freed in any case.
 */
enum found find_program(struct program *p, char *const *argv, struct err *e);
/*
 * find_program() for one that is executed by `name`, whose file is open. Only
 * what the kernel knows is one.
 */
enum found find_opened(struct program *p, int fd, const char *name,
		       char *const *argv, struct err *e);
void program_free(struct program *p);

/* a program in PATH, or NULL; to be freed */
char *find_in_path(const char *name);

/*
 * original: how a copy and the file that it was made of are distinguished, and
 * a link that leads to the original.
 */

/* the copy of the program begins with code of ours */
bool original_enters(const char *original, const char *copy);
/*
 * Makes a symbolic link in folder `dir` that leads to the file; its name, or
 * NULL if it cannot be made.
 */
char *original_link(struct arena *a, const char *dir, const char *file);

#endif
