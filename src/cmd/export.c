/*
 * export: `tally export --format tsv|json PROFILE`, counts for other tools.
 */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/name.h"
#include "cmd/option.h"
#include "cmd/report_show.h"

static const char export_usage[] =
	"usage: tally export --format FORMAT PROFILE\n"
	"\n"
	"Writes what a profile tells in a form that other tools read.\n"
	"\n"
	"  --format tsv   a line for each instruction that ran:\n"
	"                 IMAGE<TAB>0xADDRESS<TAB>COUNT\n"
	"  --format json  images, procedures, blocks and edges\n";

/* a block that ran */
struct ran_block {
	const struct map_block *block;
	uint32_t number; /* in the map */
};

static int by_address(const void *a, const void *b)
{
	const struct ran_block *p = a, *q = b;

	return p->block->start < q->block->start ? -1 :
	       p->block->start > q->block->start;
}

static void export_block(const struct told_image *m,
			 const struct ran_block *x)
{
	struct insn_walk w = {0};
	uint64_t addr, n;

	while (insn_next(m->map, x->block, &w, &addr)) {
		n = solved_insn(&m->solved, x->number, w.done - 1);
		if (!n)
			break; /* nor did what follows */
		name_print(stdout, m->name, "");
		printf("\t0x%" PRIx64 "\t%" PRIu64 "\n", addr, n);
	}
}

/* procedures may lie inside each other: all blocks of the image are sorted */
static void export_tsv_image(const struct told_image *m)
{
	VEC(struct ran_block) ran = {0};

	for (uint32_t i = 0; i < m->map->block.n; i++) {
		struct ran_block x = {&m->map->block.at[i], i};

		if (m->solved.block_known[i] && m->solved.block[i])
			vec_push(&ran, x);
	}
	if (ran.n)
		qsort(ran.at, ran.n, sizeof *ran.at, by_address);
	for (size_t i = 0; i < ran.n; i++)
		export_block(m, &ran.at[i]);
	vec_free(&ran);
}

static void export_tsv(const struct told *t)
{
	for (uint32_t i = 0; i < t->nimage; i++)
		if (!t->image[i].missing)
			export_tsv_image(&t->image[i]);
}

static void json_blocks(struct json *j, const struct told_image *m,
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
				  m->solved.block[i], told_unknown(m, proc));
		json_end(j);
	}
	json_end(j);
}

static void json_edges(struct json *j, const struct told_image *m,
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
static void json_procedure(struct json *j, const struct told *t,
			   uint32_t image, uint32_t proc)
{
	const struct told_image *m = &t->image[image];
	struct row row = {.image = image, .proc = proc,
			  .addr = m->map->proc.at[proc].entry};

	row.known = told_instructions(m, proc, &row.count);
	if (row.known && !row.count)
		return;
	json_object(j, NULL);
	report_json_procedure(j, t, &row);
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

static void json_image(struct json *j, const struct told *t, uint32_t image)
{
	const struct told_image *m = &t->image[image];

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

static void export_json(const struct told *t)
{
	struct json j = {.to = stdout};

	json_object(&j, NULL);
	json_string(&j, "command", t->profile.command);
	json_string(&j, "options", t->profile.options);
	json_bool(&j, "finished", t->profile.finished);
	report_json_troubles(&j, t);
	json_array(&j, "images");
	for (uint32_t i = 0; i < t->nimage; i++)
		json_image(&j, t, i);
	json_end(&j);
	json_end(&j);
}

struct export_call {
	const char *format, *profile;
};

/* reads the arguments; 0 or the exit status */
static int export_parse(int argc, char **argv, struct export_call *call)
{
	bool options = true;

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *value;

		if (options && !strcmp(a, "--"))
			options = false;
		else if (options && (value = option_value(argv, &i,
							  "--format")))
			call->format = value;
		else if (options && a[0] == '-' && a[1])
			return cmd_misuse(&cmd_export, "unknown option '%s'",
					  a);
		else if (call->profile)
			return cmd_misuse(&cmd_export,
					  "one PROFILE at a time");
		else
			call->profile = a;
	}
	if (!call->format)
		return cmd_misuse(&cmd_export, "which --format, tsv or json?");
	if (strcmp(call->format, "tsv") && strcmp(call->format, "json"))
		return cmd_misuse(&cmd_export, "there is no format '%s', only "
				  "tsv and json", call->format);
	return call->profile ? 0 : cmd_misuse(&cmd_export, "which PROFILE?");
}

static int export_run(int argc, char **argv)
{
	struct export_call call = {0};
	struct told t;
	struct err e;
	int status = export_parse(argc, argv, &call);

	if (status)
		return status;
	if (told_open(&t, call.profile, &e))
		return cmd_fail(&e);
	report_show_notes(&t);
	if (!strcmp(call.format, "tsv"))
		export_tsv(&t);
	else
		export_json(&t);
	told_close(&t);
	return STATUS_OK;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "counts in a form that other tools read",
	.usage = export_usage,
	.run = export_run,
};
