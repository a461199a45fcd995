/* sleeper: see sleeper.h. */
#include "launch/sleeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* threads whose files stay open: a process may have more of these than we may
   have files */
enum { KEPT = 200 };

/* schedstat where the kernel does not count how often a thread was given a
   processor */
#define NOT_TOLD "0 0 0\n"

static int open_file(pid_t tid, const char *file)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/%ld/%s", (long)tid, file);
	return open(name, O_RDONLY | O_CLOEXEC);
}

static void close_files(struct sleeper *s)
{
	if (s->slices >= 0)
		close(s->slices);
	if (s->call >= 0)
		close(s->call);
}

struct sleeper *sleepers_find(struct sleepers *s, pid_t tid)
{
	struct sleeper *x, new = {.tid = tid};

	for (size_t i = 0; i < s->v.n; i++) {
		x = &s->v.at[i];
		x->seen |= x->tid == tid;
		if (x->tid == tid)
			return x;
	}
	if (s->v.n == KEPT)
		close_files(&s->v.at[--s->v.n]);
	new.slices = open_file(tid, "schedstat");
	new.call = open_file(tid, "syscall");
	new.seen = true;
	vec_push(&s->v, new);
	return &s->v.at[s->v.n - 1];
}

void sleepers_sweep(struct sleepers *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->v.n; i++) {
		struct sleeper x = s->v.at[i];

		if (!x.seen) {
			close_files(&x);
			continue;
		}
		x.seen = false;
		s->v.at[n++] = x;
	}
	s->v.n = n;
}

void sleepers_close(struct sleepers *s)
{
	for (size_t i = 0; i < s->v.n; i++)
		close_files(&s->v.at[i]);
	vec_free(&s->v);
}

/* the file from its beginning; false: the thread has ended */
static bool read_text(int fd, char text[SLEEPER_TEXT])
{
	ssize_t n = fd < 0 ? 0 : pread(fd, text, SLEEPER_TEXT - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* "NUMBER ARGUMENT... STACK ADDRESS"; else it runs, or was interrupted
   elsewhere */
static bool read_call(char *text, uint64_t *sp, uint64_t *pc)
{
	char *last = strrchr(text, ' '), *before;

	if (*text < '0' || *text > '9' || !last)
		return false;
	*last = 0;
	before = strrchr(text, ' ');
	if (!before)
		return false;
	*pc = strtoull(last + 1, NULL, 16);
	*sp = strtoull(before + 1, NULL, 16);
	return true;
}

bool sleeper_look(struct sleeper *s, uint64_t *sp, uint64_t *pc)
{
	char text[SLEEPER_TEXT];

	/* a file of a thread that had the number before says nothing */
	s->seen = read_text(s->slices, s->since) && read_text(s->call, text);
	return s->seen && strcmp(s->since, NOT_TOLD) &&
	       read_call(text, sp, pc);
}

bool sleeper_slept_on(struct sleeper *s)
{
	char text[SLEEPER_TEXT];

	return read_text(s->slices, text) && !strcmp(s->since, text);
}
