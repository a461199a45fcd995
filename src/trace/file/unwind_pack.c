/*
 * unwind_pack: writes unwind tables of traces, see unwind_table.h. Rules are of
 * few kinds: each is there once.
 */
#include "trace/file/unwind_table.h"

#include "abi/hash.h"
#include "base/dict.h"
#include "elf/unwind.h"
#include "rewrite/unwind/cfi_state.h"

struct packer {
	const struct image *image;
	struct dict number; /* of rules, by hash */
	buffer rules, ranges, one;
	uint32_t nrule;
	uint32_t last; /* the rule of the last range, + 1 */
	uint64_t at;   /* where that begins, */
	uint64_t end;  /* and where FDEs end that were looked at */
};

/* is it not as it was in the caller? */
static bool is_changed(const struct cfi_rule *r)
{
	return r->reg < UNWIND_REGS && r->kind != RULE_SAME;
}

static void put_saved(struct packer *k, const struct cfi_rule *r,
		      int64_t align)
{
	int64_t at = (int64_t)(r->value * (uint64_t)align);
	bool known = r->kind == RULE_OFFSET && at % 8 == 0 &&
		     at / 8 > INT16_MIN && at / 8 < INT16_MAX;
	uint64_t zigzag = at < 0 ? (uint64_t)(-(at / 8)) * 2 - 1 :
				   (uint64_t)(at / 8) * 2;

	buffer_uleb(&k->one, r->reg);
	buffer_uleb(&k->one, known ? zigzag + 1 : 0);
}

static void put_rule(struct packer *k, const struct cfi *c)
{
	const struct cfi_state *s = &c->now;
	uint64_t n = 0;

	k->one.n = 0;
	if (s->block || s->reg >= UNWIND_REGS) {
		buffer_uleb(&k->one, 0);
		buffer_sleb(&k->one, 0);
	} else {
		buffer_uleb(&k->one, s->reg + 1);
		buffer_sleb(&k->one, s->offset);
	}
	for (unsigned i = 0; i < s->n; i++)
		n += is_changed(&s->rule[i]);
	buffer_uleb(&k->one, n);
	for (unsigned i = 0; i < s->n; i++)
		if (is_changed(&s->rule[i]))
			put_saved(k, &s->rule[i], c->cie.data_align);
}

/* the rule's number, of those that were packed */
static uint32_t number_of(struct packer *k)
{
	uint64_t hash = hash_bytes(k->one.at, k->one.n, 0);
	uint32_t n = dict_get(&k->number, hash);

	if (n != DICT_NONE)
		return n;
	buffer_bytes(&k->rules, k->one.at, k->one.n);
	dict_put(&k->number, hash, k->nrule);
	return k->nrule++;
}

/* from there on, rule + 1 */
static void put_range(struct packer *k, uint64_t at, uint32_t rule)
{
	if (rule == k->last)
		return;
	buffer_uleb(&k->ranges, at - k->at);
	buffer_uleb(&k->ranges, rule);
	k->at = at;
	k->last = rule;
}

static void put_row(struct packer *k, const struct cfi *c, uint64_t at)
{
	put_rule(k, c);
	put_range(k, at, number_of(k) + 1);
}

/* what is not understood has no rule */
static void put_fde(struct packer *k, struct cfi *c, const struct fde *f)
{
	bool good = cfi_open(c, k->image, f);
	uint64_t at = f->start;

	while (good && cfi_more(c) && (good = cfi_step(c))) {
		if (!cfa_insn_moves(&c->insn) || c->at == at)
			continue;
		put_row(k, c, at);
		at = c->at;
	}
	if (good)
		put_row(k, c, at);
	else
		put_range(k, at, 0);
	k->end = f->end;
}

static void put_all(struct packer *k)
{
	struct unwind u;
	struct cfi c = {0};

	unwind_read(&u, k->image);
	for (size_t i = 0; i < u.nfde; i++) {
		const struct fde *f = &u.fde[i];

		if (f->start < k->end)
			continue;
		if (f->start > k->end)
			put_range(k, k->end, 0);
		put_fde(k, &c, f);
	}
	put_range(k, k->end, 0);
	cfi_free(&c);
	unwind_free(&u);
}

int unwind_table_pack(const char *file, buffer *to, struct err *e)
{
	struct packer k = {0};
	struct image image;

	if (image_open(&image, file, e))
		return -1;
	k.image = &image;
	put_all(&k);
	buffer_uleb(to, k.nrule);
	buffer_bytes(to, k.rules.at, k.rules.n);
	buffer_bytes(to, k.ranges.at, k.ranges.n);
	vec_free(&k.rules);
	vec_free(&k.ranges);
	vec_free(&k.one);
	dict_free(&k.number);
	image_close(&image);
	return 0;
}
