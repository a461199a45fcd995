/*
 * condense: old epochs become one, by a rule. See store.h.
 *
 * Which epoch becomes part of which whole is in a temporary table, `becomes`.
 * What the wholes have is worked out beside what there is, and then takes its
 * place. SQLite adds up all that is no run.
 */
#include <inttypes.h>
#include <string.h>

#include "base/debug.h"
#include "store/sql.h"

enum {
	DAY = 24 * 60 * 60,
	WEEK = 7 * DAY,
	MONDAY = 3 * DAY, /* 1970 began on a Thursday */
};

const struct store_rule store_rule_usual = {WEEK, 8 * WEEK, true};

/*
 * Epochs of stretches of ?1 seconds that begin ?2 before 1970, or a multiple
 * later, if they and the stretch ended before ?3, and those since have lasted
 * for ?4 seconds.
 */
static const char choose[] =
	"INSERT INTO becomes SELECT id, min(id) OVER"
	" (PARTITION BY (start + ?2) / ?1, reason, command) FROM epoch"
	" WHERE max(end, ((start + ?2) / ?1 + 1) * ?1 - ?2) <= ?3"
	" AND id < (SELECT max(id) FROM epoch)"
	" AND (SELECT total(max(l.end - l.start, 0)) FROM epoch l"
	" WHERE l.id > epoch.id) >= ?4"
	" AND id NOT IN (SELECT id FROM becomes)";

static const char begin[] =
	"CREATE TEMP TABLE becomes(id INTEGER PRIMARY KEY, whole INT);"
	"CREATE TEMP TABLE run_sums(epoch INT, name TEXT, image INT,"
	" event INT, count INT, data BLOB)";

/* what is alone stays as it is */
static const char leave_single[] =
	"DELETE FROM becomes WHERE whole IN (SELECT whole FROM becomes"
	" GROUP BY whole HAVING count(*) = 1)";

/*
 * What has so many places that to add them up would take much memory stays as
 * it is: a program may execute code wherever there can be some.
 */
static const char leave_large[] =
	"DELETE FROM becomes WHERE whole IN (SELECT whole FROM"
	" (SELECT whole, image, event, data FROM samples JOIN becomes"
	" ON id = epoch UNION ALL SELECT whole, image, event, data FROM apart"
	" JOIN becomes ON id = epoch) GROUP BY whole, image, event"
	" HAVING sum(most_places(data)) > 4194304)";

static const char add_up[] =
	"CREATE TEMP TABLE event_sums AS SELECT whole, event,"
	" CASE WHEN min(period) = max(period) THEN min(period) ELSE 0 END,"
	" sum(lost) FROM epoch_event JOIN becomes ON id = epoch"
	" GROUP BY whole, event;"
	"CREATE TEMP TABLE process_sums AS SELECT whole, event, 0, name,"
	" sum(count) FROM process JOIN becomes ON id = epoch"
	" GROUP BY whole, event, name;"
	"CREATE TEMP TABLE cost_sums AS SELECT whole, sum(cpu), max(memory)"
	" FROM cost JOIN becomes ON id = epoch GROUP BY whole;"
	"CREATE TEMP TABLE epoch_sums AS SELECT whole, min(start) AS start,"
	" max(end) AS end FROM epoch JOIN becomes USING(id) GROUP BY whole";

static const char replace[] =
	"DELETE FROM samples WHERE epoch IN (SELECT id FROM becomes);"
	"DELETE FROM apart WHERE epoch IN (SELECT id FROM becomes);"
	"DELETE FROM epoch_event WHERE epoch IN (SELECT id FROM becomes);"
	"DELETE FROM process WHERE epoch IN (SELECT id FROM becomes);"
	"DELETE FROM cost WHERE epoch IN (SELECT id FROM becomes);"
	"DELETE FROM epoch WHERE id IN (SELECT id FROM becomes"
	" WHERE id <> whole);"
	"INSERT INTO samples SELECT epoch, image, event, count, data"
	" FROM run_sums WHERE name IS NULL;"
	"INSERT INTO apart SELECT * FROM run_sums WHERE name IS NOT NULL;"
	"INSERT INTO epoch_event SELECT * FROM event_sums;"
	"INSERT INTO process SELECT * FROM process_sums;"
	"INSERT INTO cost SELECT * FROM cost_sums;"
	"UPDATE epoch SET start = w.start, end = w.end FROM epoch_sums w"
	" WHERE id = whole";

