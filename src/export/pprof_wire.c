/*
 * pprof_wire: see pprof_wire.h. The numbers of fields are those of
 * profile.proto.
 */
#include "export/pprof_wire.h"

#include <stdint.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/name.h"

enum proto_type {
	PROTO_NUMBER = 0, /* LEB128 */
	PROTO_BYTES = 2,  /* a length and so many bytes */
};

static inline void proto_key(buffer *b, unsigned field, enum proto_type type)
{
	buffer_uleb(b, field << 3 | type);
}

static inline void proto_number(buffer *b, unsigned field, uint64_t value)
{
	if (!value)
		return;
	proto_key(b, field, PROTO_NUMBER);
	buffer_uleb(b, value);
}

/* a string, or a message; that is there even if it is empty */
static inline void proto_bytes(buffer *b, unsigned field, const void *bytes,
			       size_t n)
{
	proto_key(b, field, PROTO_BYTES);
	buffer_uleb(b, n);
	buffer_bytes(b, bytes, n);
}

/* an array of numbers */
static inline void proto_numbers(buffer *b, unsigned field,
				 const uint64_t *value, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++)
		size += uleb_size(value[i]);
	proto_key(b, field, PROTO_BYTES);
	buffer_uleb(b, size);
	for (size_t i = 0; i < n; i++)
		buffer_uleb(b, value[i]);
}

/* --- gzip */

enum {
	WINDOW = 15 + 16, /* the largest, and a header of gzip's */
	MEMORY = 8,	  /* what zlib takes by default */
	ROOM = 32768,
};

static voidpf take(voidpf unused, uInt n, uInt size)
{
	(void)unused;
	return mem_alloc((size_t)n * size);
}

static void give(voidpf unused, voidpf p)
{
	(void)unused;
	mem_free(p);
}

/* equal bytes give equal files: there is no name and no time in them */
static void gzip_begin(struct gzip *g, FILE *to)
{
	*g = (struct gzip){.to = to};
	g->z.zalloc = take;
	g->z.zfree = give;
	/* it can fail for memory alone, which take() always has */
	deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
		     Z_DEFAULT_STRATEGY);
}

/* all that is given, and at the end what is kept back */
static void run(struct gzip *g, int flush)
{
	uint8_t room[ROOM];

	do {
		g->z.next_out = room;
		g->z.avail_out = sizeof room;
		deflate(&g->z, flush);
		fwrite(room, 1, sizeof room - g->z.avail_out, g->to);
	} while (!g->z.avail_out);
}

static void gzip_write(struct gzip *g, const void *bytes, size_t n)
{
	g->z.next_in = bytes;
	g->z.avail_in = (uInt)n;
	run(g, Z_NO_FLUSH);
}

static void gzip_end(struct gzip *g)
{
	run(g, Z_FINISH);
	deflateEnd(&g->z);
}

/* --- pieces */

enum field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_COMMENT = 13,
	PROFILE_FIRST = 14, /* which type to show by default */
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_FUNCTIONS = 7,
	MAPPING_FILES = 8,
	MAPPING_LINES = 9,
	MAPPING_INLINED = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYMBOL = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

static void send(struct pprof *p, enum field field, const buffer *b)
{
	p->wire.n = 0;
	proto_bytes(&p->wire, field, b->at, b->n);
	gzip_write(&p->out, p->wire.at, p->wire.n);
}

static void send_number(struct pprof *p, enum field field, uint64_t value)
{
	p->wire.n = 0;
	proto_number(&p->wire, field, value);
	gzip_write(&p->out, p->wire.at, p->wire.n);
}

/* bytes that are no characters are written as %NN: readers want UTF-8 */
static void send_string(struct pprof *p, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *s = (const unsigned char *)text;
	unsigned n;

	p->inner.n = 0;
	for (; *s; s += n ? n : 1) {
		char hex[] = {'%', digits[*s >> 4], digits[*s & 15]};

		n = utf8_bytes(s);
		buffer_bytes(&p->inner, n ? (const void *)s : hex,
			     n ? n : sizeof hex);
	}
	send(p, PROFILE_STRING, &p->inner);
}

/* the number of a string, which is sent when it is first asked for */
static uint64_t string(struct pprof *p, const char *s)
{
	size_t before = p->string.string.n;
	uint32_t n = intern(&p->string, s ? s : "");

	if (p->string.string.n > before)
		send_string(p, s);
	return n;
}

