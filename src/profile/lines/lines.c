/* lines: see lines.h. */
#include "profile/lines/lines.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "profile/lines/line_unit.h"

/* code that the linker left out is said to be at 0, or at the far end */
static bool is_real(Dwarf_Addr low, Dwarf_Addr high)
{
	return low && low < high && low < (Dwarf_Addr)-4096;
}

static void add_ranges(struct lines *l, uint32_t number)
{
	struct line_unit *u = &l->unit[number];
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(&u->die, at, &base, &low, &high)) > 0) {
		struct line_range r = {low + u->bias, high + u->bias, number};

		if (is_real(low, high))
			vec_push(&l->range, r);
	}
}

static int by_low(const void *a, const void *b)
{
	const struct line_range *p = a, *q = b;

	if (p->low != q->low)
		return p->low < q->low ? -1 : 1;
	return p->unit < q->unit ? -1 : p->unit > q->unit;
}

void lines_open(struct lines *l, const struct object *o)
{
	VEC(struct line_unit) all = {0};
	Dwarf_Addr bias;
	Dwarf_Die *die = NULL;

	*l = (struct lines){0};
	while ((die = dwfl_module_nextcu(o->module, die, &bias))) {
		struct line_unit u = {.die = *die, .bias = bias};

		vec_push(&all, u);
	}
	l->unit = all.at;
	l->nunit = (uint32_t)all.n;
	for (uint32_t i = 0; i < l->nunit; i++)
		add_ranges(l, i);
	if (l->range.n)
		qsort(l->range.at, l->range.n, sizeof *l->range.at, by_low);
}

void lines_close(struct lines *l)
{
	for (uint32_t i = 0; i < l->nunit; i++) {
		vec_free(&l->unit[i].row);
		vec_free(&l->unit[i].passed);
		vec_free(&l->unit[i].scope);
		intern_free(&l->unit[i].file);
	}
	mem_free(l->unit);
	vec_free(&l->range);
}

static struct line_unit *unit_at(struct lines *l, uint64_t addr)
{
	size_t i;

	bisect(i, l->range.n, l->range.at[i].low <= addr);
	return i && addr < l->range.at[i - 1].high
		       ? &l->unit[l->range.at[i - 1].unit]
		       : NULL;
}

bool lines_read(struct lines *l, uint64_t addr)
{
	struct line_unit *u = unit_at(l, addr);

	return u && u->rows_read;
}

/* the row that the address is in, or NULL */
static const struct line_row *row_at(struct line_unit *u, uint64_t addr)
{
	size_t i;

	if (!u->rows_read)
		line_unit_rows(u);
	bisect(i, u->row.n, u->row.at[i].addr <= addr);
	return i && u->row.at[i - 1].place.file ? &u->row.at[i - 1] : NULL;
}

static bool place_in(struct line_unit *u, uint64_t addr, struct line_place *out)
{
	const struct line_row *row = row_at(u, addr);

	if (row)
		*out = row->place;
	return row;
}

bool lines_find(struct lines *l, uint64_t addr, struct line_place *out)
{
	struct line_unit *u = unit_at(l, addr);

	return u && place_in(u, addr, out);
}

bool lines_begins(struct lines *l, uint64_t addr)
{
	struct line_unit *u = unit_at(l, addr);
	const struct line_row *row = u ? row_at(u, addr) : NULL;

	return row && row->addr == addr;
}

bool lines_passed(struct lines *l, uint64_t addr, uint32_t i,
		  struct line_place *out)
{
	struct line_unit *u = unit_at(l, addr);
	const struct line_row *row = u ? row_at(u, addr) : NULL;

	if (!row || row->addr != addr || i >= row->npassed)
		return false;
	*out = u->passed.at[row->passed + i];
	return true;
}

/* the innermost scope that covers the address */
static uint32_t scope_at(const struct line_unit *u, uint64_t addr)
{
	uint32_t s;
	size_t i;

	bisect(i, u->scope.n, u->scope.at[i].low <= addr);
	s = i ? (uint32_t)i - 1 : SCOPE_NONE;
	while (s != SCOPE_NONE && u->scope.at[s].high <= addr)
		s = u->scope.at[s].outer;
	return s;
}

/* the innermost one, read if it was not */
static uint32_t scope_of(struct line_unit *u, uint64_t addr)
{
	if (!u->scopes_read)
		line_unit_scopes(u);
	return scope_at(u, addr);
}

uint64_t lines_copy(struct lines *l, uint64_t addr)
{
	struct line_unit *u = unit_at(l, addr);
	uint32_t s = u ? scope_of(u, addr) : SCOPE_NONE;

	return s == SCOPE_NONE
		       ? 0
		       : (uint64_t)(u - l->unit) << 32 | u->scope.at[s].copy;
}

bool lines_artificial(struct lines *l, uint64_t addr)
{
	struct line_unit *u = unit_at(l, addr);
	uint32_t s = u ? scope_of(u, addr) : SCOPE_NONE;

	return s != SCOPE_NONE && u->scope.at[s].artificial;
}

unsigned lines_frames(struct lines *l, uint64_t addr, struct line_frame *out,
		      unsigned max)
{
	struct line_unit *u = unit_at(l, addr);
	struct line_place place;
	unsigned n = 0;

	if (!u || !place_in(u, addr, &place))
		return 0;
	for (uint32_t s = scope_of(u, addr); s != SCOPE_NONE && n < max;
	     s = u->scope.at[s].outer) {
		const struct scope *x = &u->scope.at[s];

		out[n++] = (struct line_frame){x->function, place, x->line,
					       x->entry};
		place = x->call;
	}
	if (!n && max)
		out[n++] = (struct line_frame){.place = place};
	return n;
}
