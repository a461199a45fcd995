/* member: see member.h. */
#include "launch/member.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { DEEPEST = 1000 }; /* parents that are looked at */

static FILE *open_proc(pid_t pid, const char *what)
{
	char name[64];

	snprintf(name, sizeof name, "/proc/%d/%s", (int)pid, what);
	return fopen(name, "re");
}

/* is a file mapped there? As in proc(5): range access offset device inode */
static bool maps_file(pid_t pid, const struct stat *st)
{
	FILE *f = open_proc(pid, "maps");
	char line[8192];
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f)) {
		unsigned major, minor;
		uintmax_t inode;

		found = sscanf(line, "%*s %*s %*s %x:%x %ju", &major, &minor,
			       &inode) == 3 &&
			inode == st->st_ino &&
			makedev(major, minor) == st->st_dev;
	}
	if (f)
		fclose(f);
	return found;
}

/* 0: there is none, or it is not known */
static pid_t parent_of(pid_t pid)
{
	FILE *f = open_proc(pid, "stat");
	char text[1024] = "";
	const char *end; /* of the name, which may hold anything */
	int parent = 0;

	if (!f)
		return 0;
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool descends(pid_t pid)
{
	for (int i = 0; pid > 1 && i < DEEPEST; i++) {
		pid = parent_of(pid);
		if (pid == getpid())
			return true;
	}
	return false;
}

bool member_signal(pid_t pid, int profile, int signo)
{
	/* held, so that its number is not another's meanwhile */
	int held = (int)syscall(SYS_pidfd_open, pid, 0);
	struct stat st;
	bool is = pid > 1 && held >= 0 && !fstat(profile, &st) &&
		  (descends(pid) || maps_file(pid, &st));

	if (is)
		syscall(SYS_pidfd_send_signal, held, signo, NULL, 0);
	if (held >= 0)
		close(held);
	return is;
}
