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
#include "cmd/name.h"
#include "cmd/option.h"
#include "cmd/style.h"
#include "sample/daemon.h"
#include "sample/event.h"
#include "store/store.h"

static const char daemon_usage[] =
	"usage: tally daemon run|start [OPTION...]\n"
	"       tally daemon stop|status|flush|epoch [--db DB] [--json]\n"
	"\n"
	"Looks many times a second where every CPU is, in whatever program,\n"
	"library or kernel, and keeps that in a database for 'tally report'.\n"
	"Run stays in the foreground, start does not, and keeps a log beside\n"
	"the database. Flush writes what is still in memory, epoch does that\n"
	"and begins a new epoch; status says how it goes, as all of them do.\n"
	"\n"
	"  --db DB          the database, a directory; /var/lib/tally by\n"
	"                   default\n"
	"  --rate HZ        samples per second of each CPU; 5200 by default\n"
	"  --event NAME[:PERIOD],..  what to sample, and once in how many of\n"
	"                   it; time, by default: cycles, or cpu-clock. Also\n"
	"                   instructions, cache-misses, branch-misses,\n"
	"                   page-faults, context-switches ..., rHEX\n"
	"  --mux            one event after the other, not all at once\n"
	"  --source SOURCE  bpf: the kernel counts samples, by a program of\n"
	"                   ours, or rings: it tells of each; by default bpf\n"
	"                   if that is allowed, else rings\n"
	"  --bursts         with bpf: ten times as many samples for a short\n"
	"                   while, then none; as many in all, for half the\n"
	"                   cost; the default\n"
	"  --steady         no bursts: for what is short\n"
	"  --apart NAME     keep the samples of processes called so apart,\n"
	"                   for 'tally report --process'; several times\n"
	"  --flush SECONDS  between writes to the database; 300 by default\n"
	"  --epoch SECONDS  that an epoch lasts; 86400, a day, by default\n"
	"  --group NAME     that may read the database, beside its owner; by\n"
	"                   default tally, if there is one. Nobody else may\n"
	"  --json           for programs\n"
	"\n"
	"Exit status: 0, 2 wrong usage, 3 bad input, 4 the machine does not\n"
	"allow it, or there is no daemon.\n";


enum { LOG_MOST = 1 << 20 }; /* bytes */

struct daemon_call {
	const char *verb;
	struct daemon_wish wish;
	VEC(const char *) apart;
	bool json;
};

static const char *const verbs[] = {"run",    "start", "stop",
				    "status", "flush", "epoch"};

static int take_verb(struct daemon_call *call, const char *word)
{
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (!strcmp(word, verbs[i]) && !call->verb) {
			call->verb = verbs[i];
			return 0;
		}
	return cmd_misuse(&cmd_daemon, call->verb ? "one word at a time, not "
			  "'%s', too" : "'%s' is not run, start, stop, "
			  "status, flush or epoch", word);
}

static int take_number(const char *option, const char *value, size_t most,
		       uint64_t *to)
{
	size_t n;

	if (!option_number(value, &n) || !n || n > most)
		return cmd_misuse(&cmd_daemon, "%s takes a number from 1 to "
				  "%zu, not '%s'", option, most, value);
	*to = n;
	return 0;
}

static int take_source(const char *value, struct sampler_wish *w)
{
	if (!strcmp(value, "bpf"))
		w->means = SAMPLER_BPF;
	else if (!strcmp(value, "rings"))
		w->means = SAMPLER_RINGS;
	else
		return cmd_misuse(&cmd_daemon, "--source takes bpf or rings, "
				  "not '%s'", value);
	return 0;
}

static int take_group(const char *value, gid_t *to)
{
	const struct group *g = getgrnam(value);

	if (!g)
		return cmd_misuse(&cmd_daemon, "--group: there is no group "
				  "called '%s'", value);
	*to = g->gr_gid;
	return 0;
}

/* the group that is called as we are, if there is one */
static gid_t usual_group(void)
{
	const struct group *g = geteuid() ? NULL : getgrnam("tally");

	return g ? g->gr_gid : (gid_t)-1;
}

