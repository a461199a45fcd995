/* sampled_annotation: see sampled_annotation.h. */
#include "report/sampled_annotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"

/* the instruction at the address, made if the disassembly has none there */
static struct sampled_noted *noted_at(struct sampled_annotation *a,
				      uint64_t addr)
{
	struct sampled_noted new = {.addr = addr};
	size_t i;

	bisect(i, a->v.n, a->v.at[i].addr < addr);
	if (i < a->v.n && a->v.at[i].addr == addr)
		return &a->v.at[i];
	vec_push(&a->v, new);
	memmove(&a->v.at[i + 1], &a->v.at[i], (a->v.n - 1 - i) * sizeof new);
	a->v.at[i] = new;
	return &a->v.at[i];
}

static void read_code(struct sampled_annotation *a)
{
	const struct isa *isa = sampled_isa(a->f.m);
	struct disassembly *d = &a->disassembly;

	if (!isa || a->f.of.end <= a->f.of.start)
		return;
	disassembly_init(d, isa, a->f.m->is.path);
	disassembly_read(d, a->f.of.start, a->f.of.end);
	for (size_t i = 0; i < d->v.n; i++)
		noted_at(a, d->v.at[i].addr)->text = d->v.at[i].text;
}

static void add_samples(struct sampled_annotation *a, unsigned event)
{
	const run *r = &a->f.m->samples[event];

	for (size_t i = 0; i < r->n; i++) {
		struct sampled_place p;

		sampled_find(a->f.m, r->at[i].offset, false, &p);
		if (p.start != a->f.of.start)
			continue;
		noted_at(a, p.address)->samples[event] += r->at[i].count;
		a->total[event] += r->at[i].count;
	}
}

int sampled_annotation_make(struct sampled_annotation *a, struct sampled *s,
			    const char *word, const char *image,
			    struct err *e)
{
	*a = (struct sampled_annotation){0};
	if (sampled_wanted(&a->f, s, word, image, e) ||
	    sampled_become_owner(&a->f, e))
		return -1;
	read_code(a);
	for (unsigned v = 0; v < s->event.n; v++)
		add_samples(a, v);
	for (size_t i = 0; i < a->v.n; i++)
		if (!sampled_line(a->f.m, a->v.at[i].addr, &a->v.at[i].place))
			a->v.at[i].place = (struct line_place){0};
	return 0;
}

void sampled_annotation_free(struct sampled_annotation *a)
{
	vec_free(&a->v);
	disassembly_free(&a->disassembly);
}
