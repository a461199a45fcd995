/*
 * symbol_server: names and lines of an image's code, found by another process.
 *
 * An image is a file that any user of the machine may have written, and reading
 * it (symbols, DWARF, compressed sections) is much code of ours and of others.
 * So a process in a sandbox (base/sandbox.h) does that, with the rights of the
 * file's owner at most, and with bounds of memory and time that grow with what
 * the file really has on its disk. If the file is too much for it, the image
 * has addresses instead of names, and that is said.
 *
 * It is asked for many places at once, since to know each costs little, and to
 * ask does not. There may be many images: only some processes stay, and one
 * that was ended is begun again when it is needed.
 */
#ifndef PROFILE_SYMBOLS_SYMBOL_SERVER_H
#define PROFILE_SYMBOLS_SYMBOL_SERVER_H

#include "base/dict.h"
#include "base/sandbox.h"
#include "profile/lines/lines.h"
#include "profile/symbols/object.h"
#include "store/store.h"

/* what is at an offset of the file; texts live as long as the symbol_server */
struct symbolized {
	uint64_t address, start, end; /* as in struct samples_place */
	const char *procedure, *symbol;
	const char *file; /* or NULL */
	uint32_t line;
};

struct symbol_server {
	struct stored_image is;
	struct sandbox box;
	bool here;        /* the file is the one that it should be */
	struct err why;   /* else this */
	uint16_t machine; /* e_machine, or 0: it is not known */
	struct segments segments;
	bool has_lines;         /* as far as symbol_server_frames() has seen */
	uint64_t patience;      /* milliseconds for an answer */
	VEC(const char *) text; /* by the number that they have there */
	struct intern kept;
	struct symbol_server *older, *newer; /* those with processes */
};

/* reads what the image's file is; s->here, or s->why */
void symbol_server_open(struct symbol_server *s, const struct stored_image *is);
/*
 * What is at offsets, n of them; lines: with source lines. False: it cannot be
 * told, and s->here is false from now on.
 */
bool symbol_server_find(struct symbol_server *s, const uint64_t *offset,
			size_t n, bool lines, struct symbolized *out);
/* the line of an address, not an offset; false: none is known */
bool symbol_server_line(struct symbol_server *s, uint64_t address,
			struct line_place *out);
/*
 * As lines_frames(), but for what is not said of a place: its column. Texts
 * live as long as the symbol_server.
 */
unsigned symbol_server_frames(struct symbol_server *s, uint64_t address,
			      struct line_frame out[LINE_FRAMES]);
void symbol_server_close(struct symbol_server *s);

#endif
