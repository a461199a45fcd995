/* pprof_image: see pprof_image.h. */
#include "export/pprof_image.h"

#include <stdlib.h>

#include "profile/names.h"

void pprof_image_begin(struct pprof_image *x, const char *path,
		       const uint8_t *build_id, uint32_t build_id_len)
{
	char *id = mem_zalloc(2 * build_id_len + 1, 1);
	struct pprof_mapping m = {.file = path, .build_id = id,
				  .lines = x->has_lines};

	for (unsigned i = 0; i < build_id_len; i++)
		sprintf(id + 2 * i, "%02x", build_id[i]);
	x->mapping = x->out->nmapping + 1;
	if (!x->segments.n)
		pprof_mapping(x->out, &m);
	for (uint32_t i = 0; i < x->segments.n; i++) {
		m.start = x->segments.at[i].start;
		m.limit = x->segments.at[i].end;
		m.offset = x->segments.at[i].offset;
		pprof_mapping(x->out, &m);
	}
	mem_free(id);
}

uint64_t pprof_image_mapping(const struct pprof_image *x, uint64_t addr)
{
	for (uint32_t i = 0; i < x->segments.n; i++)
		if (addr >= x->segments.at[i].start &&
		    addr < x->segments.at[i].end)
			return x->mapping + i;
	return x->mapping;
}

uint64_t pprof_image_function(struct pprof_image *x,
			      const struct line_frame *f, const char *symbol)
{
	struct pprof_function new = {
		.symbol = symbol ? symbol : f->function,
		.file = f->place.file, .line = f->line,
	};
	uint64_t n = pprof_known(x->out, new.symbol, new.file);
	char *plain;

	if (n)
		return n;
	plain = name_demangle(new.symbol);
	new.name = plain ? plain : new.symbol;
	n = pprof_function(x->out, &new);
	free(plain);
	return n;
}

/* the outermost frame is the procedure itself, and so is one without name */
uint64_t pprof_image_location(struct pprof_image *x, uint64_t addr,
			      const struct line_frame *f, unsigned n,
			      const char *symbol)
{
	static const struct line_frame none;
	struct pprof_line line[LINE_FRAMES];

	if (!n) {
		f = &none;
		n = 1;
	}
	for (unsigned i = 0; i < n; i++)
		line[i] = (struct pprof_line){
			pprof_image_function(x, &f[i], i == n - 1 ||
					     !f[i].function ? symbol : NULL),
			f[i].place.line};
	return pprof_location(x->out, pprof_image_mapping(x, addr), addr, line,
			      n);
}