static const char tidy[] =
	"DROP TABLE becomes; DROP TABLE run_sums; DROP TABLE event_sums;"
	"DROP TABLE process_sums; DROP TABLE cost_sums; DROP TABLE epoch_sums";

/* all runs of wholes; parts of one lie side by side */
static const char parts[] =
	"SELECT whole, NULL AS name, image, event, data FROM samples"
	" JOIN becomes ON id = epoch UNION ALL"
	" SELECT whole, name, image, event, data FROM apart"
	" JOIN becomes ON id = epoch ORDER BY 1, 2, 3, 4";

/* most_places(), for leave_large */
static void most_places(sqlite3_context *c, int n, sqlite3_value **v)
{
	const void *bytes = sqlite3_value_blob(v[0]);
	size_t size = (size_t)sqlite3_value_bytes(v[0]);

	(void)n;
	sqlite3_result_int64(c, (int64_t)(run_most(bytes, size) & INT32_MAX));
}

static int choose_epochs(struct store *s, int64_t length, int64_t shift,
			 uint64_t ago, bool sampled, uint64_t now,
			 struct err *e)
{
	struct sql q = sql_begin(s, choose);

	sql_number(&q, length);
	sql_number(&q, shift);
	sql_number(&q, now > ago ? (int64_t)(now - ago) : 0);
	sql_number(&q, sampled ? (int64_t)ago : 0);
	sql_row(&q);
	return sql_end(&q, e);
}

/* a whole while its parts are read; `name` is SQLite's own copy */
struct sum {
	int64_t epoch, image, event;
	sqlite3_value *name;
	run samples;
	bool any;
};

static bool is_part(const struct sum *x, const struct sql *q)
{
	const char *name = (const char *)sqlite3_value_text(x->name);
	const char *other = (const char *)sqlite3_column_text(q->st, 1);

	return x->any && x->epoch == sqlite3_column_int64(q->st, 0) &&
	       !name == !other && (!name || !strcmp(name, other)) &&
	       x->image == sqlite3_column_int64(q->st, 2) &&
	       x->event == sqlite3_column_int64(q->st, 3);
}

/* all parts have been read: to be kept until the old ones are gone */
static int put_sum(struct store *s, struct sum *x, struct err *e)
{
	buffer data = {0};
	struct sql q;
	int result;

	if (!x->any)
		return 0;
	run_settle(&x->samples);
	run_pack(&data, &x->samples);
	q = sql_begin(s, "INSERT INTO run_sums VALUES(?, ?, ?, ?, ?, ?)");
	sql_number(&q, x->epoch);
	sql_value(&q, x->name);
	sql_number(&q, x->image);
	sql_number(&q, x->event);
	sql_number(&q, (int64_t)run_total(&x->samples));
	sql_blob(&q, data.at, data.n);
	sql_row(&q);
	result = sql_end(&q, e);
	vec_free(&data);
	return result;
}

static void begin_sum(struct sum *x, const struct sql *q)
{
	sqlite3_value_free(x->name);
	x->epoch = sqlite3_column_int64(q->st, 0);
	x->name = sqlite3_value_dup(sqlite3_column_value(q->st, 1));
	x->image = sqlite3_column_int64(q->st, 2);
	x->event = sqlite3_column_int64(q->st, 3);
	x->samples.n = 0;
	x->any = true;
}

/* a sum has to fit as each of its parts does (run.h) */
static int add_part(struct store *s, struct sum *x, const struct sql *q,
		    struct err *e)
{
	uint64_t had = run_total(&x->samples);

	if (run_unpack(&x->samples, sqlite3_column_blob(q->st, 4),
		       (size_t)sqlite3_column_bytes(q->st, 4), s->path, e))
		return -1;
	if (run_total(&x->samples) <= INT64_MAX &&
	    run_total(&x->samples) >= had)
		return 0;
	return err_set(e, ERR_INPUT, "%s: epochs have too many samples to be "
		       "put together", s->path);
}

static int add_runs(struct store *s, struct err *e)
{
	struct sql q = sql_begin(s, parts);
	struct sum x = {0};
	int result = 0;

	while (!result && sql_row(&q)) {
		if (!is_part(&x, &q)) {
			result = put_sum(s, &x, e);
			begin_sum(&x, &q);
		}
		if (!result)
			result = add_part(s, &x, &q, e);
	}
	if (!result)
		result = put_sum(s, &x, e);
	sqlite3_value_free(x.name);
	vec_free(&x.samples);
	return sql_stop(&q, result, e);
}

