/*
 * symbol_server: see symbol_server.h.
 *
 *	greeting  here, 8 bits; text of why not
 *		  machine, 16 bits; n segments: start, end, offset
 *	question  how, 8 bits (enum how); n, n offsets or addresses
 *	answer	  n texts that were not sent before
 *		  for each: address, start, end; procedure, symbol, file, line,
 *		  32 bits each: texts by number, from 1; 0: none
 *	or	  of an address, if frames are asked for: the texts; is there
 *		  debug information, 8 bits; n; for each function, file, line
 *		  there, block, copies, its first line, 32 bits each; entry
 *
 * Numbers have 64 bits where nothing is said. A text is a number and bytes.
 */
#include "profile/symbols/symbol_server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/debug.h"
#include "base/regular.h"
#include "cfg/cfg.h"
#include "elf/unwind.h"
#include "profile/symbols/names.h"
#include "profile/symbols/object.h"

enum how { BY_OFFSET = 0, WITH_LINES = 1, BY_ADDRESS = 2, FRAMES = 4 };

enum {
	PROCESSES = 48,      /* that stay, at most */
	MEMORY = 256 << 20,  /* bytes that any file may take, */
	MEMORY_TIMES = 12,   /* and so many times what it has on disk */
	CPU = 6,             /* seconds that any file may take, */
	CPU_BYTES = 4 << 20, /* and one more for so many bytes */
	WAIT = 9,            /* seconds more that its answer may take */
	TEXT = 64 << 10,     /* bytes of a text */
	BATCH = 1 << 15,     /* offsets in a question */
	ANSWER = 256 << 20,  /* bytes */
};

static void put_text(buffer *b, const char *text)
{
	size_t n = strlen(text) < TEXT ? strlen(text) : TEXT;

	buffer_uint(b, 8, n);
	buffer_bytes(b, text, n);
}

/* a text that is kept; "" if there is none */
static const char *take_text(struct bytes *b, struct intern *kept)
{
	uint64_t n = bytes_uint(b, 8);
	const uint8_t *p = n <= TEXT ? bytes_take(b, n) : NULL;
	char *text = mem_alloc(p ? n + 1 : 1);
	const char *same;

	if (p)
		memcpy(text, p, n);
	text[p ? n : 0] = 0;
	same = intern_string(kept, text);
	mem_free(text);
	return same;
}

/* --- the process */

struct worker {
	const struct stored_image *is;
	int fd; /* of the file */
	size_t size;
	struct object object;
	struct names names;
	struct segments segments;
	struct lines lines;
	bool here, has_lines, has_unwind;
	struct image image;
	struct unwind unwind;
	struct intern text;
	uint32_t sent; /* of the texts, so many */
};

static void greet(struct worker *w, buffer *b)
{
	const struct stored_image *is = w->is;
	struct object_id id = {is->path, is->build_id, is->build_id_len,
			       is->has_file ? &is->file : NULL};
	struct err why = {0}, e;

	w->here = !object_open_fd(&w->object, &id, w->fd, &why);
	buffer_uint(b, 1, w->here);
	put_text(b, why.text);
	if (w->here) {
		names_read(&w->names, &w->object);
		segments_read(&w->segments, &w->object);
		w->has_unwind =
			!image_open_fd(&w->image, is->path, w->fd, w->size, &e);
	}
	if (w->has_unwind)
		unwind_read(&w->unwind, &w->image);
	buffer_uint(b, 2, w->has_unwind ? w->image.machine : 0);
	buffer_uint(b, 8, w->segments.n);
	for (uint32_t i = 0; i < w->segments.n; i++)
		buffer_bytes(b, &w->segments.at[i], sizeof *w->segments.at);
}

/* the address of an offset in the file; the same if it is in no segment */
static uint64_t address_of(const struct worker *w, uint64_t offset)
{
	for (uint32_t i = 0; i < w->segments.n; i++) {
		const struct code_segment *g = &w->segments.at[i];

		if (offset - g->offset < g->end - g->start)
			return g->start + (offset - g->offset);
	}
	return offset;
}

