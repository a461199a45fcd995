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
