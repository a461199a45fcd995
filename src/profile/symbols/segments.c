/* segments: see segments.h. */
#include "profile/symbols/segments.h"

enum { PAGE = 4096 };

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

void segments_read(struct segments *s, const struct object *o)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(o->module, &bias);
	size_t n;

	*s = (struct segments){0};
	if (!elf || elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && s->n < SEGMENTS; i++) {
		GElf_Phdr h;

		if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_LOAD ||
		    !(h.p_flags & PF_X))
			continue;
		s->at[s->n++] = (struct code_segment){
			page_of(h.p_vaddr),
			page_of(h.p_vaddr + h.p_memsz + PAGE - 1),
			page_of(h.p_offset),
		};
	}
}
