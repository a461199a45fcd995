/*
 * property: what the file says about its code and is no longer true.
 *
 * A note may promise that indirect branches arrive at marked instructions
 * only (BTI, IBT); the processor then faults at any other. The trampolines of
 * moved code are jumps, not marks: the promise is taken back. It is in a note
 * of the owner "GNU", a list of properties:
 *
 *	type u32, size u32, data, padding to 8 bytes
 */
#include <inttypes.h>

#include "base/bytes.h"
#include "rewrite/rewrite_int.h"

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
static void drop_promise(struct output *o, struct bytes list)
{
	while (bytes_left(&list)) {
		uint64_t type = bytes_uint(&list, 4);
		struct bytes data = bytes_sub(&list, bytes_uint(&list, 4));
		uint64_t at = bytes_addr(&data);
		uint32_t bits = (uint32_t)bytes_uint(&data, 4);

		if (data.bad || list.bad)
			return;
		skip_padding(&list, 8);
		if (type != o->in->isa->landing_property)
			continue;
		bits &= ~o->in->isa->landing_bits;
		memcpy(o->old + at, &bits, sizeof bits);
	}
}

static void walk_notes(struct output *o, struct bytes b, uint64_t align)
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
			drop_promise(o, list);
	}
}

void property_drop(struct output *o)
{
	const struct image *im = o->in->im;

	if (!o->l->m.moved.n)
		return;
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr p = phdr_at(im, i);

		if ((p.p_type != PT_NOTE && p.p_type != PT_GNU_PROPERTY) ||
		    p.p_offset > im->size || p.p_filesz > im->size - p.p_offset)
			continue;
		walk_notes(o,
			   bytes_window(im->bytes + p.p_offset, p.p_filesz,
					p.p_offset),
			   p.p_align == 8 ? 8 : 4);
	}
}

/*
 * dynamic: one more entry in the dynamic section.
 *
 * GNU linkers leave a few empty entries at its end for this purpose; the first
 * ends the list, so one more than that has to be there. LLVM's leave none.
 * Then ours takes the place of one that loaders do without: RELACOUNT only
 * says how many relocations are of the simple kind, so that they need not be
 * told apart, and SYMENT is how large a symbol is, which never varies.
 */

static Elf64_Dyn entry_at(const struct output *o, uint64_t offset)
{
	Elf64_Dyn d;

	memcpy(&d, o->in->im->bytes + offset, sizeof d);
	return d;
}

/* where the entry of a tag is among those of [at, end); 0: nowhere */
static uint64_t find_tag(const struct output *o, uint64_t at, uint64_t end,
			 int64_t tag)
{
	for (; at + sizeof(Elf64_Dyn) <= end; at += sizeof(Elf64_Dyn)) {
		int64_t is = entry_at(o, at).d_tag;

		if (is == tag)
			return at;
		if (is == DT_NULL)
			break;
	}
	return 0;
}

/* where there is room for an entry; 0: nowhere */
static uint64_t find_room(const struct output *o, uint64_t at, uint64_t end)
{
	static const int64_t spare[] = {DT_RELACOUNT, DT_SYMENT};
	uint64_t room = find_tag(o, at, end, DT_NULL);

	if (room && room + 2 * sizeof(Elf64_Dyn) <= end &&
	    entry_at(o, room + sizeof(Elf64_Dyn)).d_tag == DT_NULL)
		return room;
	room = 0;
	for (unsigned i = 0; !room && i < sizeof spare / sizeof *spare; i++)
		room = find_tag(o, at, end, spare[i]);
	return room;
}

static int add_entry(struct output *o, uint64_t offset, uint64_t size)
{
	Elf64_Dyn d = {.d_tag = o->in->plan->dynamic_tag};
	uint64_t room = find_room(o, offset, offset + size);

	d.d_un.d_ptr = o->l->support_addr + o->in->plan->dynamic_at;
	if (!room)
		return err_set(o->in->e, ERR_INPUT,
			       "%s: at offset %#" PRIx64
			       ": no room in the dynamic section",
			       o->in->im->path, offset);
	memcpy(o->old + room, &d, sizeof d);
	return 0;
}