static int take_flag(struct daemon_call *call, const char *a)
{
	if (!strcmp(a, "--json"))
		call->json = true;
	else if (!strcmp(a, "--mux"))
		call->wish.sampler.turns = true;
	else if (!strcmp(a, "--steady") || !strcmp(a, "--bursts"))
		call->wish.sampler.bursts = !strcmp(a, "--bursts");
	else
		return cmd_misuse(&cmd_daemon, "unknown option '%s'", a);
	return 0;
}

static int daemon_word(void *to, char **argv, int *i, bool option)
{
	enum { YEAR = 366 * 86400 };
	struct daemon_call *call = to;
	const char *a = argv[*i], *value;

	if (!option)
		return take_verb(call, a);
	if ((value = option_value(argv, i, "--rate")))
		return take_number("--rate", value, EVENT_RATE_MOST,
				   &call->wish.sampler.rate);
	if ((value = option_value(argv, i, "--flush")))
		return take_number("--flush", value, YEAR, &call->wish.flush);
	if ((value = option_value(argv, i, "--epoch")))
		return take_number("--epoch", value, YEAR, &call->wish.epoch);
	if ((value = option_value(argv, i, "--event"))) {
		call->wish.sampler.events = value;
		return 0;
	}
	if ((value = option_value(argv, i, "--apart"))) {
		vec_push(&call->apart, value);
		return *value ? 0 : cmd_misuse(&cmd_daemon, "--apart takes the "
					       "name of a program");
	}
	if ((value = option_value(argv, i, "--source")))
		return take_source(value, &call->wish.sampler);
	if ((value = option_value(argv, i, "--group")))
		return take_group(value, &call->wish.group);
	if ((value = option_value(argv, i, "--db"))) {
		call->wish.directory = value;
		return *value ? 0 : cmd_misuse(&cmd_daemon, "--db takes the "
					       "name of a directory");
	}
	return take_flag(call, a);
}

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
	size_t n;

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
	return cmd_finish(STATUS_OK);
}

/* --- running one */

static void say_ready(void *wish)
{
	const struct daemon_wish *w = wish;

	fprintf(stderr, "tally: sampling into %s, process %ld\n", w->directory,
		(long)getpid());
}

static void say_note(void *wish, const char *text)
{
	(void)wish;
	cmd_note(text);
}

static int run_here(struct daemon_wish *w)
{
	struct daemon_ears ears = {say_ready, say_note, w};
	struct err e;

	return daemon_run(w, &ears, &e) ? cmd_fail(&e) : STATUS_OK;
}

/* a daemon in the background: a pipe to the process that waits until it
   samples, and its log */
struct background {
	const struct daemon_wish *w;
	int pipe; /* -1: it samples, and that process waits no longer */
	FILE *log;
};

/* beside the database, for the same readers */
static FILE *open_log(const struct daemon_wish *w)
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
static int run_apart(struct daemon_wish *w, int pipe)
{
	struct background b = {.w = w, .pipe = pipe};
	struct daemon_ears ears = {begin_log, say_log, &b};
	struct err e = {0};
	int status = daemon_run(w, &ears, &e);

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

static int daemon_main(int argc, char **argv)
{
	struct daemon_call call = {.wish = {
		.directory = "/var/lib/tally",
		.sampler = {.events = "time", .rate = EVENT_RATE,
			    .bursts = true},
		.flush = DAEMON_FLUSH, .epoch = DAEMON_EPOCH,
		.group = usual_group(),
	}};
	int status = option_each(argc, argv, daemon_word, &call);

	if (status)
		return status;
	if (!call.verb)
		return cmd_misuse(&cmd_daemon, "what is it to do?");
	vec_push(&call.apart, NULL);
	call.wish.apart = call.apart.at;
	if (!strcmp(call.verb, "run"))
		status = run_here(&call.wish);
	else if (!strcmp(call.verb, "start"))
		status = start(&call);
	else
		status = ask(&call);
	vec_free(&call.apart);
	return status;
}

const struct command cmd_daemon = {
	.name = "daemon",
	.summary = "samples of the whole system, day and night",
	.usage = daemon_usage,
	.run = daemon_main,
};
