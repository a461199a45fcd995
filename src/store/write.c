/* write: what goes into a database. See store.h. */
#include <inttypes.h>
#include <time.h>

#include "base/debug.h"
#include "store/guard.h"

/* a transaction of its own, unless there is one */
static int begin_alone(struct store *s, bool *alone, struct err *e)
{
	*alone = sqlite3_get_autocommit(s->db);
	return *alone ? store_begin(s, e) : 0;
}

/* status: of what was done in it */
static int end_alone(struct store *s, bool alone, int status, struct err *e)
{
	struct err also;

	if (!alone || (!status && !store_commit(s, e)))
		return status;
	store_rollback(s, &also);
	return -1;
}

/* the number in the only row, or -1 */
static int64_t number_of(struct sql *q, struct err *e)
{
	int64_t id = sql_row(q) ? sqlite3_column_int64(q->st, 0) : -1;

	return sql_end(q, e) ? -1 : id;
}

int64_t store_epoch(struct store *s, const struct stored_epoch *x,
		    struct err *e)
{
	int64_t id;
	bool alone;
	struct sql q;

	if (begin_alone(s, &alone, e))
		return -1;
	q = sql_begin(s, "INSERT INTO epoch(start, end, reason, command) "
		      "VALUES(?, ?, ?, ?) RETURNING id");
	sql_number(&q, (int64_t)x->start);
	sql_number(&q, (int64_t)x->end);
	sql_text(&q, x->reason);
	sql_text(&q, x->command);
	id = number_of(&q, e);
	if (id >= 0)
		debug(DEBUG_STORE, "%s: epoch %" PRId64 " begins: %s", s->path,
		      id, x->reason);
	return end_alone(s, alone, id < 0 ? -1 : 0, e) ? -1 : id;
}

int store_epoch_end(struct store *s, int64_t epoch, uint64_t end,
		    struct err *e)
{
	bool alone;
	struct sql q;

	if (begin_alone(s, &alone, e))
		return -1;
	q = sql_begin(s, "UPDATE epoch SET end = ? WHERE id = ?");
	sql_number(&q, (int64_t)end);
	sql_number(&q, epoch);
	sql_row(&q);
	return end_alone(s, alone, sql_end(&q, e), e);
}

/* the image that is of that file; 0: there is none yet */
static int64_t image_of_file(struct store *s, const struct stored_image *x,
			     struct err *e)
{
	struct sql q = sql_begin(s, "SELECT id FROM image JOIN file ON image ="
				 " id WHERE path = ? AND kind = ? AND inode ="
				 " ? AND size = ? AND changed = ?");
	int64_t id;

	sql_text(&q, x->path);
	sql_number(&q, x->kind);
	sql_number(&q, (int64_t)x->file.inode);
	sql_number(&q, (int64_t)x->file.size);
	sql_number(&q, (int64_t)x->file.changed);
	id = sql_row(&q) ? sqlite3_column_int64(q.st, 0) : 0;
	return sql_end(&q, e) ? -1 : id;
}

/* no build-id is like any other, so one path may have many such */
static int64_t new_image(struct store *s, const struct stored_image *x,
			 struct err *e)
{
	struct sql q = sql_begin(s, "INSERT INTO image(kind, path, build_id) "
				 "VALUES(?, ?, NULL) RETURNING id");
	int64_t id;

	sql_number(&q, x->kind);
	sql_text(&q, x->path);
	id = number_of(&q, e);
	if (id < 0)
		return -1;
	q = sql_begin(s, "INSERT INTO file VALUES(?, ?, ?, ?, ?)");
	sql_number(&q, id);
	sql_number(&q, (int64_t)x->file.device);
	sql_number(&q, (int64_t)x->file.inode);
	sql_number(&q, (int64_t)x->file.size);
	sql_number(&q, (int64_t)x->file.changed);
	sql_row(&q);
	return sql_end(&q, e) ? -1 : id;
}

static int64_t store_image_of_file(struct store *s,
				   const struct stored_image *x, struct err *e)
{
	int64_t id = image_of_file(s, x, e);

	return id ? id : new_image(s, x, e);
}

int64_t store_image(struct store *s, const struct stored_image *x,
		    struct err *e)
{
	struct sql q;

	if (x->has_file)
		return store_image_of_file(s, x, e);
	q = sql_begin(s, "INSERT INTO image(kind, path, build_id) "
		      "VALUES(?, ?, ?) ON CONFLICT DO UPDATE "
		      "SET path = path RETURNING id");

	sql_number(&q, x->kind);
	sql_text(&q, x->path);
	sql_blob(&q, x->build_id, x->build_id_len);
	return number_of(&q, e);
}

