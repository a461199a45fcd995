/* match: see match.h. */
#include "report/diff/match.h"

#include "flow/graph.h"
#include "report/diff/match_callers.h"
#include "report/diff/match_blocks.h"
#include "abi/hash.h"

/* fewer instructions do not tell a procedure from others by lengths alone */
enum { FEW_INSNS = 16 };

static bool same_file(const struct match *m, uint32_t a, uint32_t b)
{
	const struct counts_image *x = &m->a->image[a], *y = &m->b->image[b];

	return !x->missing && !y->missing &&
	       x->map->file_sum == y->map->file_sum;
}

static bool same_name(const struct match *m, uint32_t a, uint32_t b)
{
	return !strcmp(m->a->image[a].name, m->b->image[b].name);
}

/* "libz.so.1.2.13" and "libz.so.1.3": versions of a library */
static bool are_versions(const char *x, const char *y)
{
	const char *end = strstr(x, ".so");

	return end && !strncmp(x, y, (size_t)(end - x) + strlen(".so"));
}

static bool same_library(const struct match *m, uint32_t a, uint32_t b)
{
	return are_versions(m->a->image[a].name, m->b->image[b].name);
}

/* an image of the other run that has no counterpart here ran uncounted here */
static bool is_left(const struct counts *t, const char *name)
{
	for (uint32_t i = 0; i < t->nleft; i++)
		if (!strcmp(t->left[i].name, name) ||
		    are_versions(name, t->left[i].name))
			return true;
	return false;
}

static bool same_program(const struct match *m, uint32_t a, uint32_t b)
{
	return m->a->image[a].image == m->program_a &&
	       m->b->image[b].image == m->program_b;
}

/* images that have no counterpart yet, and are alike */
static void match_images(const struct match *m, uint32_t *to, bool *taken,
			 bool (*alike)(const struct match *m, uint32_t a,
				       uint32_t b))
{
	for (uint32_t i = 0; i < m->a->nimage; i++)
		for (uint32_t k = 0; to[i] == MATCH_NONE && k < m->b->nimage;
		     k++)
			if (!taken[k] && alike(m, i, k)) {
				to[i] = k;
				taken[k] = true;
			}
}

static void join(void *image, uint32_t a, uint32_t b)
{
	struct match_image *x = image;

	x->to[a] = b;
	x->from[b] = a;
}

static void by_address(struct match_image *x, const struct map *a,
		       const struct map *b)
{
	uint32_t i = 0, k = 0;

	while (i < a->proc.n && k < b->proc.n) {
		uint64_t s = a->proc.at[i].entry, t = b->proc.at[k].entry;

		if (s == t)
			join(x, i, k);
		i += s <= t;
		k += t <= s;
	}
}

static void list_names(const struct counts_image *m, struct keyed_list *out)
{
	for (uint32_t i = 0; i < m->map->proc.n; i++) {
		const char *name = content_name(m, i);
		struct keyed k = {.item = i};

		if (!name)
			continue;
		k.key = hash_bytes(name, strlen(name), 0);
		vec_push(&out->v, k);
	}
}

static uint64_t insns_of(const struct map *m, uint32_t proc)
{
	const struct map_proc *p = &m->proc.at[proc];
	uint64_t n = 0;

	map_turn(m, proc);
	for (uint32_t i = p->block; i < p->block + p->nblock; i++)
		n += m->block.at[i].ninsn;
	return n;
}

/* what has no counterpart, by content; those with a name only by that, too */
static void list_contents(const struct content *c, const uint32_t *match,
			  struct keyed_list *out)
{
	const struct map *m = c->m->map;

	out->v.n = 0;
	for (uint32_t i = 0; i < m->proc.n; i++) {
		const char *name;
		struct keyed k = {.item = i};

		if (match[i] != MATCH_NONE ||
		    (!c->exact && insns_of(m, i) < FEW_INSNS))
			continue;
		name = content_name(c->m, i);
		k.key = content_procedure(c, i);
		if (name)
			k.key = hash_bytes(name, strlen(name), k.key);
		vec_push(&out->v, k);
	}
}

/* something without counterpart */
static bool has_left(const struct content *c, const uint32_t *match)
{
	for (uint32_t i = 0; i < c->m->map->proc.n; i++)
		if (match[i] == MATCH_NONE)
			return true;
	return false;
}

static void by_name(struct match_image *x, const struct counts_image *a,
		    const struct counts_image *b)
{
	struct keyed_list v = {0}, w = {0};

	list_names(a, &v);
	list_names(b, &w);
	unique_match(&v, &w, true, join, x);
	list_contents(&x->x, x->to, &v);
	list_contents(&x->y, x->from, &w);
	unique_match(&v, &w, x->x.exact, join, x);
	if (has_left(&x->x, x->to) && has_left(&x->y, x->from))
		match_callers(&x->x, x->to, &x->y, x->from);
	vec_free(&v.v);
	vec_free(&w.v);
}

static void add_image(struct match *m, uint32_t a, uint32_t b)
{
	struct match_image x = {.a = a, .b = b};
	const struct counts_image *p = a == MATCH_NONE ? NULL : &m->a->image[a];
	const struct counts_image *q = b == MATCH_NONE ? NULL : &m->b->image[b];

	if (p)
		x.to = graph_nones(&m->arena, (uint32_t)p->map->proc.n + 1);
	x.unmeasured = (p && counts_unmeasured(p)) ||
		       (q && counts_unmeasured(q)) ||
		       (!p && is_left(m->a, q->name)) ||
		       (!q && is_left(m->b, p->name));
	if (q)
		x.from = graph_nones(&m->arena, (uint32_t)q->map->proc.n + 1);
	if (p && q) {
		x.same = same_file(m, a, b);
		if (x.same) {
			by_address(&x, p->map, q->map);
		} else {
			content_make(&m->arena, p, &x.x, q, &x.y);
			by_name(&x, p, q);
		}
	}
	vec_push(&m->v, x);
}

void match_make(struct match *m, const struct counts *a, const struct counts *b)
{
	bool *taken = NEW_ARRAY(bool, b->nimage + 1);
	uint32_t *to;

	*m = (struct match){.a = a, .b = b,
			    .program_a = profile_program(&a->profile),
			    .program_b = profile_program(&b->profile)};
	to = graph_nones(&m->arena, (uint32_t)a->nimage + 1);
	match_images(m, to, taken, same_file);
	match_images(m, to, taken, same_program);
	match_images(m, to, taken, same_name);
	match_images(m, to, taken, same_library);
	for (uint32_t i = 0; i < a->nimage; i++)
		add_image(m, i, to[i]);
	for (uint32_t k = 0; k < b->nimage; k++)
		if (!taken[k])
			add_image(m, MATCH_NONE, k);
	mem_free(taken);
}

void match_free(struct match *m)
{
	vec_free(&m->v);
	arena_free(&m->arena);
}
