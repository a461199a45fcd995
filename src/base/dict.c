/* dict: see dict.h. */
#include "base/dict.h"

#include "base/mem.h"

/* splitmix64's finalizer: every input bit reaches every output bit */
static uint64_t dict_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* the place of key, or the free place where it would go */
static size_t dict_slot(const struct dict *d, uint64_t key)
{
	size_t i = dict_mix(key) & (d->cap - 1);

	while (d->value[i] != DICT_NONE && d->key[i] != key)
		i = (i + 1) & (d->cap - 1);
	return i;
}

uint32_t dict_get(const struct dict *d, uint64_t key)
{
	return d->cap ? d->value[dict_slot(d, key)] : DICT_NONE;
}

static void dict_rehash(struct dict *d, size_t cap)
{
	struct dict bigger = {.cap = cap};

	bigger.key = NEW_ARRAY(uint64_t, cap);
	bigger.value = mem_alloc(cap * sizeof *bigger.value);
	memset(bigger.value, 0xff, cap * sizeof *bigger.value);
	for (size_t i = 0; i < d->cap; i++)
		if (d->value[i] != DICT_NONE)
			dict_put(&bigger, d->key[i], d->value[i]);
	dict_free(d);
	*d = bigger;
}

void dict_put(struct dict *d, uint64_t key, uint32_t value)
{
	size_t i;

	if (3 * (d->n + 1) > 2 * d->cap)
		dict_rehash(d, d->cap ? d->cap * 2 : 16);
	i = dict_slot(d, key);
	d->n += d->value[i] == DICT_NONE;
	d->key[i] = key;
	d->value[i] = value;
}

void dict_clear(struct dict *d)
{
	enum { KEPT = 1024 }; /* a large one is cheaper to make than to clear */

	if (d->cap > KEPT)
		dict_free(d);
	else if (d->n)
		memset(d->value, 0xff, d->cap * sizeof *d->value);
	d->n = 0;
}

void dict_free(struct dict *d)
{
	mem_free(d->key);
	mem_free(d->value);
	*d = (struct dict){0};
}

/* FNV-1a */
static uint64_t hash_of(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3;
	return h ^ h >> 29;
}

/* where s is, or would be */
static size_t slot_of(const struct intern *in, const char *s)
{
	size_t i = hash_of(s) & (in->cap - 1);

	while (in->slot[i] && strcmp(in->string.at[in->slot[i] - 1], s))
		i = (i + 1) & (in->cap - 1);
	return i;
}

static void grow(struct intern *in)
{
	in->cap = in->cap ? in->cap * 2 : 64;
	mem_free(in->slot);
	in->slot = NEW_ARRAY(uint32_t, in->cap);
	for (size_t i = 0; i < in->string.n; i++)
		in->slot[slot_of(in, in->string.at[i])] = (uint32_t)i + 1;
}

uint32_t intern(struct intern *in, const char *s)
{
	size_t i;

	if (in->string.n * 3 >= in->cap * 2)
		grow(in);
	i = slot_of(in, s);
	if (!in->slot[i]) {
		vec_push(&in->string, arena_string(&in->arena, s, strlen(s)));
		in->slot[i] = (uint32_t)in->string.n;
	}
	return in->slot[i] - 1;
}

bool intern_has(const struct intern *in, const char *s)
{
	return in->cap && in->slot[slot_of(in, s)];
}

const char *intern_string(struct intern *in, const char *s)
{
	uint32_t n = intern(in, s);

	return in->string.at[n];
}

void intern_free(struct intern *in)
{
	vec_free(&in->string);
	mem_free(in->slot);
	arena_free(&in->arena);
	*in = (struct intern){0};
}
