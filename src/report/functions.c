/* functions: see functions.h. */
#include "report/functions.h"

#include <stdlib.h>

static void add_image(struct functions *f, const struct counts *t,
		      uint32_t image, struct intern *file)
{
	const struct counts_image *m = &t->image[image];
	struct lines *l = m->missing ? NULL : symbolizer_lines(m->symbolizer);

	for (uint32_t i = 0; l && i < m->map->proc.n; i++) {
		struct line_place p;
		struct function x = {.image = image, .proc = i};

		if (!lines_find(l, m->map->proc.at[i].entry, &p) || !p.line)
			continue;
		x.file = intern(file, p.file);
		x.line = p.line;
		vec_push(&f->v, x);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct function *p = a, *q = b;

	if (p->file != q->file)
		return p->file < q->file ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	if (p->image != q->image)
		return p->image < q->image ? -1 : 1;
	return p->proc < q->proc ? -1 : p->proc > q->proc;
}

void functions_make(struct functions *f, const struct counts *t,
		    struct intern *file)
{
	*f = (struct functions){0};
	for (uint32_t i = 0; i < t->nimage; i++)
		add_image(f, t, i, file);
	if (f->v.n)
		qsort(f->v.at, f->v.n, sizeof *f->v.at, by_place);
}

void functions_free(struct functions *f)
{
	vec_free(&f->v);
}
