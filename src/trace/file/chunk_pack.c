/* chunk_pack: words of a thread become columns, see chunk.h. */
#include <assert.h>
#include <endian.h>

#include "base/compress.h"
#include "trace/file/chunk.h"
#include "trace/file/dense_bits.h"

/*
 * The writer runs beside the program that it traces, and whatever it takes is
 * time that the program waits for if the two of them have one processor.
 */
enum { LEVEL = 1, LEVEL_OF_VALUES = -1 };
enum { LEB_MOST = 10, WORD_BITS = 64, TRACE_FROM = 56, LEAST_COLUMN = 4096 };
enum { WELL_CODED = 32 }; /* values in so much less */

/* what a record has, by field; AT is the place in its part */
struct fields {
	uint64_t of[CHUNK_FIELDS];
};

struct kind_columns {
	buffer of[CHUNK_FIELDS];
	struct fields last;
};

struct chunk_packer {
	struct compressor *compressor, *of_values; /* for chunks with some */
	struct kind_columns *kind[256]; /* NULL: there was none */
	buffer fixed[CHUNK_FIXED];
	buffer all; /* columns, one behind the other */
	/* of the part: bits that make no whole word yet, the first highest */
	uint64_t bits;
	unsigned nbits; /* of them, less than 64 */
	uint64_t total; /* bits of the part */
	uint64_t last_at; /* where its last record was */
	uint64_t records;
	size_t parts, words; /* that were added */
};

struct chunk_packer *chunk_packer_new(int level)
{
	struct chunk_packer *p = NEW_ARRAY(struct chunk_packer, 1);

	p->compressor = compressor_new(level ? level : LEVEL);
	p->of_values = compressor_new(level ? level : LEVEL_OF_VALUES);
	return p;
}

static void kind_free(struct kind_columns *k)
{
	for (unsigned f = 0; k && f < CHUNK_FIELDS; f++)
		vec_free(&k->of[f]);
	mem_free(k);
}

void chunk_packer_free(struct chunk_packer *p)
{
	if (!p)
		return;
	for (unsigned k = 0; k < 256; k++)
		kind_free(p->kind[k]);
	for (unsigned c = 0; c < CHUNK_FIXED; c++)
		vec_free(&p->fixed[c]);
	vec_free(&p->all);
	compressor_free(p->compressor);
	compressor_free(p->of_values);
	mem_free(p);
}

/* buffer_uleb(), without a call for each byte */
static inline void put_number(buffer *b, uint64_t value)
{
	uint8_t *at;

	vec_reserve(b, LEB_MOST);
	at = b->at + b->n;
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	b->n = (size_t)(at - b->at);
}

/* small differences are small numbers, whatever their sign */
static inline uint64_t zigzag(uint64_t x)
{
	return x << 1 ^ (uint64_t)((int64_t)x >> 63);
}

static inline void put_word(buffer *b, uint64_t word)
{
	vec_reserve(b, sizeof word);
	memcpy(b->at + b->n, &word, sizeof word);
	b->n += sizeof word;
}

/* the bits of a word below its highest one bit; requires: word */
static inline void put_bits(struct chunk_packer *p, uint64_t word)
{
	unsigned n = WORD_BITS - 1 - (unsigned)__builtin_clzll(word);
	uint64_t bits = word ^ (uint64_t)1 << n;
	unsigned over;

	if (!n)
		return;
	p->total += n;
	if (p->nbits + n < WORD_BITS) {
		p->nbits += n;
		p->bits |= bits << (WORD_BITS - p->nbits);
		return;
	}
	over = p->nbits + n - WORD_BITS;
	put_word(&p->fixed[CHUNK_BITS], htobe64(p->bits | bits >> over));
	p->bits = over ? bits << (WORD_BITS - over) : 0;
	p->nbits = over;
}

/* the bytes that are left of the part's bits */
static void end_bits(struct chunk_packer *p)
{
	uint64_t word = htobe64(p->bits);

	buffer_bytes(&p->fixed[CHUNK_BITS], &word, (p->nbits + 7) / 8);
	p->bits = 0;
	p->nbits = 0;
}

static struct kind_columns *columns_of(struct chunk_packer *p, uint8_t kind)
{
	if (!p->kind[kind])
		p->kind[kind] = NEW_ARRAY(struct kind_columns, 1);
	return p->kind[kind];
}

static inline void put_field(struct kind_columns *k, unsigned f, uint64_t value)
{
	put_number(&k->of[f], zigzag(value - k->last.of[f]));
	k->last.of[f] = value;
}

