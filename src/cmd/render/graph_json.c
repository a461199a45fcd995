/* graph_json: a graph for programs. doc/report-json.md has the keys. */
#include "base/json.h"
#include "cmd/render/graph_show.h"
#include "cmd/render/report_show.h"

static void json_blocks(struct json *j, const struct picture *p,
			const char *count)
{
	const char *why = counts_unknown(p->m, p->proc);

	json_array(j, "blocks");
	for (size_t i = 0; i < p->node.n; i++) {
		const struct picture_node *x = &p->node.at[i];

		if (x->kind != PICTURE_BLOCK)
			continue;
		json_object(j, NULL);
		json_address(j, "start", x->start);
		json_address(j, "end", x->end);
		report_json_count(j, count, x->known, x->count, why);
		if (x->loop == PICTURE_NONE)
			json_null(j, "loop");
		else
			json_number(j, "loop", x->loop);
		json_end(j);
	}
	json_end(j);
}

static void json_loops(struct json *j, const struct picture *p)
{
	json_array(j, "loops");
	for (size_t i = 0; i < p->loop.n; i++) {
		const struct picture_loop *l = &p->loop.at[i];
		const struct picture_node *h = &p->node.at[l->header];

		json_object(j, NULL);
		if (h->kind == PICTURE_BLOCK)
			json_address(j, "header", h->start);
		else
			json_null(j, "header");
		if (l->parent == PICTURE_NONE)
			json_null(j, "parent");
		else
			json_number(j, "parent", l->parent);
		report_json_count(j, "rounds", l->known, l->rounds,
				  counts_unknown(p->m, p->proc));
		if (l->known)
			json_number(j, "entered", l->entered);
		else
			json_null(j, "entered");
		json_end(j);
	}
	json_end(j);
}

static void json_edges(struct json *j, const struct picture *p)
{
	const struct map_proc *q = &p->m->map->proc.at[p->proc];
	bool *back = NEW_ARRAY(bool, q->nedge + 1);

	for (size_t i = 0; i < p->way.n; i++)
		back[p->way.at[i].edge - q->edge] = p->way.at[i].is_back;
	json_array(j, "edges");
	for (uint32_t i = 0; i < q->nedge; i++) {
		json_object(j, NULL);
		report_json_edge(j, p->m, p->proc, q->edge + i);
		json_bool(j, "back", back[i]);
		json_end(j);
	}
	json_end(j);
	mem_free(back);
}

static void json_places(struct json *j, const struct picture *p)
{
	json_array(j, "not_measured");
	for (size_t i = 0; i < p->place.n; i++) {
		json_object(j, NULL);
		json_address(j, "start", p->place.at[i].start);
		json_address(j, "end", p->place.at[i].end);
		json_string(j, "reason", p->place.at[i].reason);
		json_end(j);
	}
	json_end(j);
}

/* what was counted of the procedure as a whole */
static void json_head(struct json *j, const struct drawn *d)
{
	const struct picture *p = &d->picture;

	json_string(j, "image", p->m->name);
	if (!d->sampled) {
		report_json_procedure(j, p->m, p->proc);
		return;
	}
	json_string(j, "procedure",
		    symbolizer_procedure(p->m->symbolizer, p->proc));
	json_address(j, "entry", p->m->map->proc.at[p->proc].entry);
	json_string(j, "event", d->sampled->event);
	json_number(j, "samples", d->sampled->samples);
	json_number(j, "samples_elsewhere", d->sampled->others);
}

void graph_show_json(const struct drawn *d, FILE *to)
{
	const struct picture *p = &d->picture;
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_head(&j, d);
	json_blocks(&j, p, d->sampled ? "samples" : "count");
	json_edges(&j, p);
	json_loops(&j, p);
	json_places(&j, p);
	json_end(&j);
}
