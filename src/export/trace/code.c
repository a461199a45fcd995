/* code: see code.h. */
#include "export/trace/code.h"

#include "count/place/plan.h"

void code_open(struct code *c, const struct walks *w)
{
	c->walks = w;
	c->image = NEW_ARRAY(struct code_image, w->images.image.n + 1);
}

void code_close(struct code *c)
{
	for (size_t i = 0; i < c->walks->images.image.n; i++) {
		struct code_image *k = &c->image[i];

		if (k->here)
			image_close(&k->file);
		dict_free(&k->known);
		vec_free(&k->insn);
	}
	mem_free(c->image);
}

static void open_image(struct code_image *k, const struct map *m)
{
	struct err e;

	k->opened = true;
	k->isa = isa_for_elf(m->machine);
	if (!k->isa || !m->path || image_open(&k->file, m->path, &e))
		return;
	k->here = count_file_sum(&k->file) == m->file_sum;
	if (!k->here)
		image_close(&k->file);
}

/* what the edges out of the block say of its last instruction */
static uint8_t kind_of_edges(const struct walk_step *s)
{
	const struct graph *g = &s->plan->t.g;
	uint8_t kind = INSN_SEQ;

	for (uint32_t i = g->out_first[s->vertex];
	     i < g->out_first[s->vertex + 1]; i++) {
		const struct map_edge *d = &s->plan->edge[g->out[i]];
		bool says = d->writes & MAP_WRITES_TARGET;

		switch (d->kind) {
		case MAP_TAKEN:
			return INSN_COND;
		case MAP_JUMP:
		case MAP_STAYS:
			kind = INSN_JUMP;
			break;
		case MAP_CALL:
		case MAP_NORETURN:
		case MAP_OVER:
			return d->callee ? INSN_CALL :
			       says	 ? INSN_ICALL :
					   INSN_SYSCALL;
		case MAP_TAIL:
			kind = d->callee ? INSN_JUMP : INSN_IJUMP;
			break;
		case MAP_RETURN:
			return INSN_RET;
		case MAP_TABLE:
		case MAP_TO_HUB:
		case MAP_AWAY:
			return INSN_IJUMP;
		}
	}
	return kind;
}

static struct insn without_file(const struct walk_step *s, uint32_t insn,
				uint64_t address)
{
	const struct map_block *b = replay_block(s);

	return (struct insn){
		.addr = address,
		.len = (uint8_t)replay_size(&s->image->map, b, insn),
		.kind = insn + 1 < b->ninsn ? INSN_SEQ : kind_of_edges(s),
	};
}

static struct insn read_insn(const struct code_image *k,
			     const struct walk_step *s, uint32_t insn,
			     uint64_t address)
{
	struct insn x = {0};
	const uint8_t *at;
	size_t avail;

	if (k->here) {
		at = image_at(&k->file, address, &avail);
		if (at)
			k->isa->decode(at, avail, address, &x);
	}
	return x.kind == INSN_BAD ? without_file(s, insn, address) : x;
}

const struct insn *code_insn(struct code *c, const struct walk_step *s,
			     uint32_t insn, uint64_t address)
{
	struct code_image *k = &c->image[s->image->number];
	uint32_t n;

	if (!k->opened)
		open_image(k, &s->image->map);
	n = dict_get(&k->known, address);
	if (n == DICT_NONE) {
		n = (uint32_t)k->insn.n;
		vec_push(&k->insn, read_insn(k, s, insn, address));
		dict_put(&k->known, address, n);
	}
	return &k->insn.at[n];
}

unsigned code_sp(const struct code *c, const struct walk_step *s)
{
	const struct code_image *k = &c->image[s->image->number];

	return k->here ? k->isa->sp : ISA_NO_REG;
}