/* a record of n words; its bits are in the part already */
static void put_record(struct chunk_packer *p, uint8_t kind, uint64_t number,
		       const uint64_t *word, uint32_t n)
{
	struct kind_columns *k = columns_of(p, kind);

	buffer_uint(&p->fixed[CHUNK_KINDS], 1, kind);
	put_number(&k->of[CHUNK_AT], p->total - p->last_at);
	p->last_at = p->total;
	put_field(k, CHUNK_NWORD, n);
	put_field(k, CHUNK_NUMBER, number);
	for (uint32_t i = 0; i < n && i < CHUNK_WORDS; i++)
		put_field(k, CHUNK_WORD_0 + i, word[i]);
	if (n > CHUNK_WORDS)
		buffer_bytes(&p->fixed[CHUNK_REST], word + CHUNK_WORDS,
			     (n - CHUNK_WORDS) * sizeof *word);
	p->records++;
}

/* words of the record that `word` begins, of n that there are; 0: it is none */
static size_t record_size(const uint64_t *word, size_t n)
{
	size_t size = 1 + (word[0] >> 8 & 0xff);

	return size > 1 && size <= n && word[1] ? size : 0;
}

static void begin_part(struct chunk_packer *p)
{
	p->total = p->last_at = p->records = 0;
}

static void end_part(struct chunk_packer *p, bool cut)
{
	end_bits(p);
	put_number(&p->fixed[CHUNK_PARTS], p->total << 1 | cut);
	put_number(&p->fixed[CHUNK_PARTS], p->records);
}

static void put_part(struct chunk_packer *p, const uint64_t *word, size_t n)
{
	size_t i = 0, size;

	begin_part(p);
	while (i < n) {
		if (word[i] >> TRACE_FROM) {
			put_bits(p, word[i++]);
			continue;
		}
		size = record_size(word + i, n - i);
		if (!size)
			break;
		put_bits(p, word[i + 1]);
		put_record(p, (uint8_t)word[i], word[i] >> 16, word + i + 2,
			   (uint32_t)size - 2);
		i += size;
	}
	end_part(p, i < n);
}

static void kind_clear(struct kind_columns *k)
{
	for (unsigned f = 0; f < CHUNK_FIELDS; f++)
		k->of[f].n = 0;
	k->last = (struct fields){{0}};
}

static void packer_clear(struct chunk_packer *p)
{
	for (unsigned k = 0; k < 256; k++)
		if (p->kind[k])
			kind_clear(p->kind[k]);
	for (unsigned c = 0; c < CHUNK_FIXED; c++)
		p->fixed[c].n = 0;
	p->all.n = p->parts = p->words = 0;
}

/* the column of that name, NULL if there is nothing in it */
static const buffer *column(const struct chunk_packer *p, unsigned name)
{
	unsigned kind = (name - CHUNK_KIND_0) / 16, field = name % 16;
	const buffer *b = NULL;

	if (name < CHUNK_FIXED)
		b = &p->fixed[name];
	else if (name >= CHUNK_KIND_0 && p->kind[kind] && field < CHUNK_FIELDS)
		b = &p->kind[kind]->of[field];
	return b && b->n ? b : NULL;
}

static void put_columns(struct chunk_packer *p)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < CHUNK_COLUMNS; i++)
		n += column(p, i) != NULL;
	put_number(&p->all, n);
	for (unsigned i = 0; i < CHUNK_COLUMNS; i++)
		if (column(p, i)) {
			put_number(&p->all, i);
			put_number(&p->all, column(p, i)->n);
		}
	for (unsigned i = 0; i < CHUNK_COLUMNS; i++)
		if (column(p, i))
			vec_append(&p->all, column(p, i));
}

static void put_values(struct chunk_packer *p, const struct chunk_parts *x)
{
	uint64_t all = 0;

	for (size_t i = 0; x->nvalue && i < x->n; i++)
		all += x->nvalue[i];
	if (!all)
		return;
	for (size_t i = 0; i < x->n; i++)
		put_number(&p->fixed[CHUNK_COUNTS], x->nvalue[i]);
	buffer_bytes(&p->fixed[CHUNK_VALUES], x->value, all);
}

void chunk_pack(struct chunk_packer *p, const struct chunk_parts *x,
		buffer *out)
{
	const uint64_t *word = x->word;

	packer_clear(p);
	for (size_t i = 0; i < x->n; i++) {
		put_part(p, word, x->size[i]);
		word += x->size[i];
	}
	put_values(p, x);
	put_columns(p);
	assert(p->all.n <= TRACE_CHUNK_BYTES);
	if (!p->fixed[CHUNK_VALUES].n)
		compressor_add(p->compressor, out, p->all.at, p->all.n);
	else if (!x->hurried)
		compressor_add(p->of_values, out, p->all.at, p->all.n);
	else
		compress_not(out, p->all.at, p->all.n);
}

