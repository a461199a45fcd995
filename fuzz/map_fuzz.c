/*
 * map_fuzz: a libFuzzer target for maps of counters: what is inside them, for
 * a checksum stops other damage, what is solved from them, pictures of their
 * procedures, and which blocks of one are which in the next. How to run it:
 * fuzz/README.md.
 */
#include "base/compress.h"
#include "count/map/map_int.h"
#include "count/solve/solve.h"
#include "report/diff/match_blocks.h"
#include "report/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* all that is said of a map beyond its counts */
static void show(struct arena *a, const struct map *m, const struct solved *s)
{
	struct symbolizer symbolizer;
	struct counts_image image = {
		.name = "x", .map = m, .solved = *s, .symbolizer = &symbolizer};
	struct content x, y;

	symbolizer_init(&symbolizer, m);
	content_make(a, &image, &x, &image, &y);
	for (uint32_t p = 0; p < m->proc.n; p++) {
		uint32_t *to = NEW_ARRAY(uint32_t, m->proc.at[p].nblock + 1);
		struct picture drawn;

		picture_make(&drawn, &image, p, p % 2);
		picture_free(&drawn);
		match_blocks(&x, p, &y, (p + 1) % (uint32_t)m->proc.n, to);
		mem_free(to);
	}
	symbolizer_close(&symbolizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	buffer b = {0};
	struct map m;
	struct err e;

	buffer_uint(&b, 8, MAP_MAGIC);
	/* it has the columns of fronts and chunks in one, and no sizes that a
	   fuzzer would have to guess */
	buffer_uint(&b, 4, MAP_OLDEST);
	buffer_uint(&b, 4, size ? data[0] : 0); /* counters */
	for (unsigned i = 0; i < PROFILE_ID + 8; i++)
		buffer_uint(&b, 1, 0);
	compress(&b, data, size);
	map_seal(b.at, b.n);
	if (!map_unpack(&m, b.at, b.n, "input", &e)) {
		struct arena a = {0};
		struct solved s;
		uint64_t *value = ARENA_ARRAY(&a, uint64_t, m.ncounter);

		solve_counts(&a, &m, value, NULL, &s);
		for (uint32_t i = 0; i < m.ncounter; i++)
			value[i] = i % 7;
		solve_counts(&a, &m, value, NULL, &s);
		show(&a, &m, &s);
		arena_free(&a);
		map_release(&m);
	}
	vec_free(&b);
	return 0;
}
