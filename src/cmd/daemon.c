/*
 * daemon: `tally daemon run|start|stop|status|flush|epoch`, samples of the
 * whole system, day and night.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/name.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/style.h"
#include "sample/daemon/daemon.h"
#include "sample/events/event.h"
#include "store/store.h"

enum { LOG_MOST = 1 << 20 }; /* bytes */
enum { YEAR = 366 * 86400 }; /* seconds */

struct daemon_call {
	const char *verb;
	struct daemon_config wish;
	struct word_list apart;
	bool json;
};

static const struct option_choice verbs[] = {
	{.name = "run"}, {.name = "start"},
	{.name = "stop"}, {.name = "status"},
	{.name = "flush"}, {.name = "epoch"},
	{0},
};

static const struct option_choice sources[] = {
	{"bpf", SAMPLER_BPF, "a BPF program counts samples by place in the "
			     "kernel, which hands over the counts", NULL},
	{"rings", SAMPLER_RINGS, "the kernel hands over each sample", NULL},
	{0},
};

/* the group that is called as we are, if there is one */
#define USUAL_GROUP ((gid_t)-2)
static gid_t usual_group(void)
{
	const struct group *g = geteuid() ? NULL : getgrnam("tally");

	return g ? g->gr_gid : (gid_t)-1;
}

static bool read_group(const struct option *o, const char *word, void *field)
{
	const struct group *g = getgrnam(word);

	(void)o;
	if (g)
		*(gid_t *)field = g->gr_gid;
	return g;
}

static const struct option_type type_group = {
	"NAME", "the name of a group", OFFER_NOTHING, sizeof(gid_t),
	read_group};

static const struct option db_options[] = {
	{"db", .type = &type_directory,
	 FILLS(struct daemon_call, wish.directory),
	 .help = "the database, a directory; `/var/lib/tally` by default"},
	{0},
};

static const struct option daemon_options[] = {
	{"event", .type = &type_text, .placeholder = "NAME[:PERIOD],...",
	 FILLS(struct daemon_call, wish.sampler.events),
	 .help = "what to sample, and once in how many of it; by default "
		 "`time`: cycles where the processor has counters for them, "
		 "else cpu-clock",
	 .more = "Without a period, samples are as frequent as --rate says. "
		 "There may be at most eight events. Clocks count nanoseconds, "
		 "and their periods are 10000 or more. Names are those of "
		 "perf-list(1): `instructions`, `cache-references`, "
		 "`cache-misses`, `branches`, `branch-misses`, `bus-cycles`, "
		 "`ref-cycles`, `stalled-cycles-frontend`, "
		 "`stalled-cycles-backend`, `task-clock`, `page-faults`, "
		 "`minor-faults`, `major-faults`, `context-switches`, "
		 "`cpu-migrations`, `alignment-faults`, `emulation-faults`; "
		 "`r`<HEX> is an event by the number that the processor's "
		 "manual gives to it. Counters are as precise as the processor "
		 "can."},
	{"mux", .type = &type_flag,
	 FILLS(struct daemon_call, wish.sampler.turns),
	 .help = "one event after the other, not all at once: for more than "
		 "there are counters",
	 .more = "Each has its turn for a tenth of a second or a second. A "
		 "sample then stands for as many times its period as there are "
		 "events, and the database says so."},
	{"source", .type = &type_choice, .choices = sources,
	 .placeholder = "SOURCE",
	 FILLS(struct daemon_call, wish.sampler.means),
	 .help = "how samples come; by default bpf if that is allowed, else "
		 "rings"},
	{"bursts", .type = &type_flag,
	 FILLS(struct daemon_call, wish.sampler.bursts),
	 .help = "with bpf: ten times as many samples for a short while, then "
		 "none; the default",
	 .more = "A burst is a fiftieth of a second; the random time to the "
		 "next is nine times as long in the mean. That is as many "
		 "samples in all, for half the cost, since interrupts find "
		 "warm caches. They are not independent of one another: what "
		 "runs for less than some seconds may be seen too often, or "
		 "not at all. Only events that measure time (cycles, "
		 "ref-cycles, bus-cycles, and the clocks) have bursts: a "
		 "program is slower while one is on, and there is less of all "
		 "else. The others are steady beside them; with --mux, all "
		 "are then."},
	{"steady", .type = &type_off,
	 FILLS(struct daemon_call, wish.sampler.bursts),
	 .help = "no bursts: for what is short"},
	{"apart", .type = &type_list, FILLS(struct daemon_call, apart),
	 .help = "keep the samples of processes of that name apart, for "
		 "`tally report --process`; may be given several times",
	 .more = "They are among the samples of all processes, too. The kernel "
		 "shortens names to 15 letters."},
	{"flush", .type = &type_number, .placeholder = "SECONDS", .least = 1,
	 .most = YEAR, FILLS(struct daemon_call, wish.flush),
	 .help = "the time between two writes to the database; 300 by "
		 "default"},
	{"epoch", .type = &type_number, .placeholder = "SECONDS", .least = 1,
	 .most = YEAR, FILLS(struct daemon_call, wish.epoch),
	 .help = "the time that an epoch lasts, if no other is asked for; "
		 "86400, a day, by default"},
	{"max-size", .type = &type_number, .placeholder = "MB", .least = 1,
	 .most = 1 << 20, FILLS(struct daemon_call, wish.size),
	 .help = "what the database may take on disk, in megabytes; 1024 by "
		 "default",
	 .more = "If it is not enough, epochs are removed, the oldest first. "
		 "Old ones take little: those of a day become one after a "
		 "week, those of a week after eight."},
	{"group", .type = &type_group, FILLS(struct daemon_call, wish.group),
	 .help = "the group that may read the database, beside its owner; by "
		 "default `tally`, if there is one",
	 .more = "Else it is the one that the files have. The owner alone may "
		 "write: modes are 0640, and 0750 of the directory. Nobody "
		 "else may read it: names of processes and procedures are of "
		 "everybody on the machine."},
	{"json", .type = &type_flag, FILLS(struct daemon_call, json),
	 .help = "the status as JSON, for programs",
	 .more = "It is an object, with the same names."},
	{0},
};

