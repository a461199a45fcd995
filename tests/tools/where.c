/*
 * where FILE: reads addresses, one a line, and says where in the source each
 * comes from, as addr2line -i -f does: two lines for each frame, innermost
 * first. With -s: only the symbol that covers it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/lines/lines.h"
#include "profile/symbols/names.h"

enum { FRAMES = 64 };

static void show_frames(struct lines *l, uint64_t addr)
{
	struct line_frame f[FRAMES];
	unsigned n = lines_frames(l, addr, f, FRAMES);

	for (unsigned i = 0; i < n; i++)
		printf("%s\n%s:%" PRIu32 "\n",
		       f[i].function ? f[i].function : "??",
		       f[i].place.file ? f[i].place.file : "??",
		       f[i].place.line);
	if (!n)
		printf("??\n??:0\n");
}

static void show_symbol(const struct names *n, uint64_t addr)
{
	const struct name *x = names_find(n, addr);
	char *plain = x ? name_demangle(x->symbol) : NULL;

	printf("%s\n", plain ? plain : x ? x->symbol : "??");
	free(plain);
}

int main(int argc, char **argv)
{
	bool symbols = argc == 3 && !strcmp(argv[1], "-s");
	struct object_id id = {.path = argv[argc - 1]};
	struct object o;
	struct names names;
	struct lines lines;
	struct err e;
	uint64_t addr;

	if (argc < 2 || object_open(&o, &id, &e)) {
		fprintf(stderr, "where: %s\n", argc < 2 ? "FILE?" : e.text);
		return 2;
	}
	names_read(&names, &o);
	lines_open(&lines, &o);
	while (scanf("%" SCNx64, &addr) == 1) {
		printf("%#" PRIx64 "\n", addr);
		if (symbols)
			show_symbol(&names, addr);
		else
			show_frames(&lines, addr);
	}
	lines_close(&lines);
	names_free(&names);
	object_close(&o);
	return 0;
}
