/*
 * insert-everywhere [-r REGISTERS] [-m] [-f] FILE OUT: rewrites FILE after a
 * plan that inserts code everywhere (everywhere.h). The code overwrites
 * REGISTERS registers (default 2); with -f the condition flags; with -m it
 * increments counters in memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "everywhere.h"

static int rewrite(const char *in, const char *out, struct everywhere *o,
		   struct err *e)
{
	struct image im;
	struct unwind u;
	struct cfg c;
	struct survey s;
	struct plan p;
	struct rewrite_options none = {0};
	struct rewrite_report r;
	int failed;

	if (image_open(&im, in, e))
		return -1;
	unwind_read(&u, &im);
	if (cfg_build(&c, &im, &u, e))
		return -1;
	survey_make(&s, &c);
	everywhere_plan(&p, &s, o);
	failed = rewrite_image(&c, &p, &none, out, &r, e);
	if (!failed) {
		printf("{\"file\": \"%s\", \"insertions\": %zu, "
		       "\"text_bytes\": %" PRIu64 ", \"moved_bytes\": %" PRIu64
		       ", \"new_bytes\": %" PRIu64 ", \"in_place\": []}\n",
		       in, p.insertion.n, r.text_bytes, r.moved_bytes,
		       r.new_bytes);
		rewrite_report_free(&r);
	}
	vec_free(&p.insertion);
	survey_free(&s);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return failed;
}

int main(int argc, char **argv)
{
	struct everywhere o = {.regs = 2};
	struct err e;
	int c;

	while ((c = getopt(argc, argv, "r:mf")) != -1)
		if (c == 'r')
			o.regs = (unsigned)atoi(optarg);
		else if (c == 'm')
			o.memory = true;
		else if (c == 'f')
			o.flags = true;
		else
			return 2;
	if (argc - optind != 2 || o.regs < 2 || o.regs > 4) {
		fprintf(stderr, "usage: insert-everywhere [-r 2..4] [-m] [-f] "
				"FILE OUT\n");
		return 2;
	}
	if (!rewrite(argv[optind], argv[optind + 1], &o, &e))
		return 0;
	fprintf(stderr, "%s\n", e.text);
	return 3;
}
