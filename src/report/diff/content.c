/* content: see content.h. */
#include "report/diff/content.h"

#include "cfg/cfg.h"
#include "count/place/plan.h"
#include "elf/image.h"
#include "isa/isa.h"
#include "report/walk.h"
#include "abi/hash.h"

enum { FIELDS = 6 };

/* the file that was measured, if it is still there */
static bool open_file(const struct counts_image *m, struct image *im)
{
	struct err e;

	if (m->missing || !isa_for_elf(m->map->machine) ||
	    image_open(im, m->map->path, &e))
		return false;
	if (count_file_sum(im) == m->map->file_sum)
		return true;
	image_close(im);
	return false;
}

/* an instruction with an address in it: what is left without */
static uint64_t hash_loose(const struct insn *i, uint64_t seed)
{
	uint64_t field[FIELDS] = {
		i->kind | (uint64_t)i->ref_kind << 8 |
			(uint64_t)i->cond << 16 | (uint64_t)i->vector << 24,
		i->mem_read | (uint64_t)i->mem_write << 16 |
			(uint64_t)i->mem_class << 32,
		i->reads, i->writes, i->flags_read, i->flags_written,
	};

	return hash_bytes(field, sizeof field, seed);
}

/*
 * pages: registers that hold a page's address, whose place in the page the
 * instruction has.
 */
static uint64_t hash_insn(const struct image *im, const struct isa *isa,
			  uint64_t addr, regset *pages, uint64_t seed)
{
	struct insn i;
	size_t avail;
	const uint8_t *code = image_at(im, addr, &avail);
	bool loose;

	isa->decode(code, avail, addr, &i);
	loose = i.target || i.ref_kind != REF_NONE || i.has_imm ||
		(i.reads & *pages);
	*pages &= ~i.writes;
	if (i.ref_kind == REF_PAGE)
		*pages |= i.writes;
	return loose || !i.len ? hash_loose(&i, seed) :
				 hash_bytes(code, i.len, seed);
}

static uint64_t hash_block(const struct counts_image *m, const struct image *im,
			   const struct map_block *b)
{
	const struct isa *isa = isa_for_elf(m->map->machine);
	uint64_t hash = hash_bytes(&b->ninsn, sizeof b->ninsn, 0), addr;
	struct insn_walk w = {0};
	regset pages = 0;

	while (im && insn_next(m->map, b, &w, &addr))
		hash = hash_insn(im, isa, addr, &pages, hash);
	if (!im && !m->map->insn_size && b->ninsn)
		hash = hash_bytes(m->map->length.at + b->length, b->ninsn,
				  hash);
	return hash;
}

const char *content_name(const struct counts_image *m, uint32_t proc)
{
	const char *symbol = symbolizer_symbol(m->symbolizer, proc);
	char own[32];

	cfg_name_of(NULL, m->map->proc.at[proc].entry, own, sizeof own);
	return strcmp(symbol, own) ? symbol : NULL;
}

/* what a block calls is a part of what it does */
static void add_callee(struct content *x, const struct map_proc *p,
		       const struct map_edge *d)
{
	const struct map *m = x->m->map;
	const char *name;
	uint32_t i;

	if (!d->callee || d->from >= p->nblock)
		return;
	i = map_proc_at(m, d->callee);
	if (i == MAP_NONE)
		return;
	name = content_name(x->m, i);
	if (name)
		x->block[p->block + d->from] ^=
			hash_bytes(name, strlen(name), 1);
}

static void fill(struct arena *a, const struct counts_image *m,
		 const struct image *im, struct content *x)
{
	const struct map *map = m->map;

	*x = (struct content){.m = m, .exact = im};
	x->block = ARENA_ARRAY(a, uint64_t, map->block.n + 1);
	for (uint32_t i = 0; i < map->proc.n; i++) {
		const struct map_proc *p = &map->proc.at[i];

		map_turn(map, i);
		for (uint32_t b = p->block; b < p->block + p->nblock; b++)
			x->block[b] = hash_block(m, im, &map->block.at[b]);
		for (uint32_t e = p->edge; e < p->edge + p->nedge; e++)
			add_callee(x, p, &map->edge.at[e]);
	}
}

void content_make(struct arena *a, const struct counts_image *m,
		  struct content *x, const struct counts_image *n,
		  struct content *y)
{
	struct image im, in;
	bool first = open_file(m, &im), second = open_file(n, &in);
	bool both = first && second;

	fill(a, m, both ? &im : NULL, x);
	fill(a, n, both ? &in : NULL, y);
	if (first)
		image_close(&im);
	if (second)
		image_close(&in);
}

uint64_t content_procedure(const struct content *x, uint32_t proc)
{
	const struct map_proc *p = &x->m->map->proc.at[proc];

	return hash_bytes(x->block + p->block, p->nblock * sizeof *x->block,
			  p->nedge);
}
