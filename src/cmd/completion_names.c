/*
 * completion_names: `tally names KIND WORD...`, for the scripts of `tally
 * completion`: the names of one kind that are in a profile or database, one in
 * each line. That is the first one among the words of the line that is being
 * typed, else the newest profile in the folder. Not for people: says nothing
 * if there are none, and gives up after a second, as the line goes on.
 */
#include "cmd/cmd.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/name.h"
#include "events/event_list.h"
#include "report/rows.h"

struct name_list {
	VEC(char *) v;
};

/* without arguments; what has control characters cannot be typed */
static void add(struct name_list *n, const char *name)
{
	size_t length = strcspn(name, "(");
	char *copy = mem_alloc(length + 1), *shown;

	memcpy(copy, name, length);
	copy[length] = '\0';
	shown = name_text(copy, "");
	if (!strcmp(shown, copy) && length)
		vec_push(&n->v, copy);
	else
		mem_free(copy);
	mem_free(shown);
}

static void add_procedures(struct name_list *n, struct dataset *d)
{
	struct rows_query all = {.limit = SIZE_MAX};
	struct rows r;
	struct err e;

	if (rows_make(&r, d, BY_PROCEDURE, &all, &e))
		return;
	for (size_t i = 0; i < r.v.n; i++)
		add(n, row_procedure(&r, &r.v.at[i]));
	rows_free(&r);
}

/* what only databases have names of */
static void add_sampled(struct name_list *n, const char *kind,
			const struct samples *s)
{
	for (size_t i = 0; !strcmp(kind, "events") && i < s->event.n; i++)
		add(n, s->event.at[i].name);
	for (size_t i = 0; !strcmp(kind, "processes") && i < s->process.n; i++)
		add(n, s->process.at[i].name);
	for (size_t i = 0; !strcmp(kind, "hosts") && i < s->epoch.n; i++)
		add(n, s->epoch.at[i].host);
}

/* those that a profile was made for, if it is one of events */
static void add_counted_events(struct name_list *n, const struct profile *p)
{
	struct event_list list;
	struct err e;

	if (!event_list_of_profile(&list, p->options, &e))
		for (unsigned i = 0; i < list.n; i++)
			add(n, list.at[i].name);
	event_list_free(&list);
}

static void add_all(struct name_list *n, const char *kind, const char *path)
{
	struct samples_query all = {.processes = !strcmp(kind, "processes"),
				    .depth = !strcmp(kind, "procedures")
						     ? SAMPLES_PLACES
						     : SAMPLES_TOTALS};
	struct dataset d;
	struct err e;

	if (dataset_open(&d, &path, 1, &all, NULL, &e))
		return;
	if (!strcmp(kind, "procedures"))
		add_procedures(n, &d);
	for (size_t i = 0; !strcmp(kind, "images") && i < d.image.n; i++)
		add(n, d.image.at[i].name);
	if (d.counts && !strcmp(kind, "events"))
		add_counted_events(n, &d.counts->profile);
	if (d.samples)
		add_sampled(n, kind, d.samples);
	dataset_close(&d);
}

static bool is_profile(const char *path)
{
	size_t n = strlen(path);
	struct stat s;

	return n > 6 && !strcmp(path + n - 6, ".tally") && !stat(path, &s) &&
	       S_ISREG(s.st_mode);
}

/* the newest profile in the folder, to be freed; NULL: there is none */
static char *newest_profile(void)
{
	struct timespec best = {0};
	char *newest = NULL;
	glob_t g = {0};

	glob("*.tally", 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct stat s;

		if (stat(g.gl_pathv[i], &s) || !S_ISREG(s.st_mode) ||
		    (newest && (s.st_mtim.tv_sec < best.tv_sec ||
				(s.st_mtim.tv_sec == best.tv_sec &&
				 s.st_mtim.tv_nsec <= best.tv_nsec))))
			continue;
		free(newest);
		newest = strdup(g.gl_pathv[i]);
		best = s.st_mtim;
	}
	globfree(&g);
	return newest;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print(struct name_list *n)
{
	mem_sort(n->v.at, n->v.n, sizeof *n->v.at, by_text);
	for (size_t i = 0; i < n->v.n; i++)
		if (!i || strcmp(n->v.at[i], n->v.at[i - 1]))
			puts(n->v.at[i]);
	for (size_t i = 0; i < n->v.n; i++)
		mem_free(n->v.at[i]);
	vec_free(&n->v);
}

static int names_run(int argc, char **argv)
{
	struct name_list n = {0};
	char *newest = NULL;
	int i = 2;

	if (argc < 2 || !freopen("/dev/null", "w", stderr))
		return STATUS_USAGE;
	alarm(1);
	while (i < argc && !is_profile(argv[i]) && !store_is(argv[i]))
		i++;
	if (i < argc)
		add_all(&n, argv[1], argv[i]);
	else if ((newest = newest_profile()))
		add_all(&n, argv[1], newest);
	print(&n);
	free(newest);
	return STATUS_OK;
}

const struct command cmd_names = {
	.name = "names",
	.internal = names_run,
};
