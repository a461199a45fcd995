/*
 * rewrite_int: what the files of this room share.
 *
 * The order of work, one file each:
 *
 *	choose.c   which parts of the cfg move, and why the others do not
 *	tables.c   which jump tables are copied
 *	site.c     what the plan inserts where
 *	arrive.c   the old addresses at which control may arrive
 *	layout.c   where every moved instruction goes
 *	island.c   steps for jumps that do not reach
 *	text.c     the new code, and the old text that leads there
 *	unwind_out.c  unwind and exception tables
 *	property.c what notes say about the code
 *	dynamic.c  the plan's entry of the dynamic section
 *	symbols.c  names for the new code
 *	file.c     the new ELF file
 */
#ifndef REWRITE_REWRITE_INT_H
#define REWRITE_REWRITE_INT_H

#include <elf.h>

#include "isa/move.h"
#include "rewrite/rewrite.h"
#include "rewrite/site.h"
#include "rewrite/unwind_out.h"

/* a copy of a literal behind the code that loads it */
struct literal {
	uint64_t user; /* old address of the instruction */
	uint64_t addr; /* new address of the copy */
};

/* room for islands between two parts of the new text */
struct pool {
	uint64_t addr;
	uint32_t before;     /* the part, in r->m.moved, that follows */
	uint32_t room, used; /* jumps; used may be more: then do it again */
};

/* a jump at `addr`, in a pool, that leads to `to` by way of `next` */
struct island {
	uint64_t addr, to, next;
	uint32_t chain; /* another of the same bucket, plus 1; 0: none */
};

enum { ISLAND_BUCKET_BITS = 12 };

/* forms of spans that are this room's own, beside isa/move.h's */
enum {
	FORM_DROPPED = 254, /* nothing is left of the instruction */
	FORM_TABLE = 253,   /* a jump through a table of ours */
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

	struct tables tables;
	struct sites sites;
	struct moves m;
	VEC(struct literal) literal; /* by user */
	VEC(struct pool) pool;	     /* by address */
	VEC(struct island) island;
	uint32_t island_bucket[1 << ISLAND_BUCKET_BITS]; /* by target */

	uint8_t *arrive;      /* bit n: control may arrive at the old address */
	uint64_t arrive_base; /* (arrive_base + n) * isa->align */

	/* the new segments: code, tables, data; addresses */
	uint64_t code_addr; /* program headers, then pools and code */
	uint64_t text_addr, text_end;
	uint64_t support_addr; /* the plan's own code, in the text */
	uint64_t table_addr;
	uint64_t data_addr, data_end;

	uint8_t *old;  /* the file's bytes, text as it will be */
	uint8_t *text; /* the bytes from text_addr to text_end */
	struct unwind_out unwind;
	VEC(uint8_t) table_bytes; /* from table_addr on */
	uint32_t note_size;
};

/* the type of the note, by the owner "tally", that names our version */
enum { NOTE_TALLY_VERSION = 1 };

/* choose.c: fills r->m.moved, and in the report what stays */
void choose_parts(struct rewriter *r);

/* layout.c: fills r->m with new addresses, from r->text_addr on */
void layout_text(struct rewriter *r);
/* the same code, with the room for islands that there is now */
void layout_again(struct rewriter *r);
/* the copy of the literal that the instruction at `user` loads */
uint64_t layout_literal(const struct rewriter *r, uint64_t user);

/* island.c */
/* where a jump at `from` has to go to reach `to`; 0 if it cannot */
uint64_t island_step(struct rewriter *r, uint64_t from, uint64_t to);
/* true if there was too little room, and now is more: place code again */
bool island_overflow(struct rewriter *r);
/* all are free again */
void island_forget(struct rewriter *r);
/* writes them into the new text; false if one does not reach */
bool island_write(struct rewriter *r);

/* arrive.c */
void arrive_find(struct rewriter *r);
/* control may arrive at the old address, of an instruction that moved */
bool arrive_expected(const struct rewriter *r, uint64_t old);
/* a jump that is not understood may lead there, even into a block */
bool arrive_unknown(const struct rewriter *r, uint64_t old);

/* dynamic.c: the entry that the plan asks for, once its memory is placed */
void dynamic_add(struct rewriter *r);

/* text.c: r->text, its islands, and in r->old the slots that lead there */
int text_write(struct rewriter *r);
/* when there is room for all islands: writes them */
int text_finish(struct rewriter *r);

/* property.c: takes back what notes promise of moved code */
void property_drop(struct rewriter *r);

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
int file_write(struct rewriter *r, const char *path);

/* bytes of old code at addr, which is in a block */
static inline const uint8_t *old_code(const struct rewriter *r, uint64_t addr)
{
	size_t avail;

	return image_at(r->im, addr, &avail);
}

#endif
