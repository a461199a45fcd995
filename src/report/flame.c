/* flame: see flame.h. */
#include "report/flame.h"

/* a page is not higher; a chain of so many calls is no picture */
enum { DEPTH_MOST = 512 };

/* a frame that is made, and what is not to be drawn */
struct growing {
	struct frame is;
	bool whole; /* it is all of its procedure */
};

struct grower {
	struct flame *f;
	double least; /* width */
	VEC(struct growing) todo; /* the next one is the last */
};

static void add_frames_on(struct grower *x, const struct growing *by,
			  struct frame *is)
{
	const struct call_graph *g = &x->f->graph;
	const struct call_vertex *v = &g->vertex.at[is->vertex];
	double scale = v->scale * (by->whole ? 1 : is->width / v->worth);
	bool whole = by->whole && v->scale == 1;
	double at = is->start;

	for (uint32_t i = v->first; i < v->first + v->narc; i++) {
		const struct call_arc *a = &g->arc.at[i];
		struct growing next = {
			.is = {.vertex = a->to, .depth = is->depth + 1,
			       .start = at, .width = a->share * scale,
			       .measured = whole && a->measured},
			.whole = whole &&
				 a->share == g->vertex.at[a->to].worth,
		};

		at += next.is.width;
		is->own -= next.is.width;
		if (next.is.width < x->least || next.is.depth >= DEPTH_MOST)
			x->f->left_out++;
		else
			vec_push(&x->todo, next);
	}
	if (is->own < 0) /* by rounding */
		is->own = 0;
}

/* a frame with those on it, callers first */
static void grow(struct grower *x, const struct growing *root)
{
	struct flame *f = x->f;

	vec_push(&x->todo, *root);
	while (x->todo.n) {
		struct growing by = x->todo.at[--x->todo.n];

		by.is.own = by.is.width;
		add_frames_on(x, &by, &by.is);
		if (by.is.own > f->most_own)
			f->most_own = by.is.own;
		if (by.is.depth >= f->depth)
			f->depth = by.is.depth + 1;
		vec_push(&f->frame, by.is);
	}
}

void flame_make(struct flame *f, struct run_calls *r, unsigned event,
		double least)
{
	struct grower x = {.f = f};
	const struct call_vertex *all;
	double at = 0;

	*f = (struct flame){0};
	call_graph_make(&f->graph, r, event);
	all = &f->graph.vertex.at[0];
	f->total = all->worth;
	x.least = least * f->total;
	for (uint32_t i = all->first; i < all->first + all->narc; i++) {
		const struct call_arc *a = &f->graph.arc.at[i];

		grow(&x, &(struct growing){
				 .is = {.vertex = a->to, .start = at,
					.width = a->share, .measured = true},
				 .whole = true,
			 });
		at += a->share;
	}
	vec_free(&x.todo);
}

void flame_free(struct flame *f)
{
	call_graph_free(&f->graph);
	vec_free(&f->frame);
}
