/* diff_json: what changed, for programs. doc/report-json.md has the keys. */
#include "base/json.h"
#include "cmd/diff_show.h"
#include "report/walk.h"

static void json_run(struct json *j, const char *key, const struct counts *t)
{
	json_object(j, key);
	json_string(j, "profile", t->profile.file.name);
	json_string(j, "command", t->profile.command);
	json_number(j, "instructions", t->instructions);
	json_end(j);
}

/* null: it is not known; what is not there has no such key */
static void json_count(struct json *j, const char *key,
		       const struct side_count *c)
{
	if (c->there && c->known)
		json_number(j, key, c->n);
	else if (c->there)
		json_null(j, key);
}

static void json_block(struct json *j, const char *start, const char *end,
		       const struct counts *in, uint32_t image, uint32_t block)
{
	const struct map_block *b;

	if (block == MATCH_NONE)
		return;
	b = &in->image[image].map->block.at[block];
	json_address(j, start, b->start);
	json_address(j, end, b->start + b->size);
}

static void json_entry(struct json *j, const char *key, const struct counts *in,
		       uint32_t image, uint32_t proc)
{
	if (proc != MATCH_NONE)
		json_address(j, key,
			     in->image[image].map->proc.at[proc].entry);
}

static void json_procedure(struct json *j, const struct match *m,
			   const struct change *x)
{
	const struct match_image *i = &m->v.at[x->image];

	json_entry(j, "entry_before", m->a, i->a, x->a);
	json_entry(j, "entry_after", m->b, i->b, x->b);
	json_count(j, "calls_before", &x->calls_before);
	json_count(j, "calls_after", &x->calls_after);
	json_number(j, "edges", x->edges);
	if (x->code != CODE_CHANGED)
		return;
	json_object(j, "blocks");
	json_number(j, "same", x->same);
	json_number(j, "changed", x->changed);
	json_number(j, "only_before", x->only_before);
	json_number(j, "only_after", x->only_after);
	json_end(j);
}

static void json_edge(struct json *j, const char *from, const char *to,
		      const struct counts *in, uint32_t image, uint32_t proc,
		      uint32_t edge)
{
	const struct counts_image *m = &in->image[image];
	struct edge_ends ends;

	if (edge == MATCH_NONE)
		return;
	ends = edge_ends(m, &m->map->proc.at[proc], &m->map->edge.at[edge]);
	if (ends.has_from)
		json_address(j, from, ends.from);
	if (ends.has_to)
		json_address(j, to, ends.to);
}

/* what it is in each of the runs */
static void json_parts(struct json *j, const struct match *m,
		       const struct change *x, enum change_by by)
{
	const struct match_image *i = &m->v.at[x->image];

	if (by != CHANGE_PROCEDURES)
		change_need(m, x);
	switch (by) {
	case CHANGE_BLOCKS:
		json_block(j, "start_before", "end_before", m->a, i->a,
			   x->part_a);
		json_block(j, "start_after", "end_after", m->b, i->b,
			   x->part_b);
		break;
	case CHANGE_EDGES:
		json_string(j, "kind", change_edge_name(m, x));
		json_edge(j, "from_before", "to_before", m->a, i->a, x->a,
			  x->part_a);
		json_edge(j, "from_after", "to_after", m->b, i->b, x->b,
			  x->part_b);
		break;
	default:
		json_procedure(j, m, x);
	}
}

static void json_row(struct json *j, const struct match *m,
		     const struct change *x, enum change_by by)
{
	json_object(j, NULL);
	json_string(j, "image", change_image(m, x)->name);
	json_string(j, "procedure", change_procedure(m, x));
	json_string(j, "code", change_code_name(x->code));
	json_count(j, "before", &x->before);
	json_count(j, "after", &x->after);
	json_parts(j, m, x, by);
	json_end(j);
}

void diff_show_json(const struct changes *c, enum change_by by, size_t limit,
		    FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_run(&j, "before", c->m->a);
	json_run(&j, "after", c->m->b);
	json_bool(&j, "differ", c->any);
	json_array(&j, "rows");
	for (size_t i = 0; i < c->v.n && i < limit; i++)
		json_row(&j, c->m, &c->v.at[i], by);
	json_end(&j);
	json_end(&j);
}
