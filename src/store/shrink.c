/*
 * shrink: the oldest epochs go when a database has become too large. What runs
 * on a machine is its users' choice, and each of their programs takes room
 * here: without a bound any user could fill the disk.
 */
#include <inttypes.h>

#include "base/debug.h"
#include "store/sql.h"

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
