/*
 * rewrite_int: what the files of this room share.
 *
 * The order of work, one file each:
 *
 *	survey.c   what can be done, and of it
 *	read_code.c  all code, once
 *	choose.c     which parts of the cfg move, and why the others do not
 *	far.c        and which stay with them in a very large file
 *	computed_goto.c  which tables of labels lead to the new code themselves
 *	jump_tables.c     which jump tables are copied
 *	indirect_entry.c     the old addresses at which control may arrive
 *	trampolines.c       room for jumps there, where not all places have it
 *	spot.c     where what the plan inserts can be
 *	sites_make.c  which insertions share a place
 *	site.c     the code there
 *	lead.c     which of it lies where it leads
 *	plt_stubs.c  stubs of the linker that are written anew
 *	build_part.c  the new code of a part, and how long it is
 *	layout.c   where parts go
 *	island.c   steps for jumps that do not reach
 *	old_pool.c   and room for them in old text
 *	text.c     the new code
 *	table_out.c  and what it reads
 *	old_text.c    the old text, which leads there
 *	unwind_out.c  unwind and exception tables
 *	property.c what notes say about the code
 *	dynamic.c  the plan's entry of the dynamic section
 *	symbols.c  names for the new code
 *	file.c     the new ELF file
 */
#ifndef REWRITE_REWRITE_INT_H
#define REWRITE_REWRITE_INT_H

#include <elf.h>

#include "elf/image_int.h"
#include "isa/move.h"
#include "rewrite/insert/edge_code.h"
#include "rewrite/insert/plt_stubs.h"
#include "rewrite/rewrite.h"
#include "rewrite/insert/site.h"
#include "rewrite/unwind/unwind_out.h"

/* a copy of a literal behind the code that loads it */
struct literal {
	uint64_t user; /* old address of the instruction */
	uint64_t addr; /* new address of the copy */
};

/* room for islands between two parts of the new text, or in old text */
struct pool {
	uint64_t addr;
	uint32_t before;     /* the part, in r->m.moved, that follows */
	uint32_t room, used; /* jumps; used may be more: then do it again */
	bool old;	     /* but not here: `room` is all there is */
};

/* a jump at `addr`, in a pool, that leads to `to` by way of `next` */
struct island {
	uint64_t addr, to, next;
	uint32_t chain; /* another of the same bucket, plus 1; 0: none */
	bool far;	/* by a jump that goes further */
};

enum { ISLAND_BUCKET_BITS = 12 };

/* forms of spans that are this room's own, beside isa/move.h's */
enum {
	FORM_DROPPED = 254, /* nothing is left of the instruction */
	FORM_TABLE = 253,   /* a jump through a table of ours */
	FORM_PREFIX = 252,  /* with its instruction, and a jump behind that */
	FORM_KEPT = 251,    /* a call that leaves its old return address */
	FORM_HOME = 250,    /* a jump to such a call in its old place */
};

struct rewriter {
	const struct cfg *c;
	const struct image *im;
	const struct isa *isa;
	const struct isa_move *move;
	const struct plan *plan;
	const struct rewrite_options *o;
	struct rewrite_report *report;
	struct err *e;

	const struct survey *survey;
	struct tables tables; /* the survey's, with addresses */
	struct sites sites;
	struct edge_codes edge_code;
	struct links links;
	struct moves m;
	VEC(struct literal) literal; /* by user */
	VEC(struct pool) pool;	     /* by address, those in old text last */
	VEC(struct island) island;
	uint32_t island_bucket[1 << ISLAND_BUCKET_BITS]; /* by target */

	/* the new segments: code, tables, data; addresses */
	uint64_t code_addr; /* program headers, then pools and code */
	uint64_t text_addr, text_end;
	uint64_t support_addr; /* the plan's own code, first in the text; links
				  are behind it */
	uint64_t table_addr;
	uint64_t data_addr, data_end;

	uint8_t *old;  /* the file's bytes, text as it will be */
	uint64_t far_end; /* trampolines up to here are taken by a long jump */
	uint8_t *text; /* the bytes from text_addr to text_end */
	struct unwind_out unwind;
	VEC(uint8_t) table_bytes; /* from table_addr on */
	uint64_t constant_addr;	  /* the plan's constants, the last of them */
	uint32_t note_size;
	uint64_t tls_addr; /* of PT_TLS, 0: as it was */
	uint64_t back_addr, nback; /* see struct plan_bases */
};

