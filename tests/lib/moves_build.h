/*
 * moves_build: pretends that the code of a file was moved and grown, without
 * any code being written: for tests of what tables say about it.
 *
 * Every FDE that may move does. Between its instructions gaps of random size
 * are left, some with a push in them; some instructions grow; behind the body
 * are stubs that are like random instructions. moved_file() makes a file in
 * which new code (all zeroes) and the new tables lie behind the old segments:
 *
 *	the old file | program headers | new code | tables | section headers
 */
#ifndef TESTS_MOVES_BUILD_H
#define TESTS_MOVES_BUILD_H

#include <elf.h>

#include "isa/isa.h"
#include "rewrite/survey/moved.h"
#include "rewrite/unwind/unwind_out.h"
#include "splitmix.h"

enum { MOVES_PAGE = 0x10000 };

/* one instruction and where it went */
struct moved_insn {
	uint64_t old, arrive, start;
	uint32_t size, new_size, moved;
};

struct moves_build {
	const struct image *im;
	const struct unwind *u;
	const struct isa *isa;
	struct moves m;
	VEC(struct moved_insn) insn; /* by address */
	uint64_t code, at; /* the new code's beginning and end */
	uint64_t state;	   /* of the random numbers */
	unsigned huge;	   /* one gap in so many is huge, 0: none */
};

/* unwind_can_move() of all code of the FDE */
static inline const char *moves_all(const struct image *im,
				    const struct fde *f)
{
	return unwind_can_move(im, f, f->start, f->end);
}

/* a number below n */
static inline uint64_t moves_below(struct moves_build *b, uint64_t n)
{
	return splitmix(&b->state) % n;
}

/* some bytes of code, up to about n */
static inline uint64_t moves_bytes(struct moves_build *b, uint64_t n)
{
	return b->isa->align * (1 + moves_below(b, n / b->isa->align));
}

/* leaves a gap for inserted code; perhaps pushes in it */
static inline void moves_gap(struct moves_build *b)
{
	uint64_t start = b->at, unit = b->isa->align;
	uint64_t pushes = moves_below(b, 4);

	b->at += moves_bytes(b, 60);
	if (b->huge && !moves_below(b, b->huge))
		b->at += moves_bytes(b, moves_below(b, 2) ? 600 : 150000);
	for (; pushes && start + 2 * unit < b->at; pushes--) {
		struct push p = {.bytes = 8 * (1 + moves_below(b, 40))};

		/* some follow each other directly */
		p.start = start + unit * moves_below(b, 2);
		p.end = p.start + moves_bytes(b, 12);
		if (p.end > b->at)
			p.end = b->at;
		if (p.start < p.end)
			vec_push(&b->m.push, p);
		start = p.end;
	}
}

/* moves one instruction of `len` bytes */
static inline void moves_insn(struct moves_build *b, uint64_t old, uint32_t len)
{
	struct moved_insn i = {old, b->at, b->at, len, len,
			       (uint32_t)b->m.moved.n};
	struct span *last;
	bool gap = !moves_below(b, 6), grows = !moves_below(b, 12);

	if (gap)
		moves_gap(b);
	i.start = b->at;
	if (grows)
		i.new_size += (uint32_t)moves_bytes(b, 9);
	b->at += i.new_size;
	vec_push(&b->insn, i);
	last = b->m.map.span.n ? &b->m.map.span.at[b->m.map.span.n - 1] : NULL;
	if (!gap && !grows && last && last->size == last->new_size &&
	    last->old + last->size == old &&
	    last->start + last->size == i.start) {
		last->size += len;
		last->new_size += len;
	} else {
		struct span s = {.old = old, .arrive = i.arrive,
				 .start = i.start, .size = len,
				 .new_size = i.new_size};

		vec_push(&b->m.map.span, s);
	}
}

/* leaves room for stubs behind the body of the part mv */
static inline void moves_stubs(struct moves_build *b, struct moved *mv,
			       size_t first)
{
	size_t own = b->insn.n - first, stubs = moves_below(b, 4);

	mv->stub = (uint32_t)b->m.stub.n;
	for (; own && stubs; stubs--) {
		struct stub s = {.start = b->at};
		uint64_t i = first + moves_below(b, own);

		/* now and then the instruction is in another part */
		if (!moves_below(b, 10))
			i = moves_below(b, b->insn.n);
		s.like = b->insn.at[i].old;
		moves_gap(b);
		s.end = b->at;
		vec_push(&b->m.stub, s);
	}
	mv->nstub = (uint32_t)b->m.stub.n - mv->stub;
}

