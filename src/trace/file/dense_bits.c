/* dense_bits: see dense_bits.h. */
#include "trace/file/dense_bits.h"

enum {
	ORDERS = 4,	/* predictors by so many bits that came before */
	TABLE_LEAST = 10, TABLE_MOST = 20, /* bits of an index of theirs */
	MATCH_BITS = 32, MATCH_INDEX = 16, /* of what is looked for */
	MATCH_EVERY = 8, /* bits */
	MATCH_LEVELS = 16, /* of how long it was the same */
	SETS = MATCH_LEVELS * 8, /* of weights: by that, and three bits */
	INPUTS = ORDERS + 2,
	SLOWEST = 6, MATCH_SLOWEST = 6,
	BIAS = 256, /* an input that is always there */
};

static const uint8_t order[ORDERS] = {11, 16, 22, 32};

struct bits_model {
	uint16_t *table[ORDERS];
	unsigned table_bits;
	const uint8_t *bytes; /* that are coded */
	uint64_t at;	      /* bits of them */
	uint64_t history;     /* the last one lowest */
	/* where the bits went on that were like those before; how many were */
	uint32_t *found; /* by a hash of the history: where it was last + 1 */
	uint64_t match;
	unsigned length;
	uint16_t of_match[MATCH_LEVELS];
	struct mixer mixer;
	int32_t weight[SETS][INPUTS];
};

static uint32_t hash(uint64_t history, unsigned n, unsigned bits)
{
	history &= (UINT64_C(1) << n) - 1;
	return (uint32_t)(history * UINT64_C(0x9e3779b97f4a7c15) >>
			  (64 - bits));
}

/* tables are as large as makes sense for so few bits */
static unsigned table_bits(size_t n)
{
	unsigned bits = TABLE_LEAST;

	while (bits < TABLE_MOST && (size_t)1 << bits < 8 * n)
		bits++;
	return bits;
}

static struct bits_model *model_new(const uint8_t *bytes, size_t n)
{
	struct bits_model *m = NEW_ARRAY(struct bits_model, 1);

	mixer_prepare();
	m->bytes = bytes;
	m->table_bits = table_bits(n);
	for (unsigned i = 0; i < ORDERS; i++) {
		m->table[i] = NEW_ARRAY(uint16_t, (size_t)1 << m->table_bits);
		for (size_t j = 0; j < (size_t)1 << m->table_bits; j++)
			m->table[i][j] = COUNTER_NEW;
	}
	m->found = NEW_ARRAY(uint32_t, 1 << MATCH_INDEX);
	for (unsigned i = 0; i < MATCH_LEVELS; i++)
		m->of_match[i] = (CHANCE_ONE - CHANCE_ONE / 8) << 4;
	for (unsigned i = 0; i < SETS; i++)
		for (unsigned j = 0; j < INPUTS; j++)
			m->weight[i][j] = WEIGHT_ONE * 3 / 10;
	return m;
}

static void model_free(struct bits_model *m)
{
	for (unsigned i = 0; i < ORDERS; i++)
		mem_free(m->table[i]);
	mem_free(m->found);
	mem_free(m);
}

static bool bit_at(const struct bits_model *m, uint64_t at)
{
	return m->bytes[at / 8] >> (7 - at % 8) & 1;
}

/* how many bits before the two places are the same, of those looked for */
static unsigned same_before(const struct bits_model *m, uint64_t at)
{
	unsigned n = 0;

	while (n < MATCH_BITS && n < at &&
	       bit_at(m, at - 1 - n) == (m->history >> n & 1))
		n++;
	return n;
}

/* looks for what was like the bits before, now and then */
static void find_match(struct bits_model *m)
{
	uint32_t *found = &m->found[hash(m->history, MATCH_BITS, MATCH_INDEX)];

	if (!m->length && *found) {
		m->match = *found;
		m->length = same_before(m, m->match);
		if (m->length < MATCH_BITS)
			m->length = 0;
	}
	*found = (uint32_t)m->at;
}

static unsigned match_level(const struct bits_model *m)
{
	unsigned level = m->length / (MATCH_BITS / 2);

	return level < MATCH_LEVELS ? level : MATCH_LEVELS - 1;
}

/* the bit was that */
static void follow(struct bits_model *m, bool bit)
{
	if (m->length)
		m->length = bit_at(m, m->match++) == bit ? m->length + 1 : 0;
	m->history = m->history << 1 | bit;
	m->at++;
	if (m->at % MATCH_EVERY == 0)
		find_match(m);
}

static void learn_match(struct bits_model *m, unsigned level, bool bit)
{
	uint16_t *c = &m->of_match[level];

	if (m->length)
		*c = counter_learn(*c, bit_at(m, m->match) == bit,
				   MATCH_SLOWEST);
}

/* what the match says, as an input */
static int match_input(const struct bits_model *m, unsigned level)
{
	int x = chance_stretch(counter_chance(m->of_match[level]));

	return !m->length ? 0 : bit_at(m, m->match) ? x : -x;
}

static bool code_next(struct bits_model *m, struct bit_coder *c, bool bit)
{
	unsigned level = match_level(m);
	int32_t *weight = m->weight[level * 8 + (m->history & 7)];
	uint16_t *counter[ORDERS];
	struct mixer *x = &m->mixer;

	for (unsigned i = 0; i < ORDERS; i++) {
		counter[i] = &m->table[i][hash(m->history, order[i],
					       m->table_bits)];
		x->input[i] = chance_stretch(counter_chance(*counter[i]));
	}
	x->input[ORDERS] = match_input(m, level);
	x->input[ORDERS + 1] = BIAS;
	bit = code_bit(c, bit, mixer_chance(x, INPUTS, weight));
	mixer_learn(x, INPUTS, weight, bit);
	for (unsigned i = 0; i < ORDERS; i++)
		*counter[i] = counter_learn(*counter[i], bit, SLOWEST);
	learn_match(m, level, bit);
	return bit;
}

void dense_bits_code(struct bit_coder *c, uint8_t *bytes, size_t n)
{
	struct bits_model *m = model_new(bytes, n);

	for (size_t i = 0; i < n && !c->past; i++) {
		uint8_t given = bytes[i];

		bytes[i] = 0;
		for (unsigned b = 8; b--;) {
			bool bit = code_next(m, c, given >> b & 1);

			bytes[i] |= (uint8_t)(bit << b);
			follow(m, bit);
		}
	}
	model_free(m);
}
