/*
 * uncounted: objects that run as they are, or at least uncounted. The profile
 * gets a chunk of each, so that its reader knows what is missing, and why.
 *
 * A program may load and unload an object as often as it likes: it is
 * reported once. Children have the objects of their parent, and do not report
 * them again.
 */
#include "runtime/counting.h"

/* was it reported? From now on it is */
static _Bool is_reported(struct counting *c, const char *path)
{
	uint64_t hash = hash_bytes(path, str_len(path), 0);

	for (uint32_t i = 0; i < c->uncounted.n; i++)
		if (((uint64_t *)c->uncounted.at)[i] == hash)
			return 1;
	if (list_reach(c, &c->uncounted, c->uncounted.n, sizeof hash))
		((uint64_t *)c->uncounted.at)[c->uncounted.n++] = hash;
	return 0;
}

static void report(struct counting *c, enum left_why why, const char *path,
		   const char *reason)
{
	size_t path_len = str_len(path), reason_len = str_len(reason);
	struct chunk_left *k;
	struct region r;
	char *text;

	if (!live_profile_take(
		    c, round_up(sizeof *k + path_len + reason_len + 2, c->page),
		    &r))
		return;
	k = (void *)r.at;
	chunk_head(&k->chunk, r.offset, r.size, CHUNK_LEFT, c->number);
	k->why = why;
	k->path_len = (uint32_t)path_len;
	k->reason_len = (uint32_t)reason_len;
	text = (char *)(k + 1);
	__builtin_memcpy(text, path, path_len + 1);
	__builtin_memcpy(text + path_len + 1, reason, reason_len + 1);
	chunk_done(&k->chunk);
	sys_unmap(r.at, r.size);
}

void image_uncounted(struct counting *c, enum left_why why, const char *path,
		const char *reason)
{
	if (c->confined)
		return;
	counting_lock(c);
	if (c->number && !is_reported(c, path))
		report(c, why, path, reason);
	counting_unlock(c);
}
