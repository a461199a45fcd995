/*
 * doctor: `tally doctor [--json]`, what this machine allows, what tally uses,
 * and what to change to get more.
 */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/options/shared_options.h"
#include "cmd/render/style.h"
#include "launch/find.h"
#include "sample/events/event.h"
#include "sample/daemon/sampler.h"

enum verdict { GOOD, POOR, BAD };

struct finding {
	const char *what;
	enum verdict is;
	char says[160];
	char advice[200]; /* or "" */
};

static struct finding see_machine(void)
{
	struct finding x = {.what = "machine"};
	struct utsname u;

	uname(&u);
	snprintf(x.says, sizeof x.says, "%.30s, %ld CPUs, %.20s %.60s",
		 u.machine, sysconf(_SC_NPROCESSORS_ONLN), u.sysname,
		 u.release);
	return x;
}

static struct finding see_event(void)
{
	struct finding x = {.what = "time"};
	struct event v;
	struct err e;

	if (event_choose(&v, EVENT_RATE, &e)) {
		x.is = BAD;
		snprintf(x.says, sizeof x.says, "samples are not allowed");
		snprintf(x.advice, sizeof x.advice, "sysctl "
			 "kernel.perf_event_paranoid=2, or less, lets all "
			 "sample programs of their own (it is %d)",
			 event_paranoia());
	} else if (event_has_cycles()) {
		snprintf(x.says, sizeof x.says,
			 "cycles are sampled by hardware counters");
	} else {
		x.is = POOR;
		snprintf(x.says, sizeof x.says, "no hardware counters: a timer "
			 "is sampled instead (cpu-clock)");
		snprintf(x.advice, sizeof x.advice, "virtual machines have "
			 "counters if their host passes them on");
	}
	return x;
}

/* something that only some may; below: what perf_event_paranoid must be */
static struct finding see_right(const char *what, bool may, const char *yes,
				const char *no, int below)
{
	struct finding x = {.what = what, .is = may ? GOOD : POOR};

	snprintf(x.says, sizeof x.says, "%s", may ? yes : no);
	if (!may)
		snprintf(x.advice, sizeof x.advice, "be root, or sysctl "
			 "kernel.perf_event_paranoid=%d (it is %d)", below,
			 event_paranoia());
	return x;
}

static struct finding see_kernel(void)
{
	return see_right("kernel", event_may_see_kernel(),
			 "samples in the kernel are taken, too",
			 "user mode only: samples in the kernel are not "
			 "allowed", 1);
}

static struct finding see_everybody(void)
{
	return see_right("system", event_may_see_everybody(),
			 "'tally daemon' may sample all programs",
			 "only programs of your own can be sampled ('tally "
			 "record')", 0);
}

/* tried, as the daemon does it: kernels have many ways to say no */
static struct finding see_counting(void)
{
	const struct sampler_config w = {.events = "time", .rate = EVENT_RATE,
				       .means = SAMPLER_BPF, .bursts = true};
	struct finding x = {.what = "counting"};
	struct sampler s;
	struct err e;

	if (!sampler_open(&s, &w, &e)) {
		snprintf(x.says, sizeof x.says, "the daemon's samples are "
			 "counted in the kernel, by BPF");
	} else {
		x.is = POOR;
		snprintf(x.says, sizeof x.says, "no BPF: the daemon would be "
			 "told of each sample, through rings, which costs "
			 "more");
		snprintf(x.advice, sizeof x.advice, "be root, in the first "
			 "namespace of processes; now %.130s", e.text);
	}
	sampler_close(&s);
	return x;
}

static struct finding see_rate(void)
{
	struct finding x = {.what = "rate"};
	int most = event_setting("perf_event_max_sample_rate",
				 EVENT_RATE_MOST);

	snprintf(x.says, sizeof x.says, "%d samples per second and CPU are "
		 "asked for; the kernel allows %d", EVENT_RATE, most);
	if (most >= EVENT_RATE)
		return x;
	x.is = POOR;
	snprintf(x.advice, sizeof x.advice, "sysctl "
		 "kernel.perf_event_max_sample_rate=%d", EVENT_RATE_MOST);
	return x;
}

