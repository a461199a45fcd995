/*
 * count-everywhere: a tally with counters everywhere (everywhere.h), each of
 * the thread that runs, to test what happens in and around the process before
 * and beside all that src/count decides.
 *
 *	run [-f] [-s] [-l LIBS] PROFILE PROGRAM [ARG...]
 *		as `tally count` does; -f as --follow, -s as --strict
 *	map FILE
 *		"NUMBER 0xADDRESS" of counters before blocks
 *
 * and the commands of tally that programs start. The name of the rewriter is
 * another than tally's, so the same cache may be used.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "instrument/recipe.h"
#include "everywhere.h"
#include "isa/move.h"
#include "launch/launch.h"
#include "hooks/hooks.h"
#include "rewrite/insert/join.h"
#include "abi/hash.h"

/* all that a plan is made of */
struct parts {
	struct image im;
	struct unwind u;
	struct cfg c;
	struct survey s;
	struct everywhere o;
	struct plan counters;
	VEC(uint64_t) site; /* by insertion: where its code is */
};

/*
 * On a machine whose counting code counts for threads by itself, that is what
 * is inserted, with the list of places by which it can be made to stop.
 */
static unsigned own_size(void *ctx, const struct insertion *i,
			 const struct scratch *s)
{
	const struct parts *p = ctx;

	static const struct addition one = {.constant = 1};

	(void)i;
	(void)s;
	return p->c.isa->move->add_size(COUNT_KEEPS, &one, 1);
}

static bool own_write(void *ctx, const struct insertion *i,
		      const struct scratch *s, uint64_t addr,
		      const struct plan_bases *bases, uint8_t *out)
{
	struct parts *p = ctx;
	struct addition one = {.counter = bases->data + 8 * (uint64_t)i->code,
			       .constant = 1};

	p->site.at[i->code] = addr;
	return p->c.isa->move->add(COUNT_KEEPS, addr, &one, 1, s->reg, out);
}

static void own_sites(void *ctx, const struct plan_bases *bases, uint8_t *out)
{
	const struct parts *p = ctx;

	for (size_t i = 0; i < p->site.n; i++) {
		int32_t d = (int32_t)(p->site.at[i] - bases->constants);

		memcpy(out + sizeof d * i, &d, sizeof d);
	}
}

static void use_own(struct parts *p)
{
	p->o.regs = p->c.isa->move->count_needs[COUNT_KEEPS].regs;
	everywhere_plan(&p->counters, &p->s, &p->o);
	for (size_t i = 0; i < p->counters.insertion.n; i++)
		vec_push(&p->site, 0);
	p->counters.ctx = p;
	p->counters.size = own_size;
	p->counters.write = own_write;
	p->counters.constants = own_sites;
	p->counters.constant_size = sizeof(int32_t) * p->site.n;
}

static int parts_make(struct parts *p, const char *in, struct err *e)
{
	if (image_open(&p->im, in, e))
		return -1;
	unwind_read(&p->u, &p->im);
	if (cfg_build(&p->c, &p->im, &p->u, e))
		return -1;
	survey_make(&p->s, &p->c);
	p->site = (__typeof__(p->site)){0};
	p->o = (struct everywhere){.regs = 2, .memory = true, .threads = true,
				   .above = p->im.type == ET_EXEC};
	if (p->c.isa->move->add_thread)
		everywhere_plan(&p->counters, &p->s, &p->o);
	else
		use_own(p);
	p->counters.data_align = p->c.isa->page;
	return 0;
}

static void parts_free(struct parts *p)
{
	vec_free(&p->counters.insertion);
	vec_free(&p->site);
	survey_free(&p->s);
	cfg_free(&p->c);
	unwind_free(&p->u);
	image_close(&p->im);
}

static int rewrite_parts(struct parts *p, const char *in, const char *out,
			 struct err *e)
{
	struct counter_layout layout = {.ncounter = p->counters.insertion.n};
	uint64_t id = hash_bytes(in, strlen(in), 0);
	struct rewrite_options none = {0};
	struct rewrite_report r;
	struct plan world;
	struct joint both;
	int failed;

	layout.nsite = (uint32_t)p->site.n;
	memcpy(layout.id, &id, sizeof id);
	if (!hooks_plan(&world, &p->c, &layout))
		return err_set(e, ERR_INPUT, "%s: no hooks", in);
	plans_join(&both, &world, &p->counters);
	failed = rewrite_image(&p->c, &both.plan, &none, out, &r, e);
	if (!failed)
		rewrite_report_free(&r);
	joint_free(&both);
	hooks_plan_free(&world);
	return failed;
}

static int rewrite_file(const void *ctx, const char *in, const char *out,
			struct err *e)
{
	struct parts p;
	int failed;

	(void)ctx;
	if (parts_make(&p, in, e))
		return -1;
	failed = rewrite_parts(&p, in, out, e);
	parts_free(&p);
	return failed;
}

/* in the place of instrument/recipe.c */
const char *recipe_name(const struct recipe *r)
{
	(void)r;
	return "everywhere";
}

bool recipe_parse(struct recipe *r, const char *name)
{
	*r = (struct recipe){0};
	return !strcmp(name, recipe_name(r));
}

struct file_rewriter recipe_rewriter(const struct recipe *r)
{
	return (struct file_rewriter){
		.ctx = r,
		.rewrite = rewrite_file,
		.options = recipe_name(r),
		.version = "test",
	};
}

static int run(int argc, char **argv)
{
	struct recipe recipe = {0};
	struct launch_options o = {.libs = "all",
				   .rewriter = recipe_rewriter(&recipe)};
	struct err e = {0};
	struct launch l;
	int c, status;

	while ((c = getopt(argc, argv, "+fsl:")) != -1)
		if (c == 'f')
			o.follow = true;
		else if (c == 's')
			o.strict = true;
		else if (c == 'l')
			o.libs = optarg;
		else
			return 2;
	if (argc - optind < 2)
		return 2;
	o.profile = argv[optind];
	status = launch_prepare(&l, argv + optind + 1, &o, &e);
	for (size_t i = 0; i < l.note.n; i++)
		fprintf(stderr, "note: %s\n", l.note.at[i]);
	if (!status)
		status = launch_run(&l, &e);
	if (e.code)
		fprintf(stderr, "error: %s\n", e.text);
	launch_free(&l);
	return status;
}

static int map(const char *file)
{
	struct parts p;
	struct err e;

	if (parts_make(&p, file, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 3;
	}
	for (size_t i = 0; i < p.counters.insertion.n; i++)
		if (p.counters.insertion.at[i].place == PLAN_BEFORE)
			printf("%zu 0x%" PRIx64 "\n", i,
			       p.counters.insertion.at[i].at);
	parts_free(&p);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "run"))
		return run(argc - 1, argv + 1);
	if (argc == 3 && !strcmp(argv[1], "map"))
		return map(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "cached"))
		return cmd_cached.internal(argc - 1, argv + 1);
	if (argc > 2 && !strcmp(argv[1], "follow"))
		return cmd_follow.internal(argc - 1, argv + 1);
	return 2;
}
