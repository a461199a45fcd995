/* intern: see intern.h. */
#include "base/intern.h"

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