static uint32_t number_of(struct worker *w, const char *text)
{
	return text ? intern(&w->text, text) + 1 : 0;
}

/* from where to where it reaches; procedure and symbol */
static void put_name(struct worker *w, uint64_t address, buffer *b)
{
	const struct name *n = names_find(&w->names, address);
	const struct fde *f =
		!n && w->has_unwind ? unwind_find(&w->unwind, address) : NULL;
	char *plain = n ? name_demangle(n->symbol) : NULL, buf[32] = "?";

	if (f)
		cfg_name_of(NULL, f->start, buf, sizeof buf);
	buffer_uint(b, 8, n ? n->start : f ? f->start : address);
	buffer_uint(b, 8, n ? n->end : f ? f->end : 0);
	buffer_uint(b, 4, number_of(w, plain ? plain : n ? n->symbol : buf));
	buffer_uint(b, 4, number_of(w, n ? n->symbol : buf));
	free(plain);
}

static void need_lines(struct worker *w)
{
	if (!w->has_lines)
		lines_open(&w->lines, &w->object);
	w->has_lines = true;
}

static void put_line(struct worker *w, uint64_t address, buffer *b)
{
	struct line_place at;
	bool known;

	need_lines(w);
	known = lines_find(&w->lines, address, &at);
	buffer_uint(b, 4, known ? number_of(w, at.file) : 0);
	buffer_uint(b, 4, known ? at.line : 0);
}

static void put_frames(struct worker *w, uint64_t address, buffer *b)
{
	struct line_frame f[LINE_FRAMES];
	unsigned n;

	need_lines(w);
	n = lines_frames(&w->lines, address, f, LINE_FRAMES);
	buffer_uint(b, 1, w->lines.nunit != 0);
	buffer_uint(b, 8, n);
	for (unsigned i = 0; i < n; i++) {
		buffer_uint(b, 4, number_of(w, f[i].function));
		buffer_uint(b, 4, number_of(w, f[i].place.file));
		buffer_uint(b, 4, f[i].place.line);
		buffer_uint(b, 4, f[i].place.block);
		buffer_uint(b, 4, f[i].place.copies);
		buffer_uint(b, 4, f[i].line);
		buffer_uint(b, 8, f[i].entry);
	}
}

static void answer(struct worker *w, struct bytes question, buffer *b)
{
	unsigned how = bytes_u8(&question);
	uint64_t n = bytes_uint(&question, 8);
	buffer places = {0};

	if (how & FRAMES) {
		put_frames(w, bytes_uint(&question, 8), &places);
		n = 0;
	}
	for (; n && bytes_left(&question) >= 8; n--) {
		uint64_t at = bytes_uint(&question, 8);

		if (!(how & BY_ADDRESS))
			at = address_of(w, at);
		buffer_uint(&places, 8, at);
		put_name(w, at, &places);
		if (how & WITH_LINES)
			put_line(w, at, &places);
		else
			buffer_uint(&places, 8, 0);
	}
	buffer_uint(b, 8, w->text.string.n - w->sent);
	for (; w->sent < w->text.string.n; w->sent++)
		put_text(b, w->text.string.at[w->sent]);
	buffer_bytes(b, places.at, places.n);
	vec_free(&places);
}

static void work(void *worker, int fd)
{
	struct worker *w = worker;
	buffer question = {0}, said = {0};

	greet(w, &said);
	while (sandbox_send(fd, &said, -1, 0) && w->here &&
	       sandbox_receive(fd, &question, 16 * BATCH, NULL, 0)) {
		said.n = 0;
		answer(w, bytes_window(question.at, question.n, 0), &said);
	}
}

/* --- those that there are */

static struct symbol_server *newest;
static unsigned processes;

static void unlist(struct symbol_server *s)
{
	if (!sandbox_is_there(&s->box))
		return;
	*(s->newer ? &s->newer->older : &newest) = s->older;
	if (s->older)
		s->older->newer = s->newer;
	s->older = s->newer = NULL;
	sandbox_end(&s->box);
	processes--;
}

