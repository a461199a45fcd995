/* symbolizer: see symbolizer.h. */
#include "profile/symbols/symbolizer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cfg/cfg.h"
#include "count/place/plan.h"
#include "elf/image.h"

void symbolizer_init(struct symbolizer *g, const struct map *m)
{
	*g = (struct symbolizer){.map = m};
	g->symbol = ARENA_ARRAY(&g->arena, const char *, m->proc.n + 1);
	g->display = ARENA_ARRAY(&g->arena, const char *, m->proc.n + 1);
}

void symbolizer_close(struct symbolizer *g)
{
	lines_close(&g->lines);
	names_free(&g->names);
	object_close(&g->object);
	arena_free(&g->arena);
}

/* a file without a build-id is known by its bytes */
static int check_bytes(const struct map *m, struct err *e)
{
	struct image im;
	uint64_t sum;

	if (m->build_id_len)
		return 0;
	if (image_open(&im, m->path, e))
		return -1;
	sum = count_file_sum(&im);
	image_close(&im);
	return sum == m->file_sum ? 0
				  : err_set(e, ERR_INPUT,
					    "%s: it has changed since it was "
					    "measured: its hash is %016" PRIx64
					    ", not %016" PRIx64,
					    m->path, sum, m->file_sum);
}

bool symbolizer_open(struct symbolizer *g)
{
	struct object_id id = {g->map->path, g->map->build_id,
			       g->map->build_id_len, NULL};

	if (g->opened)
		return g->here;
	g->opened = true;
	g->here = !check_bytes(g->map, &g->why) &&
		  !object_open(&g->object, &id, &g->why);
	if (g->here)
		names_read(&g->names, &g->object);
	return g->here;
}

struct lines *symbolizer_lines(struct symbolizer *g)
{
	if (!symbolizer_open(g))
		return NULL;
	if (!g->has_lines)
		lines_open(&g->lines, &g->object);
	g->has_lines = true;
	return &g->lines;
}

/* the name of exactly that place, where the profile has none */
static const char *found_name(struct symbolizer *g, uint64_t entry)
{
	const struct name *n =
		symbolizer_open(g) ? names_find(&g->names, entry) : NULL;

	return n && n->start == entry ? n->symbol : NULL;
}

const char *symbolizer_symbol(struct symbolizer *g, uint32_t p)
{
	const struct map_proc *q = &g->map->proc.at[p];
	const char *name = q->name;
	char buf[32];

	if (g->symbol[p])
		return g->symbol[p];
	if (!name)
		name = found_name(g, q->entry);
	if (!name) {
		cfg_name_of(NULL, q->entry, buf, sizeof buf);
		name = arena_string(&g->arena, buf, strlen(buf));
	}
	return g->symbol[p] = name;
}

const char *symbolizer_procedure(struct symbolizer *g, uint32_t p)
{
	const char *symbol = symbolizer_symbol(g, p);
	char *plain;

	if (g->display[p])
		return g->display[p];
	plain = name_demangle(symbol);
	g->display[p] =
		plain ? arena_string(&g->arena, plain, strlen(plain)) : symbol;
	free(plain);
	return g->display[p];
}
