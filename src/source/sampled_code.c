/*
 * sampled_code: what is known of the code of a sampled image. Procedures are
 * symbols or, where there are none, entries of the unwind table, which are
 * named by their address as `tally cfg` does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "cfg/cfg.h"
#include "elf/unwind.h"
#include "source/kernel_names.h"
#include "source/lines.h"
#include "source/names.h"
#include "source/sampled.h"
#include "source/segments.h"

struct sampled_code {
	bool here; /* the file is, and is the one that was sampled */
	bool of_kernel;
	struct err why;
	struct object object;
	struct names names;
	struct segments segments;
	struct lines lines;
	bool has_lines, has_unwind;
	struct image image;
	struct unwind unwind;
	struct kernel_names kernel;
	struct intern plain; /* demangled names */
};

static void open_file(struct sampled_code *c, const struct stored_image *is)
{
	struct object_id id = {is->path, is->build_id, is->build_id_len,
			       is->has_file ? &is->file : NULL};
	struct err e;

	c->here = !object_open(&c->object, &id, &c->why);
	if (!c->here)
		return;
	names_read(&c->names, &c->object);
	segments_read(&c->segments, &c->object);
	c->has_unwind = !image_open(&c->image, is->path, &e);
	if (c->has_unwind)
		unwind_read(&c->unwind, &c->image);
}

static struct sampled_code *code_of(struct sampled_image *m)
{
	struct sampled_code *c = m->code;

	if (c)
		return c;
	c = m->code = NEW_ARRAY(struct sampled_code, 1);
	if (m->is.kind == IMAGE_FILE)
		open_file(c, &m->is);
	else if (m->is.kind == IMAGE_KERNEL)
		c->of_kernel = kernel_names_read(&c->kernel, m->is.build_id,
						 m->is.build_id_len);
	return c;
}

void sampled_code_free(struct sampled_code *c)
{
	if (!c)
		return;
	if (c->has_lines)
		lines_close(&c->lines);
	if (c->has_unwind) {
		unwind_free(&c->unwind);
		image_close(&c->image);
	}
	names_free(&c->names);
	if (c->here)
		object_close(&c->object);
	kernel_names_free(&c->kernel);
	intern_free(&c->plain);
	mem_free(c);
}

/* the address of an offset in the file; the same if it is in no segment */
static uint64_t address_of(const struct sampled_code *c, uint64_t offset)
{
	for (uint32_t i = 0; i < c->segments.n; i++) {
		const struct code_segment *g = &c->segments.at[i];

		if (offset - g->offset < g->end - g->start)
			return g->start + (offset - g->offset);
	}
	return offset;
}

static const char *plain_name(struct sampled_code *c, const char *symbol)
{
	char *plain = name_demangle(symbol);
	const char *kept = intern_string(&c->plain, plain ? plain : symbol);

	free(plain);
	return kept;
}

static void name_of_file(struct sampled_code *c, struct sampled_place *p)
{
	const struct name *n = names_find(&c->names, p->address);
	const struct fde *f = !n && c->has_unwind ?
				      unwind_find(&c->unwind, p->address) :
				      NULL;
	char buf[32];

	if (n) {
		p->start = n->start;
		p->end = n->end;
		p->procedure = plain_name(c, n->symbol);
		p->symbol = n->symbol;
	} else if (f) {
		cfg_name_of(NULL, f->start, buf, sizeof buf);
		p->start = f->start;
		p->end = f->end;
		p->procedure = p->symbol = intern_string(&c->plain, buf);
	}
}

struct lines *sampled_lines(struct sampled_image *m)
{
	struct sampled_code *c = code_of(m);

	if (!c->here)
		return NULL;
	if (!c->has_lines)
		lines_open(&c->lines, &c->object);
	c->has_lines = true;
	return &c->lines;
}

const struct segments *sampled_segments(struct sampled_image *m)
{
	struct sampled_code *c = code_of(m);

	return c->here ? &c->segments : NULL;
}

bool sampled_line(struct sampled_image *m, uint64_t address,
		  struct line_place *out)
{
	struct lines *l = sampled_lines(m);

	return l && lines_find(l, address, out);
}

const struct isa *sampled_isa(struct sampled_image *m)
{
	struct sampled_code *c = code_of(m);

	return c->has_unwind ? isa_for_elf(c->image.machine) : NULL;
}

/* what the program that made the code says that it is, or NULL */
static const struct stored_procedure *made_at(const struct sampled_image *m,
					      uint64_t address)
{
	size_t i;

	bisect(i, m->made.n, m->made.at[i].start <= address);
	return i && address < m->made.at[i - 1].end ? &m->made.at[i - 1] :
						     NULL;
}

void sampled_find(struct sampled_image *m, uint64_t offset, bool lines,
		  struct sampled_place *out)
{
	struct sampled_code *c = code_of(m);
	const struct stored_procedure *p;
	const struct kernel_name *k;
	struct line_place at;

	*out = (struct sampled_place){.address = offset, .start = offset,
				      .procedure = m->is.path,
				      .symbol = m->is.path};
	if (c->here) {
		out->address = out->start = address_of(c, offset);
		out->procedure = out->symbol = "?";
		name_of_file(c, out);
		if (lines && sampled_line(m, out->address, &at)) {
			out->file = at.file;
			out->line = at.line;
		}
	} else if (c->of_kernel && (k = kernel_names_find(&c->kernel,
							   offset))) {
		out->start = k->offset;
		out->procedure = out->symbol = k->name;
	} else if ((p = made_at(m, offset))) {
		out->start = p->start;
		out->end = p->end;
		out->procedure = out->symbol = p->name;
	} else {
		out->start = 0; /* one row for all that is not known */
	}
}

const char *sampled_nameless(const struct sampled_image *m)
{
	if (m->is.kind != IMAGE_FILE || !m->code || m->code->here)
		return NULL;
	return m->code->why.text;
}
