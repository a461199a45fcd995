/* packing: see packing.h. */
#include "count/packing.h"

static void *pack(void *arg)
{
	struct packing *p = arg;

	map_pack(&p->map, &p->bytes);
	map_release(&p->map);
	for (unsigned t = 0; t < PARALLEL_MAX; t++)
		arena_free(&p->strings[t]);
	return NULL;
}

void packing_begin(struct packing *p, bool worth)
{
	task_begin(&p->task, pack, p, worth);
}

const uint8_t *packing_bytes(struct packing *p, size_t *size)
{
	task_end(&p->task);
	*size = p->bytes.v.n;
	return p->bytes.v.at;
}

void packing_free(struct packing *p)
{
	task_end(&p->task);
	vec_free(&p->bytes.v);
}
