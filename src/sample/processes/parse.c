/* parse: see parse.h. */
#include "sample/processes/parse.h"

#include <stdlib.h>

#include "elf/note.h"
#include "sample/jit/jit.h"
#include "sample/jit/jitdump.h"

static void put_number(buffer *b, uint64_t n)
{
	buffer_uint(b, 8, n);
}

/* names, of which there may be too many */
struct names {
	buffer b;
	uint64_t n;
};

static void put_name(struct names *x, bool placed, uint64_t start,
		     uint64_t end, const char *name)
{
	if (x->b.n + strlen(name) > PARSE_NAMES)
		return;
	buffer_uint(&x->b, 1, placed);
	put_number(&x->b, start);
	put_number(&x->b, end);
	parse_put_text(&x->b, name, PARSE_NAME);
	x->n++;
}

static void put_names(buffer *b, struct names *x)
{
	put_number(b, x->n);
	buffer_bytes(b, x->b.at, x->b.n);
	vec_free(&x->b);
}

typedef VEC(uint64_t) numbers;

static numbers take_numbers(struct bytes *b)
{
	uint64_t n = bytes_uint(b, 8);
	numbers v = {0};

	for (; n && bytes_left(b) >= 8; n--)
		vec_push(&v, bytes_uint(b, 8));
	return v;
}

static void answer_build_id(int fd, buffer *b)
{
	uint8_t id[BUILD_ID_MOST];
	unsigned n = build_id_read(fd, id);

	put_number(b, n);
	buffer_bytes(b, id, n);
}

static void answer_map(int fd, struct bytes *question, buffer *b)
{
	numbers address = take_numbers(question);
	struct names x = {0};
	struct jit j;

	jit_read(&j, fd, address.at, address.n);
	for (size_t i = 0; i < j.v.n; i++)
		put_name(&x, false, j.v.at[i].start, j.v.at[i].end,
			 j.v.at[i].name);
	put_names(b, &x);
	jit_free(&j);
	vec_free(&address);
}

/* --- dumps */

/* those that have a name by now, or will have none */
static void answer_late(const struct jitdump *d, struct bytes *question,
			buffer *b)
{
	numbers v = take_numbers(question);
	size_t n = 0;

	for (size_t i = 0; i < v.n; i++) {
		struct jitdump_code *c = jitdump_find(d, v.at[i], UINT64_MAX,
						      UINT64_MAX);

		if (c && c->alone)
			c->by_address = true;
		else if (!c)
			v.at[n++] = v.at[i];
	}
	put_number(b, n);
	buffer_bytes(b, v.at, n * sizeof *v.at);
	vec_free(&v);
}

/* places where nothing has a name: an offset of no file */
enum { NOWHERE_BIT = 62 };

/*
 * Where a sample is: code that was always alone at its addresses is by these.
 * Of a moment in which one is loaded over another it is not known which it is:
 * its address may be that of one that has a name.
 */
static void answer_sample(const struct jitdump *d, struct bytes *question,
			  buffer *b)
{
	struct parse_sample x = {bytes_uint(question, 8),
				 bytes_uint(question, 8),
				 bytes_uint(question, 8)};
	struct jitdump_code *c = jitdump_find(d, x.address, x.from, x.to);
	const struct jitdump_code *last = jitdump_find(d, x.address, UINT64_MAX,
						       UINT64_MAX);
	bool placed = c && !c->alone, unsure = !c && last && !last->alone;

	if (placed)
		c->by_place = true;
	else if (c)
		c->by_address = true;
	/* 2: it has no name, and may get one */
	buffer_uint(b, 1, c || unsure ? placed || unsure : 2);
	put_number(b, unsure ? x.address | UINT64_C(1) << NOWHERE_BIT :
		      placed ? x.address - c->start + c->place : x.address);
}

static void name_codes(const struct jitdump *d, struct names *x)
{
	char name[JITDUMP_NAME];

	for (size_t i = 0; i < d->code.n; i++) {
		const struct jitdump_code *c = &d->code.at[i];
		uint64_t size = c->end - c->start;

		if (!(c->by_place || c->by_address) ||
		    !jitdump_name(d, c, name))
			continue;
		if (c->by_place)
			put_name(x, true, c->place, c->place + size, name);
		if (c->by_address)
			put_name(x, false, c->start, c->end, name);
	}
}

static void answer_dump(int fd, struct bytes *question, buffer *b)
{
	struct jitdump d = {.fd = fd,
			    .path = parse_take_text(question, PARSE_PATH)};
	bool over = bytes_u8(question);
	struct names x = {0};
	uint64_t n;

	jitdump_read(&d, over);
	parse_put_text(b, d.trouble.code ? d.trouble.text : "", PARSE_NAME);
	answer_late(&d, question, b);
	n = bytes_uint(question, 8);
	for (; n && bytes_left(question) >= 24; n--)
		answer_sample(&d, question, b);
	name_codes(&d, &x);
	put_names(b, &x);
	d.fd = -1; /* which is not ours */
	jitdump_close(&d);
}

void parse_answer(int fd, struct bytes question, buffer *answer)
{
	switch (bytes_u8(&question)) {
	case PARSE_BUILD_ID:
		answer_build_id(fd, answer);
		break;
	case PARSE_MAP:
		answer_map(fd, &question, answer);
		break;
	case PARSE_DUMP:
		answer_dump(fd, &question, answer);
		break;
	}
}
