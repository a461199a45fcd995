/* routines: see routines.h. */
#include "count/place/routines.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "abi/calls.h"
#include "base/installed.h"
#include "hooks/hooks.h"
#include "isa/move.h"
#include "rewrite/plan.h"

enum { CODE_MAX = 1 << 16 };

/* all of the file; -1: there is none, or it is none of ours */
static int read_code(struct routines *r, const char *name, struct err *e)
{
	char path[PATH_MAX];
	FILE *f = installed_find(path, sizeof path, name) ? fopen(path, "re")
							  : NULL;

	if (!f)
		return err_set(e, ERR_MACHINE, "%s is not installed", name);
	r->bytes = mem_alloc(CODE_MAX);
	r->size = fread(r->bytes, 1, CODE_MAX, f);
	fclose(f);
	if (r->size > sizeof(struct routines_code) && r->size < CODE_MAX)
		return 0;
	return err_set(e, ERR_MACHINE, "%s: not as long as it should be", path);
}

/* the file with the machine's name in its own */
static int read_named(struct routines *r, const char *name, struct err *e)
{
	const char *triplet = r->isa->triplet, *gap = strstr(name, "%s");
	char all[64];

	snprintf(all, sizeof all, "%.*s%.*s%s", (int)(gap - name), name,
		 (int)strcspn(triplet, "-"), triplet, gap + strlen("%s"));
	return read_code(r, all, e);
}

int routines_read(struct routines *r, const struct cfg *g, const char *name,
		  struct err *e)
{
	struct routines_code k;

	*r = (struct routines){.isa = g->isa};
	if (read_named(r, name, e)) {
		routines_free(r);
		return -1;
	}
	memcpy(&k, r->bytes, sizeof k);
	if (k.pages > r->size || k.npage > (r->size - k.pages) / 4) {
		routines_free(r);
		return err_set(e, ERR_MACHINE, "%s: not of this tally", name);
	}
	memcpy(r->at, k.routine[hooks_subtract(g)], sizeof r->at);
	return 0;
}

void routines_free(struct routines *r)
{
	mem_free(r->bytes);
	r->bytes = NULL;
}

bool routines_write(const struct routines *r, const struct plan_bases *bases,
		    uint64_t page, uint64_t before, uint8_t *out)
{
	struct routines_code k;
	uint64_t data = bases->data, start = bases->support;
	bool good = true;

	memcpy(out, r->bytes, r->size);
	memcpy(&k, out, sizeof k);
	k.page = (int64_t)(data + page - start);
	k.word = (int64_t)(data - before - start);
	k.nevent = r->nevent;
	k.entry = ENTRY_SIZE(r->nevent);
	memcpy(out, &k, sizeof k);
	for (uint32_t i = 0; i < k.npage; i++) {
		uint32_t at;

		memcpy(&at, out + k.pages + i * sizeof at, sizeof at);
		good &= r->isa->move->routine_page(out + at, start + at, start,
						   data + page);
	}
	return good;
}
