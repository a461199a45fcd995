/*
 * change_lines: what changed of images as a whole, and of lines of the source.
 */
#include <string.h>

#include "report/diff/change_int.h"

/* those in no procedure; true: it is asked for */
static bool begin_image(struct changer *c, uint32_t image, struct change *x)
{
	*x = (struct change){.image = image,
			     .a = MATCH_NONE, .b = MATCH_NONE,
			     .part_a = MATCH_NONE, .part_b = MATCH_NONE};
	return change_meant(c, change_image_a(c->m, x)) ||
	       change_meant(c, change_image_b(c->m, x));
}

static struct side_count image_of(const struct counts_image *m)
{
	struct side_count c = {.there = m != NULL};

	if (m) {
		c.n = m->solved.instructions;
		c.known = counts_complete(m);
	}
	return c;
}

void change_add_image(struct changer *c, uint32_t image)
{
	struct change x;

	if (!begin_image(c, image, &x))
		return;
	c->out->found = true;
	x.before = image_of(change_image_a(c->m, &x));
	x.after = image_of(change_image_b(c->m, &x));
	x.code = !x.after.there ? CODE_ONLY_BEFORE :
		 !x.before.there ? CODE_ONLY_AFTER :
		 c->m->v.at[image].same ? CODE_SAME : CODE_CHANGED;
	change_add(c, x);
}

/* a line of one of the runs */
struct side_line {
	uint32_t image; /* in match.v */
	int side;
	const char *file;
	const struct line_count *is;
};

struct side_lines {
	VEC(struct side_line) v;
};

static int compare_lines(const struct side_line *p, const struct side_line *q)
{
	int sign = strcmp(p->file, q->file);

	if (p->image != q->image)
		return p->image < q->image ? -1 : 1;
	if (sign || p->is->line == q->is->line)
		return sign;
	return p->is->line < q->is->line ? -1 : 1;
}

static int by_line(const void *a, const void *b)
{
	const struct side_line *p = a, *q = b;
	int sign = compare_lines(p, q);

	return sign ? sign : p->side - q->side;
}

/* the lines of a run that are in images which are compared and asked for */
static void collect_lines(struct changer *c, int side, struct side_lines *out)
{
	const struct counts *t = side ? c->m->b : c->m->a;
	struct line_counts *l = &c->out->lines[side];
	uint32_t *to = NEW_ARRAY(uint32_t, t->nimage + 1);
	struct change x;

	memset(to, 0xff, t->nimage * sizeof *to);
	for (uint32_t i = 0; i < c->m->v.n; i++) {
		const struct match_image *m = &c->m->v.at[i];
		uint32_t image = side ? m->b : m->a;

		if (image != MATCH_NONE && !m->unmeasured &&
		    begin_image(c, i, &x))
			to[image] = i;
	}
	line_counts_make(l, t);
	for (size_t i = 0; i < l->v.n; i++) {
		struct side_line new = {to[l->v.at[i].image], side,
					l->file.string.at[l->v.at[i].file],
					&l->v.at[i]};

		if (new.image != MATCH_NONE)
			vec_push(&out->v, new);
	}
	mem_free(to);
}

static struct side_count line_of(const struct side_line *l)
{
	return (struct side_count){l->is->count, l->is->known, true};
}

void change_add_lines(struct changer *c)
{
	struct side_lines all = {0};
	struct change x;

	collect_lines(c, 0, &all);
	collect_lines(c, 1, &all);
	mem_sort(all.v.at, all.v.n, sizeof *all.v.at, by_line);
	c->out->found = all.v.n;
	for (size_t i = 0; i < all.v.n; i++) {
		const struct side_line *l = &all.v.at[i];

		begin_image(c, l->image, &x);
		x.file = l->file;
		x.line = l->is->line;
		*(l->side ? &x.after : &x.before) = line_of(l);
		if (i + 1 < all.v.n && !compare_lines(l, l + 1))
			x.after = line_of(&all.v.at[++i]);
		change_add(c, x);
	}
	vec_free(&all.v);
}
