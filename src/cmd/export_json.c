/*
 * export_json: all that a profile tells. doc/report-json.md has the keys.
 */
#include "export/formats.h"
#include "cmd/report_show.h"

static void json_blocks(struct json *j, const struct counts_image *m,
			uint32_t proc)
{
	const struct map_proc *p = &m->map->proc.at[proc];

	json_array(j, "blocks");
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &m->map->block.at[i];

		json_object(j, NULL);
		json_address(j, "start", b->start);
		json_address(j, "end", b->start + b->size);
		json_number(j, "instructions", b->ninsn);
		report_json_count(j, "count", m->solved.block_known[i],
				  m->solved.block[i], counts_unknown(m, proc));
		json_end(j);
	}
	json_end(j);
}

static void json_edges(struct json *j, const struct counts_image *m,
		       uint32_t proc)
{
	const struct map_proc *p = &m->map->proc.at[proc];

	json_array(j, "edges");
	for (uint32_t i = p->edge; i < p->edge + p->nedge; i++) {
		json_object(j, NULL);
		report_json_edge(j, m, proc, i);
		json_end(j);
	}
	json_end(j);
}

/* a procedure that ran, or may have */
static void json_procedure(struct json *j, const struct counts *t,
			   uint32_t image, uint32_t proc)
{
	const struct counts_image *m = &t->image[image];
	uint64_t n;

	if (counts_instructions(m, proc, &n) && !n)
		return;
	counts_load_next(m, proc);
	json_object(j, NULL);
	report_json_procedure(j, m, proc);
	json_blocks(j, m, proc);
	json_edges(j, m, proc);
	json_end(j);
}

static void json_build_id(struct json *j, const struct map *m)
{
	char id[2 * sizeof m->build_id + 1] = "";

	for (unsigned i = 0; i < m->build_id_len; i++)
		sprintf(id + 2 * i, "%02x", m->build_id[i]);
	json_string(j, "build_id", id);
}

static void json_image(struct json *j, const struct counts *t, uint32_t image)
{
	const struct counts_image *m = &t->image[image];

	json_object(j, NULL);
	json_string(j, "image", m->name);
	if (m->missing) {
		json_string(j, "unknown", m->missing);
		json_end(j);
		return;
	}
	json_string(j, "path", m->map->path);
	json_build_id(j, m->map);
	json_number(j, "instructions", m->solved.instructions);
	json_array(j, "procedures");
	for (uint32_t p = 0; p < m->map->proc.n; p++)
		json_procedure(j, t, image, p);
	json_end(j);
	json_array(j, "in_place");
	for (size_t i = 0; i < m->map->in_place.n; i++) {
		json_object(j, NULL);
		json_address(j, "start", m->map->in_place.at[i].start);
		json_address(j, "end", m->map->in_place.at[i].end);
		json_string(j, "reason", m->map->in_place.at[i].reason);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void export_json(const struct counts *t, FILE *to)
{
	struct json j = {.to = to};

	json_object(&j, NULL);
	json_string(&j, "command", t->profile.command);
	json_string(&j, "options", t->profile.options);
	json_bool(&j, "finished", t->profile.finished);
	report_json_troubles(&j, t);
	json_array(&j, "images");
	for (uint32_t i = 0; i < t->nimage; i++)
		json_image(&j, t, i);
	for (uint32_t i = 0; i < t->nleft; i++) {
		json_object(&j, NULL);
		json_string(&j, "image", t->left[i].name);
		json_string(&j, "path", t->left[i].path);
		json_string(&j, "unknown", t->left[i].why);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
