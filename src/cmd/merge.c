/*
 * merge: `tally merge -o OUT PROFILE...`, several runs of a program as one
 * profile.
 */
#include "cmd/cmd.h"

#include "base/mem.h"
#include "cmd/option.h"
#include "count/profile.h"

static const char merge_usage[] =
	"usage: tally merge -o OUT PROFILE...\n"
	"\n"
	"Adds profiles of the same program: OUT has all their processes and\n"
	"needs no other file. Profiles of other programs, of other builds of\n"
	"the program or a library, or counted with other options are refused.\n"
	"\n"
	"  -o OUT  the new profile\n";

struct merge_call {
	const char *out;
	VEC(const char *) profile;
};

/* reads one word; 0 or the exit status */
static int merge_word(void *to, char **argv, int *i, bool option)
{
	struct merge_call *call = to;
	const char *a = argv[*i], *value;

	if (!option)
		vec_push(&call->profile, a);
	else if ((value = option_value(argv, i, "-o")))
		call->out = value;
	else
		return cmd_misuse(&cmd_merge, "unknown option '%s'", a);
	return 0;
}

static int merge_parse(int argc, char **argv, struct merge_call *call)
{
	int status = option_each(argc, argv, merge_word, call);

	if (status)
		return status;
	if (!call->out || !*call->out)
		return cmd_misuse(&cmd_merge, "-o OUT says where to write");
	return call->profile.n ? 0 : cmd_misuse(&cmd_merge, "which PROFILE?");
}

/* a program may be counting in it: once replaced, that file is never read */
static int merge_check(const struct merge_call *call, const struct profile *p,
		       struct err *e)
{
	for (size_t i = 0; i < call->profile.n; i++)
		if (!(p->npart ? &p->part[i] : p)->finished &&
		    cmd_is_same(call->profile.at[i], call->out))
			return err_set(e, ERR_USAGE, "%s: cannot take the "
				       "place of a profile that is not "
				       "finished", call->out);
	return 0;
}

static int merge_all(const struct merge_call *call)
{
	struct profile p;
	struct err e;
	int status;

	if (profile_open_all(&p, call->profile.at, call->profile.n, &e))
		return cmd_fail(&e);
	status = merge_check(call, &p, &e);
	if (!status)
		status = profile_write(&p, NULL, call->out, &e);
	profile_close(&p);
	return status ? cmd_fail(&e) : STATUS_OK;
}

static int merge_run(int argc, char **argv)
{
	struct merge_call call = {0};
	int status = merge_parse(argc, argv, &call);

	if (!status)
		status = merge_all(&call);
	vec_free(&call.profile);
	return status;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "several runs of a program as one profile",
	.usage = merge_usage,
	.run = merge_run,
};
