/* rewriter: see rewriter.h. */
#include "cmd/rewriter.h"

#include <stdio.h>
#include <string.h>

#include "elf/needs.h"
#include "launch/world.h"
#include "rewrite/rewrite.h"

const char *recipe_name(const struct recipe *r)
{
	return r->trap_unexpected ? "none+trap" : "none";
}

bool recipe_parse(struct recipe *r, const char *name)
{
	*r = (struct recipe){.trap_unexpected = !strcmp(name, "none+trap")};
	return !strcmp(name, recipe_name(r));
}

static int rewrite_file(void *ctx, const char *in, const char *out,
			struct err *e)
{
	const struct recipe *recipe = ctx;
	struct rewrite_options o = {
		.trap_unexpected = recipe->trap_unexpected,
	};
	struct rewrite_report report;
	struct plan plan;
	struct image im;
	struct unwind u;
	struct cfg c;
	int failed;

	if (image_open(&im, in, e))
		return -1;
	unwind_read(&u, &im);
	failed = cfg_build(&c, &im, &u, e);
	if (!failed && world_plan(&plan, &c, NULL)) {
		failed = rewrite_image(&c, &plan, &o, out, &report, e);
		world_plan_free(&plan);
	} else if (!failed) {
		failed = rewrite_image(&c, NULL, &o, out, &report, e);
	}
	if (!failed)
		rewrite_report_free(&report);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return failed ? -1 : 0;
}

/* tally's version and build: another build may rewrite otherwise */
static const char *version(void)
{
	static char text[160];
	struct needs n;
	struct err e;
	int at = snprintf(text, sizeof text, "%s", TALLY_VERSION);

	if (needs_read(&n, "/proc/self/exe", &e))
		return text;
	for (unsigned i = 0; i < n.build_id_len; i++)
		at += sprintf(text + at, "%02x", n.build_id[i]);
	needs_free(&n);
	return text;
}

struct rewriter rewriter_of(const struct recipe *r)
{
	return (struct rewriter){
		.ctx = (void *)r,
		.rewrite = rewrite_file,
		.options = recipe_name(r),
		.version = version(),
	};
}
