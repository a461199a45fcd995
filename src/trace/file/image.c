/* image: see image.h. */
#include "trace/file/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

int trace_image_parse(struct trace_image *x, const uint8_t *bytes, size_t n,
		      const char *where, struct err *e)
{
	struct bytes b = bytes_window(bytes, n, 0);
	uint64_t version = bytes_uint(&b, 4), size = bytes_uint(&b, 4);

	if (b.bad)
		return err_set(e, ERR_INPUT, "%s: what the trace says of an "
			       "image ends too early", where);
	if (version < TRACE_IMAGE_OLDEST || version > TRACE_IMAGE_VERSION)
		return err_set(e, ERR_INPUT, "%s: what the trace says of an "
			       "image is version %u; this tally reads %d to %d",
			       where, (unsigned)version, TRACE_IMAGE_OLDEST,
			       TRACE_IMAGE_VERSION);
	x->nmap = size;
	x->map = bytes_take(&b, size);
	x->nback = version < TRACE_IMAGE_UNWINDS ? bytes_left(&b) :
						   bytes_uint(&b, 4);
	x->back = bytes_take(&b, x->nback);
	x->nunwind = bytes_left(&b);
	x->unwind = bytes_take(&b, x->nunwind);
	if (!x->map || !x->back || b.bad)
		return err_set(e, ERR_INPUT, "%s: what the trace says of an "
			       "image ends too early", where);
	return 0;
}

#define BASE_KEY "base "

void trace_base_note(const struct trace_base *b, char key[TRACE_BASE_TEXT],
		     char value[TRACE_BASE_TEXT])
{
	int n = snprintf(key, TRACE_BASE_TEXT, BASE_KEY "%" PRIu32 " ",
			 b->process);

	for (unsigned i = 0; i < PROFILE_ID; i++)
		n += snprintf(key + n, TRACE_BASE_TEXT - (size_t)n, "%02x",
			      b->id[i]);
	snprintf(key + n, TRACE_BASE_TEXT - (size_t)n, " %" PRIx64, b->time);
	snprintf(value, TRACE_BASE_TEXT, "%" PRIx64, b->base);
}

bool trace_base_parse(struct trace_base *b, const char *key,
		      const char *value)
{
	char id[2 * PROFILE_ID + 1];
	unsigned byte;

	if (sscanf(key, BASE_KEY "%" SCNu32 " %32[0-9a-f] %" SCNx64,
		   &b->process, id, &b->time) != 3 ||
	    strlen(id) != 2 * PROFILE_ID ||
	    sscanf(value, "%" SCNx64, &b->base) != 1)
		return false;
	for (unsigned i = 0; i < PROFILE_ID; i++) {
		sscanf(id + (size_t)2 * i, "%2x", &byte);
		b->id[i] = (uint8_t)byte;
	}
	return true;
}

#define LEFT_KEY "left "

/* "NUMBER TEXT" and a zero */
static void put_numbered(buffer *to, uint32_t n, const char *text)
{
	char number[16];

	buffer_bytes(to, number,
		     (size_t)snprintf(number, sizeof number, "%" PRIu32 " ",
				      n));
	buffer_bytes(to, text, strlen(text) + 1);
}

static bool parse_numbered(const char *from, uint32_t *n, const char **text)
{
	char *end;
	unsigned long x = strtoul(from, &end, 10);

	*n = (uint32_t)x;
	*text = end + 1;
	return end != from && *end == ' ' && x <= UINT32_MAX;
}

void trace_left_note(const struct trace_left *x, buffer *key, buffer *value)
{
	buffer_bytes(key, LEFT_KEY, strlen(LEFT_KEY));
	put_numbered(key, x->process, x->path);
	put_numbered(value, x->why, x->reason);
}

bool trace_left_parse(struct trace_left *x, const char *key,
		      const char *value)
{
	return !strncmp(key, LEFT_KEY, strlen(LEFT_KEY)) &&
	       parse_numbered(key + strlen(LEFT_KEY), &x->process, &x->path) &&
	       parse_numbered(value, &x->why, &x->reason);
}

void trace_forked_note(uint32_t process, char key[TRACE_BASE_TEXT])
{
	snprintf(key, TRACE_BASE_TEXT, "forked %" PRIu32, process);
}
