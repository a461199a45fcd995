/* gzip: see gzip.h. */
#include "export/gzip.h"

#include <stdint.h>

#include "base/mem.h"

enum {
	WINDOW = 15 + 16, /* the largest, and a header of gzip's */
	MEMORY = 8,	  /* what zlib takes by default */
	ROOM = 32768,
};

static voidpf take(voidpf unused, uInt n, uInt size)
{
	(void)unused;
	return mem_alloc((size_t)n * size);
}

static void give(voidpf unused, voidpf p)
{
	(void)unused;
	mem_free(p);
}

void gzip_begin(struct gzip *g, FILE *to)
{
	*g = (struct gzip){.to = to};
	g->z.zalloc = take;
	g->z.zfree = give;
	/* it can fail for memory alone, which take() always has */
	deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
		     Z_DEFAULT_STRATEGY);
}

/* all that is given, and at the end what is kept back */
static void run(struct gzip *g, int flush)
{
	uint8_t room[ROOM];

	do {
		g->z.next_out = room;
		g->z.avail_out = sizeof room;
		deflate(&g->z, flush);
		fwrite(room, 1, sizeof room - g->z.avail_out, g->to);
	} while (!g->z.avail_out);
}

void gzip_write(struct gzip *g, const void *bytes, size_t n)
{
	g->z.next_in = bytes;
	g->z.avail_in = (uInt)n;
	run(g, Z_NO_FLUSH);
}

void gzip_end(struct gzip *g)
{
	run(g, Z_FINISH);
	deflateEnd(&g->z);
}