/* the one that was begun first has to go, if there are too many */
static void list(struct symbol_server *s)
{
	struct symbol_server *oldest = s;

	s->older = newest;
	s->newer = NULL;
	if (newest)
		newest->newer = s;
	newest = s;
	if (++processes <= PROCESSES)
		return;
	while (oldest->older)
		oldest = oldest->older;
	unlist(oldest);
}

/* --- its parent */

static bool fail(struct symbol_server *s)
{
	unlist(s);
	s->here = false;
	err_set(&s->why, ERR_INPUT,
		"%s: its names are not read: that takes "
		"too long or too much memory, or ends the process that does "
		"it",
		s->is.path);
	return false;
}

static bool take_greeting(struct symbol_server *s, struct bytes b)
{
	bool here = bytes_u8(&b);
	const char *why = take_text(&b, &s->kept);
	uint64_t n;

	s->machine = (uint16_t)bytes_uint(&b, 2);
	n = bytes_uint(&b, 8);
	for (s->segments.n = 0; s->segments.n < n && s->segments.n < SEGMENTS;
	     s->segments.n++) {
		struct code_segment *g = &s->segments.at[s->segments.n];

		g->start = bytes_uint(&b, 8);
		g->end = bytes_uint(&b, 8);
		g->offset = bytes_uint(&b, 8);
	}
	if (b.bad)
		return fail(s);
	s->here = here;
	if (!here)
		err_set(&s->why, ERR_INPUT, "%s", why);
	return here;
}

/* bounds by what the file has on its disk: holes are free */
static struct sandbox_limits limits_of(const struct stat *file)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	uint64_t bytes = (uint64_t)file->st_blocks * 512;

	return (struct sandbox_limits){
		.memory = MEMORY + MEMORY_TIMES * bytes,
		.cpu = CPU + bytes / CPU_BYTES,
		.opens = true,
		.network = servers && *servers,
		.uid = file->st_uid,
		.gid = file->st_gid,
	};
}

/* its process is there; false: there is none to be had */
static bool begin(struct symbol_server *s)
{
	struct worker w = {.is = &s->is};
	struct sandbox_limits l;
	buffer said = {0};
	struct stat file;
	bool good;

	if (sandbox_is_there(&s->box))
		return true;
	w.fd = regular_open(s->is.path, 0, &file, &s->why);
	if (w.fd < 0)
		return s->here = false;
	w.size = (size_t)file.st_size;
	l = limits_of(&file);
	s->patience = (l.cpu + WAIT) * 1000;
	s->text.n = 0;
	good = !sandbox_start(&s->box, &l, work, &w, w.fd, &s->why);
	close(w.fd);
	if (!good)
		return s->here = false;
	debug(DEBUG_SAMPLE, "process %ld reads names and lines of %s",
	      (long)s->box.pid, s->is.path);
	list(s);
	good = sandbox_receive(s->box.fd, &said, ANSWER, NULL,
			       sandbox_clock() + s->patience)
		       ? take_greeting(s, bytes_window(said.at, said.n, 0))
		       : fail(s);
	if (!good)
		unlist(s);
	vec_free(&said);
	return good;
}

void symbol_server_open(struct symbol_server *s, const struct stored_image *is)
{
	*s = (struct symbol_server){.is = *is, .box = SANDBOX_NONE};
	begin(s);
}

static const char *text_at(const struct symbol_server *s, uint64_t number)
{
	return number && number <= s->text.n ? s->text.at[number - 1] : NULL;
}

static void take_texts(struct symbol_server *s, struct bytes *b)
{
	uint64_t n = bytes_uint(b, 8);

	for (; n && !b->bad; n--)
		vec_push(&s->text, take_text(b, &s->kept));
}

