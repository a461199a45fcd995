/*
 * samples_epochs: which epochs of databases are wanted. See samples.h.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "profile/samples.h"

/* the epochs of one file */
struct listing {
	struct samples_epochs *l;
	const struct samples_query *pick;
	struct samples_epoch of; /* what all have */
	size_t before;           /* that were listed before it */
	int64_t last;            /* number of the last one that there is */
};

static bool is_wanted(const struct samples_query *k, int64_t number,
		      const struct stored_epoch *x)
{
	if (k->last && (number < k->first || number > k->last))
		return false;
	return x->end >= k->since && (!k->until || x->start <= k->until);
}

static int add_epoch(void *arg, int64_t number, const struct stored_epoch *x,
		     struct err *e)
{
	struct listing *a = arg;
	struct samples_epoch new = a->of;

	(void)e;
	a->last = number;
	if (!is_wanted(a->pick, number, x))
		return 0;
	new.number = number;
	new.start = x->start;
	new.end = x->end;
	new.command = intern_string(&a->l->text, x->command);
	if (a->pick->newest)
		a->l->v.n = a->before;
	vec_push(&a->l->v, new);
	return 0;
}

static int add_file(struct listing *a, const char *file, struct err *e)
{
	char host[STORE_HOST];
	struct store s;
	int result;

	store_host(file, host);
	if (a->pick->host && fnmatch(a->pick->host, host, 0))
		return 0;
	if (store_open(&s, file, e))
		return -1;
	a->of.file = intern_string(&a->l->text, file);
	a->of.host = intern_string(&a->l->text, host);
	a->before = a->l->v.n;
	result =
		store_read_begin(&s, e) || store_each_epoch(&s, add_epoch, a, e)
			? -1
			: 0;
	result = store_read_end(&s, result, e);
	store_close(&s);
	return result;
}

/* nothing of a database is wanted: why */
static int none(const struct listing *a, struct err *e)
{
	const char *path = a->of.database;

	if (!a->of.file)
		return err_set(e, ERR_INPUT, "%s: no host is called '%s'", path,
			       a->pick->host);
	if (!a->last)
		return err_set(e, ERR_INPUT, "%s: nothing has been recorded",
			       path);
	return err_set(e, ERR_INPUT,
		       "%s: there is no such epoch; the last is "
		       "%" PRId64,
		       path, a->last);
}

static int add_directory(struct samples_epochs *l, const char *path,
			 const struct samples_query *pick, struct err *e)
{
	struct listing a = {.l = l, .pick = pick, .of.database = path};
	size_t before = l->v.n;
	char **file;
	int n = store_files(&file, path, e), result = 0;

	if (n < 0)
		return -1;
	if (!n)
		result = err_set(e, ERR_INPUT,
				 "%s: no database of samples is "
				 "in this directory",
				 path);
	for (int i = 0; i < n; i++) {
		if (!result)
			result = add_file(&a, file[i], e);
		mem_free(file[i]);
	}
	mem_free(file);
	return !result && l->v.n == before ? none(&a, e) : result;
}

int samples_epochs_read(struct samples_epochs *l, const char *const *path,
			size_t n, const struct samples_query *pick,
			struct err *e)
{
	*l = (struct samples_epochs){0};
	for (size_t i = 0; i < n; i++)
		if (add_directory(l, path[i], pick, e)) {
			samples_epochs_free(l);
			return -1;
		}
	return 0;
}

void samples_epochs_free(struct samples_epochs *l)
{
	vec_free(&l->v);
	intern_free(&l->text);
}
