/*
 * profile_finish: when no process counts any more, the live form gives way to
 * the finished one. See profile.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "count/profile/profile_int.h"

enum {
	STAT_STARTED = 22, /* field of /proc/PID/stat, proc(5) */
	/*
	 * Ticks, ten seconds: an emulator tells its program when it began
	 * itself, which is later. Taking a stranger for ours does no harm, the
	 * other way round counts would be lost.
	 */
	STARTED_SLACK = 1000,
};

/* reads /proc/PID/stat; what follows the name, which may hold anything */
static const char *stat_fields(uint32_t pid, char *text, size_t size)
{
	char name[32], *end;
	FILE *f;
	size_t n;

	snprintf(name, sizeof name, "/proc/%" PRIu32 "/stat", pid);
	f = fopen(name, "re");
	if (!f)
		return NULL;
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end + 2 : NULL;
}

bool profile_is_alive(const struct profile_process *q)
{
	char text[1024];
	const char *at;
	int64_t off;

	if (!q->pid || q->pid > INT32_MAX ||
	    (kill((pid_t)q->pid, 0) && errno == ESRCH))
		return false;
	at = stat_fields(q->pid, text, sizeof text);
	if (!at) /* gone meanwhile, or hidden from us */
		return !kill((pid_t)q->pid, 0) || errno != ESRCH;
	if (*at == 'Z' || *at == 'X')
		return false;
	for (int field = 3; at && field < STAT_STARTED; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (!at || !q->started)
		return true;
	off = (int64_t)(strtoull(at, NULL, 10) - q->started);
	return off >= -STARTED_SLACK && off <= STARTED_SLACK;
}

int profile_finish(const char *path,
		   bool (*alive)(const struct profile_process *q),
		   struct err *e)
{
	struct profile p;
	int status = 1;

	if (!alive)
		alive = profile_is_alive;
	if (profile_open_packed(&p, path, e))
		return -1;
	for (size_t i = 0; i < p.process.n; i++)
		if (!p.finished && alive(&p.process.at[i]))
			status = 0;
	for (size_t i = 0; i < p.image.n; i++)
		if (p.image.at[i].missing)
			status = 0;
	if (!p.finished)
		p.header.trouble &= ~(uint64_t)TROUBLE_RUNNING;
	if (status && !p.finished && profile_write(&p, NULL, path, e))
		status = -1;
	profile_close(&p);
	return status;
}
