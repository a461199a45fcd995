/*
 * everywhere_a64: what everywhere.h inserts, for AArch64.
 */
#ifndef TESTS_EVERYWHERE_A64_H
#define TESTS_EVERYWHERE_A64_H

static inline uint32_t everywhere_movz(unsigned r)
{
	return 0xd2800000 | EVERYWHERE_GARBAGE << 5 | r;
}

static inline uint32_t everywhere_adrp(unsigned r, uint64_t at, uint64_t to)
{
	uint64_t d = (to >> 12) - (at >> 12);

	return 0x90000000 | (uint32_t)(d & 3) << 29 |
	       (uint32_t)(d >> 2 & 0x7ffff) << 5 | r;
}

static inline unsigned everywhere_words(const struct everywhere *o,
					const struct insertion *i)
{
	return i->nregs + (i->flags ? 1u : 0u) + (i->memory ? 4u : 0u) +
	       (o->threads ? 3u : 0u);
}

static inline unsigned everywhere_a64_size(void *ctx, const struct insertion *i,
				       const struct scratch *s)
{
	(void)s;
	return 4 * everywhere_words(ctx, i);
}

/* adds the thread's word to register a */
static inline unsigned everywhere_slot(const struct everywhere *o, unsigned a,
				       unsigned b, uint32_t *w)
{
	if (!o->threads)
		return 0;
	w[0] = 0xd53bd040 | b;			    /* mrs tpidr_el0 */
	w[1] = 0xf9400000 | 1 << 10 | b << 5 | b;   /* ldr #8 */
	w[2] = (o->above ? 0xcb000000 : 0x8b000000) | b << 16 | a << 5 | a;
	return 3;
}

static inline bool everywhere_a64_write(void *ctx, const struct insertion *i,
				    const struct scratch *s, uint64_t addr,
				    const struct plan_bases *bases,
				    uint8_t *out)
{
	uint32_t w[16], n = 0;
	uint64_t counter = bases->data + 8 * (uint64_t)i->code;
	uint32_t low = (uint32_t)(counter & 0xfff) >> 3 << 10;
	unsigned a = s->reg[0], b = s->reg[1];

	if (i->memory) {
		if ((counter >> 12) - (addr >> 12) + (1 << 20) >= 1 << 21)
			return false;
		w[n++] = everywhere_adrp(a, addr, counter);
		n += everywhere_slot(ctx, a, b, w + n);
		w[n++] = 0xf9400000 | low | a << 5 | b; /* ldr */
		w[n++] = 0x91000400 | b << 5 | b;	/* add #1 */
		w[n++] = 0xf9000000 | low | a << 5 | b; /* str */
	}
	for (unsigned r = 0; r < i->nregs; r++)
		w[n++] = everywhere_movz(s->reg[r]);
	if (i->flags) /* cmp reg, #0 */
		w[n++] = 0xf100001f | (uint32_t)s->reg[0] << 5;
	memcpy(out, w, 4 * n);
	return true;
}

#endif
