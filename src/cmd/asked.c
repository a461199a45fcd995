/* asked: see asked.h. */
#include "cmd/asked.h"

#include <string.h>

#include "count/profile/profile.h"
#include "abi/libs.h"

enum { NAME_MOST = 200 }; /* of a message */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void asked_open(struct asked *a, const char *libs, const char *only,
		const char *option)
{
	bool named = libs && strcmp(libs, "all") && strcmp(libs, "none");

	*a = (struct asked){.libs = named ? libs : NULL, .option = option};
	only_open(&a->only, only ? only : "");
}

void asked_close(struct asked *a)
{
	only_close(&a->only);
}

/* files by number, however they are known; NULL: there are no more */
typedef const char *file_of(const void *from, size_t i);

static const char *prepared(const void *from, size_t i)
{
	const struct launch *l = from;

	return i < l->rewritten.n ? l->rewritten.at[i].file : NULL;
}

static const char *counted(const void *from, size_t i)
{
	const struct profile *p = from;

	return i < p->image.n ? p->image.at[i].file : NULL;
}

/* the first name of the list that is no file's, in `name`; false: none */
static bool libs_unseen(const char *list, file_of *file, const void *from,
			char name[NAME_MOST])
{
	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		size_t n = strcspn(list, ","), i = 0;

		if (!n || n >= NAME_MOST)
			continue;
		memcpy(name, list, n);
		name[n] = 0;
		while (file(from, i) && !libs_have(name,
						   base_of(file(from, i))))
			i++;
		if (!file(from, i))
			return true;
	}
	return false;
}

/* one of them is nowhere: the exit status and *e */
static int not_found(const char *kind, const char *name, const char *option,
		     struct err *e)
{
	err_set(e, ERR_USAGE, "no %s is called '%.*s' (%s)", kind, NAME_MOST,
		name, option);
	return LAUNCH_FAILED;
}

int asked_before(const struct launch *l, void *ctx, struct err *e)
{
	struct asked *a = ctx;
	char name[NAME_MOST];
	bool lib = a->libs && libs_unseen(a->libs, prepared, l, name);

	for (size_t i = 0; i < l->rewritten.n; i++)
		if (l->rewritten.at[i].copy &&
		    only_look(&a->only, l->rewritten.at[i].copy, e))
			return LAUNCH_FAILED;
	if (!lib && !only_unseen(&a->only))
		return 0;
	a->later = launch_loads_more(l);
	if (a->later)
		return 0;
	if (lib)
		return not_found("library of the program", name, "--libs", e);
	return not_found("procedure that can be counted",
			 only_unseen(&a->only), a->option, e);
}

/* whether all that is asked for is in the profile; 0, or the exit status */
static int check_counted(struct asked *a, const struct profile *p,
			 struct err *e)
{
	char name[NAME_MOST];

	for (size_t i = 0; i < p->image.n; i++)
		if (only_look(&a->only, p->image.at[i].file, e))
			return LAUNCH_FAILED;
	if (a->libs && libs_unseen(a->libs, counted, p, name))
		return not_found("library that was loaded", name, "--libs", e);
	if (only_unseen(&a->only))
		return not_found("procedure that was loaded and can be counted",
				 only_unseen(&a->only), a->option, e);
	return 0;
}

int asked_after(struct asked *a, const struct launch *l, struct err *e)
{
	struct profile p;
	int status;

	if (!a->later || !*l->profile)
		return 0;
	if (profile_open_packed(&p, l->profile, e))
		return LAUNCH_FAILED;
	status = check_counted(a, &p, e);
	profile_close(&p);
	return status;
}
