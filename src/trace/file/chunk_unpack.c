/* chunk_unpack: columns become parts again, see chunk.h. */
#include <endian.h>

#include "base/bytes.h"
#include "base/compress.h"
#include "trace/file/chunk.h"
#include "trace/file/dense_bits.h"

enum { WORD_BITS = 64, NO_KIND = 0xffff };

/* what a chunk may have: words, and bytes of columns */
struct limits {
	size_t words, bytes;
};

static const struct limits limits_of[] = {
	[CHUNK_PLAIN] = {TRACE_CHUNK_WORDS, TRACE_CHUNK_BYTES},
	[CHUNK_DENSE] = {TRACE_DENSE_WORDS, TRACE_DENSE_BYTES},
};

/* the columns of a kind, as far as they were read */
struct kind_columns {
	struct bytes of[CHUNK_FIELDS];
	uint64_t last[CHUNK_FIELDS];
};

struct unpacker {
	struct trace_chunk *x;
	struct limits most;
	struct bytes fixed[CHUNK_FIXED];
	VEC(struct kind_columns) kind;
	uint16_t number[256]; /* of each kind in that array, or NO_KIND */
	const char *wrong;    /* what is */
};

static inline uint64_t unzigzag(uint64_t x)
{
	return x >> 1 ^ -(x & 1);
}

/* notes what is wrong; false */
static bool wrong(struct unpacker *u, const char *what)
{
	u->wrong = what;
	return false;
}

/* the columns of a kind, which may be new */
static struct kind_columns *columns_of(struct unpacker *u, unsigned kind)
{
	struct kind_columns none = {0};

	if (u->number[kind] == NO_KIND) {
		for (unsigned f = 0; f < CHUNK_FIELDS; f++)
			none.of[f] = bytes_window(NULL, 0, 0);
		u->number[kind] = (uint16_t)u->kind.n;
		vec_push(&u->kind, none);
	}
	return &u->kind.at[u->number[kind]];
}

/* where the column of that name is kept; NULL: there is no such name */
static struct bytes *column(struct unpacker *u, uint64_t name)
{
	if (name < CHUNK_FIXED)
		return &u->fixed[name];
	if (name < CHUNK_KIND_0 || name >= CHUNK_COLUMNS ||
	    name % 16 >= CHUNK_FIELDS)
		return NULL;
	return &columns_of(u, (unsigned)name / 16 - 1)->of[name % 16];
}

/* finds the columns */
static bool find_columns(struct unpacker *u)
{
	struct bytes b = bytes_window(u->x->unpacked.at, u->x->unpacked.n, 0);
	struct bytes names;
	uint64_t n = bytes_uleb(&b), least = 0;

	names = b;
	for (uint64_t i = 0; i < n && !b.bad; i++) {
		bytes_uleb(&b);
		bytes_uleb(&b);
	}
	for (uint64_t i = 0; i < n && !b.bad; i++) {
		uint64_t name = bytes_uleb(&names);
		struct bytes *c = column(u, name);

		if (!c || name < least)
			return wrong(u, "a column has no name of one");
		least = name + 1;
		*c = bytes_sub(&b, bytes_uleb(&names));
	}
	if (b.bad || bytes_left(&b))
		return wrong(u, "columns are not as large as it says");
	return true;
}

/* how large all is: parts and their records, then their bits */
static bool size_parts(struct unpacker *u, uint64_t sequence)
{
	struct bytes *b = &u->fixed[CHUNK_PARTS];
	uint64_t records = 0, bytes = 0;

	while (bytes_left(b) && u->x->part.n < TRACE_CHUNK_PARTS) {
		uint64_t bits = bytes_uleb(b), n = bytes_uleb(b);
		struct trace_part p = {.sequence = sequence + u->x->part.n,
				       .nbit = bits >> 1, .cut = bits & 1,
				       .nrecord = n};

		if (n > u->most.bytes || p.nbit > 8 * u->most.bytes)
			return wrong(u, "a part is too large");
		records += n;
		bytes += (p.nbit + 7) / 8;
		vec_push(&u->x->part, p);
	}
	if (b->bad || bytes_left(b))
		return wrong(u, "there are too many parts");
	if (bytes != u->fixed[CHUNK_BITS].n ||
	    records > u->most.words / 2 ||
	    records != u->fixed[CHUNK_KINDS].n)
		return wrong(u, "bits or records are not as many as it says");
	return true;
}