int64_t store_event(struct store *s, int64_t epoch,
		    const struct stored_event *x, struct err *e)
{
	struct sql q = sql_begin(s, "INSERT INTO event(name) VALUES(?) "
				 "ON CONFLICT DO UPDATE SET name = name "
				 "RETURNING id");
	int64_t id;

	sql_text(&q, x->name);
	id = number_of(&q, e);
	if (id < 0)
		return -1;
	q = sql_begin(s, "INSERT OR REPLACE INTO epoch_event "
		      "VALUES(?, ?, ?, ?)");
	sql_number(&q, epoch);
	sql_number(&q, id);
	sql_number(&q, (int64_t)x->period);
	sql_number(&q, (int64_t)x->lost);
	sql_row(&q);
	return sql_end(&q, e) ? -1 : id;
}

/* where a run is kept; process: NULL, of all */
struct run_key {
	int64_t epoch, image, event;
	const char *process;
};

static struct sql begin_run(struct store *s, const struct run_key *k,
			    const char *all, const char *apart)
{
	struct sql q = sql_begin(s, k->process ? apart : all);

	sql_number(&q, k->epoch);
	if (k->process)
		sql_text(&q, k->process);
	sql_number(&q, k->image);
	sql_number(&q, k->event);
	return q;
}

/* what there is already */
static int add_stored(struct store *s, const struct run_key *k, run *r,
		      struct err *e)
{
	struct sql q = begin_run(s, k, "SELECT data FROM samples WHERE "
				 "epoch = ? AND image = ? AND event = ?",
				 "SELECT data FROM apart WHERE epoch = ? AND "
				 "name = ? AND image = ? AND event = ?");
	int failed = 0;

	if (sql_row(&q))
		failed = run_unpack(r, sqlite3_column_blob(q.st, 0),
				    (size_t)sqlite3_column_bytes(q.st, 0),
				    s->path, e);
	return sql_stop(&q, failed, e);
}

static int add_run(struct store *s, const struct run_key *k, const run *r,
		   struct err *e)
{
	run all = {0};
	buffer data = {0};
	int result = -1;
	struct sql q;

	vec_append(&all, r);
	if (add_stored(s, k, &all, e))
		goto out;
	run_settle(&all);
	if (s->largest < all.n)
		s->largest = all.n;
	run_pack(&data, &all);
	q = begin_run(s, k, "INSERT OR REPLACE INTO samples "
		      "VALUES(?, ?, ?, ?, ?)", "INSERT OR REPLACE INTO apart "
		      "VALUES(?, ?, ?, ?, ?, ?)");
	sql_number(&q, (int64_t)run_total(&all));
	sql_blob(&q, data.at, data.n);
	sql_row(&q);
	result = sql_end(&q, e);
out:
	vec_free(&all);
	vec_free(&data);
	return result;
}

int store_samples(struct store *s, int64_t epoch, int64_t image,
		  int64_t event, const run *r, struct err *e)
{
	struct run_key k = {epoch, image, event, NULL};

	return add_run(s, &k, r, e);
}

int store_apart(struct store *s, int64_t epoch, const char *process,
		int64_t image, int64_t event, const run *r, struct err *e)
{
	struct run_key k = {epoch, image, event, process};

	return add_run(s, &k, r, e);
}

int store_process(struct store *s, int64_t epoch, int64_t event,
		  const struct stored_process *x, struct err *e)
{
	struct sql q = sql_begin(s, "INSERT INTO process VALUES(?, ?, ?, ?, ?) "
				 "ON CONFLICT DO UPDATE "
				 "SET count = count + excluded.count");

	sql_number(&q, epoch);
	sql_number(&q, event);
	sql_number(&q, x->pid);
	sql_text(&q, x->name);
	sql_number(&q, (int64_t)x->samples);
	sql_row(&q);
	return sql_end(&q, e);
}

int store_procedure(struct store *s, int64_t image,
		    const struct stored_procedure *x, struct err *e)
{
	struct sql q = sql_begin(s, "INSERT OR REPLACE INTO procedure "
				 "VALUES(?, ?, ?, ?)");

	sql_number(&q, image);
	sql_number(&q, (int64_t)x->start);
	sql_number(&q, (int64_t)x->end);
	sql_text(&q, x->name);
	sql_row(&q);
	return sql_end(&q, e);
}

int store_cost(struct store *s, int64_t epoch, const struct stored_cost *x,
	       struct err *e)
{
	bool alone;
	struct sql q;

	if (begin_alone(s, &alone, e))
		return -1;
	q = sql_begin(s, "INSERT OR REPLACE INTO cost VALUES(?, ?, ?)");
	sql_number(&q, epoch);
	sql_number(&q, (int64_t)x->cpu);
	sql_number(&q, (int64_t)x->memory);
	sql_row(&q);
	return end_alone(s, alone, sql_end(&q, e), e);
}
