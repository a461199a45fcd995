/*
 * map_fuzz: a libFuzzer target for maps of counters: what is inside them, for
 * a checksum stops other damage, and what is solved from them. How to run it:
 * fuzz/README.md.
 */
#include "count/map_int.h"
#include "count/solve.h"
#include "count/squeeze.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	buffer b = {0};
	struct map m;
	struct err e;

	buffer_uint(&b, 8, MAP_MAGIC);
	buffer_uint(&b, 4, MAP_VERSION);
	squeeze(&b, data, size);
	if (!map_unpack(&m, b.at, b.n, "input", &e)) {
		struct arena a = {0};
		struct map_bytes again = {0};
		struct solved s;
		uint64_t *value = ARENA_ARRAY(&a, uint64_t, m.ncounter);

		solve_counts(&a, &m, value, NULL, &s);
		for (uint32_t i = 0; i < m.ncounter; i++)
			value[i] = i % 7;
		solve_counts(&a, &m, value, NULL, &s);
		map_pack(&m, &again);
		vec_free(&again.v);
		arena_free(&a);
		map_release(&m);
	}
	vec_free(&b);
	return 0;
}