int dynamic_add(struct output *o)
{
	const struct image *im = o->in->im;

	if (!o->in->plan || !o->in->plan->dynamic_tag)
		return 0;
	for (size_t i = 0; i < im->nphdr; i++) {
		Elf64_Phdr p = phdr_at(im, i);

		if (p.p_type == PT_DYNAMIC && p.p_offset <= im->size &&
		    p.p_filesz <= im->size - p.p_offset)
			return add_entry(o, p.p_offset, p.p_filesz);
	}
	return 0;
}

/*
 * tls: a program's variables of threads get a larger alignment, and stay
 * where its code knows them to be.
 *
 * With an audit module, glibc's loader settles the alignment of all static
 * TLS when it has seen the program alone. Libraries that ask for more (that
 * of tcmalloc: 64 bytes) then cannot be loaded: so the program asks for it.
 *
 * Where the thread pointer leads to the thread control block (AArch64), and
 * variables lie behind its 16 bytes, the loader places those of the program at
 *
 *	off = the first multiple of p_align from 16 on
 *	at  = off - (-p_vaddr mod p_align), one p_align more if below 16
 *
 *	0        16       at                        off
 *	|  TCB   |  ....  | variables ...           |
 *
 * so that with a larger p_align and p_vaddr == at, modulo that, they lie where
 * they did. The initial values are copied to such an address. If relocations
 * change them, they are left alone.
 */

enum { TCB = 16 };

/* where the loader places variables of that header */
static uint64_t tls_offset(const Elf64_Phdr *p)
{
	uint64_t align = p->p_align ? p->p_align : 1;
	uint64_t first = -p->p_vaddr & (align - 1);
	uint64_t off = (TCB + align - 1) & -align;

	return off - first < TCB ? off - first + align : off - first;
}

/* the program's header; false if it has none */
static bool tls_find(const struct image *im, Elf64_Phdr *p)
{
	for (size_t i = 0; i < im->nphdr; i++) {
		*p = phdr_at(im, i);
		if (p->p_type == PT_TLS)
			return true;
	}
	*p = (Elf64_Phdr){0};
	return false;
}

/* are the initial values the same in the file and when the program runs? */
static bool is_constant(const struct image *im, const Elf64_Phdr *p)
{
	for (size_t i = 0; i < im->nreloc; i++)
		if (!im->reloc[i].text &&
		    im->reloc[i].place - p->p_vaddr < p->p_filesz)
			return false;
	return true;
}

void tls_place(const struct inputs *in, struct table_segment *t)
{
	const uint64_t align = in->options->tls_align;
	Elf64_Phdr p;
	bool there = tls_find(in->im, &p);
	uint64_t at = there ? tls_offset(&p) : TCB;
	size_t avail = 0;
	const uint8_t *image = image_at(in->im, p.p_vaddr, &avail);

	if (!align || (p.p_align & (p.p_align - 1)) || p.p_align >= align ||
	    at < TCB || at > align || p.p_filesz > avail ||
	    !is_constant(in->im, &p))
		return;
	while ((t->addr + t->bytes.n - at) % align)
		vec_push(&t->bytes, 0);
	t->tls_addr = t->addr + t->bytes.n;
	for (uint64_t i = 0; i < p.p_filesz; i++)
		vec_push(&t->bytes, image[i]);
}

void tls_header(const struct output *o, Elf64_Phdr *p)
{
	if (p->p_type != PT_TLS)
		*p = (Elf64_Phdr){.p_type = PT_TLS, .p_flags = PF_R,
				  .p_memsz = 1};
	p->p_vaddr = p->p_paddr = o->t->tls_addr;
	p->p_align = o->in->options->tls_align;
}