/* moves the code of FDE number f */
static inline void moves_add_part(struct moves_build *b, uint32_t f)
{
	const struct fde *fde = &b->u->fde[f];
	struct moved mv = {.old_start = fde->start, .old_end = fde->end,
			   .fde = f, .start = b->at,
			   .push = (uint32_t)b->m.push.n};
	size_t first = b->insn.n, avail;
	struct insn i;

	for (uint64_t at = fde->start; at < fde->end; at += i.len) {
		const uint8_t *p = image_at(b->im, at, &avail);

		b->isa->scan(p, avail, at, &i);
		if (!i.len)
			i.len = b->isa->align;
		if (at + i.len > fde->end)
			i.len = (uint8_t)(fde->end - at);
		moves_insn(b, at, i.len);
	}
	mv.body_end = b->at;
	moves_stubs(b, &mv, first);
	mv.end = b->at;
	mv.npush = (uint32_t)b->m.push.n - mv.push;
	vec_push(&b->m.moved, mv);
	b->at = (b->at + 15) & ~(uint64_t)15;
}

/* FDE number f overlaps no other */
static inline bool moves_alone(const struct unwind *u, uint32_t f)
{
	return u->fde[f].outer == UINT32_MAX &&
	       (f + 1 == u->nfde || u->fde[f].end <= u->fde[f + 1].start);
}

/* moves all that may be; one part in `keep` stays (0: none) */
static inline void moves_build(struct moves_build *b, const struct image *im,
			       const struct unwind *u, uint64_t seed,
			       unsigned keep, unsigned huge)
{
	uint64_t end = 0;

	*b = (struct moves_build){.im = im, .u = u, .state = seed,
				  .huge = huge,
				  .isa = isa_for_elf(im->machine)};
	for (size_t i = 0; i < im->nsegment; i++)
		if (im->segment[i].end > end)
			end = im->segment[i].end;
	b->code = b->at = (end + MOVES_PAGE) & ~(uint64_t)(MOVES_PAGE - 1);
	for (uint32_t f = 0; f < u->nfde; f++)
		if (moves_alone(u, f) && !moves_all(im, &u->fde[f]) &&
		    (!keep || moves_below(b, keep)))
			moves_add_part(b, f);
}

/*
 * "Moves" all that may be to where it is: the tables are then written anew
 * as if it had moved, and the program runs with them.
 */
static inline void moves_same(struct moves_build *b, const struct image *im,
			      const struct unwind *u)
{
	moves_build(b, im, u, 0, 1, 0); /* finds where the file ends */
	for (uint32_t f = 0; f < u->nfde; f++) {
		const struct fde *fde = &u->fde[f];
		struct moved mv = {.old_start = fde->start,
				   .old_end = fde->end, .fde = f,
				   .start = fde->start, .body_end = fde->end,
				   .end = fde->end};
		uint32_t size = (uint32_t)(fde->end - fde->start);
		struct span s = {.old = fde->start, .arrive = fde->start,
				 .start = fde->start, .size = size,
				 .new_size = size};

		if (!moves_alone(u, f) || moves_all(im, fde))
			continue;
		vec_push(&b->m.moved, mv);
		vec_push(&b->m.map.span, s);
	}
}

static inline void moves_build_free(struct moves_build *b)
{
	vec_free(&b->m.moved);
	vec_free(&b->m.stub);
	vec_free(&b->m.push);
	vec_free(&b->m.map.span);
	vec_free(&b->insn);
}

/* where the tables go */
static inline uint64_t moves_tables(const struct moves_build *b)
{
	return (b->at + MOVES_PAGE) & ~(uint64_t)(MOVES_PAGE - 1);
}

/*
 * The file with new tables that it can run with: a note's program header is
 * theirs. False if there is none to take.
 */
static inline bool same_file(const struct moves_build *b,
			     const struct unwind_out *o, buffer *file)
{
	Elf64_Ehdr h;
	Elf64_Phdr *p;
	bool found = false;

	memcpy(&h, b->im->bytes, sizeof h);
	buffer_bytes(file, b->im->bytes, b->im->size);
	buffer_align(file, MOVES_PAGE);
	p = (Elf64_Phdr *)(file->at + h.e_phoff);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		if (p[i].p_type == PT_GNU_EH_FRAME) {
			p[i].p_offset = file->n;
			p[i].p_vaddr = p[i].p_paddr = o->hdr;
			p[i].p_filesz = p[i].p_memsz = o->hdr_size;
		} else if (p[i].p_type == PT_NOTE && !found) {
			p[i] = (Elf64_Phdr){
				.p_type = PT_LOAD, .p_flags = PF_R,
				.p_offset = file->n, .p_vaddr = o->addr,
				.p_paddr = o->addr, .p_filesz = o->bytes.n,
				.p_memsz = o->bytes.n, .p_align = MOVES_PAGE};
			found = true;
		}
	}
	vec_append(file, &o->bytes);
	return found;
}

