/* dense_values: see dense_values.h. */
#include "trace/file/dense_values.h"

#include <endian.h>

#include "base/dict.h"

enum {
	TABLE_LEAST = 8, TABLE_MOST = 18, /* bits of an index, of guesses */
	BITS_MOST = 22,			  /* of values' bits */
	SITES_MOST = 1 << 18,
	ORDERS = 3, RECENT = 6, /* the next site follows from so many */
	TABLES = 4,
	HISTORY = 7, /* values that are the same where all of it is */
	FLAG_INPUTS = 4, FLAG_COUNTERS = 3, /* of whether a guess is right */
	BIT_INPUTS = 6, BIT_COUNTERS = 5,   /* of a value's bits */
	SLOWEST = 6,
	BIAS = 256, /* an input that is always there */
};

static const uint8_t site_order[ORDERS] = {RECENT, 3, 1};

/* what a value may be, in the order in which they are tried */
enum {
	GUESS_LINK,   /* what came last at the site behind the value before it,
			 of whatever site */
	GUESS_AGAIN,  /* what came behind the site's last two values */
	GUESS_REPEAT, /* what came behind the same values of any sites */
	GUESS_DELTA,  /* as much more as after the same stride */
	GUESS_STRIDE, /* the last stride again */
	GUESS_LAST,
	GUESS_BESIDE, /* as far from the value before it as the last time */
	GUESSES,
};

/* what something was last, and how often it was that again */
struct guess {
	uint64_t value;
	uint16_t right; /* a counter */
	uint16_t check; /* of what it is of: others may have its place */
};

struct site {
	uint64_t last, before; /* values */
	uint64_t beside; /* what the last had more than the value before it */
	uint16_t right[GUESSES]; /* counters */
	uint8_t size;
	uint8_t hits; /* which guesses were right, the last ones, 3 bits each */
};

struct values_model {
	VEC(struct site) site;
	unsigned table_bits, bits_bits;
	struct guess *next[ORDERS], *table[TABLES];
	uint32_t recent[RECENT]; /* sites, the last one first */
	uint16_t *bit;		 /* counters, of bits of values */
	uint64_t previous;	 /* value, of any site */
	uint64_t history[HISTORY]; /* hashes of it, and those before */
	uint16_t is_new, size[4], right[GUESSES][256];
	struct mixer mixer;
	int32_t flag_weight[GUESSES][FLAG_INPUTS];
	int32_t bit_weight[sizeof(uint64_t)][BIT_INPUTS];
};

/* the highest bits are the best */
static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ a >> 29;
}

static void fill_counters(uint16_t *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c[i] = COUNTER_NEW;
}

static void fill_weights(int32_t *w, size_t n, int32_t value)
{
	for (size_t i = 0; i < n; i++)
		w[i] = value;
}

static struct guess *new_guesses(unsigned bits)
{
	struct guess *g = NEW_ARRAY(struct guess, (size_t)1 << bits);

	for (size_t i = 0; i < (size_t)1 << bits; i++)
		g[i].right = COUNTER_NEW;
	return g;
}

/* of an index for n, within what makes sense */
static unsigned index_bits(size_t n, unsigned most)
{
	unsigned bits = TABLE_LEAST;

	while (bits < most && (size_t)1 << bits < n)
		bits++;
	return bits;
}

/* of n bytes of values */
static struct values_model *model_new(size_t n)
{
	struct values_model *m = NEW_ARRAY(struct values_model, 1);

