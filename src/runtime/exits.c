/*
 * exits: where threads ended, and how the process did, in its chunk.
 *
 * What a thread counted tells everything if it ended in a call, a system call
 * too. In the middle of a block it does not say where the thread was. A signal
 * that ends the process comes by way of us (signals.c), and the place where it
 * arrived is written down here. What that means is found out when the profile
 * is read (count/profile/thread_exits.h): which increments were done, and which
 * block it is in.
 *
 * Other threads end where they are at that moment. In a system call that is
 * exact; if one was running, the chunk says so.
 */
#include "runtime/counting.h"

enum {
	NAMES = 512, /* bytes of a folder's names, read at once */
	TASK_NAME = 64,
	FLAG_EXITING = 4, /* PF_EXITING */
};

void end_note(struct counting *c, const void *context)
{
	struct chunk_process *k = c->process;
	uint32_t i;

	if (!k)
		return;
	place_note(c, thread_self(c), context, 1);
	i = __atomic_fetch_add(&c->nsaid, 1, __ATOMIC_RELAXED);
	if (i < SAID)
		c->said[i] = sys_tid();
	else
		note_begins(k); /* and never ends */
}

/* where /proc tells something of the thread of that number, in decimal */
static void name_task(char *to, const char *number, const char *file)
{
	struct text t = {.at = to, .max = TASK_NAME};

	text_add(&t, "/proc/self/task/");
	text_add(&t, number);
	text_add(&t, file);
	if (t.full)
		*to = 0;
}

/* is it ending? Then it runs nothing of the program any more */
static _Bool exits(const char *number)
{
	char name[TASK_NAME];

	name_task(name, number, "/stat");
	return environ_field(name, ENVIRON_FLAGS) & FLAG_EXITING;
}

/* is the thread of that number neither waiting nor gone? */
static _Bool runs(const char *number)
{
	char name[TASK_NAME], said[TASK_NAME];
	long n;

	name_task(name, number, "/syscall");
	n = sys_read_file(name, said, sizeof said - 1);
	if (n <= 0)
		return n != -SYS_ENOENT && n != -SYS_ESRCH;
	said[n] = 0;
	return !(said[0] >= '0' && said[0] <= '9') &&
	       !str_after(said, "-1 0x0 0x0") && !exits(number);
}

/* what getdents64() gives */
struct name {
	uint64_t inode, offset;
	uint16_t size;
	uint8_t type;
	char text[];
};

static _Bool any_runs(long fd, const char *self)
{
	_Alignas(struct name) char names[NAMES];
	long n;

	while ((n = arch_call(SYS_GETDENTS64, fd, (long)names, sizeof names, 0,
			      0)) > 0)
		for (long at = 0; at < n;) {
			const struct name *d = (const void *)(names + at);

			if (d->text[0] != '.' && !str_equal(d->text, self) &&
			    runs(d->text))
				return 1;
			at += d->size;
		}
	return n < 0;
}

/* does another thread run, or is that not known? */
static _Bool others_run(const struct counting *c)
{
	char self[24];
	_Bool any;
	long fd;

	if (!threads_beside(c))
		return 0;
	/* a wait for our lock is a system call, but none of the program's */
	if (c->confined || __atomic_load_n(&c->lock, __ATOMIC_RELAXED))
		return 1;
	fd = arch_call(SYS_OPENAT, SYS_AT_FDCWD, (long)"/proc/self/task",
		       SYS_O_CLOEXEC, 0, 0);
	if (fd < 0)
		return 1;
	str_number(self, sys_tid());
	any = any_runs(fd, self);
	arch_call(SYS_CLOSE, fd, 0, 0, 0, 0);
	return any;
}

void process_ends(struct counting *c, enum process_ended how)
{
	struct chunk_process *k = c->process;

	if (!k || (!c->confined && !process_is_own(c)))
		return;
	k->moving = how != ENDED_NOT && others_run(c);
	if (how == ENDED_BY_ITSELF || how == ENDED_BY_SIGNAL)
		suspended_end(c);
	k->ended = how;
}
