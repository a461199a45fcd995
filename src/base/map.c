/* map: see map.h. */
#include "base/map.h"

#include "base/mem.h"

/* splitmix64's finalizer: every input bit reaches every output bit */
static uint64_t map_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* the place of key, or the free place where it would go */
static size_t map_slot(const struct map *m, uint64_t key)
{
	size_t i = map_mix(key) & (m->cap - 1);

	while (m->value[i] != MAP_NONE && m->key[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->cap ? m->value[map_slot(m, key)] : MAP_NONE;
}

static void map_rehash(struct map *m, size_t cap)
{
	struct map bigger = {.cap = cap};

	bigger.key = NEW_ARRAY(uint64_t, cap);
	bigger.value = mem_alloc(cap * sizeof *bigger.value);
	memset(bigger.value, 0xff, cap * sizeof *bigger.value);
	for (size_t i = 0; i < m->cap; i++)
		if (m->value[i] != MAP_NONE)
			map_put(&bigger, m->key[i], m->value[i]);
	map_free(m);
	*m = bigger;
}

void map_put(struct map *m, uint64_t key, uint32_t value)
{
	size_t i;

	if (3 * (m->n + 1) > 2 * m->cap)
		map_rehash(m, m->cap ? m->cap * 2 : 16);
	i = map_slot(m, key);
	m->n += m->value[i] == MAP_NONE;
	m->key[i] = key;
	m->value[i] = value;
}

void map_clear(struct map *m)
{
	enum { KEPT = 1024 }; /* a large one is cheaper to make than to clear */

	if (m->cap > KEPT)
		map_free(m);
	else if (m->n)
		memset(m->value, 0xff, m->cap * sizeof *m->value);
	m->n = 0;
}

void map_free(struct map *m)
{
	mem_free(m->key);
	mem_free(m->value);
	*m = (struct map){0};
}
