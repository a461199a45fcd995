/* proc: see proc.h. */
#include "sample/processes/proc.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "sample/processes/parse.h"

enum { NAME = 64 };

bool proc_each_map(uint32_t pid,
		   void (*fn)(void *arg, struct proc_map *m), void *arg)
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

/*
 * What a process has mapped, by way of the mapping itself, which finds what
 * has been deleted, too, or by way of its files: these may be others than ours
 * of that name, and others by now than it has mapped. -1: it is not to be had.
 */
static int open_mapped(uint32_t pid, const struct proc_map *m, struct stat *s)
{
	char path[NAME + PATH_MAX];
	struct err e;
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64
		 "-%" PRIx64, pid, m->start, m->end);
	fd = regular_open(path, 0, s, &e);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%s", pid, m->name);
	fd = regular_open(path, 0, s, &e);
	if (fd < 0 || s->st_ino == m->inode)
		return fd;
	close(fd);
	return -1;
}

static void read_build_id(struct parser *p, int fd, struct stored_image *is)
{
	buffer question = {0}, answer = {0};
	struct bytes b;
	const uint8_t *id;
	uint64_t n;

	buffer_uint(&question, 1, PARSE_BUILD_ID);
	if (parser_ask(p, fd, &question, &answer) == PARSER_ANSWERED) {
		b = bytes_window(answer.at, answer.n, 0);
		n = bytes_uint(&b, 8);
		id = n <= sizeof is->build_id ? bytes_take(&b, n) : NULL;
		if (id) {
			memcpy(is->build_id, id, n);
			is->build_id_len = (uint32_t)n;
		}
	}
	vec_free(&question);
	vec_free(&answer);
}

/* what can be known of it by now */
static struct proc_id read_id(struct parser *p, uint32_t pid,
			      const struct proc_map *m)
{
	struct proc_id id = {.is.file.inode = m->inode & INT64_MAX};
	struct stat s;
	int fd = open_mapped(pid, m, &s);

	id.is.has_file = true;
	if (fd < 0)
		return id;
	id.is.file = file_id_of(&s);
	id.deleted = !s.st_nlink;
	read_build_id(p, fd, &id.is);
	id.is.has_file = !id.is.build_id_len;
	close(fd);
	return id;
}

void proc_identify(struct proc_ids *ids, struct parser *p, uint32_t pid,
		   struct proc_map *m, struct stored_image *is)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(m->name), k = strlen(gone);
	char key[NAME + PATH_MAX];
	const char *path = is->path;
	uint32_t i;

	snprintf(key, sizeof key, "%s %s", m->file, m->name);
	i = intern(&ids->key, key);
	if (i == ids->v.n)
		vec_push(&ids->v, read_id(p, pid, m));
	*is = ids->v.at[i].is;
	is->path = path;
	/* one build has one name, whether it has been replaced or not */
	if (ids->v.at[i].deleted && n > k && !strcmp(m->name + n - k, gone))
		m->name[n - k] = 0;
}

void proc_file(uint32_t pid, const char *path, uint64_t inode,
	       struct stored_image *is)
{
	char there[NAME + PATH_MAX];
	struct stat s;

	is->has_file = true;
	is->file = (struct file_id){.inode = inode & INT64_MAX};
	snprintf(there, sizeof there, "/proc/%" PRIu32 "/root%s", pid, path);
	/* a process that is gone had our files, or others of other inodes */
	if ((!stat(there, &s) || !stat(path, &s)) && s.st_ino == inode)
		is->file = file_id_of(&s);
}

void proc_ids_free(struct proc_ids *ids)
{
	intern_free(&ids->key);
	vec_free(&ids->v);
}
