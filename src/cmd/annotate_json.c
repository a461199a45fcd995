/* annotate_json: a procedure for programs. doc/report-json.md has the keys. */
#include "base/json.h"
#include "cmd/annotate_show.h"
#include "cmd/report_show.h"

static void json_insn(struct json *j, const struct annotation *a,
		      const struct noted *n)
{
	json_object(j, NULL);
	json_address(j, "address", n->addr);
	if (n->text)
		json_string(j, "instruction", n->text);
	else
		json_null(j, "instruction");
	if (n->in_place) {
		json_null(j, "count");
		json_string(j, "not_measured", n->in_place);
	} else {
		report_json_count(j, "count", n->known, n->count,
				  told_unknown(a->m, a->proc));
	}
	if (n->is_branch) {
		json_number(j, "taken", n->taken);
		json_number(j, "not_taken", n->fell);
	}
	if (n->callee)
		json_string(j, "callee", n->callee);
	if (n->place.file) {
		json_string(j, "file", n->place.file);
		json_number(j, "line", n->place.line);
	}
	json_end(j);
}

void annotate_show_json(const struct told *t, const struct annotation *a,
			FILE *to)
{
	struct json j = {.to = to};
	struct row r = {.image = (uint32_t)(a->m - t->image), .proc = a->proc,
			.addr = a->m->map->proc.at[a->proc].entry};

	r.known = told_instructions(a->m, a->proc, &r.count);
	json_object(&j, NULL);
	json_string(&j, "image", a->m->name);
	report_json_procedure(&j, t, &r);
	json_array(&j, "code");
	for (size_t i = 0; i < a->v.n; i++)
		json_insn(&j, a, &a->v.at[i]);
	json_end(&j);
	json_end(&j);
}
