/* plt_stubs: see plt_stubs.h. */
#include "rewrite/insert/plt_stubs.h"

#include "base/bisect.h"
#include "isa/move.h"

static uint64_t copy_addr(const struct links *l, const struct cfg *c, size_t i)
{
	return l->addr + i * c->isa->move->link_size;
}

/* the word of the stub at the procedure's entry, or 0 */
static uint64_t word_of(const struct cfg *c, const struct procedure *p)
{
	size_t avail;
	const uint8_t *code = image_at(c->image, p->entry, &avail);

	return code ? c->isa->move->link_match(code, avail, p->entry) : 0;
}

void plt_stubs_find(struct links *l, const struct cfg *c, uint64_t addr)
{
	uint8_t out[MOVE_SIZE_MAX];

	l->addr = addr;
	if (!c->isa->move || !c->isa->move->link_match)
		return;
	for (uint32_t i = 0; i < c->proc.n; i++) {
		const struct procedure *p = &c->proc.at[i];
		struct link x = {p->entry,
				 p->stub && !p->addressed ? word_of(c, p) : 0};

		if (x.word && c->isa->move->link_write(
				      copy_addr(l, c, l->link.n), x.word, out))
			vec_push(&l->link, x);
	}
}

uint64_t plt_stubs_at(const struct links *l, const struct cfg *c, uint64_t old)
{
	size_t i;

	bisect(i, l->link.n, l->link.at[i].old < old);
	return i < l->link.n && l->link.at[i].old == old ? copy_addr(l, c, i)
							 : 0;
}

uint64_t plt_stubs_size(const struct links *l, const struct cfg *c)
{
	return l->link.n ? copy_addr(l, c, l->link.n) - l->addr : 0;
}

void plt_stubs_write(const struct links *l, const struct cfg *c, uint8_t *out)
{
	for (size_t i = 0; i < l->link.n; i++)
		c->isa->move->link_write(copy_addr(l, c, i), l->link.at[i].word,
					 out + i * c->isa->move->link_size);
}
