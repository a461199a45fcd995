/*
 * samples_code: what is known of the code of a sampled image. Procedures are
 * symbols or, where there are none, entries of the unwind table, which are
 * named by their address as `tally cfg` does.
 */
#include <string.h>

#include "base/bisect.h"
#include "base/dict.h"
#include "profile/symbols/kernel_names.h"
#include "profile/lines/lines.h"
#include "profile/samples.h"
#include "profile/symbols/symbol_server.h"

struct samples_code {
	bool of_file, of_kernel;
	struct symbol_server symbol_server; /* of a file */
	struct dict at; /* by offset: which of these it is */
	VEC(struct symbolized) place;
	bool with_lines; /* they have their lines */
	struct kernel_names kernel;
};

static struct samples_code *code_of(struct samples_image *m)
{
	struct samples_code *c = m->code;

	if (c)
		return c;
	c = m->code = NEW_ARRAY(struct samples_code, 1);
	c->of_file = m->is.kind == IMAGE_FILE && !m->few;
	if (c->of_file)
		symbol_server_open(&c->symbol_server, &m->is);
	else if (m->is.kind == IMAGE_KERNEL)
		c->of_kernel = kernel_names_read(&c->kernel, m->is.build_id,
						 m->is.build_id_len);
	return c;
}

/* the file is here, and is the one that was sampled */
static bool is_here(const struct samples_code *c)
{
	return c->of_file && c->symbol_server.here;
}

void samples_code_free(struct samples_code *c)
{
	if (!c)
		return;
	if (c->of_file)
		symbol_server_close(&c->symbol_server);
	dict_free(&c->at);
	vec_free(&c->place);
	kernel_names_free(&c->kernel);
	mem_free(c);
}

typedef VEC(uint64_t) offsets;

static void want(const struct samples_code *c, uint64_t offset, offsets *v)
{
	if (dict_get(&c->at, offset) == DICT_NONE)
		vec_push(v, offset);
}

/* asks for the offset, and for all others with samples that are not known */
static void ask(struct samples_image *m, struct samples_code *c,
		uint64_t offset)
{
	offsets v = {0};
	struct symbolized *out;

	want(c, offset, &v);
	for (size_t e = 0; e < SAMPLES_EVENTS; e++)
		for (size_t i = 0; i < m->samples[e].n; i++)
			want(c, m->samples[e].at[i].offset, &v);
	out = NEW_ARRAY(struct symbolized, v.n);
	if (symbol_server_find(&c->symbol_server, v.at, v.n, c->with_lines,
			       out))
		for (size_t i = 0; i < v.n; i++) {
			dict_put(&c->at, v.at[i], (uint32_t)c->place.n);
			vec_push(&c->place, out[i]);
		}
	mem_free(out);
	vec_free(&v);
}

/* what is there, or NULL: the file is not here, or not to be read */
static const struct symbolized *symbolized_at(struct samples_image *m,
					      uint64_t offset, bool lines)
{
	struct samples_code *c = code_of(m);
	uint32_t i;

	if (is_here(c) && lines && !c->with_lines) {
		c->with_lines = true;
		dict_clear(&c->at);
		c->place.n = 0;
	}
	i = dict_get(&c->at, offset);
	if (is_here(c) && i == DICT_NONE) {
		ask(m, c, offset);
		i = dict_get(&c->at, offset);
	}
	return i == DICT_NONE ? NULL : &c->place.at[i];
}

unsigned samples_frames(struct samples_image *m, uint64_t address,
			struct line_frame out[LINE_FRAMES])
{
	struct samples_code *c = code_of(m);

	return is_here(c)
		       ? symbol_server_frames(&c->symbol_server, address, out)
		       : 0;
}

bool samples_has_lines(struct samples_image *m)
{
	struct line_frame f[LINE_FRAMES];

	samples_frames(m, 0, f);
	return is_here(code_of(m)) && code_of(m)->symbol_server.has_lines;
}

const struct segments *samples_segments(struct samples_image *m)
{
	struct samples_code *c = code_of(m);

	return is_here(c) ? &c->symbol_server.segments : NULL;
}

bool samples_line(struct samples_image *m, uint64_t address,
		  struct line_place *out)
{
	struct samples_code *c = code_of(m);

	return is_here(c) &&
	       symbol_server_line(&c->symbol_server, address, out);
}

const struct isa *samples_isa(struct samples_image *m)
{
	struct samples_code *c = code_of(m);

	return is_here(c) && c->symbol_server.machine
		       ? isa_for_elf(c->symbol_server.machine)
		       : NULL;
}

/* what the program that made the code says that it is, or NULL */
static const struct stored_procedure *made_at(const struct samples_image *m,
					      uint64_t address)
{
	size_t i;

	bisect(i, m->made.n, m->made.at[i].start <= address);
	return i && address < m->made.at[i - 1].end ? &m->made.at[i - 1] : NULL;
}

void samples_find(struct samples_image *m, uint64_t offset, bool lines,
		  struct samples_place *out)
{
	const struct symbolized *x = symbolized_at(m, offset, lines);
	const struct samples_code *c = code_of(m);
	const struct stored_procedure *p;
	const struct kernel_name *k;

	*out = (struct samples_place){.address = offset,
				      .start = offset,
				      .procedure = m->is.path,
				      .symbol = m->is.path};
	if (x) {
		*out = (struct samples_place){x->address,   x->start,  x->end,
					      x->procedure, x->symbol, x->file,
					      x->line};
	} else if (c->of_kernel &&
		   (k = kernel_names_find(&c->kernel, offset))) {
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

const char *samples_nameless(const struct samples_image *m)
{
	if (m->is.kind != IMAGE_FILE || !m->code || !m->code->of_file ||
	    is_here(m->code))
		return NULL;
	return m->code->symbol_server.why.text;
}