/* --- parts that were read */

/* bits from..end-1 of a part */
static void add_bits(struct chunk_packer *p, const struct trace_part *part,
		     uint64_t from, uint64_t end)
{
	enum { AT_ONCE = 32 };

	while (from < end) {
		unsigned n = end - from < AT_ONCE ? (unsigned)(end - from) :
						    AT_ONCE;
		const uint64_t *w = &part->bit[from / WORD_BITS];
		unsigned at = from % WORD_BITS;
		uint64_t bits = w[0] << at | w[1] >> 1 >> (WORD_BITS - 1 - at);

		put_bits(p, bits >> (WORD_BITS - n) | (uint64_t)1 << n);
		from += n;
	}
}

/* words that it was made of, about */
static size_t part_words(const struct trace_part *part)
{
	size_t n = part->nbit / WORD_BITS + part->nvalue / sizeof(uint64_t);

	for (size_t i = 0; i < part->nrecord; i++)
		n += part->record[i].nword + 2u;
	return n;
}

bool chunk_add(struct chunk_packer *p, const struct trace_part *part)
{
	size_t words = part_words(part);
	uint64_t at = 0;

	if (!p->parts)
		packer_clear(p);
	else if (p->parts == TRACE_CHUNK_PARTS ||
		 p->words + words > TRACE_DENSE_WORDS)
		return false;
	p->parts++;
	p->words += words;
	begin_part(p);
	for (size_t i = 0; i < part->nrecord; i++) {
		const struct trace_record *r = &part->record[i];

		add_bits(p, part, at, r->at_bit);
		at = r->at_bit;
		put_record(p, r->kind, r->number, r->word, r->nword);
	}
	add_bits(p, part, at, part->nbit);
	end_part(p, part->cut);
	put_number(&p->fixed[CHUNK_COUNTS], part->nvalue);
	buffer_bytes(&p->fixed[CHUNK_VALUES], part->value, part->nvalue);
	return true;
}

/* a column that is coded, and then is empty */
static void put_coded(struct chunk_packer *p, unsigned column,
		      const buffer *coded, buffer *out)
{
	put_number(out, p->fixed[column].n);
	put_number(out, coded->n);
	vec_append(out, coded);
	p->fixed[column].n = 0;
}

static void put_no_column(buffer *out)
{
	put_number(out, 0);
	put_number(out, 0);
}

static void put_dense_bits(struct chunk_packer *p, buffer *out)
{
	buffer *bits = &p->fixed[CHUNK_BITS], coded = {0};
	struct bit_coder c;

	coder_write(&c, &coded);
	dense_bits_code(&c, bits->at, bits->n);
	coder_flush(&c);
	put_coded(p, CHUNK_BITS, &coded, out);
	vec_free(&coded);
}

/* each byte is a value, all of one site */
static void code_plainly(struct bit_coder *c, buffer *values)
{
	struct value_site *site = NEW_ARRAY(struct value_site, values->n + 1);
	struct value_sites sites = {site, values->n};

	for (size_t i = 0; i < values->n; i++)
		site[i].size = 1;
	dense_values_code(c, values->at, values->n, &sites);
	mem_free(site);
}

/* what repeats as a whole, from far behind, zstd alone finds: it is asked where
   little was gained */
static void put_dense_values(struct chunk_packer *p,
			     const struct value_sites *sites, buffer *out)
{
	buffer *values = &p->fixed[CHUNK_VALUES], coded = {0}, as_it_is = {0};
	struct bit_coder c;

	coder_write(&c, &coded);
	if (!sites ||
	    !dense_values_code(&c, values->at, values->n, sites)) {
		coded.n = 0;
		coder_write(&c, &coded);
		code_plainly(&c, values);
	}
	coder_flush(&c);
	if (coded.n > values->n / WELL_CODED)
		compressor_add(p->compressor, &as_it_is, values->at,
			       values->n);
	if (!as_it_is.n || coded.n < as_it_is.n)
		put_coded(p, CHUNK_VALUES, &coded, out);
	else
		put_no_column(out);
	vec_free(&coded);
	vec_free(&as_it_is);
}

bool chunk_put_dense(struct chunk_packer *p, const struct value_sites *sites,
		     buffer *out)
{
	size_t dense = p->fixed[CHUNK_BITS].n + p->fixed[CHUNK_VALUES].n;

	if (!p->fixed[CHUNK_VALUES].n)
		p->fixed[CHUNK_COUNTS].n = 0;
	put_dense_bits(p, out);
	put_dense_values(p, sites, out);
	put_columns(p);
	compressor_add(p->compressor, out, p->all.at, p->all.n);
	p->parts = 0;
	return dense + p->all.n <= TRACE_DENSE_BYTES;
}
