/* counted_run: see counted_run.h. */
#include "cmd/counted_run.h"

#include <stdlib.h>
#include <string.h>

#include "abi/libs.h"
#include "cmd/render/status_line.h"
#include "count/profile/profile.h"

static const struct option_choice some_libs[] = {
	{.name = "all"}, {.name = "none"}, {0}};

static bool read_libs(const struct option *o, const char *word, void *field)
{
	return type_text.read(o, word, field) && !strchr(word, '/');
}

static const struct option_type type_libs = {
	"all|none|NAME,..", "names of libraries: libc,libz", OFFER_NOTHING,
	sizeof(const char *), read_libs};

const struct option counted_options[] = {
	{"libs", .type = &type_libs, .choices = some_libs,
	 FILLS(struct counted_call, libs),
	 .help = "the libraries to count in; all by default",
	 .more = "The others are listed as unknown. <NAME> is a file name, "
		 "with or without what follows a dot: libz, libz.so, "
		 "libz.so.1. A name that no library has is an error: of a "
		 "program that loads nothing by dlopen(3) before it runs, of "
		 "others when it has ended."},
	{"follow", .type = &type_flag, FILLS(struct counted_call, follow),
	 .help = "programs that it executes are counted, too",
	 .more = "So are those that these execute; of a script, its "
		 "interpreter. They are rewritten and run from the cache. "
		 "Their process, arguments, environment, descriptors and "
		 "signals are as without tally, and what cannot be executed "
		 "fails with the same error. See `WHAT IS NOT FOLLOWED`."},
	{"trace-kill", .type = &type_flag,
	 FILLS(struct counted_call, trace_kill),
	 .help = "be exact also if SIGKILL ends the program: it is traced",
	 .more = "The same goes for a program that ends because no memory is "
		 "left, or while other threads of it run. Nothing in a process "
		 "runs any more then; so tally traces it, its threads and all "
		 "that it starts, by ptrace(2), and notes where each of them "
		 "is when it goes. See `WHAT A TRACED PROGRAM NOTICES`."},
	{"strict", .type = &type_flag, FILLS(struct counted_call, strict),
	 .help = "do not run what could not be rewritten",
	 .more = "A library that the program loads later and that cannot be "
		 "rewritten ends it with status 125; so does, with --follow, "
		 "a program that it executes."},
	{"pid", 'p', &type_text,
	 .refusal = "a process that runs already cannot be counted: tally has "
		    "to start its program. 'tally daemon' samples all that "
		    "runs, 'tally record' a program that it starts"},
	{0},
};

int counted_check(const struct command *c, struct counted_call *call)
{
	struct recipe *r = &call->how.recipe;

	if (recipe_settle(c, &call->how))
		return LAUNCH_FAILED;
	if (r->counts && strcmp(call->libs, "all"))
		r->libs = call->libs;
	if (!recipe_fits(r))
		return cmd_misuse(c, "the names for --libs or --only are too "
				  "many: %d bytes of each at most",
				  RECIPE_LIST_MAX - 1);
	if (call->follow && !r->counts && !libs_have(call->libs, "libc.so"))
		return cmd_misuse(c, "--follow needs libc among --libs: that "
				  "is what executes programs");
	return 0;
}

/*
 * How tally ends if there is no memory left: as in all that it fails in, or,
 * once the program has ended, as that did.
 */
static struct {
	int status;
	const char *profile;
} ending = {.status = LAUNCH_FAILED};

static void tell_exhausted(size_t wanted)
{
	fprintf(stderr, "tally: out of memory (%zu bytes wanted)", wanted);
	if (ending.profile)
		fprintf(stderr, ": what was counted is in %s, not shown",
			ending.profile);
	fputc('\n', stderr);
	exit(ending.status);
}

/*
 * What is not counted need not be rewritten, but for the C library: it makes
 * threads and processes; and for the client library, whose functions answer.
 */
static char *libs_to_rewrite(const struct counted_call *call)
{
	static const char always[] = "libc,libpthread,libtally-client";
	bool none = !strcmp(call->libs, "none");
	size_t room = strlen(call->libs) + sizeof always + 1;
	char *list = mem_alloc(room);

	if (!call->how.recipe.counts || !strcmp(call->libs, "all"))
		snprintf(list, room, "%s", call->libs);
	else
		snprintf(list, room, "%s%s%s", none ? "" : call->libs,
			 none ? "" : ",", always);
	return list;
}

/* prints what there is to say, from note number i on */
static void tell_notes(const struct launch *l, size_t i)
{
	for (; i < l->note.n; i++)
		cmd_note(l->note.at[i]);
}

/*
 * The program ended: its profile gets its final form, and is looked at. The
 * exit status, which was `status` so far.
 */
static int conclude(const struct counted_run *r, const struct launch *l,
		    struct asked *asked, int status)
{
	struct err e;
	int wrong;

	ending.status = status;
	ending.profile = l->profile;
	if (r->live)
		status = r->conclude(r->ctx, l, status);
	/* what cannot be finished can still be read */
	if (!r->dropped && profile_finish(l->profile, NULL, &e) < 0)
		cmd_fail(&e);
	if (!r->live)
		status = r->conclude(r->ctx, l, status);
	wrong = asked_after(asked, l, &e);
	if (wrong)
		cmd_fail(&e);
	return status ? status : wrong;
}

int counted_launch(const struct counted_run *r, char **program)
{
	const struct counted_call *call = r->call;
	const struct recipe *recipe = &call->how.recipe;
	char *libs = libs_to_rewrite(call);
	struct launch_options o = {
		.profile = recipe->counts ? r->profile : NULL,
		.asked = r->asked,
		.no_aslr = r->no_aslr,
		.threads = r->threads,
		.small = r->small,
		.brief = r->brief,
		.stopper = r->stopper,
		.begin = r->begin,
		.end = r->end,
		.begin_ctx = r->ctx,
		.libs = libs,
		.strict = call->strict,
		.follow = call->follow,
		.watch = call->trace_kill || r->stopper,
		.told_later = recipe->counts && !r->quiet,
		.check = asked_before,
		.rewriter = recipe_rewriter(recipe),
	};
	struct status_line line;
	struct asked asked;
	struct launch l;
	struct err e = {0};
	size_t shown;
	int status;

	mem_on_exhausted(tell_exhausted);
	asked_open(&asked, recipe->counts ? call->libs : NULL,
		   recipe->from ? recipe->from : recipe->count.only,
		   recipe->from ? "--from" : "--only");
	o.check_ctx = &asked;
	status_line_begin(&line);
	o.progress = &line.progress;
	status = launch_prepare(&l, program, &o, &e);
	status_line_end(&line);
	tell_notes(&l, 0);
	shown = l.note.n;
	if (!status)
		status = launch_run(&l, &e);
	tell_notes(&l, shown);
	if (e.code)
		cmd_fail(&e);
	if (l.profile && *l.profile)
		status = conclude(r, &l, &asked, status);
	asked_close(&asked);
	launch_free(&l);
	mem_free(libs);
	return status;
}
