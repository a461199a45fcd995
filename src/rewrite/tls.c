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
#include "rewrite/rewrite_int.h"

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

void tls_place(struct rewriter *r)
{
	const uint64_t align = r->o->tls_align;
	Elf64_Phdr p;
	bool there = tls_find(r->im, &p);
	uint64_t at = there ? tls_offset(&p) : TCB;
	size_t avail = 0;
	const uint8_t *image = image_at(r->im, p.p_vaddr, &avail);

	if (!align || (p.p_align & (p.p_align - 1)) || p.p_align >= align ||
	    at < TCB || at > align || p.p_filesz > avail ||
	    !is_constant(r->im, &p))
		return;
	while ((r->table_addr + r->table_bytes.n - at) % align)
		vec_push(&r->table_bytes, 0);
	r->tls_addr = r->table_addr + r->table_bytes.n;
	for (uint64_t i = 0; i < p.p_filesz; i++)
		vec_push(&r->table_bytes, image[i]);
}

void tls_header(const struct rewriter *r, Elf64_Phdr *p)
{
	if (p->p_type != PT_TLS)
		*p = (Elf64_Phdr){.p_type = PT_TLS, .p_flags = PF_R,
				  .p_memsz = 1};
	p->p_vaddr = p->p_paddr = r->tls_addr;
	p->p_align = r->o->tls_align;
}
