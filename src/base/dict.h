/*
 * dict: a hash table from 64-bit keys (addresses, mostly) to 32-bit numbers.
 * Open addressing, linear probing, at most two thirds full. DICT_NONE is not
 * a legal value: it is the answer for an absent key.
 */
#ifndef BASE_DICT_H
#define BASE_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define DICT_NONE UINT32_MAX

struct dict {
	uint64_t *key;
	uint32_t *value; /* DICT_NONE where the place is free */
	size_t n, cap;   /* cap is a power of two, or 0 */
};

/* the value of key, or DICT_NONE */
uint32_t dict_get(const struct dict *d, uint64_t key);
/* sets key to value (not DICT_NONE), replacing what was there */
void dict_put(struct dict *d, uint64_t key, uint32_t value);
/* forgets all keys; where there were few, the room for them is kept */
void dict_clear(struct dict *d);
void dict_free(struct dict *d);

/*
 * intern: strings by number. Equal strings get the same number, from 0 in the
 * order in which they came, and are kept once.
 */

struct intern {
	VEC(const char *) string; /* by number */
	uint32_t *slot;		  /* number + 1, or 0: hashed, open */
	size_t cap;		  /* a power of two, or 0 */
	struct arena arena;
};

uint32_t intern(struct intern *in, const char *s);
/* whether it has a number */
bool intern_has(const struct intern *in, const char *s);
/* the string that is kept */
const char *intern_string(struct intern *in, const char *s);
void intern_free(struct intern *in);

#endif
