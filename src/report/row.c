/* row: what a row says of its place; see rows.h. */
#include "report/rows.h"

#include "report/sites.h"

bool rows_have_procedures(enum by by)
{
	return by == BY_PROCEDURE || by == BY_EDGE ||
	       by == BY_BLOCK || by == BY_INSTRUCTION ||
	       by == BY_CALL_SITE;
}

const struct counts_image *row_counts(const struct rows *r,
				      const struct row *row)
{
	return r->data->image.at[row->image].counts;
}

struct samples_image *row_sampled(const struct rows *r, const struct row *row)
{
	return r->data->image.at[row->image].samples;
}

uint64_t row_samples(const struct rows *r, const struct row *row,
		     unsigned event)
{
	return row_values(r, row)[r->first_event + event].n;
}

bool row_has_samples(const struct rows *r, const struct row *row)
{
	for (unsigned i = 0; i < r->events; i++)
		if (row_samples(r, row, i))
			return true;
	return false;
}

/* the end of a block or an instruction that are in a map */
static uint64_t end_of(const struct rows *r, const struct row *row)
{
	const struct counts_image *m = row_counts(r, row);

	if (r->by == BY_INSTRUCTION)
		return row->addr + 1;
	if (r->by != BY_BLOCK || !m || row->item == ROW_NONE)
		return 0;
	return row->addr + m->map->block.at[row->item].size;
}

struct metric_place row_place(const struct rows *r, const struct row *row)
{
	struct metric_place p = {.kind = r->by, .image = row_image(r, row),
			  .start = row->addr, .file = row->file,
			  .line = row->line};

	if (rows_have_procedures(r->by))
		p.procedure = row_procedure(r, row);
	p.end = end_of(r, row);
	return p;
}

const char *row_image(const struct rows *r, const struct row *row)
{
	return r->data->image.at[row->image].name;
}

const char *row_procedure(const struct rows *r, const struct row *row)
{
	return row->proc == ROW_NONE
		       ? row->procedure
		       : symbolizer_procedure(row_counts(r, row)->symbolizer,
					      row->proc);
}

const char *row_symbol(const struct rows *r, const struct row *row)
{
	return row->proc == ROW_NONE
		       ? row->symbol
		       : symbolizer_symbol(row_counts(r, row)->symbolizer,
					   row->proc);
}

const char *row_callee(const struct rows *r, const struct row *row)
{
	struct site_count x = {.image = row->image, .proc = row->proc,
			      .to_image = row->to_image, .to = row->to};

	return site_callee(r->data->counts, &x);
}