/* the type of the note, by the owner "tally", that names our version */
enum { NOTE_TALLY_VERSION = 1 };

/* what the new code of some parts consists of */
struct built {
	VEC(struct span) span;
	VEC(struct literal) literal;
	VEC(struct stub) stub;
	VEC(struct push) push;
};

/* build_part.c: lays out moved parts `from` to `end`, each at its old address,
   behind what is in *out */
void build_parts(struct rewriter *r, size_t from, size_t end,
		 struct built *out);

/* layout.c: fills r->m with new addresses, from r->text_addr on */
void layout_text(struct rewriter *r);
/* the same code, with the room for islands that there is now */
void layout_again(struct rewriter *r);
/* the copy of the literal that the instruction at `user` loads */
uint64_t layout_literal(const struct rewriter *r, uint64_t user);

/* island.c */
/* a jump at `from` does not reach `to` */
bool island_needed(const struct rewriter *r, uint64_t from, uint64_t to);
/* where a jump at `from` has to go to reach `to`; 0 if it cannot */
uint64_t island_step(struct rewriter *r, uint64_t from, uint64_t to);
/* the same to where a procedure starts: how is no matter */
uint64_t island_step_to_start(struct rewriter *r, uint64_t from, uint64_t to);
/* true if there was too little room, and now is more: place code again */
bool island_overflow(struct rewriter *r);
/* all are free again */
void island_forget(struct rewriter *r);
/* writes them into new and old text; false if one does not reach */
bool island_write(struct rewriter *r);

/* old_pool.c: once code has its place; adds to r->pool if need be */
void old_pools_find(struct rewriter *r);

/* dynamic.c: the entry that the plan asks for, once its memory is placed */
int dynamic_add(struct rewriter *r);

/* text.c: r->text, its islands, and the old text that leads there */
int text_write(struct rewriter *r);
/* when there is room for all islands: writes them */
int text_finish(struct rewriter *r);

/* property.c: takes back what notes promise of moved code */
void property_drop(struct rewriter *r);

/* tls.c: decides on r->tls_addr; may add to r->table_bytes */
void tls_place(struct rewriter *r);
/* the header of r->tls_addr, made of the old one or of one that is all 0; but
   for where it lies in the file */
void tls_header(const struct rewriter *r, Elf64_Phdr *p);

/* symbols.c: the bytes of .symtab and .strtab of the new file */
struct symbol_table {
	VEC(uint8_t) symbols, strings;
	uint32_t locals; /* entries before the first global one */
	/* given: the sections that symbols may lie in, the null one first */
	const Elf64_Shdr *section;
	uint16_t nsection;
};
void symbols_make(struct symbol_table *t, const struct rewriter *r,
		  uint16_t text_section);

/* file.c, in this order */
/* where the new code is to begin; -1: there is no room for it */
int file_place_code(struct rewriter *r);
/* when it is written: the tables, and where data begins */
int file_place_tables(struct rewriter *r);
/* when code is: the plan's constants */
void file_write_constants(struct rewriter *r);
int file_write(struct rewriter *r, const char *path);

/* text.c: where an old instruction lies in the bytes of the new file */
uint8_t *text_old_bytes(const struct rewriter *r, uint64_t old);

/* where control goes that comes to the old address from elsewhere */
uint64_t text_entry(const struct rewriter *r, uint64_t old);
/* fails: something is too far from the new place of the instruction */
int text_unreached(struct rewriter *r, uint64_t old);

/* table_out.c: tables and literals, into r->text and r->old */
int table_out_write(struct rewriter *r);

/* a procedure starts there: registers that veneers may change are dead */
bool text_is_start(const struct rewriter *r, uint64_t old);

/* old_text.c: the old text, in r->old */
int old_text_write(struct rewriter *r);
/* the trampoline of the old instruction is not needed, and may be
   overwritten */
bool old_text_is_free(const struct rewriter *r, uint64_t old);

/* bytes of old code at addr, which is in a block */
static inline const uint8_t *old_code(const struct rewriter *r, uint64_t addr)
{
	size_t avail;

	return image_at(r->im, addr, &avail);
}

#endif
