/*
 * map: a hash table from 64-bit keys (addresses, mostly) to 32-bit numbers.
 * Open addressing, linear probing, at most two thirds full. MAP_NONE is not
 * a legal value: it is the answer for an absent key.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map {
	uint64_t *key;
	uint32_t *value; /* MAP_NONE where the place is free */
	size_t n, cap;   /* cap is a power of two, or 0 */
};

/* the value of key, or MAP_NONE */
uint32_t map_get(const struct map *m, uint64_t key);
/* sets key to value (not MAP_NONE), replacing what was there */
void map_put(struct map *m, uint64_t key, uint32_t value);
/* forgets all keys; where there were few, the room for them is kept */
void map_clear(struct map *m);
void map_free(struct map *m);

#endif
