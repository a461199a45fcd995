/* commands: all of them; see cmd.h. */
#include "cmd/cmd.h"

const struct command *const command_table[] = {
	&cmd_count, &cmd_events, &cmd_trace, &cmd_replay, &cmd_query,
	&cmd_record, &cmd_daemon,
	&cmd_snapshot, &cmd_merge, &cmd_report, &cmd_annotate, &cmd_graph,
	&cmd_flame, &cmd_diff, &cmd_stats, &cmd_export, &cmd_instrument,
	&cmd_cfg, &cmd_doctor, &cmd_completion, &cmd_help, &cmd_cached,
	&cmd_follow, &cmd_names, NULL};