static struct finding see_ptrace(void)
{
	struct finding x = {.what = "ptrace"};
	int scope = event_setting("yama/ptrace_scope", 0);

	snprintf(x.says, sizeof x.says, scope < 3 ?
		 "programs that tally starts can be traced (count "
		 "--trace-kill)" : "tracing is switched off: count "
		 "--trace-kill cannot work");
	x.is = scope < 3 ? GOOD : POOR;
	if (scope >= 3)
		snprintf(x.advice, sizeof x.advice,
			 "kernel.yama.ptrace_scope is %d; it changes back only "
			 "with a restart", scope);
	return x;
}

static struct finding see_debuginfo(void)
{
	struct finding x = {.what = "names"};
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool files = !access("/usr/lib/debug/.build-id", F_OK);

	snprintf(x.says, sizeof x.says, "debug files: %s; debuginfod: %s",
		 files ? "in /usr/lib/debug" : "none installed",
		 urls && *urls ? "asked" : "not asked");
	if (files || (urls && *urls))
		return x;
	x.is = POOR;
	snprintf(x.advice, sizeof x.advice, "packages NAME-dbgsym, or "
		 "DEBUGINFOD_URLS=https://debuginfod.debian.net");
	return x;
}

static struct finding see_dot(void)
{
	struct finding x = {.what = "pictures"};
	char *dot = find_in_path("dot");

	snprintf(x.says, sizeof x.says, dot ? "Graphviz draws them" :
		 "no Graphviz: 'tally graph' has only --format dot");
	if (!dot) {
		x.is = POOR;
		snprintf(x.advice, sizeof x.advice, "install graphviz");
	}
	free(dot);
	return x;
}

static void show(const struct finding *x)
{
	struct style s = style_for(stdout);
	const char *look = x->is == GOOD ? s.good : x->is == POOR ? s.warm :
								    s.hot;

	printf("%s%-10s%s%s%s%s\n", s.head, x->what, s.off, look, x->says,
	       s.off);
	if (*x->advice)
		printf("%10s%sfor more: %s%s\n", "", s.dim, x->advice, s.off);
}

static void show_json(struct json *j, const struct finding *x)
{
	static const char *const verdict[] = {"good", "poor", "bad"};

	json_object(j, NULL);
	json_string(j, "what", x->what);
	json_string(j, "verdict", verdict[x->is]);
	json_string(j, "says", x->says);
	json_string(j, "advice", x->advice);
	json_end(j);
}

struct doctor_call {
	bool json;
};

static const struct option doctor_options[] = {
	{"json", .type = &type_flag, FILLS(struct doctor_call, json),
	 .help = "write JSON, for programs",
	 .more = "It is an array of objects: `what`, `verdict` (`good`, `poor` "
		 "or `bad`), `says` and `advice`."},
	{0},
};

static int doctor_run(void *words, const struct arguments *a)
{
	static struct finding (*const see[])(void) = {
		see_machine, see_event, see_kernel, see_everybody,
		see_counting, see_rate, see_ptrace, see_debuginfo, see_dot,
	};
	const struct doctor_call *call = words;
	struct json j = {.to = stdout};
	bool bad = false;

	(void)a;
	if (call->json)
		json_array(&j, NULL);
	for (size_t i = 0; i < sizeof see / sizeof *see; i++) {
		struct finding x = see[i]();

		bad |= x.is == BAD;
		if (call->json)
			show_json(&j, &x);
		else
			show(&x);
	}
	if (call->json) {
		json_end(&j);
		putchar('\n');
	}
	return bad ? STATUS_MACHINE : STATUS_OK;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "what this machine allows",
	.usage = "[--json]",
	.about = "Says what this machine allows, what tally uses instead of "
		 "what it does not, and what to change to get more. The exit "
		 "status is 0, or 4 if there is something that tally cannot "
		 "do here at all.",
	.options = (const struct option_set[]){
		OPTIONS(doctor_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct doctor_call){0},
	.size = sizeof(struct doctor_call),
	.run = doctor_run,
};
