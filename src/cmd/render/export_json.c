/*
 * export_json: all that profiles and databases tell: of code that was counted
 * procedures, blocks and edges, of other code procedures and instructions with
 * samples. doc/report-json.md has the keys.
 */
#include "export/formats.h"
#include "cmd/render/report_show.h"

/* of an image that is being written */
struct image_json {
	struct json *j;
	struct dataset *d;
	const struct dataset_image *m;
	const struct points *points; /* its samples, or none */
};

/* samples of each event, in their order */
static void json_sums(const struct image_json *x, const uint64_t *samples)
{
	json_array(x->j, "samples");
	for (size_t v = 0; v < x->d->samples->event.n; v++)
		json_number(x->j, NULL, samples[v]);
	json_end(x->j);
}

/* those of n points that are in a range of addresses, added up */
static void json_range(const struct image_json *x, const struct point *p,
		       size_t n, uint64_t start, uint64_t end)
{
	uint64_t sum[SAMPLES_EVENTS] = {0};
	size_t i;

	if (!x->m->samples)
		return;
	bisect(i, n, p[i].at.address < start);
	for (; i < n && p[i].at.address < end; i++)
		for (size_t v = 0; v < x->d->samples->event.n; v++)
			sum[v] += p[i].samples[v];
	json_sums(x, sum);
}

static void json_blocks(const struct image_json *x, uint32_t proc,
			const struct point *points, size_t n)
{
	const struct counts_image *m = x->m->counts;
	const struct map_proc *p = &m->map->proc.at[proc];
	struct json *j = x->j;

	json_array(j, "blocks");
	for (uint32_t i = p->block; i < p->block + p->nblock; i++) {
		const struct map_block *b = &m->map->block.at[i];

		json_object(j, NULL);
		json_address(j, "start", b->start);
		json_address(j, "end", b->start + b->size);
		json_number(j, "instructions", b->ninsn);
		report_json_count(j, "count", m->solved.block_known[i],
				  m->solved.block[i], counts_unknown(m, proc));
		json_range(x, points, n, b->start, b->start + b->size);
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

/* a procedure that ran, may have, or has samples */
static void json_procedure(const struct image_json *x, uint32_t proc)
{
	const struct counts_image *m = x->m->counts;
	const struct point *points = NULL;
	size_t first = 0, n = 0;
	uint64_t insns;

	if (x->points->v.n) {
		n = points_of(x->points, proc, &first);
		points = x->points->v.at + first;
	}
	if (!n && counts_instructions(m, proc, &insns) && !insns)
		return;
	counts_load_next(m, proc);
	json_object(x->j, NULL);
	report_json_procedure(x->j, m, proc);
	json_range(x, points, n, 0, UINT64_MAX);
	json_blocks(x, proc, points, n);
	json_edges(x->j, m, proc);
	json_end(x->j);
}

/* a procedure that is in no map, from point i on; what follows it */
static size_t json_sampled_procedure(const struct image_json *x, size_t i)
{
	const struct point *p = x->points->v.at;
	uint64_t start = p[i].at.start;

	json_object(x->j, NULL);
	json_string(x->j, "procedure", p[i].at.procedure);
	json_address(x->j, "address", start);
	json_array(x->j, "instructions");
	for (; i < x->points->v.n && p[i].at.start == start; i++) {
		json_object(x->j, NULL);
		json_address(x->j, "address", p[i].at.address);
		json_sums(x, p[i].samples);
		json_end(x->j);
	}
	json_end(x->j);
	json_end(x->j);
	return i;
}

static void json_procedures(const struct image_json *x)
{
	const struct map *map = x->m->counts ? x->m->counts->map : NULL;
	size_t i;

	json_array(x->j, "procedures");
	for (uint32_t p = 0; map && p < map->proc.n; p++)
		json_procedure(x, p);
	bisect(i, x->points->v.n, x->points->v.at[i].proc != MAP_NONE);
	while (i < x->points->v.n)
		i = json_sampled_procedure(x, i);
	json_end(x->j);
}

static void json_build_id(struct json *j, const uint8_t *bytes, uint32_t n)
{
	char id[2 * STORE_BUILD_ID + 1] = "";

	for (uint32_t i = 0; i < n && i < STORE_BUILD_ID; i++)
		sprintf(id + 2 * i, "%02x", bytes[i]);
	json_string(j, "build_id", id);
}

static void json_in_place(struct json *j, const struct map *m)
{
	json_array(j, "in_place");
	for (size_t i = 0; i < m->in_place.n; i++) {
		json_object(j, NULL);
		json_address(j, "start", m->in_place.at[i].start);
		json_address(j, "end", m->in_place.at[i].end);
		json_string(j, "reason", m->in_place.at[i].reason);
		json_end(j);
	}
	json_end(j);
}

/* what the image is, and why nothing is known of its counts */
static void json_head(const struct image_json *x)
{
	const struct counts_image *m = x->m->counts;
	const struct samples_image *s = x->m->samples;
	const char *unknown = m ? m->missing :
			      x->m->left ? x->m->left->why : NULL;

	json_string(x->j, "image", x->m->name);
	if (!m || !m->missing)
		json_string(x->j, "path", m ? m->map->path :
					  s ? s->is.path : x->m->left->path);
	if (unknown)
		json_string(x->j, "unknown", unknown);
	if (m && !m->missing)
		json_build_id(x->j, m->map->build_id, m->map->build_id_len);
	else if (s)
		json_build_id(x->j, s->is.build_id, s->is.build_id_len);
	if (m && !m->missing)
		json_number(x->j, "instructions", m->solved.instructions);
	if (s)
		json_sums(x, s->total);
}

static void json_image(struct json *j, struct dataset *d, uint32_t image)
{
	static const struct points none;
	const struct dataset_image *m = &d->image.at[image];
	struct image_json x = {j, d, m,
			       m->samples ? dataset_points(d, image, false) :
					    &none};
	bool counted = m->counts && !m->counts->missing;

	if (!m->counts && !m->left && !x.points->v.n)
		return;
	json_object(j, NULL);
	json_head(&x);
	if (counted || m->samples)
		json_procedures(&x);
	if (counted)
		json_in_place(j, m->counts->map);
	json_end(j);
	dataset_forget_points(d, image);
}

static void json_events(struct json *j, const struct samples *s)
{
	json_array(j, "events");
	for (size_t v = 0; v < s->event.n; v++) {
		const struct samples_event *x = &s->event.at[v];

		json_object(j, NULL);
		json_string(j, "event", x->name);
		json_number(j, "samples", x->samples);
		json_number(j, "lost", x->lost);
		json_number(j, "period", x->period);
		json_end(j);
	}
	json_end(j);
}

int export_json(struct dataset *d, FILE *to, struct err *e)
{
	struct json j = {.to = to};

	(void)e;
	json_object(&j, NULL);
	if (d->counts) {
		json_string(&j, "command", d->counts->profile.command);
		json_string(&j, "options", d->counts->profile.options);
		json_bool(&j, "finished", d->counts->profile.finished);
		report_json_troubles(&j, d->counts);
	}
	if (d->samples)
		json_events(&j, d->samples);
	json_array(&j, "images");
	for (uint32_t i = 0; i < d->image.n; i++)
		json_image(&j, d, i);
	json_end(&j);
	json_end(&j);
	return 0;
}
