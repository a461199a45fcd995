/*
 * rewrite_int: what the files of this room share.
 *
 * The order of work:
 *
 *	survey/   what of the code can move, and where control may enter it
 *	insert/   where what the plan inserts can be, and the code there
 *	layout/   where every part of the new code goes; islands between
 *	unwind/   unwind and exception tables of the new code
 *	output/   the new code, the old text that leads there, the new file
 *
 * A step reads struct inputs and what steps before it have made; it writes one
 * struct alone: struct layout, struct table_segment or struct output.
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

/* what is given: no step writes it */
struct inputs {
	const struct cfg *c;
	const struct image *im;
	const struct isa *isa;
	const struct isa_move *move;
	const struct plan *plan;
	const struct rewrite_options *options;
	const struct survey *survey;
	struct err *e;
};

/* jumps that do not reach go by these, see island.c */
struct islands {
	const struct isa_move *move;
	VEC(struct pool) pool; /* by address, those in old text last */
	VEC(struct island) island;
	uint32_t bucket[1 << ISLAND_BUCKET_BITS]; /* by target */
};

/* where the new code goes: made before any of it is written */
struct layout {
	const struct inputs *in;
	struct tables tables; /* the survey's, with addresses */
	struct sites sites;
	struct edge_codes edge_code;
	struct links links;
	struct moves m;
	VEC(struct literal) literal; /* by user */
	struct islands islands;
	uint64_t code_addr; /* program headers, then pools and code */
	uint64_t text_addr, text_end;
	uint64_t support_addr; /* the plan's own code, first in the text; links
				  are behind it */
};

/* the segment of tables, and where that of data is */
struct table_segment {
	uint64_t addr;
	VEC(uint8_t) bytes;
	struct unwind_out unwind;
	uint32_t note_size;
	uint64_t constant_addr; /* the plan's constants, the last of them */
	uint64_t tls_addr;	/* of PT_TLS, 0: as it was */
	uint64_t back_addr, nback; /* see struct plan_bases */
	uint64_t data_addr, data_end;
};

/* the bytes of the new file, made from all of the above */
struct output {
	const struct inputs *in;
	const struct layout *l;
	const struct table_segment *t;
	struct islands *islands; /* those that are needed, in the layout's
				    pools */
	uint8_t *old;  /* the file's bytes, text as it will be */
	uint8_t *text; /* the bytes from text_addr to text_end */
	uint64_t far_end; /* trampolines up to here are taken by a long jump */
	uint32_t unreached; /* places that no jump reaches */
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
void build_parts(struct layout *l, size_t from, size_t end, struct built *out);

/* layout.c: fills l->m with new addresses, from l->text_addr on */
void layout_text(struct layout *l);
/* places the code again, with the room for islands that there is now */
void layout_again(struct layout *l);
/* the copy of the literal that the instruction at `user` loads */
uint64_t layout_literal(const struct layout *l, uint64_t user);
/* where control goes that comes to the old address from elsewhere */
uint64_t layout_entry(const struct layout *l, uint64_t old);
/* a procedure starts there: registers that veneers may change are dead */
bool is_proc_start(const struct cfg *c, uint64_t old);

/* island.c */
/* a jump at `from` does not reach `to` */
bool island_needed(const struct islands *s, uint64_t from, uint64_t to);
/* where a jump at `from` has to go to reach `to`; 0 if it cannot */
uint64_t island_step(struct islands *s, uint64_t from, uint64_t to);
/* as island_step(), to where a procedure starts: how is no matter */
uint64_t island_step_to_start(struct islands *s, uint64_t from, uint64_t to);
/* true if there was too little room, and now is more: place code again */
bool island_overflow(struct islands *s);
/* all are free again */
void island_forget(struct islands *s);

/* old_pool.c: once code has its place; adds pools if need be */
void old_pools_find(const struct layout *l, struct islands *islands);
/* the old instruction is not needed, and may be overwritten */
bool old_is_free(const struct layout *l, uint64_t old);
bool old_is_trap(const struct inputs *in, uint64_t old);

/* text.c: o->text, and the old text that leads there */
int text_write(struct output *o);
/* when there is room for all islands: writes them */
int text_finish(struct output *o);

/* table_out.c: tables and literals, into o->text and o->old */
int table_out_write(struct output *o);
/* fails: something is too far from the new place of the instruction */
int output_unreached(const struct output *o, uint64_t old);

/* old_text.c: the old text, in o->old */
int old_text_write(struct output *o);

/* property.c */
/* takes back what notes promise of moved code */
void property_drop(struct output *o);
/* the entry of the dynamic section that the plan asks for */
int dynamic_add(struct output *o);
/* decides on t->tls_addr; may add to t->bytes */
void tls_place(const struct inputs *in, struct table_segment *t);
/* the header of tls_addr, made of the old one or of one that is all 0; but for
   where it lies in the file */
void tls_header(const struct output *o, Elf64_Phdr *p);

/* symbols.c: the bytes of .symtab and .strtab of the new file */
struct symbol_table {
	VEC(uint8_t) symbols, strings;
	uint32_t locals; /* entries before the first global one */
	/* given: the sections that symbols may lie in, the null one first */
	const Elf64_Shdr *section;
	uint16_t nsection;
};
void symbols_make(struct symbol_table *t, const struct layout *l,
		  uint16_t text_section);

/* file.c, in this order */
/* where the new code is to begin; -1: there is no room for it */
int file_place_code(struct layout *l);
/* when it has its place: the tables, and where data begins */
int file_place_tables(const struct layout *l, struct table_segment *t);
/* when it is written: the plan's constants */
void file_write_constants(const struct layout *l, struct table_segment *t);
int file_write(const struct output *o, const char *path);

/* bytes of old code at addr, which is in a block */
static inline const uint8_t *old_code(const struct inputs *in, uint64_t addr)
{
	size_t avail;

	return image_at(in->im, addr, &avail);
}

/* where an old instruction lies in the bytes of the new file */
static inline uint8_t *output_old(const struct output *o, uint64_t old)
{
	return o->old + (old_code(o->in, old) - o->in->im->bytes);
}

#endif
