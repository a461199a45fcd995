/* walk_counts: see walk_int.h. */
#include "trace/regenerate/walk_int.h"

void walk_count_arrival(const struct walk *w, uint32_t edge)
{
	const struct proc_plan *k = w->at.plan;

	if (edge == MAP_NONE && w->by == BY_BEGIN)
		edge = plan_landing(k, w->at.vertex);
	if (edge == MAP_NONE)
		edge = k->entry[w->at.vertex];
	if (edge == MAP_NONE)
		edge = plan_landing(k, w->at.vertex);
	if (edge != MAP_NONE)
		k->ran[edge]++;
}

void walk_count_death(const struct walk *w, const struct replay_place *p,
		      uint32_t insn)
{
	struct walk_death x = {p->image, p->plan, p->vertex, insn};

	if (!w->counts || !p->image || p->vertex >= p->plan->p->nblock)
		return;
	if (insn == MAP_NONE)
		x.insn = p->plan->block[p->vertex].ninsn;
	vec_push(&w->counts->death, x);
}

void walk_count_hub(const struct walk *w, uint32_t away, uint32_t from_hub)
{
	const struct proc_plan *k = w->at.plan;
	const struct graph *g = &k->t.g;
	uint32_t v = k->edge[away].from;

	if (!w->counts)
		return;
	k->ran[from_hub]++;
	for (uint32_t i = g->out_first[v]; i < g->out_first[v + 1]; i++)
		if (k->edge[g->out[i]].to == k->edge[from_hub].from) {
			k->ran[away]--;
			k->ran[g->out[i]]++;
			return;
		}
	if (k->entry[k->edge[from_hub].from] != MAP_NONE)
		k->ran[k->entry[k->edge[from_hub].from]]++;
}

void walk_count_end(const struct walk *w, const struct replay_place *p,
		    uint32_t insn)
{
	const struct graph *g = &p->plan->t.g;

	if (!w->counts)
		return;
	w->counts->left = true;
	if (insn == p->plan->block[p->vertex].ninsn &&
	    graph_out_degree(g, p->vertex) == 1)
		p->plan->ran[g->out[g->out_first[p->vertex]]]++;
	else
		walk_count_death(w, p, insn);
}

void walk_count_dropped(void *walk, const struct walk_frame *f,
			const struct walk_pause *x)
{
	struct walk *w = walk;

	if (!w->counts || !f->site.image)
		return;
	walk_count_death(w, &f->site, x->fresh ? x->first : MAP_NONE);
	w->counts->unsure |= x->rest.n;
}
