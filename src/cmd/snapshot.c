/*
 * snapshot: `tally snapshot PROFILE [-o OUT] [--minus PROFILE]`, the counts
 * so far of a program that runs.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/options/shared_options.h"
#include "count/profile/profile.h"

struct snapshot_call {
	const char *profile, *out, *minus;
};

static const struct option snapshot_options[] = {
	{"output", 'o', &type_file, "OUT", FILLS(struct snapshot_call, out),
	 .help = "the new profile; `PROFILE.snapshot` by default",
	 .more = "It appears whole or not at all. It cannot be <PROFILE> "
		 "itself."},
	{"minus", .type = &type_profile, FILLS(struct snapshot_call, minus),
	 .help = "take away what was counted in an earlier snapshot of the "
		 "same run: what is left are the counts of the time between"},
	{0},
};

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

static int snapshot_run(void *words, const struct arguments *a)
{
	struct snapshot_call *call = words;
	char *name = NULL;
	struct err e;
	int status;

	call->profile = a->operand.at[0];
	if (!call->out) {
		name = mem_alloc(strlen(call->profile) + sizeof ".snapshot");
		sprintf(name, "%s.snapshot", call->profile);
	}
	status = snapshot_write(call, name ? name : call->out, &e);
	mem_free(name);
	return status ? cmd_fail(&e) : STATUS_OK;
}

const struct command cmd_snapshot = {
	.name = "snapshot",
	.summary = "the counts so far of a running program",
	.usage = "[OPTION...] PROFILE",
	.about = "Writes the counts so far of a program that runs under "
		 "`tally count` as a profile of its own.",
	.operands = (const struct operand[]){
		{.name = "PROFILE", .offer = OFFER_PROFILES}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(snapshot_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct snapshot_call){0},
	.size = sizeof(struct snapshot_call),
	.run = snapshot_run,
};