/* section headers: old code, new code, the three tables, names */
static inline void moved_sections(const struct moves_build *b,
				  const struct unwind_out *o, buffer *file,
				  uint64_t code, uint64_t tables)
{
	static const char names[] = "\0.old\0.text\0.eh_frame_hdr\0"
				    ".gcc_except_table\0.eh_frame\0.names";
	VEC(Elf64_Shdr) sh = {0};
	Elf64_Shdr s = {0};
	Elf64_Ehdr *h;
	uint64_t end = file->n;

	vec_push(&sh, s);
	s = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS,
			 .sh_flags = SHF_ALLOC | SHF_EXECINSTR};
	for (size_t i = 0; i < b->im->ncode; i++) {
		const struct range *r = &b->im->code[i];
		size_t avail;

		s.sh_addr = r->start;
		s.sh_size = r->end - r->start;
		s.sh_offset = (uint64_t)(image_at(b->im, r->start, &avail) -
					 b->im->bytes);
		vec_push(&sh, s);
	}
	s = (Elf64_Shdr){6, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, b->code,
			 code, b->at - b->code, 0, 0, 16, 0};
	vec_push(&sh, s);
	s.sh_flags = SHF_ALLOC;
	s.sh_name = 12;
	s.sh_addr = o->hdr;
	s.sh_size = o->hdr_size;
	s.sh_offset = tables;
	vec_push(&sh, s);
	s.sh_name = 26;
	s.sh_addr = o->lsda;
	s.sh_size = o->lsda_size;
	s.sh_offset = tables + (o->lsda - o->addr);
	vec_push(&sh, s);
	s.sh_name = 44;
	s.sh_addr = o->frame;
	s.sh_size = o->frame_size;
	s.sh_offset = tables + (o->frame - o->addr);
	vec_push(&sh, s);
	s = (Elf64_Shdr){.sh_name = 54, .sh_type = SHT_STRTAB,
			 .sh_offset = end, .sh_size = sizeof names};
	vec_push(&sh, s);
	buffer_bytes(file, names, sizeof names);
	buffer_align(file, 8);
	h = (Elf64_Ehdr *)file->at;
	h->e_shoff = file->n;
	h->e_shnum = (uint16_t)sh.n;
	h->e_shstrndx = (uint16_t)(sh.n - 1);
	h->e_shentsize = sizeof s;
	buffer_bytes(file, sh.at, sh.n * sizeof s);
	vec_free(&sh);
}

/* the file with new code and tables */
static inline void moved_file(const struct moves_build *b,
			      const struct unwind_out *o, buffer *file)
{
	Elf64_Phdr code = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			   .p_vaddr = b->code, .p_align = 1,
			   .p_filesz = b->at - b->code,
			   .p_memsz = b->at - b->code};
	Elf64_Phdr tables = {.p_type = PT_LOAD, .p_flags = PF_R,
			     .p_vaddr = o->addr, .p_align = 1,
			     .p_filesz = o->bytes.n, .p_memsz = o->bytes.n};
	Elf64_Phdr hdr = tables;
	Elf64_Ehdr h;
	uint64_t at;

	hdr.p_type = PT_GNU_EH_FRAME;
	hdr.p_filesz = hdr.p_memsz = o->hdr_size;
	memcpy(&h, b->im->bytes, sizeof h);
	buffer_bytes(file, b->im->bytes, b->im->size);
	buffer_align(file, 16);
	at = file->n;
	buffer_bytes(file, b->im->bytes + h.e_phoff, h.e_phnum * sizeof code);
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr *p = (Elf64_Phdr *)(file->at + at) + i;

		if (p->p_type == PT_GNU_EH_FRAME || p->p_type == PT_PHDR)
			p->p_type = PT_NULL;
	}
	code.p_offset = file->n + 3 * sizeof code;
	tables.p_offset = hdr.p_offset = code.p_offset + code.p_filesz;
	buffer_bytes(file, &code, sizeof code);
	buffer_bytes(file, &tables, sizeof tables);
	buffer_bytes(file, &hdr, sizeof hdr);
	vec_reserve(file, code.p_filesz);
	memset(file->at + file->n, 0, code.p_filesz);
	file->n += code.p_filesz;
	vec_append(file, &o->bytes);
	((Elf64_Ehdr *)file->at)->e_phoff = at;
	((Elf64_Ehdr *)file->at)->e_phnum += 3;
	moved_sections(b, o, file, code.p_offset, tables.p_offset);
}

#endif
