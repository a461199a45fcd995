/*
 * dynamic: one more entry in the dynamic section.
 *
 * GNU linkers leave a few empty entries at its end for this purpose; the first
 * ends the list, so one more than that has to be there. LLVM's leave none.
 * Then ours takes the place of one that loaders do without: RELACOUNT only
 * says how many relocations are of the simple kind, so that they need not be
 * told apart, and SYMENT is how large a symbol is, which never varies.
 */
#include "rewrite/rewrite_int.h"

#include <inttypes.h>

static Elf64_Dyn entry_at(const struct rewriter *r, uint64_t offset)
{
	Elf64_Dyn d;

	memcpy(&d, r->im->bytes + offset, sizeof d);
	return d;
}

/* where the entry of a tag is among those of [at, end); 0: nowhere */
static uint64_t find_tag(const struct rewriter *r, uint64_t at, uint64_t end,
			 int64_t tag)
{
	for (; at + sizeof(Elf64_Dyn) <= end; at += sizeof(Elf64_Dyn)) {
		int64_t is = entry_at(r, at).d_tag;

		if (is == tag)
			return at;
		if (is == DT_NULL)
			break;
	}
	return 0;
}

/* where there is room for an entry; 0: nowhere */
static uint64_t find_room(const struct rewriter *r, uint64_t at, uint64_t end)
{
	static const int64_t spare[] = {DT_RELACOUNT, DT_SYMENT};
	uint64_t room = find_tag(r, at, end, DT_NULL);

	if (room && room + 2 * sizeof(Elf64_Dyn) <= end &&
	    entry_at(r, room + sizeof(Elf64_Dyn)).d_tag == DT_NULL)
		return room;
	room = 0;
	for (unsigned i = 0; !room && i < sizeof spare / sizeof *spare; i++)
		room = find_tag(r, at, end, spare[i]);
	return room;
}

static int add_entry(struct rewriter *r, uint64_t offset, uint64_t size)
{
	Elf64_Dyn d = {.d_tag = r->plan->dynamic_tag};
	uint64_t room = find_room(r, offset, offset + size);

	d.d_un.d_ptr = r->support_addr + r->plan->dynamic_at;
	if (!room)
		return err_set(r->e, ERR_INPUT, "%s: at offset %#" PRIx64
			       ": no room in the dynamic section", r->im->path,
			       offset);
	memcpy(r->old + room, &d, sizeof d);
	return 0;
}

int dynamic_add(struct rewriter *r)
{
	const struct image *im = r->im;

	if (!r->plan || !r->plan->dynamic_tag)
		return 0;
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr p = phdr_at(im, i);

		if (p.p_type == PT_DYNAMIC && p.p_offset <= im->size &&
		    p.p_filesz <= im->size - p.p_offset)
			return add_entry(r, p.p_offset, p.p_filesz);
	}
	return 0;
}
