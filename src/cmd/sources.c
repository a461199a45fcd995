/* sources: see sources.h. */
#include "cmd/sources.h"

#include "cmd/render/status_line.h"

int sources_fit(const struct command *c, const struct arguments *a,
		size_t first)
{
	for (size_t i = first; i < a->operand.n; i++)
		if (store_is(a->operand.at[i]))
			return 0;
	return a->of_databases ? cmd_misuse(c, "--%s is for databases",
					    a->of_databases) : 0;
}

int sources_open(struct dataset *v, const char *const *path, size_t n,
		 const struct samples_query *pick, struct err *e)
{
	struct status_line line;
	int status;

	status_line_begin(&line);
	status = dataset_open(v, path, n, pick, &line.progress, e);
	status_line_end(&line);
	return status;
}
