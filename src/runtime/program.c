/*
 * program: whether the kernel would execute a file, and tally could rewrite
 * it. Only what is certain to run is worth more than a look: once tally has
 * taken the program's place, execve() can no longer return an error to it.
 * Whatever is odd is left to the kernel.
 *
 * Nothing is kept in memory that processes or threads might share.
 */
#include "runtime/audit_int.h"
#include "runtime/loaded.h"
#include "abi/script.h"

enum {
	MODE_TYPE = 0170000,
	MODE_REGULAR = 0100000,
	MODE_OTHER_RIGHTS = 06000, /* set-user-id, set-group-id */

	FLAG_NO_LINKS = 0x100,	 /* AT_SYMLINK_NOFOLLOW */
	FLAG_EFFECTIVE = 0x200,	 /* AT_EACCESS */
	FLAG_THE_FOLDER = 0x1000, /* AT_EMPTY_PATH */
	FLAG_CHECK = 0x10000,	 /* AT_EXECVE_CHECK */
	MAY_EXECUTE = 1,

	ELF_EXEC = 2,
	ELF_DYN = 3,
};

struct elf_header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

/* the beginning of a file, or segments of it: stacks may be small */
union part {
	char text[SCRIPT_LINE];
	struct elf_header header;
	struct elf_segment segment[4];
};

static long read_at(long fd, union part *p, uint64_t offset, size_t n)
{
	return arch_call(SYS_PREAD64, fd, (long)p, (long)n, (long)offset, 0);
}

/* a regular file's mode, or 0 */
static unsigned mode_of(long dir, const char *name, long flags)
{
	struct kernel_stat st;

	if (arch_call(SYS_NEWFSTATAT, dir, (long)name, (long)&st, flags, 0))
		return 0;
	return (st.st_mode & MODE_TYPE) == MODE_REGULAR ? st.st_mode : 0;
}

static _Bool may_execute(long dir, const char *name, long flags, unsigned mode)
{
	long r = arch_call(SYS_FACCESSAT2, dir, (long)name, MAY_EXECUTE,
			   FLAG_EFFECTIVE | flags, 0);

	/* kernels before 5.8 cannot tell */
	return r == -SYS_ENOSYS ? (mode & 0111) != 0 : !r;
}

/* opens it for reading */
static long open_file(long dir, const char *name, long flags)
{
	char number[32] = "/proc/self/fd/";
	long how = SYS_O_CLOEXEC | SYS_O_NONBLOCK;

	if (flags & FLAG_THE_FOLDER && !*name) {
		str_number(number + str_len(number), dir);
		name = number;
		dir = SYS_AT_FDCWD;
	} else if (flags & FLAG_NO_LINKS) {
		how |= ARCH_O_NOFOLLOW;
	}
	return arch_call(SYS_OPENAT, dir, (long)name, how, 0, 0);
}

/*
 * Opens a file that may be executed. FIT: it is *fd, and its mode is *mode;
 * devices are not even opened.
 */
static enum fitness open_program(long dir, const char *name, long flags,
				 long *fd, unsigned *mode)
{
	*fd = -1;
	*mode = mode_of(dir, name, flags);
	if (!*mode)
		return FIT_UNKNOWN;
	*fd = open_file(dir, name, flags);
	if (*fd < 0)
		return may_execute(dir, name, flags, *mode) ? FIT_NOT :
							      FIT_UNKNOWN;
	/* by the descriptor: emulators show other files by some names */
	return may_execute(*fd, "", FLAG_THE_FOLDER, *mode) ? FIT :
							      FIT_UNKNOWN;
}

static void close_file(long fd)
{
	if (fd >= 0)
		arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
}

static _Bool is_elf(const union part *p, long n)
{
	return n >= (long)sizeof p->header && p->text[0] == 0x7f &&
	       p->text[1] == 'E' && p->text[2] == 'L' && p->text[3] == 'F';
}

static _Bool is_of_machine(const struct elf_header *h)
{
	return h->ident[4] == 2 && h->ident[5] == 1 &&
	       h->machine == ARCH_ELF &&
	       (h->type == ELF_EXEC || h->type == ELF_DYN) &&
	       h->phentsize == sizeof(struct elf_segment) && h->phnum;
}

