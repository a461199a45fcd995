/*
 * property: what the file says about its code and is no longer true.
 *
 * A note may promise that indirect branches arrive at marked instructions
 * only (BTI, IBT); the processor then faults at any other. The slots of moved
 * code are jumps, not marks: the promise is taken back. It is in a note of
 * the owner "GNU", a list of properties:
 *
 *	type u32, size u32, data, padding to 8 bytes
 */
#include "rewrite/rewrite_int.h"

#include "base/bytes.h"

#ifndef NT_GNU_PROPERTY_TYPE_0
#define NT_GNU_PROPERTY_TYPE_0 5
#endif
#ifndef PT_GNU_PROPERTY
#define PT_GNU_PROPERTY 0x6474e553
#endif

static void skip_padding(struct bytes *b, uint64_t align)
{
	size_t pad = -b->at & (align - 1);

	bytes_take(b, pad < bytes_left(b) ? pad : bytes_left(b));
}

/* takes the promise out of a list of properties; addresses are offsets */
static void drop_promise(struct rewriter *r, struct bytes list)
{
	while (bytes_left(&list)) {
		uint64_t type = bytes_uint(&list, 4);
		struct bytes data = bytes_sub(&list, bytes_uint(&list, 4));
		uint64_t at = bytes_addr(&data);
		uint32_t bits = (uint32_t)bytes_uint(&data, 4);

		if (data.bad || list.bad)
			return;
		skip_padding(&list, 8);
		if (type != r->isa->landing_property)
			continue;
		bits &= ~r->isa->landing_bits;
		memcpy(r->old + at, &bits, sizeof bits);
	}
}

static void walk_notes(struct rewriter *r, struct bytes b, uint64_t align)
{
	while (bytes_left(&b)) {
		uint64_t name_size = bytes_uint(&b, 4);
		uint64_t size = bytes_uint(&b, 4);
		uint64_t type = bytes_uint(&b, 4);
		const uint8_t *name = bytes_take(&b, name_size);
		struct bytes list;

		skip_padding(&b, align);
		list = bytes_sub(&b, size);
		if (b.bad || list.bad)
			return;
		skip_padding(&b, align);
		if (type == NT_GNU_PROPERTY_TYPE_0 && name_size == 4 &&
		    !memcmp(name, "GNU", 4))
			drop_promise(r, list);
	}
}

void property_drop(struct rewriter *r)
{
	const struct image *im = r->im;

	if (!r->m.moved.n)
		return;
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr p = phdr_at(im, i);

		if ((p.p_type != PT_NOTE && p.p_type != PT_GNU_PROPERTY) ||
		    p.p_offset > im->size || p.p_filesz > im->size - p.p_offset)
			continue;
		walk_notes(r, bytes_window(im->bytes + p.p_offset, p.p_filesz,
					   p.p_offset),
			   p.p_align == 8 ? 8 : 4);
	}
}
