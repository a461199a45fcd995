/*
 * cfg_json: a cfg for programs. The names are a contract;
 * doc/cfg-json.md describes them.
 */
#include "cmd/render/cfg_show.h"

#include "base/json.h"

static const char *const status_names[] = {
	[DISPATCH_BOUNDED] = "bounded",
	[DISPATCH_APPROXIMATED] = "approximated",
	[DISPATCH_UNKNOWN] = "unknown", [DISPATCH_TAIL] = "tail-call",
	[DISPATCH_AWAY] = "away",
};

static const char *const source_names[] = {
	[PART_FDE] = "unwind-table", [PART_SYMBOL] = "symbol",
	[PART_CALL] = "call", [PART_HANDED] = "handed-pointer",
	[PART_POINTER] = "pointer",
};

static void json_block(const struct cfg *c, uint32_t k, void *json)
{
	const struct block *b = &c->block.at[k];
	struct json *j = json;

	json_object(j, NULL);
	json_address(j, "start", b->start);
	json_address(j, "end", block_end(b));
	if (b->flags & BLOCK_ENTRY)
		json_bool(j, "entry", true);
	if (b->flags & BLOCK_PAD)
		json_bool(j, "landing_pad", true);
	if (b->flags & BLOCK_FILL)
		json_bool(j, "padding", true);
	json_end(j);
}

static void json_edge(struct json *j, uint64_t from, uint64_t to,
		      unsigned kind)
{
	json_object(j, NULL);
	json_address(j, "from", from);
	json_address(j, "to", to);
	json_string(j, "kind", cfg_edge_name(kind));
	json_end(j);
}

/* edges that stay inside; those of a hub one by one */
static void json_inner_edges(const struct cfg *c, uint32_t k, void *json)
{
	struct json *j = json;

	for (uint32_t e = c->block.at[k].edge; e < cfg_edges_end(c, k); e++) {
		const struct edge *g = &c->edge.at[e];
		const struct hub *h;

		if (g->kind < EDGE_HUB)
			json_edge(j, c->block.at[k].start,
				  c->block.at[g->to].start, g->kind);
		if (g->kind != EDGE_HUB)
			continue;
		h = &c->hub.at[g->to];
		for (uint32_t t = 0; t < h->ntarget; t++)
			json_edge(j, c->block.at[k].start,
				  c->block.at[c->hub_target.at[h->target + t]]
					  .start, EDGE_HUB);
	}
}

/* edges that leave the procedure */
static void json_exits(const struct cfg *c, uint32_t k, void *json)
{
	const struct block *b = &c->block.at[k];
	struct json *j = json;

	for (uint32_t e = b->edge; e < cfg_edges_end(c, k); e++) {
		const struct edge *g = &c->edge.at[e];

		if (g->kind <= EDGE_HUB)
			continue;
		json_object(j, NULL);
		json_address(j, "from", b->start);
		if (g->kind == EDGE_TAIL && b->target)
			json_address(j, "to", b->target);
		json_string(j, "kind", cfg_edge_name(g->kind));
		json_end(j);
	}
}

static void json_procedure(const struct cfg *c, uint32_t p, struct json *j)
{
	const struct procedure *q = &c->proc.at[p];
	char buf[32];

	json_object(j, NULL);
	json_string(j, "name", cfg_proc_name(c, p, buf, sizeof buf));
	json_address(j, "entry", q->entry);
	if (q->import)
		json_string(j, "import", q->import);
	json_bool(j, "returns", q->returns);
	if (q->open)
		json_bool(j, "open", true);
	json_string(j, "found_by", source_names[
		c->part.at[c->proc_part.at[q->part]].source]);
	json_array(j, "blocks");
	cfg_each_block(c, p, json_block, j);
	json_end(j);
	json_array(j, "edges");
	cfg_each_block(c, p, json_inner_edges, j);
	json_end(j);
	json_array(j, "exits");
	cfg_each_block(c, p, json_exits, j);
	json_end(j);
	json_end(j);
}

static void json_dispatch(const struct cfg *c, const struct dispatch *d,
			  struct json *j)
{
	json_object(j, NULL);
	json_address(j, "at", d->addr);
	json_string(j, "status", status_names[d->status]);
	if (d->reason)
		json_string(j, "reason", d->reason);
	if (d->table) {
		json_address(j, "table", d->table);
		json_address(j, "base", d->base);
		json_number(j, "entry_size", d->entry_size);
		json_number(j, "entries", d->count);
	}
	json_array(j, "targets");
	for (uint32_t t = 0; t < d->ntarget; t++)
		json_address(j, NULL, c->target.at[d->target + t]);
	json_end(j);
	json_end(j);
}

/* numbers of dispatches by status */
static void json_tables(const struct cfg *c, struct json *j)
{
	uint64_t n[DISPATCH_STATUSES];

	cfg_count_dispatches(c, n);
	json_object(j, "jump_tables");
	json_number(j, "bounded", n[DISPATCH_BOUNDED]);
	json_number(j, "approximated", n[DISPATCH_APPROXIMATED]);
	json_number(j, "unknown", n[DISPATCH_UNKNOWN]);
	json_end(j);
	json_number(j, "indirect_tail_calls", n[DISPATCH_TAIL]);
	json_number(j, "jumps_away", n[DISPATCH_AWAY]);
}

void cfg_show_json(const struct cfg *c, uint32_t p, FILE *to)
{
	struct json j = {.to = to};
	char id[2 * sizeof c->image->build_id + 1] = "";

	for (unsigned i = 0; i < c->image->build_id_len; i++)
		sprintf(id + 2 * i, "%02x", c->image->build_id[i]);
	json_object(&j, NULL);
	json_string(&j, "file", c->image->path);
	json_string(&j, "isa", c->isa->name);
	json_string(&j, "build_id", id);
	json_number(&j, "text_bytes", c->text_bytes);
	json_number(&j, "covered_bytes", c->covered_bytes);
	json_number(&j, "unwind_bytes", c->fde_bytes);
	json_number(&j, "unwind_covered_bytes", c->fde_covered);
	json_array(&j, "procedures");
	for (uint32_t i = 0; i < c->proc.n; i++)
		if (p == CFG_NONE || p == i)
			json_procedure(c, i, &j);
	json_end(&j);
	json_tables(c, &j);
	json_array(&j, "dispatches");
	for (size_t i = 0; i < c->dispatch.n; i++)
		if (p == CFG_NONE ||
		    cfg_proc_at(c, c->dispatch.at[i].addr) == p)
			json_dispatch(c, &c->dispatch.at[i], &j);
	json_end(&j);
	json_array(&j, "in_place");
	for (size_t i = 0; i < c->region.n; i++) {
		json_object(&j, NULL);
		json_address(&j, "start", c->region.at[i].start);
		json_address(&j, "end", c->region.at[i].end);
		json_string(&j, "reason", c->region.at[i].reason);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
