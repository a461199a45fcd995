/* callgrind_file: see callgrind_file.h. */
#include "export/callgrind_file.h"

#include <inttypes.h>

#include "base/name.h"

void callgrind_file_free(struct callgrind_file *x)
{
	intern_free(&x->object);
	intern_free(&x->file);
	intern_free(&x->function);
}

void callgrind_head(struct callgrind_file *x, const struct counts *t)
{
	fputs("# callgrind format\nversion: 1\ncreator: tally " TALLY_VERSION
	      "\n", x->to);
	if (t) {
		fputs("cmd: ", x->to);
		name_print(x->to, t->profile.command, "");
		putc('\n', x->to);
	} else {
		fputs("desc: Counts: samples\n", x->to);
	}
}

void callgrind_name(struct callgrind_file *x, struct intern *in,
		    const char *key, const char *name)
{
	size_t before = in->string.n;
	uint32_t n = x->numbers ? intern(in, name) : 0;

	fprintf(x->to, "%s=", key);
	if (x->numbers)
		fprintf(x->to, "(%" PRIu32 ")%s", n + 1,
			in->string.n > before ? " " : "");
	if (!x->numbers || in->string.n > before)
		name_print(x->to, name, "");
	putc('\n', x->to);
}

struct line_place callgrind_place(const struct counts_image *m, uint64_t addr)
{
	struct lines *l = symbolizer_lines(m->symbolizer);
	struct line_place p;

	if (!l || !lines_find(l, addr, &p) || !p.file)
		p = (struct line_place){.file = "???"};
	return p;
}