	mixer_prepare();
	m->table_bits = index_bits(n, TABLE_MOST);
	m->bits_bits = index_bits(n, BITS_MOST);
	for (unsigned i = 0; i < ORDERS; i++)
		m->next[i] = new_guesses(m->table_bits);
	for (unsigned i = 0; i < TABLES; i++)
		m->table[i] = new_guesses(m->table_bits);
	m->bit = NEW_ARRAY(uint16_t, (size_t)1 << m->bits_bits);
	fill_counters(m->bit, (size_t)1 << m->bits_bits);
	m->is_new = COUNTER_NEW;
	fill_counters(m->size, 4);
	for (unsigned i = 0; i < GUESSES; i++) {
		fill_counters(m->right[i], 256);
		fill_weights(m->flag_weight[i], FLAG_INPUTS,
			     WEIGHT_ONE * 4 / 10);
	}
	for (unsigned i = 0; i < sizeof(uint64_t); i++)
		fill_weights(m->bit_weight[i], BIT_INPUTS, WEIGHT_ONE * 3 / 10);
	return m;
}

static void model_free(struct values_model *m)
{
	for (unsigned i = 0; i < ORDERS; i++)
		mem_free(m->next[i]);
	for (unsigned i = 0; i < TABLES; i++)
		mem_free(m->table[i]);
	mem_free(m->bit);
	vec_free(&m->site);
	mem_free(m);
}

/* by one counter */
static bool code_by(struct bit_coder *c, uint16_t *counter, bool bit)
{
	unsigned chance = counter_chance(*counter);

	bit = code_bit(c, bit, chance ? chance : 1);
	*counter = counter_learn(*counter, bit, SLOWEST);
	return bit;
}

/* by n counters, a constant, that are mixed */
static bool code_mixed(struct bit_coder *c, struct mixer *x, unsigned n,
		       uint16_t *const *counter, int32_t *weight, bool bit)
{
	for (unsigned i = 0; i < n; i++)
		x->input[i] = chance_stretch(counter_chance(*counter[i]));
	x->input[n] = BIAS;
	bit = code_bit(c, bit, mixer_chance(x, n + 1, weight));
	mixer_learn(x, n + 1, weight, bit);
	for (unsigned i = 0; i < n; i++)
		*counter[i] = counter_learn(*counter[i], bit, SLOWEST);
	return bit;
}

/* --- sites */

static struct guess *guess_next(struct values_model *m, unsigned i)
{
	uint64_t h = i;

	for (unsigned k = 0; k < site_order[i]; k++)
		h = mix(h, m->recent[k]);
	return &m->next[i][h >> (64 - m->table_bits)];
}

/* one that was not expected; a new one is as many as there are */
static uint32_t code_number(struct values_model *m, struct bit_coder *c,
			    uint32_t site)
{
	uint32_t number = 0;

	if (!m->site.n || code_by(c, &m->is_new, site == m->site.n))
		return (uint32_t)m->site.n;
	for (unsigned b = 0; (m->site.n - 1) >> b; b++)
		number |= (uint32_t)code_bit(c, site >> b & 1, CHANCE_ONE / 2)
			  << b;
	return number;
}

static uint32_t code_site(struct values_model *m, struct bit_coder *c,
			  uint32_t site)
{
	uint64_t tried[ORDERS];
	struct guess *g[ORDERS];
	bool hit = false;

	for (unsigned i = 0; i < ORDERS; i++) {
		bool again = false;

		g[i] = guess_next(m, i);
		tried[i] = g[i]->value;
		for (unsigned k = 0; k < i; k++)
			again |= tried[k] == tried[i];
		if (hit || again || tried[i] >= m->site.n)
			continue;
		hit = code_by(c, &g[i]->right, site == tried[i]);
		if (hit)
			site = (uint32_t)tried[i];
	}
	if (!hit)
		site = code_number(m, c, site);
	for (unsigned i = 0; i < ORDERS; i++)
		g[i]->value = site;
	memmove(m->recent + 1, m->recent,
		(RECENT - 1) * sizeof *m->recent);
	m->recent[0] = site;
	return site;
}