/* how many epochs are no longer there; -1 */
static int64_t condense(struct store *s, const struct store_rule *r,
			uint64_t now, struct err *e)
{
	int64_t less;

	sqlite3_create_function(s->db, "most_places", 1, SQLITE_UTF8, NULL,
				most_places, NULL, NULL);
	if (sql_run(s, begin, e) ||
	    choose_epochs(s, WEEK, MONDAY, r->daily, r->sampled, now, e) ||
	    choose_epochs(s, DAY, 0, r->fine, r->sampled, now, e) ||
	    sql_run(s, leave_large, e) || sql_run(s, leave_single, e) ||
	    sql_only(s, "SELECT count(*) - count(DISTINCT whole) FROM becomes",
		     &less, e) ||
	    add_runs(s, e) || sql_run(s, add_up, e) ||
	    sql_run(s, replace, e) || sql_run(s, tidy, e))
		return -1;
	return less;
}

int64_t store_condense(struct store *s, const struct store_rule *r,
		       uint64_t now, struct err *e)
{
	int64_t less;
	struct err also;

	if (store_begin(s, e))
		return -1;
	less = condense(s, r, now, e);
	if (less >= 0 && !store_commit(s, e)) {
		debug(DEBUG_STORE, "%s: condensed: %" PRId64 " epochs less",
		      s->path, less);
		return less;
	}
	store_rollback(s, &also);
	return -1;
}

/*
 * shrink: the oldest epochs go when a database has become too large. What runs
 * on a machine is its users' choice, and each of their programs takes room
 * here: without a bound any user could fill the disk.
 */

/* everything of the oldest epoch, ?1 */
static const char *const drop_epoch[] = {
	"DELETE FROM samples WHERE epoch = ?1",
	"DELETE FROM apart WHERE epoch = ?1",
	"DELETE FROM process WHERE epoch = ?1",
	"DELETE FROM epoch_event WHERE epoch = ?1",
	"DELETE FROM cost WHERE epoch = ?1",
	"DELETE FROM epoch WHERE id = ?1",
};

/* images that no epoch has any more, and what is known of them */
static const char drop_images[] =
	"CREATE TEMP TABLE used(image INTEGER PRIMARY KEY);"
	"INSERT OR IGNORE INTO used SELECT image FROM samples;"
	"INSERT OR IGNORE INTO used SELECT image FROM apart;"
	"DELETE FROM procedure WHERE image NOT IN (SELECT image FROM used);"
	"DELETE FROM file WHERE image NOT IN (SELECT image FROM used);"
	"DELETE FROM image WHERE id NOT IN (SELECT image FROM used);"
	"DROP TABLE used";

int store_size(struct store *s, uint64_t *bytes, struct err *e)
{
	int64_t pages, unused, size;

	if (sql_only(s, "PRAGMA page_count", &pages, e) ||
	    sql_only(s, "PRAGMA freelist_count", &unused, e) ||
	    sql_only(s, "PRAGMA page_size", &size, e))
		return -1;
	*bytes = (uint64_t)(pages - unused) * (uint64_t)size;
	return 0;
}

static int drop_oldest(struct store *s, struct err *e)
{
	int64_t oldest;

	if (sql_only(s, "SELECT min(id) FROM epoch", &oldest, e))
		return -1;
	for (size_t i = 0; i < sizeof drop_epoch / sizeof *drop_epoch; i++) {
		struct sql q = sql_begin(s, drop_epoch[i]);

		sql_number(&q, oldest);
		sql_row(&q);
		if (sql_end(&q, e))
			return -1;
	}
	return sql_run(s, drop_images, e);
}

/* how many epochs were dropped; -1 */
static int64_t shrink(struct store *s, uint64_t most, struct err *e)
{
	int64_t epochs, dropped = 0;
	uint64_t size;

	if (sql_only(s, "SELECT count(*) FROM epoch", &epochs, e))
		return -1;
	for (; epochs > 1; epochs--, dropped++) {
		if (store_size(s, &size, e))
			return -1;
		if (size <= most)
			break;
		if (drop_oldest(s, e))
			return -1;
	}
	return dropped;
}

int64_t store_shrink(struct store *s, uint64_t most, struct err *e)
{
	int64_t dropped;
	struct err also;

	if (store_begin(s, e))
		return -1;
	dropped = shrink(s, most, e);
	if (dropped >= 0 && !store_commit(s, e)) {
		debug(DEBUG_STORE, "%s: %" PRId64 " epochs dropped for room",
		      s->path, dropped);
		return dropped;
	}
	store_rollback(s, &also);
	return -1;
}
