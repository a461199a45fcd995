/*
 * read: what is in a database. See store.h. It may come from anywhere, so
 * numbers that index something are checked here.
 */
#include <string.h>

#include "store/sql.h"

static const char *text_at(const struct sql *q, int column)
{
	const unsigned char *t = sqlite3_column_text(q->st, column);

	return t ? (const char *)t : "";
}

/* the kind, path and build-id in columns from `first` on */
static struct stored_image image_at(const struct sql *q, int first)
{
	const void *id = sqlite3_column_blob(q->st, first + 2);
	int n = sqlite3_column_bytes(q->st, first + 2);
	int64_t kind = sqlite3_column_int64(q->st, first);
	struct stored_image x = {
		.kind = kind < 0 || kind >= IMAGE_KINDS ?
				IMAGE_UNKNOWN : (enum image_kind)kind,
		.path = text_at(q, first + 1),
	};

	if (id && n <= STORE_BUILD_ID) {
		memcpy(x.build_id, id, (size_t)n);
		x.build_id_len = (uint32_t)n;
	}
	return x;
}

int store_each_run(struct store *s,
		   int (*fn)(void *arg, const struct stored_row *r,
			     struct err *e),
		   void *arg, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT epoch, image, event, kind, path, "
				 "build_id, data FROM samples JOIN image "
				 "ON image.id = image ORDER BY 1, 2, 3");
	struct stored_row r = {0};
	int result = 0;

	while (!result && sql_row(&q)) {
		r.epoch = sqlite3_column_int64(q.st, 0);
		r.image = sqlite3_column_int64(q.st, 1);
		r.event = sqlite3_column_int64(q.st, 2);
		r.of = image_at(&q, 3);
		r.samples.n = 0;
		result = run_unpack(&r.samples, sqlite3_column_blob(q.st, 6),
				    (size_t)sqlite3_column_bytes(q.st, 6),
				    s->path, e);
		if (!result)
			result = fn(arg, &r, e);
	}
	vec_free(&r.samples);
	if (result)
		sqlite3_finalize(q.st);
	return result ? result : sql_end(&q, e);
}

int store_each_event(struct store *s,
		     int (*fn)(void *arg, int64_t epoch, int64_t event,
			       const struct stored_event *x, struct err *e),
		     void *arg, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT epoch, event, name, period, lost "
				 "FROM epoch_event JOIN event "
				 "ON event.id = event ORDER BY 1, 2");
	int result = 0;

	while (!result && sql_row(&q)) {
		struct stored_event x = {
			.name = text_at(&q, 2),
			.period = (uint64_t)sqlite3_column_int64(q.st, 3),
			.lost = (uint64_t)sqlite3_column_int64(q.st, 4),
		};

		result = fn(arg, sqlite3_column_int64(q.st, 0),
			    sqlite3_column_int64(q.st, 1), &x, e);
	}
	if (result)
		sqlite3_finalize(q.st);
	return result ? result : sql_end(&q, e);
}

int store_each_process(struct store *s,
		       int (*fn)(void *arg, int64_t epoch, int64_t event,
				 const struct stored_process *x,
				 struct err *e),
		       void *arg, struct err *e)
{
	struct sql q = sql_begin(s, "SELECT epoch, event, pid, name, count "
				 "FROM process ORDER BY 1, 2, 3, 4");
	int result = 0;

	while (!result && sql_row(&q)) {
		struct stored_process x = {
			.pid = (uint32_t)sqlite3_column_int64(q.st, 2),
			.name = text_at(&q, 3),
			.samples = (uint64_t)sqlite3_column_int64(q.st, 4),
		};

		result = fn(arg, sqlite3_column_int64(q.st, 0),
			    sqlite3_column_int64(q.st, 1), &x, e);
	}
	if (result)
		sqlite3_finalize(q.st);
	return result ? result : sql_end(&q, e);
}
