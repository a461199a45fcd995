/*
 * merge: `tally merge -o OUT PROFILE...`, several runs of a program as one
 * profile.
 */
#include "cmd/cmd.h"

#include "base/mem.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/status_line.h"
#include "profile/trace_profile.h"

struct merge_call {
	const char *out;
	struct word_list profile;
};

static const struct option merge_options[] = {
	{"output", 'o', &type_file, "OUT", FILLS(struct merge_call, out),
	 .help = "the new profile",
	 .more = "It appears whole or not at all. It may be one of the old "
		 "ones if that is finished."},
	{0},
};

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
	struct status_line line;
	struct trace_opener opener = trace_opener(&line.progress);
	struct err e;
	int status;

	status_line_begin(&line);
	status = profile_open_all(&p, call->profile.at, call->profile.n,
				  &opener.is, &e);
	status_line_end(&line);
	if (status)
		return cmd_fail(&e);
	status = merge_check(call, &p, &e);
	if (!status)
		status = profile_write(&p, NULL, call->out, &e);
	profile_close(&p);
	return status ? cmd_fail(&e) : STATUS_OK;
}

static int merge_run(void *words, const struct arguments *a)
{
	struct merge_call *call = words;

	if (!call->out)
		return cmd_misuse(&cmd_merge, "-o OUT says where to write");
	call->profile = a->operand;
	return merge_all(call);
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "several runs of a program as one profile",
	.usage = "-o OUT PROFILE|TRACE...",
	.about = "Adds profiles of the same program, or traces: OUT has all "
		 "their processes and needs no other file. Profiles of other "
		 "programs, of other builds of the program or a library, or "
		 "counted with other options are refused.",
	.operands = (const struct operand[]){
		{"PROFILE or TRACE", OFFER_PROFILES, .many = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(merge_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct merge_call){0},
	.size = sizeof(struct merge_call),
	.run = merge_run,
};