/* a site that was not there before: two bits say how large its values are */
static void add_site(struct values_model *m, struct bit_coder *c, unsigned size)
{
	struct site s = {0};
	bool large = code_by(c, &m->size[0], size > 2);
	unsigned two = large ? 8 : 2;
	bool upper = code_by(c, &m->size[1 + large], size == two);

	s.size = (uint8_t)(upper ? two : two / 2);
	fill_counters(s.right, GUESSES);
	vec_push(&m->site, s);
}

/* --- values */

/* what has room in a value of the site */
static uint64_t narrow(const struct site *s, uint64_t value)
{
	return value & UINT64_MAX >> (64 - 8 * s->size);
}

/* the bytes above byte i */
static uint64_t above(uint64_t value, unsigned i)
{
	return i == 7 ? 0 : value >> 8 * (i + 1);
}

static uint64_t byte(uint64_t value, unsigned i)
{
	return value >> 8 * i & 0xff;
}

/* a byte, by hashes of what is known of it */
static uint64_t code_byte(struct values_model *m, struct bit_coder *c,
			  const uint64_t *hash, int32_t *weight, uint64_t value)
{
	unsigned got = 1;

	for (unsigned b = 8; b--;) {
		uint16_t *counter[BIT_COUNTERS];

		for (unsigned k = 0; k < BIT_COUNTERS; k++)
			counter[k] = &m->bit[mix(hash[k], got) >>
					     (64 - m->bits_bits)];
		got = got << 1 | code_mixed(c, &m->mixer, BIT_COUNTERS, counter,
					    weight, value >> b & 1);
	}
	return got & 0xff;
}

/* a value that was not guessed, its highest byte first */
static uint64_t code_bytes(struct values_model *m, struct bit_coder *c,
			   uint32_t number, uint64_t value)
{
	const struct site *s = &m->site.at[number];
	uint64_t got = 0;

	for (unsigned i = s->size; i--;) {
		uint64_t before = above(got, i);
		bool like = before == above(s->last, i);
		bool near = before == above(m->previous, i);
		uint64_t at = mix(number + 1, i);
		const uint64_t hash[BIT_COUNTERS] = {
			at, mix(at, before),
			mix(mix(at, like), byte(s->last, i) + 256),
			mix(mix(i, near), byte(m->previous, i) + 512),
			mix(mix(i, before), BIT_COUNTERS)};

		got |= code_byte(m, c, hash, m->bit_weight[i], byte(value, i))
		       << 8 * i;
	}
	return got;
}

/* the guesses of a site, and those of them that tables have */
struct guesses {
	uint64_t value[GUESSES];
	bool none[GUESSES];
	struct guess *slot[TABLES]; /* of the first ones */
};

/* guess i of a table, by a hash of what it is of */
static void find_guess(struct values_model *m, struct guesses *g, unsigned i,
		       uint64_t hash)
{
	struct guess *slot = &m->table[i][hash >> (64 - m->table_bits)];
	uint16_t check = (uint16_t)(hash >> (64 - TABLE_MOST - 16));

	g->slot[i] = slot;
	g->none[i] = slot->check != check;
	if (g->none[i]) {
		slot->check = check;
		slot->right = COUNTER_NEW;
	}
}

static struct guesses guess_all(struct values_model *m, uint32_t number)
{
	const struct site *s = &m->site.at[number];
	uint64_t stride = s->last - s->before;
	const uint64_t hash[TABLES] = {
		[GUESS_LINK] = mix(number, m->previous),
		[GUESS_AGAIN] = mix(mix(number, s->last), s->before),
		[GUESS_REPEAT] = mix(number, m->history[HISTORY - 1]),
		[GUESS_DELTA] = mix(number, stride)};
	struct guesses g = {0};

