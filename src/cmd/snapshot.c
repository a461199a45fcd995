/*
 * snapshot: `tally snapshot PROFILE [-o OUT] [--minus PROFILE]`, the counts
 * so far of a program that runs.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/option.h"
#include "count/profile.h"

static const char snapshot_usage[] =
	"usage: tally snapshot PROFILE [-o OUT] [--minus PROFILE]\n"
	"\n"
	"Writes the counts so far of a program that runs under 'tally count'\n"
	"as a profile of its own.\n"
	"\n"
	"  -o OUT           where to; PROFILE.snapshot by default\n"
	"  --minus PROFILE  less what was counted in an earlier snapshot: the\n"
	"                   counts of one phase\n";

struct snapshot_call {
	const char *profile, *out, *minus;
};

/* reads the arguments; 0 or the exit status */
static int snapshot_parse(int argc, char **argv, struct snapshot_call *call)
{
	bool options = true;

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *value;

		if (options && !strcmp(a, "--"))
			options = false;
		else if (options && (value = option_value(argv, &i, "-o")))
			call->out = value;
		else if (options && (value = option_value(argv, &i,
							  "--minus")))
			call->minus = value;
		else if (options && a[0] == '-' && a[1])
			return cmd_misuse(&cmd_snapshot, "unknown option '%s'",
					  a);
		else if (call->profile)
			return cmd_misuse(&cmd_snapshot,
					  "one PROFILE at a time");
		else
			call->profile = a;
	}
	if (!call->profile)
		return cmd_misuse(&cmd_snapshot, "which PROFILE?");
	if (call->out && !*call->out)
		return cmd_misuse(&cmd_snapshot, "-o takes a file's name");
	return 0;
}

/* writes it; the profile itself is what the program counts in: never that */
static int snapshot_write(const struct snapshot_call *call, const char *out,
			  struct err *e)
{
	struct profile p, minus;
	int status;

	if (cmd_is_same(call->profile, out))
		return err_set(e, ERR_USAGE, "%s: a snapshot cannot take the "
			       "place of its profile", out);
	if (profile_open(&p, call->profile, e))
		return -1;
	status = call->minus ? profile_open(&minus, call->minus, e) : 0;
	if (!status) {
		status = profile_write(&p, call->minus ? &minus : NULL, out,
				       e);
		if (call->minus)
			profile_close(&minus);
	}
	profile_close(&p);
	return status;
}

static int snapshot_run(int argc, char **argv)
{
	struct snapshot_call call = {0};
	struct err e;
	char *name = NULL;
	int status = snapshot_parse(argc, argv, &call);

	if (status)
		return status;
	if (!call.out) {
		name = mem_alloc(strlen(call.profile) + sizeof ".snapshot");
		sprintf(name, "%s.snapshot", call.profile);
	}
	status = snapshot_write(&call, name ? name : call.out, &e);
	mem_free(name);
	return status ? cmd_fail(&e) : STATUS_OK;
}

const struct command cmd_snapshot = {
	.name = "snapshot",
	.summary = "the counts so far of a running program",
	.usage = snapshot_usage,
	.run = snapshot_run,
};
