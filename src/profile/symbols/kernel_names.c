/* kernel_names: see kernel_names.h. */
#include "profile/symbols/kernel_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "sample/kernel/kernel.h"

static int offset_order(const void *a, const void *b)
{
	const struct kernel_name *p = a, *q = b;

	return p->offset < q->offset ? -1 : p->offset > q->offset;
}

static bool is_running(const uint8_t *build_id, uint32_t len)
{
	uint8_t id[KERNEL_BUILD_ID];

	return len && kernel_build_id(id) == len && !memcmp(id, build_id, len);
}

bool kernel_names_read(struct kernel_names *n, const uint8_t *build_id,
		       uint32_t len)
{
	FILE *f = is_running(build_id, len) ? fopen("/proc/kallsyms", "re")
					    : NULL;
	uint64_t addr, text = 0;
	char line[512], name[256], type;

	*n = (struct kernel_names){0};
	while (f && fgets(line, sizeof line, f)) {
		struct kernel_name k;

		/* those of modules have a fourth word */
		if (strchr(line, '[') ||
		    sscanf(line, "%" SCNx64 " %c %255s", &addr, &type, name) !=
			    3 ||
		    !strchr("tTwW", type))
			continue;
		if (!strcmp(name, "_stext"))
			text = addr;
		k = (struct kernel_name){
			addr, arena_string(&n->arena, name, strlen(name))};
		vec_push(&n->v, k);
	}
	if (f)
		fclose(f);
	for (size_t i = 0; i < n->v.n; i++)
		n->v.at[i].offset -= text;
	mem_sort(n->v.at, n->v.n, sizeof *n->v.at, offset_order);
	return text;
}

const struct kernel_name *kernel_names_find(const struct kernel_names *n,
					    uint64_t offset)
{
	size_t i;

	bisect(i, n->v.n, n->v.at[i].offset <= offset);
	return i ? &n->v.at[i - 1] : NULL;
}

void kernel_names_free(struct kernel_names *n)
{
	vec_free(&n->v);
	arena_free(&n->arena);
}