	for (unsigned i = 0; i < TABLES; i++)
		find_guess(m, &g, i, mix(hash[i], i));
	g.value[GUESS_LINK] = g.slot[GUESS_LINK]->value;
	g.value[GUESS_AGAIN] = g.slot[GUESS_AGAIN]->value;
	g.value[GUESS_REPEAT] = g.slot[GUESS_REPEAT]->value;
	g.value[GUESS_DELTA] = s->last + g.slot[GUESS_DELTA]->value;
	g.value[GUESS_STRIDE] = s->last + stride;
	g.value[GUESS_LAST] = s->last;
	g.value[GUESS_BESIDE] = m->previous + s->beside;
	for (unsigned i = 0; i < GUESSES; i++)
		g.value[i] = narrow(s, g.value[i]);
	return g;
}

/* whether guess i is the value */
static bool code_flag(struct values_model *m, struct bit_coder *c,
		      struct site *s, const struct guesses *g, unsigned i,
		      bool right)
{
	uint16_t *counter[FLAG_COUNTERS] = {
		&s->right[i], &m->right[i][s->hits],
		i < TABLES ? &g->slot[i]->right : &m->right[i][0]};

	return code_mixed(c, &m->mixer, FLAG_COUNTERS, counter,
			  m->flag_weight[i], right);
}

/* the number of the guess that the value is, or GUESSES */
static unsigned code_guess(struct values_model *m, struct bit_coder *c,
			   struct site *s, const struct guesses *g,
			   uint64_t value)
{
	for (unsigned i = 0; i < GUESSES; i++) {
		bool skip = g->none[i];

		for (unsigned k = 0; k < i; k++)
			skip |= !g->none[k] && g->value[k] == g->value[i];
		if (!skip && code_flag(m, c, s, g, i, value == g->value[i]))
			return i;
	}
	return GUESSES;
}

static uint64_t code_value(struct values_model *m, struct bit_coder *c,
			   uint32_t number, uint64_t value)
{
	struct site *s = &m->site.at[number];
	struct guesses g = guess_all(m, number);
	unsigned hit = code_guess(m, c, s, &g, value);

	value = hit < GUESSES ? g.value[hit] : code_bytes(m, c, number, value);
	for (unsigned i = 0; i < GUESS_DELTA; i++)
		g.slot[i]->value = value;
	g.slot[GUESS_DELTA]->value = value - s->last;
	s->hits = (uint8_t)((unsigned)s->hits << 3 | hit);
	s->before = s->last;
	s->last = value;
	s->beside = value - m->previous;
	for (unsigned i = HISTORY; --i;)
		m->history[i] = mix(m->history[i - 1], value);
	m->previous = m->history[0] = value;
	return value;
}

/* the number of a site, by whatever number it was given */
static uint32_t number_of(struct dict *d, uint64_t site)
{
	uint32_t number = dict_get(d, site);

	if (number == DICT_NONE) {
		number = (uint32_t)d->n;
		dict_put(d, site, number);
	}
	return number;
}

/* a value and its site, of which `left` bytes are left; its size; 0: broken */
static unsigned code_one(struct values_model *m, struct bit_coder *c,
			 uint32_t site, unsigned size, uint8_t *at, size_t left)
{
	uint64_t value = 0;

	if (size)
		memcpy(&value, at, size);
	site = code_site(m, c, site);
	if (site == m->site.n && site < SITES_MOST)
		add_site(m, c, size);
	if (c->past || site >= m->site.n || m->site.at[site].size > left)
		return 0;
	size = m->site.at[site].size;
	value = htole64(code_value(m, c, site, le64toh(value)));
	memcpy(at, &value, size);
	return size;
}

bool dense_values_code(struct bit_coder *c, uint8_t *bytes, size_t n,
		       const struct value_sites *sites)
{
	struct values_model *m = model_new(n);
	struct dict number = {0};
	unsigned size = 1;

	for (size_t at = 0, i = 0; size && at < n; at += size, i++)
		size = code_one(m, c, sites ? number_of(&number,
							sites->at[i].site) : 0,
				sites ? sites->at[i].size : 0, bytes + at,
				n - at);
	dict_free(&number);
	model_free(m);
	return size;
}