/* --- what a daemon answers: lines "NAME<TAB>VALUE" */

/* takes the next line apart; false: there is none */
static bool next_line(char **rest, char **name, char **value)
{
	*name = strsep(rest, "\n");
	if (!*name)
		return false;
	*value = *name;
	*name = strsep(value, "\t");
	return *value;
}

static void show_plain(char *answer)
{
	struct style s = style_for(stdout);
	char *name, *value;

	while (next_line(&answer, &name, &value)) {
		printf("%s%-10s%s", s.head, name, s.off);
		name_print(stdout, value, "");
		putchar('\n');
	}
}

static void show_json(char *answer)
{
	struct json j = {.to = stdout};
	char *name, *value;
	uint64_t n;

	json_object(&j, NULL);
	while (next_line(&answer, &name, &value))
		if (option_number(value, &n))
			json_number(&j, name, n);
		else
			json_string(&j, name, value);
	json_end(&j);
	putchar('\n');
}

/* the error that the answer tells of, or NULL */
static const char *error_in(const char *answer)
{
	return strncmp(answer, "error\t", 6) ? NULL : answer + 6;
}

static int ask(const struct daemon_call *call)
{
	char answer[CONTROL_ANSWER];
	struct err e;

	if (daemon_ask(call->wish.directory, call->verb, answer, &e))
		return cmd_fail(&e);
	if (error_in(answer)) {
		err_set(&e, ERR_MACHINE, "%.*s",
			(int)strcspn(error_in(answer), "\n"),
			error_in(answer));
		return cmd_fail(&e);
	}
	if (call->json)
		show_json(answer);
	else
		show_plain(answer);
	return STATUS_OK;
}

/* --- running one */

static void say_ready(void *wish)
{
	const struct daemon_config *w = wish;

	fprintf(stderr, "tally: sampling into %s, process %ld\n", w->directory,
		(long)getpid());
}

static void say_note(void *wish, const char *text)
{
	(void)wish;
	cmd_note(text);
}

static int run_here(struct daemon_config *w)
{
	struct daemon_callbacks callbacks = {say_ready, say_note, w};
	struct err e;

	return daemon_run(w, &callbacks, &e) ? cmd_fail(&e) : STATUS_OK;
}

/* a daemon in the background: a pipe to the process that waits until it
   samples, and its log */
struct background {
	const struct daemon_config *w;
	int pipe; /* -1: it samples, and that process waits no longer */
	FILE *log;
};