/* the bits of all parts, a gap of zeroes behind those of each */
static void unpack_bits(struct unpacker *u)
{
	struct trace_chunk *x = u->x;
	size_t room = 0, at = 0;

	for (size_t i = 0; i < x->part.n; i++)
		room += x->part.at[i].nbit / WORD_BITS + 1 + TRACE_BITS_PAST;
	vec_reserve(&x->bit, room);
	x->bit.n = room;
	for (size_t i = 0; i < x->part.n; i++) {
		struct trace_part *p = &x->part.at[i];
		size_t words = p->nbit / WORD_BITS + 1, n = (p->nbit + 7) / 8;
		uint64_t *to = x->bit.at + at;

		to[words - 1] = 0;
		memcpy(to, bytes_take(&u->fixed[CHUNK_BITS], n), n);
		for (size_t j = 0; j < words; j++)
			to[j] = be64toh(to[j]);
		/* what lies behind the bits in their last byte is nothing */
		to[words - 1] &= ~(UINT64_MAX >> p->nbit % WORD_BITS);
		memset(to + words, 0, TRACE_BITS_PAST * sizeof *to);
		p->bit = to;
		at += words + TRACE_BITS_PAST;
	}
}

/* how many bytes of values each part has, and these, where they are */
static bool unpack_values(struct unpacker *u)
{
	struct bytes *counts = &u->fixed[CHUNK_COUNTS];
	struct trace_chunk *x = u->x;

	for (size_t i = 0; counts->n && i < x->part.n; i++) {
		struct trace_part *p = &x->part.at[i];

		p->nvalue = bytes_uleb(counts);
		p->value = bytes_take(&u->fixed[CHUNK_VALUES], p->nvalue);
		if (!p->value || p->nvalue > TRACE_PART_VALUES)
			return wrong(u, "values are not as many as it says");
	}
	return true;
}

static inline uint64_t take_field(struct kind_columns *k, unsigned f)
{
	return k->last[f] += unzigzag(bytes_uleb(&k->of[f]));
}

/* the words of a record, which has n; false: they are not there */
static bool unpack_words(struct unpacker *u, struct kind_columns *k, size_t n)
{
	struct trace_chunk *x = u->x;
	size_t split = n < CHUNK_WORDS ? n : CHUNK_WORDS;
	const uint8_t *rest;

	if (x->word.n + n > u->most.words)
		return wrong(u, "records have too many words");
	for (unsigned i = 0; i < split; i++)
		x->word.at[x->word.n++] = take_field(k, CHUNK_WORD_0 + i);
	rest = bytes_take(&u->fixed[CHUNK_REST], (n - split) * 8);
	if (!rest)
		return wrong(u, "words of records are missing");
	memcpy(x->word.at + x->word.n, rest, (n - split) * 8);
	x->word.n += n - split;
	return true;
}

static bool unpack_record(struct unpacker *u, const struct trace_part *p,
			  uint64_t *at)
{
	uint8_t kind = bytes_u8(&u->fixed[CHUNK_KINDS]);
	struct kind_columns *k = columns_of(u, kind);
	uint64_t further = bytes_uleb(&k->of[CHUNK_AT]);
	uint64_t n = take_field(k, CHUNK_NWORD);
	struct trace_record r = {.kind = kind,
				 .number = take_field(k, CHUNK_NUMBER),
				 .word = u->x->word.at + u->x->word.n};

	if (n > TRACE_RECORD_WORDS)
		return wrong(u, "a record is too large");
	if (further > p->nbit - *at)
		return wrong(u, "a record lies behind its part");
	*at += further;
	r.at_bit = *at;
	r.nword = (uint16_t)n;
	vec_push(&u->x->record, r);
	return unpack_words(u, k, n);
}

static bool unpack_records(struct unpacker *u)
{
	struct trace_chunk *x = u->x;

	/* they do not move: records point into them */
	vec_reserve(&x->word, u->most.words);
	vec_reserve(&x->record, u->fixed[CHUNK_KINDS].n + 1);
	for (size_t i = 0; i < x->part.n; i++) {
		struct trace_part *p = &x->part.at[i];
		uint64_t at = 0;

		p->record = x->record.at + x->record.n;
		for (size_t j = 0; j < p->nrecord; j++)
			if (!unpack_record(u, p, &at))
				return false;
	}
	return true;
}

