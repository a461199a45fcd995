/*
 * sandbox: a process of ours that may do nothing but compute, and has bounds.
 *
 * Untrusted files are parsed in one: it has no capabilities, is of another
 * user if its parent is root, gets no signals from its parent's terminal, and
 * the kernel refuses it every system call but those that read, allocate and
 * answer (seccomp). What it takes of memory and time is limited. Whatever a
 * file does to it, its parent has an answer, or knows that there is none.
 *
 * Both sides talk over a socket: a message is its length, 32 bits, and bytes;
 * it may carry a descriptor. None of this needs privileges. Where the kernel
 * has no seccomp (emulators) the other bounds hold.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/err.h"

struct sandbox_limits {
	uint64_t memory; /* bytes, beyond what the parent has */
	uint64_t cpu;	 /* seconds */
	bool opens;	 /* it may open files to read, by their names */
	bool network;	 /* and do what servers of debug files need: all but
			    use capabilities */
	uid_t uid;	 /* its user and group, if the parent is root */
	gid_t gid;
};

enum { SANDBOX_NOBODY = 65534 }; /* for both, if nothing better is known */

struct sandbox {
	pid_t pid; /* 0: there is none */
	int fd;	   /* the parent's end of the socket */
};

#define SANDBOX_NONE {.fd = -1}

/*
 * Starts one that runs work() and ends when that returns; fd: its end of the
 * socket. `keep`, a descriptor or -1, stays open in it, all others do not.
 */
int sandbox_start(struct sandbox *s, const struct sandbox_limits *l,
		  void (*work)(void *arg, int fd), void *arg, int keep,
		  struct err *e);
/* ends it; it may have ended itself. Of one that is none, too */
void sandbox_end(struct sandbox *s);
/* milliseconds that its processor has worked for it; 0 if it is gone */
uint64_t sandbox_worked(const struct sandbox *s);
static inline bool sandbox_is_there(const struct sandbox *s)
{
	return s->pid > 0;
}

/*
 * For good: this process, if it is root's, has the rights of that file's owner
 * alone, and the programs that it executes. Its memory stays its own: that user
 * cannot trace it. For work that writes, or needs other programs. A file that
 * is not there counts as SANDBOX_NOBODY's. From then on regular_open() opens
 * files of that owner and of root alone, whatever `path` has come to stand for.
 * -1 and *e: it is still root's.
 */
int sandbox_become_owner(const char *path, struct err *e);

/*
 * Messages, from either side; `deadline` in milliseconds of sandbox_clock(), 0:
 * it may take for ever. pass: a descriptor to be passed on, or -1. False: the
 * other side is gone, too slow, or wants to say more than `most` bytes.
 */
bool sandbox_send(int fd, const buffer *b, int pass, uint64_t deadline);
bool sandbox_receive(int fd, buffer *b, size_t most, int *passed,
		     uint64_t deadline);
uint64_t sandbox_clock(void);

#endif
