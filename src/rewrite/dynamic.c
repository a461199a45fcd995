/*
 * dynamic: one more entry in the dynamic section.
 *
 * Linkers leave a few empty entries at its end for this purpose; the first
 * ends the list, so one more than that has to be there.
 */
#include "rewrite/rewrite_int.h"

static bool is_empty(const uint8_t *entry)
{
	static const uint8_t nothing[sizeof(Elf64_Dyn)];

	return !memcmp(entry, nothing, sizeof nothing);
}

static void add_entry(struct rewriter *r, uint64_t offset, uint64_t size)
{
	const uint8_t *old = r->im->bytes + offset;
	Elf64_Dyn d = {.d_tag = r->plan->dynamic_tag};

	d.d_un.d_ptr = r->support_addr + r->plan->dynamic_at;
	for (uint64_t at = 0; at + 2 * sizeof d <= size; at += sizeof d) {
		if (!is_empty(old + at))
			continue;
		if (is_empty(old + at + sizeof d))
			memcpy(r->old + offset + at, &d, sizeof d);
		return;
	}
}

void dynamic_add(struct rewriter *r)
{
	const struct image *im = r->im;
	Elf64_Ehdr h;

	if (!r->plan || !r->plan->dynamic_tag)
		return;
	memcpy(&h, im->bytes, sizeof h);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;

		memcpy(&p, im->bytes + h.e_phoff + i * sizeof p, sizeof p);
		if (p.p_type == PT_DYNAMIC && p.p_offset <= im->size &&
		    p.p_filesz <= im->size - p.p_offset)
			add_entry(r, p.p_offset, p.p_filesz);
	}
}