/* the loader of a program, whose name lies at `offset`, is one */
static _Bool has_loader(long fd, uint64_t offset, uint64_t size,
			union part *p)
{
	unsigned mode;
	long loader;
	_Bool good;

	if (size < 2 || size > sizeof p->text ||
	    read_at(fd, p, offset, size) != (long)size || p->text[size - 1])
		return 0;
	good = open_program(SYS_AT_FDCWD, p->text, 0, &loader, &mode) == FIT &&
	       is_elf(p, read_at(loader, p, 0, sizeof *p)) &&
	       is_of_machine(&p->header);
	close_file(loader);
	return good;
}

/* an ELF file, whose header is in *p, will be loaded */
static _Bool loads(long fd, union part *p)
{
	uint64_t at = p->header.phoff;
	unsigned left = p->header.phnum;

	while (left) {
		unsigned n = left < 4 ? left : 4;

		if (read_at(fd, p, at, n * sizeof *p->segment) !=
		    (long)(n * sizeof *p->segment))
			return 0;
		for (unsigned i = 0; i < n; i++)
			if (p->segment[i].type == SEGMENT_INTERP)
				return has_loader(fd, p->segment[i].offset,
						  p->segment[i].filesz, p);
		at += n * sizeof *p->segment;
		left -= n;
	}
	return 1;
}

/* a file with rights of its own, which a copy of it would not have */
static _Bool has_rights(long fd, unsigned mode)
{
	return mode & MODE_OTHER_RIGHTS ||
	       arch_call(SYS_FGETXATTR, fd, (long)"security.capability", 0, 0,
			 0) >= 0;
}

/*
 * Looks at one file. A script: *p has its line, split; the interpreter is
 * returned in *next, and has to be looked at, too.
 */
static enum fitness look(long fd, unsigned mode, union part *p, char **next)
{
	long n = read_at(fd, p, 0, sizeof *p - 1);
	char *argument;

	*next = NULL;
	if (n < 2)
		return FIT_UNKNOWN;
	if (p->text[0] == '#' && p->text[1] == '!') {
		p->text[n] = 0;
		*next = script_split(p->text, (size_t)n, &argument);
		if (!*next || !**next)
			return FIT_UNKNOWN;
	} else if (!is_elf(p, n)) {
		return FIT_UNKNOWN;
	} else if (!is_of_machine(&p->header)) {
		return FIT_NOT;
	} else if (!loads(fd, p)) {
		return FIT_UNKNOWN;
	}
	return has_rights(fd, mode) ? FIT_NOT : FIT;
}

/* the interpreters of a script, whose first is `next` in *p */
static enum fitness look_on(union part *p, char *next)
{
	enum fitness fit = FIT;

	for (int depth = 1; next && fit == FIT; depth++) {
		unsigned mode;
		long fd;

		if (depth > SCRIPT_DEPTH)
			return FIT_UNKNOWN;
		fit = open_program(SYS_AT_FDCWD, next, 0, &fd, &mode);
		if (fit == FIT)
			fit = look(fd, mode, p, &next);
		close_file(fd);
	}
	return fit;
}

/* new kernels say all that they have against the execution of a file */
static _Bool refused(const struct execution *x)
{
	long r = arch_call(SYS_EXECVEAT, x->dir, (long)x->file, (long)x->argv,
			   (long)x->envp, x->flags | FLAG_CHECK);

	return r < 0 && r != -SYS_EINVAL && r != -SYS_ENOSYS;
}

enum fitness program_look(const struct execution *x, long *fd)
{
	enum fitness fit;
	union part p;
	unsigned mode;
	char *next;

	*fd = -1;
	if (x->flags & ~(FLAG_NO_LINKS | FLAG_THE_FOLDER) || refused(x))
		return FIT_UNKNOWN;
	fit = open_program(x->dir, x->file, x->flags, fd, &mode);
	if (fit != FIT)
		return fit;
	fit = look(*fd, mode, &p, &next);
	/* by the name of a descriptor: the interpreter may not find it */
	if (next && x->dir != SYS_AT_FDCWD && *x->name != '/')
		return FIT_UNKNOWN;
	return fit == FIT ? look_on(&p, next) : fit;
}
