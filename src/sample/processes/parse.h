/*
 * parse: what files of other users say, for the daemon. All of this runs in a
 * process that may do nothing else (parser.h): a question comes with the
 * descriptor of a file, and the answer is bytes.
 *
 *	question	what	8 bits, enum parse
 *	PARSE_BUILD_ID	nothing
 *	PARSE_MAP	n, n addresses, in order
 *	PARSE_DUMP	its path, a text, for messages
 *			over	8 bits: the process that writes it is gone
 *			n, n addresses that had no name so far
 *			n, n times: address, from, to of samples
 *
 *	answer
 *	PARSE_BUILD_ID	n, n bytes
 *	PARSE_MAP	names
 *	PARSE_DUMP	text of what is wrong with it, or ""
 *			n, n addresses that still have none
 *			for each sample: placed, 8 bits (2: it may get a
 *			name later, by its address); offset
 *			names
 *	names		n, n times: placed, 8 bits; start, end, text
 *	text		n, n bytes
 *
 * Numbers have 64 bits. Names have no more than PARSE_NAME bytes, and all names
 * together no more than PARSE_NAMES.
 */
#ifndef SAMPLE_PROCESSES_PARSE_H
#define SAMPLE_PROCESSES_PARSE_H

#include "base/buffer.h"
#include "base/bytes.h"

enum { PARSE_PATH = 4096 }; /* of a path */
enum parse { PARSE_BUILD_ID, PARSE_MAP, PARSE_DUMP };

enum {
	PARSE_NAME = 512,
	PARSE_NAMES = 1 << 20, /* bytes of names in an answer */
};

/* a sample of code that a dump names */
struct parse_sample {
	uint64_t address, from, to;
};

/* a number of 64 bits, and that many bytes */
static inline void parse_put_text(buffer *b, const char *text, size_t most)
{
	size_t n = strnlen(text, most);

	buffer_uint(b, 8, n);
	buffer_bytes(b, text, n);
}
/* takes such a text, to be freed with mem_free(); "" if it is not there */
static inline char *parse_take_text(struct bytes *b, size_t most)
{
	uint64_t n = bytes_uint(b, 8);
	const uint8_t *p = n <= most ? bytes_take(b, n) : NULL;
	char *text = mem_alloc(n <= most ? n + 1 : 1);

	if (p)
		memcpy(text, p, n);
	text[p ? n : 0] = 0;
	return text;
}

/* appends the answer; fd is of a plain file */
void parse_answer(int fd, struct bytes question, buffer *answer);

#endif