static bool take_answer(struct symbol_server *s, struct bytes b, size_t n,
			struct symbolized *out)
{
	take_texts(s, &b);
	for (size_t i = 0; i < n && !b.bad; i++) {
		out[i] = (struct symbolized){.address = bytes_uint(&b, 8)};
		out[i].start = bytes_uint(&b, 8);
		out[i].end = bytes_uint(&b, 8);
		out[i].procedure = text_at(s, bytes_uint(&b, 4));
		out[i].symbol = text_at(s, bytes_uint(&b, 4));
		out[i].file = text_at(s, bytes_uint(&b, 4));
		out[i].line = (uint32_t)bytes_uint(&b, 4);
		b.bad |= !out[i].procedure || !out[i].symbol;
	}
	return !b.bad;
}

/* how many frames were told, or -1 */
static int take_frames(struct symbol_server *s, struct bytes b,
		       struct line_frame *out)
{
	uint64_t n;

	take_texts(s, &b);
	s->has_lines = bytes_u8(&b);
	n = bytes_uint(&b, 8);
	for (uint64_t i = 0; i < n && i < LINE_FRAMES && !b.bad; i++) {
		out[i] = (struct line_frame){
			.function = text_at(s, bytes_uint(&b, 4))};
		out[i].place.file = text_at(s, bytes_uint(&b, 4));
		out[i].place.line = (uint32_t)bytes_uint(&b, 4);
		out[i].place.block = (uint16_t)bytes_uint(&b, 4);
		out[i].place.copies = (uint16_t)bytes_uint(&b, 4);
		out[i].line = (uint32_t)bytes_uint(&b, 4);
		out[i].entry = bytes_uint(&b, 8);
	}
	return b.bad || n > LINE_FRAMES ? -1 : (int)n;
}

/* a question, which is not too long, and what is said to it */
static bool talk(struct symbol_server *s, const uint64_t *at, size_t n,
		 unsigned how, buffer *said)
{
	buffer question = {0};
	uint64_t deadline;
	bool good;

	if (!begin(s))
		return false;
	deadline = sandbox_clock() + s->patience;
	buffer_uint(&question, 1, how);
	buffer_uint(&question, 8, n);
	buffer_bytes(&question, at, n * sizeof *at);
	good = sandbox_send(s->box.fd, &question, -1, deadline) &&
	       sandbox_receive(s->box.fd, said, ANSWER, NULL, deadline);
	vec_free(&question);
	return good || fail(s);
}

static bool ask(struct symbol_server *s, const uint64_t *at, size_t n,
		unsigned how, struct symbolized *out)
{
	buffer said = {0};
	bool good = talk(s, at, n, how, &said);

	if (good)
		good = take_answer(s, bytes_window(said.at, said.n, 0), n,
				   out) ||
		       fail(s);
	vec_free(&said);
	return good;
}

bool symbol_server_find(struct symbol_server *s, const uint64_t *offset,
			size_t n, bool lines, struct symbolized *out)
{
	for (size_t i = 0; i < n; i += BATCH)
		if (!ask(s, offset + i, n - i < BATCH ? n - i : BATCH,
			 lines ? WITH_LINES : BY_OFFSET, out + i))
			return false;
	return true;
}

bool symbol_server_line(struct symbol_server *s, uint64_t address,
			struct line_place *out)
{
	struct symbolized x;

	if (!s->here || !ask(s, &address, 1, WITH_LINES | BY_ADDRESS, &x) ||
	    !x.file)
		return false;
	*out = (struct line_place){.file = x.file, .line = x.line};
	return true;
}

unsigned symbol_server_frames(struct symbol_server *s, uint64_t address,
			      struct line_frame out[LINE_FRAMES])
{
	buffer said = {0};
	int n = 0;

	if (s->here && talk(s, &address, 1, FRAMES, &said)) {
		n = take_frames(s, bytes_window(said.at, said.n, 0), out);
		if (n < 0)
			fail(s);
	}
	vec_free(&said);
	return n < 0 ? 0 : (unsigned)n;
}

void symbol_server_close(struct symbol_server *s)
{
	unlist(s);
	vec_free(&s->text);
	intern_free(&s->kept);
}