/* string() of one that stays where it is: each is hashed once */
static uint64_t kept_string(struct pprof *p, const char *s)
{
	uint64_t key = (uint64_t)(uintptr_t)s;
	uint32_t n = s ? dict_get(&p->by_pointer, key) : 0;

	if (n == DICT_NONE) {
		n = (uint32_t)string(p, s);
		dict_put(&p->by_pointer, key, n);
	}
	return n;
}

void pprof_begin(struct pprof *p, FILE *to)
{
	*p = (struct pprof){0};
	gzip_begin(&p->out, to);
	string(p, ""); /* number 0: none */
}

void pprof_end(struct pprof *p)
{
	gzip_end(&p->out);
	intern_free(&p->string);
	dict_free(&p->by_pointer);
	dict_free(&p->function);
	vec_free(&p->piece);
	vec_free(&p->inner);
	vec_free(&p->wire);
}

void pprof_type(struct pprof *p, const char *type)
{
	uint64_t name = string(p, type), unit = string(p, "count");

	p->piece.n = 0;
	proto_number(&p->piece, TYPE_NAME, name);
	proto_number(&p->piece, TYPE_UNIT, unit);
	send(p, PROFILE_SAMPLE_TYPE, &p->piece);
	if (!p->ntype++)
		send_number(p, PROFILE_FIRST, name);
}

void pprof_comment(struct pprof *p, const char *text)
{
	send_number(p, PROFILE_COMMENT, string(p, text));
}

void pprof_time(struct pprof *p, uint64_t time)
{
	send_number(p, PROFILE_TIME, time);
}

uint64_t pprof_mapping(struct pprof *p, const struct pprof_mapping *m)
{
	uint64_t file = string(p, m->file), id = string(p, m->build_id);
	buffer *b = &p->piece;

	b->n = 0;
	proto_number(b, MAPPING_ID, ++p->nmapping);
	proto_number(b, MAPPING_START, m->start);
	proto_number(b, MAPPING_LIMIT, m->limit);
	proto_number(b, MAPPING_OFFSET, m->offset);
	proto_number(b, MAPPING_FILE, file);
	proto_number(b, MAPPING_BUILD_ID, id);
	proto_number(b, MAPPING_FUNCTIONS, true);
	proto_number(b, MAPPING_FILES, m->lines);
	proto_number(b, MAPPING_LINES, m->lines);
	proto_number(b, MAPPING_INLINED, m->lines);
	send(p, PROFILE_MAPPING, b);
	return p->nmapping;
}

uint64_t pprof_location(struct pprof *p, uint64_t mapping, uint64_t addr,
			const struct pprof_line *line, unsigned n)
{
	buffer *b = &p->piece;

	b->n = 0;
	proto_number(b, LOCATION_ID, ++p->nlocation);
	proto_number(b, LOCATION_MAPPING, mapping);
	proto_number(b, LOCATION_ADDRESS, addr);
	for (unsigned i = 0; i < n; i++) {
		p->inner.n = 0;
		proto_number(&p->inner, LINE_FUNCTION, line[i].function);
		proto_number(&p->inner, LINE_NUMBER, line[i].line);
		proto_bytes(b, LOCATION_LINE, p->inner.at, p->inner.n);
	}
	send(p, PROFILE_LOCATION, b);
	return p->nlocation;
}

static uint64_t function_key(struct pprof *p, const char *symbol,
			     const char *file)
{
	return kept_string(p, symbol) << 32 | kept_string(p, file);
}

uint64_t pprof_known(struct pprof *p, const char *symbol, const char *file)
{
	uint32_t n = dict_get(&p->function, function_key(p, symbol, file));

	return n == DICT_NONE ? 0 : n;
}

uint64_t pprof_function(struct pprof *p, const struct pprof_function *f)
{
	uint64_t key = function_key(p, f->symbol, f->file);
	uint64_t name = string(p, f->name);
	buffer *b = &p->piece;

	dict_put(&p->function, key, (uint32_t)++p->nfunction);
	b->n = 0;
	proto_number(b, FUNCTION_ID, p->nfunction);
	proto_number(b, FUNCTION_NAME, name);
	proto_number(b, FUNCTION_SYMBOL, key >> 32);
	proto_number(b, FUNCTION_FILE, key & UINT32_MAX);
	proto_number(b, FUNCTION_LINE, f->line);
	send(p, PROFILE_FUNCTION, b);
	return p->nfunction;
}

void pprof_sample(struct pprof *p, uint64_t location, const uint64_t *value)
{
	buffer *b = &p->piece;

	b->n = 0;
	proto_numbers(b, SAMPLE_LOCATION, &location, 1);
	proto_numbers(b, SAMPLE_VALUE, value, p->ntype);
	send(p, PROFILE_SAMPLE, b);
}