/* whether all columns were read to their ends, and no further */
static bool is_all_read(struct unpacker *u)
{
	bool all = true;

	for (unsigned i = 0; i < CHUNK_FIXED; i++)
		all &= !u->fixed[i].bad && !bytes_left(&u->fixed[i]);
	for (size_t i = 0; i < u->kind.n; i++)
		for (unsigned f = 0; f < CHUNK_FIELDS; f++)
			all &= !u->kind.at[i].of[f].bad &&
			       !bytes_left(&u->kind.at[i].of[f]);
	return all || wrong(u, "columns are not as long as its records");
}

/* a column of a dense chunk that is coded by itself: CHUNK_BITS or
   CHUNK_VALUES; *b: what lies behind it */
static bool unpack_coded(struct unpacker *u, unsigned column, struct bytes *b)
{
	buffer *to = &u->x->dense[column == CHUNK_VALUES];
	uint64_t n = bytes_uleb(b), ncoded = bytes_uleb(b);
	const uint8_t *coded = bytes_take(b, ncoded);
	struct bit_coder c;
	bool good = true;

	if (!coded || n > u->most.bytes)
		return wrong(u, "what is coded is not as large as it says");
	to->n = 0;
	vec_reserve(to, n + 1);
	to->n = n;
	memset(to->at, 0, n);
	if (!n && !ncoded)
		return true;
	coder_read(&c, coded, ncoded);
	if (column == CHUNK_BITS)
		dense_bits_code(&c, to->at, n);
	else
		good = dense_values_code(&c, to->at, n, NULL);
	return (good && coder_is_sound(&c)) ||
	       wrong(u, "what is coded is broken");
}

static void find_coded(struct unpacker *u, unsigned column)
{
	const buffer *b = &u->x->dense[column == CHUNK_VALUES];

	if (b->n && u->fixed[column].n)
		wrong(u, "it has a column twice");
	if (b->n)
		u->fixed[column] = bytes_window(b->at, b->n, 0);
}

/* all columns, and those that are coded by themselves; -1 and *e */
static int unpack_columns(struct unpacker *u, enum chunk_form form,
			  const char *where, struct err *e)
{
	struct trace_chunk *x = u->x;
	struct bytes b = bytes_window(x->packed.at, x->packed.n, 0);

	for (unsigned i = 0; i < CHUNK_FIXED; i++)
		u->fixed[i] = bytes_window(NULL, 0, 0);
	if (form == CHUNK_DENSE && !(unpack_coded(u, CHUNK_BITS, &b) &&
				     unpack_coded(u, CHUNK_VALUES, &b)))
		return 0;
	if (decompress_piece(&x->unpacked, b.p + b.at, bytes_left(&b),
			     u->most.bytes, where, "a chunk", e))
		return -1;
	if (!find_columns(u) || form != CHUNK_DENSE)
		return 0;
	find_coded(u, CHUNK_BITS);
	find_coded(u, CHUNK_VALUES);
	return 0;
}

int chunk_unpack(struct trace_chunk *x, enum chunk_form form,
		 uint64_t sequence, const char *where, struct err *e)
{
	struct unpacker u = {.x = x, .most = limits_of[form]};
	int status;

	x->part.n = x->record.n = x->bit.n = x->word.n = 0;
	memset(u.number, 0xff, sizeof u.number);
	status = unpack_columns(&u, form, where, e);
	if (!status && !u.wrong && size_parts(&u, sequence)) {
		unpack_bits(&u);
		if (unpack_values(&u) && unpack_records(&u))
			is_all_read(&u);
	}
	if (u.wrong) {
		x->part.n = 0;
		status = err_set(e, ERR_INPUT, "%s: a chunk is broken: %s",
				 where, u.wrong);
	}
	vec_free(&u.kind);
	return status;
}

void trace_chunk_free(struct trace_chunk *x)
{
	vec_free(&x->part);
	vec_free(&x->record);
	vec_free(&x->bit);
	vec_free(&x->word);
	vec_free(&x->packed);
	vec_free(&x->unpacked);
	vec_free(&x->dense[0]);
	vec_free(&x->dense[1]);
}
