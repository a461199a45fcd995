/*
 * counts_left: images that ran uncounted. One that was counted in other
 * processes has its counts, and says that there may be more.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "profile/counts.h"

const char *counts_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *why(const struct profile_left *x)
{
	if (x->why == LEFT_OUT)
		return "left out by --libs";
	if (x->why != LEFT_REFUSED)
		return "a reason that this tally does not know";
	return *x->reason ? x->reason
			  : "it could not be rewritten when it was loaded";
}

/* the first of that path, or where it would be */
static size_t first_of(const struct profile *p, const char *path)
{
	size_t i;

	bisect(i, p->left.n, strcmp(p->left.at[i].path, path) < 0);
	return i;
}

/* those that are counted elsewhere */
static void tell_counted(struct counts *t, bool *counted)
{
	const struct profile *p = &t->profile;

	for (uint32_t i = 0; i < t->nimage; i++) {
		struct counts_image *m = &t->image[i];
		size_t k;

		if (m->missing)
			continue;
		k = first_of(p, m->map->path);
		if (k == p->left.n || strcmp(p->left.at[k].path, m->map->path))
			continue;
		m->left = why(&p->left.at[k]);
		counted[k] = true;
	}
}

/* the others, each once */
static void tell_others(struct counts *t, const bool *counted)
{
	const struct profile *p = &t->profile;

	for (size_t i = 0; i < p->left.n; i++) {
		const struct profile_left *x = &p->left.at[i];

		if (counted[i] || (i && !strcmp(x[-1].path, x->path)))
			continue;
		t->left[t->nleft++] = (struct counts_left){
			counts_name(x->path),
			x->path,
			why(x),
			x->why != LEFT_OUT,
		};
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void tell_processes(struct counts *t)
{
	const struct profile *p = &t->profile;
	uint32_t *number = ARENA_ARRAY(&t->arena, uint32_t, p->left.n);

	for (size_t i = 0; i < p->left.n; i++)
		if (p->left.at[i].why != LEFT_OUT)
			number[t->nrefused++] = p->left.at[i].process;
	qsort(number, t->nrefused, sizeof *number, by_number);
	t->refused = number;
}

void counts_left_make(struct counts *t)
{
	size_t n = t->profile.left.n;
	bool *counted;

	if (!n)
		return;
	counted = ARENA_ARRAY(&t->arena, bool, n);
	t->left = ARENA_ARRAY(&t->arena, struct counts_left, n);
	tell_counted(t, counted);
	tell_others(t, counted);
	tell_processes(t);
}

/* the process of that number, or NULL */
static const struct profile_process *process_of(const struct profile *p,
						uint32_t number)
{
	size_t i;

	bisect(i, p->process.n, p->process.at[i].number < number);
	return i < p->process.n && p->process.at[i].number == number
		       ? &p->process.at[i]
		       : NULL;
}

bool counts_refused(const struct counts *t, uint32_t number)
{
	while (t->nrefused) {
		const struct profile_process *q;
		size_t i;

		bisect(i, t->nrefused, t->refused[i] < number);
		if (i < t->nrefused && t->refused[i] == number)
			return true;
		q = process_of(&t->profile, number);
		/* a parent has a lower number than its child, or it is no
		   profile of ours */
		if (!q || q->origin != PROCESS_FORKED || q->parent >= number)
			break;
		number = q->parent;
	}
	return false;
}
