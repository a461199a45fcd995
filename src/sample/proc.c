/* proc: see proc.h. */
#include "sample/proc.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/needs.h"

enum { NAME = 64 };

bool proc_each_map(uint32_t pid,
		   void (*fn)(void *arg, const struct proc_map *m), void *arg)
{
	char path[NAME], line[PATH_MAX + 128], name[PATH_MAX];
	char device[16], inode[32], file[NAME];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		struct proc_map m = {.name = name, .file = file};
		char may[8] = "";

		*name = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %15s %31s %4095[^\n]", &m.start, &m.end, may,
			   &m.offset, device, inode, name) < 6 ||
		    !strchr(may, 'x'))
			continue;
		snprintf(file, sizeof file, "%s %s", device, inode);
		m.inode = strtoull(inode, NULL, 10);
		fn(arg, &m);
	}
	fclose(f);
	return true;
}

bool proc_name(uint32_t pid, char name[PROC_NAME])
{
	char path[NAME];
	FILE *f;
	bool good;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	good = fgets(name, PROC_NAME, f);
	fclose(f);
	if (good)
		name[strcspn(name, "\n")] = 0;
	return good;
}

void proc_each(void (*fn)(void *arg, uint32_t pid, const char *name),
	       void *arg)
{
	DIR *d = opendir("/proc");
	const struct dirent *x;

	while (d && (x = readdir(d))) {
		char name[PROC_NAME], *end;
		unsigned long pid = strtoul(x->d_name, &end, 10);

		if (pid && !*end && pid <= UINT32_MAX &&
		    proc_name((uint32_t)pid, name))
			fn(arg, (uint32_t)pid, name);
	}
	if (d)
		closedir(d);
}

bool proc_is_alive(uint32_t pid)
{
	return !kill((pid_t)pid, 0) || errno != ESRCH;
}

/* the last one of "NSpid: OURS ... ITS" */
uint32_t proc_own_number(uint32_t pid)
{
	char path[NAME], line[512];
	uint32_t own = pid;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			own = (uint32_t)strtoul(last, NULL, 10);
	}
	if (f)
		fclose(f);
	return own;
}

/* by way of the process: its files may be others than ours of that name */
static void read_build_id(uint32_t pid, const struct proc_map *m,
			  struct stored_image *is)
{
	char path[NAME + PATH_MAX];
	struct needs n;
	struct err e;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%s", pid, m->name);
	if (needs_read(&n, path, &e))
		return;
	if (n.build_id_len <= sizeof is->build_id) {
		is->build_id_len = n.build_id_len;
		memcpy(is->build_id, n.build_id, n.build_id_len);
	}
	needs_free(&n);
}

void proc_build_id(struct proc_ids *ids, uint32_t pid,
		   const struct proc_map *m, struct stored_image *is)
{
	char key[NAME + PATH_MAX];
	uint32_t i;

	snprintf(key, sizeof key, "%s %s", m->file, m->name);
	i = intern(&ids->key, key);
	if (i == ids->v.n) {
		struct stored_image new = {0};

		read_build_id(pid, m, &new);
		vec_push(&ids->v, new);
	}
	is->build_id_len = ids->v.at[i].build_id_len;
	memcpy(is->build_id, ids->v.at[i].build_id, sizeof is->build_id);
}

void proc_file(uint32_t pid, const char *path, uint64_t inode,
	       struct stored_image *is)
{
	char there[NAME + PATH_MAX];
	struct stat s;

	is->has_file = true;
	is->file = (struct file_id){.inode = inode & INT64_MAX};
	snprintf(there, sizeof there, "/proc/%" PRIu32 "/root%s", pid, path);
	/* who is gone had the same files as we, or others of other numbers */
	if ((!stat(there, &s) || !stat(path, &s)) && s.st_ino == inode)
		is->file = file_id_of(&s);
}

void proc_ids_free(struct proc_ids *ids)
{
	intern_free(&ids->key);
	vec_free(&ids->v);
}
