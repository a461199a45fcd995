/* client_code: see client_code.h. */
#include "events/client_code.h"

#include "abi/client.h"
#include "elf/note.h"

/* what a word of the note is the distance to */
static uint64_t next_target(struct bytes *b)
{
	uint64_t at = bytes_addr(b);

	return at + (uint64_t)(int64_t)(int32_t)bytes_uint(b, 4);
}

/* can the runtime write there? */
static bool is_client(const struct image *im, uint64_t at)
{
	const struct segment *s = image_segment(im, at);

	return s && s->write && !(at % sizeof(uint64_t)) &&
	       s->end - at >= sizeof(struct client);
}

/* a program may say that all of it has no events: that is said of little */
static bool is_code(const struct image *im, const struct range *r)
{
	enum { MOST = 4096 };
	const struct segment *s = image_segment(im, r->start);

	return s && s->exec && r->end >= r->start && r->end <= s->end &&
	       r->end - r->start <= MOST;
}

struct client_code client_code_find(const struct image *im)
{
	struct bytes b = image_note(im, CLIENT_NOTE, CLIENT_NOTE_TYPE);
	struct client_code x;

	x.client = next_target(&b);
	x.code.start = next_target(&b);
	x.code.end = next_target(&b);
	if (b.bad || !is_client(im, x.client) || !is_code(im, &x.code))
		return (struct client_code){0};
	return x;
}