/* beside the database, for the same readers */
static FILE *open_log(const struct daemon_config *w)
{
	char *file = store_path(w->directory);
	char *path = mem_alloc(strlen(file) + sizeof ".log");
	FILE *log = NULL;
	int fd;

	sprintf(path, "%s.log", file);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
			O_NONBLOCK | O_CLOEXEC, 0640);
	if (fd >= 0 && !fchown(fd, (uid_t)-1, w->group))
		log = fdopen(fd, "a");
	if (fd >= 0 && !log)
		close(fd);
	mem_free(path);
	mem_free(file);
	return log;
}

/* a line with its time; a log that has become long begins anew */
static void say_log(void *background, const char *text)
{
	const struct background *b = background;
	time_t now = time(NULL);
	char when[32];

	if (!b->log)
		return;
	if (ftell(b->log) > LOG_MOST && ftruncate(fileno(b->log), 0))
		return;
	strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	fprintf(b->log, "%s %ld ", when, (long)getpid());
	name_print(b->log, text, "");
	putc('\n', b->log);
	fflush(b->log);
}

/* it samples: a pipe that is closed with nothing in it says so */
static void begin_log(void *background)
{
	struct background *b = background;
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; nothing >= 0 && fd < 3; fd++)
		dup2(nothing, fd);
	if (nothing > 2)
		close(nothing);
	b->log = open_log(b->w);
	say_log(b, "begins to sample");
	close(b->pipe);
	b->pipe = -1;
}

/* the process that stays */
static int run_apart(struct daemon_config *w, int pipe)
{
	struct background b = {.w = w, .pipe = pipe};
	struct daemon_callbacks callbacks = {begin_log, say_log, &b};
	struct err e = {0};
	int status = daemon_run(w, &callbacks, &e);

	if (status)
		say_log(&b, e.text);
	if (status && b.pipe >= 0)
		(void)!write(b.pipe, &e, sizeof e);
	if (b.log)
		fclose(b.log);
	return status ? STATUS_MACHINE : STATUS_OK;
}

/* waits until it samples, or says why it does not */
static int wait_for(const struct daemon_call *call, int pipe)
{
	struct daemon_call status = *call;
	struct err e;
	ssize_t n = read(pipe, &e, sizeof e);

	status.verb = "status";
	return n == sizeof e ? cmd_fail(&e) : ask(&status);
}

static int start(struct daemon_call *call)
{
	struct err e;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) || (child = fork()) < 0) {
		err_set(&e, ERR_MACHINE, "no process: %s", strerror(errno));
		return cmd_fail(&e);
	}
	if (child) {
		close(ends[1]);
		return wait_for(call, ends[0]);
	}
	close(ends[0]);
	setsid();
	return run_apart(&call->wish, ends[1]);
}

static int daemon_main(void *words, const struct arguments *a)
{
	struct daemon_call *call = words;

	call->verb = a->operand.at[0];
	vec_push(&call->apart, NULL);
	call->wish.apart = call->apart.at;
	if (call->wish.group == USUAL_GROUP)
		call->wish.group = usual_group();
	if (!strcmp(call->verb, "run"))
		return run_here(&call->wish);
	return strcmp(call->verb, "start") ? ask(call) : start(call);
}

const struct command cmd_daemon = {
	.name = "daemon",
	.summary = "samples of the whole system, day and night",
	.usage = "run|start [OPTION...]\n"
		 "stop|status|flush|epoch [--db DB] [--json]",
	.about = "Looks many times a second where every CPU is, in whatever "
		 "program, library or kernel, and keeps that in a database "
		 "for `tally report`. Run stays in the foreground, start does "
		 "not, and keeps a log beside the database. Flush writes what "
		 "is still in memory, epoch does that and begins a new epoch; "
		 "status says how it goes, as all of them do.",
	.closing = "Exit status: 0, 2 wrong usage, 3 bad input, 4 the machine "
		   "does not allow it, or there is no daemon.",
	.operands = (const struct operand[]){
		{"WHAT", .choices = verbs}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(db_options),
		OPTIONS_AT(rate_option, struct daemon_call, wish.sampler.rate),
		OPTIONS(daemon_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct daemon_call){.wish = {
		.directory = "/var/lib/tally",
		.sampler = {.events = "time", .rate = EVENT_RATE,
			    .bursts = true},
		.flush = DAEMON_FLUSH, .epoch = DAEMON_EPOCH,
		.size = DAEMON_SIZE,
		.group = USUAL_GROUP,
	}},
	.size = sizeof(struct daemon_call),
	.run = daemon_main,
};
