/* recipe: see recipe.h. */
#include "instrument/recipe.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count/place/feedback.h"
#include "events/client_code.h"
#include "events/placer.h"
#include "elf/needs.h"
#include "hooks/hooks.h"
#include "rewrite/insert/join.h"
#include "rewrite/insert/poison.h"
#include "abi/hash.h"
#include "abi/libs.h"

#define TRAP "+trap"
#define AFTER "+after"
#define CALLS "+calls"
#define STOP "+stop"
#define SITES "+sites"
#define ADDRESSES "+addresses"
#define SYSCALLS "+syscalls"
#define INSNS "+insns"
#define EVENTS "+events="
#define FROM "+from="
#define LIBS "+libs="
#define ONLY "+only="
#define WEIGHTS "+weights="

/* of variables of threads in any library that is known: a cache line */
enum { TLS_ALIGN = 64 };

static const struct {
	const char *name;
	bool counts, poisons, online, traces;
	enum place_kind kind;
	enum trace_encoding encoding;
} placements[] = {
	{"none", .kind = PLACE_EDGES},
	{"poison", .poisons = true, .kind = PLACE_EDGES},
	{"online", .counts = true, .online = true, .kind = PLACE_EDGES},
	{"edges", .counts = true, .kind = PLACE_EDGES},
	{"vertices", .counts = true, .kind = PLACE_VERTICES},
	{"vertex-edges", .counts = true, .kind = PLACE_VERTEX_EDGES},
	{"redundant", .counts = true, .kind = PLACE_REDUNDANT},
	{"trace-witness", .counts = true, .traces = true, .kind = PLACE_TRACE,
	 .encoding = TRACE_WITNESS},
	{"trace-bits", .counts = true, .traces = true, .kind = PLACE_TRACE,
	 .encoding = TRACE_BITS},
	{"trace-every-branch", .counts = true, .traces = true,
	 .kind = PLACE_TRACE, .encoding = TRACE_EVERY_BRANCH},
};

enum { NPLACEMENTS = sizeof placements / sizeof *placements };

bool recipe_placement(struct recipe *r, const char *name)
{
	for (unsigned i = 0; i < NPLACEMENTS; i++)
		if (!strcmp(name, placements[i].name)) {
			r->counts = placements[i].counts;
			r->poisons = placements[i].poisons;
			r->online = placements[i].online;
			r->traces = placements[i].traces;
			r->encoding = placements[i].encoding;
			r->count.placement = placements[i].kind;
			return true;
		}
	return false;
}

bool recipe_fits(const struct recipe *r)
{
	return (!r->libs || strlen(r->libs) < RECIPE_LIST_MAX) &&
	       (!r->count.only || r->only_file ||
		strlen(r->count.only) < RECIPE_LIST_MAX) &&
	       (!r->from || strlen(r->from) < RECIPE_LIST_MAX) &&
	       (!r->online || strlen(r->events) < RECIPE_LIST_MAX);
}

const char *recipe_name(const struct recipe *r)
{
	static char name[4 * RECIPE_LIST_MAX + 2 * PATH_MAX + 128];
	const char *placement = "";
	size_t n;

	for (unsigned i = 0; i < NPLACEMENTS; i++)
		if (r->counts == placements[i].counts &&
		    r->poisons == placements[i].poisons &&
		    r->online == placements[i].online &&
		    r->traces == placements[i].traces &&
		    r->encoding == placements[i].encoding &&
		    r->count.placement == placements[i].kind)
			placement = placements[i].name;
	n = (size_t)snprintf(name, sizeof name, "%s%s%s%s", placement,
			     r->trap_unexpected ? TRAP : "",
			     r->count.after_calls ? AFTER : "",
			     r->count.pairs ? CALLS : "");
	if (r->stops)
		n += (size_t)sprintf(name + n, STOP);
	if (r->calls)
		n += (size_t)sprintf(name + n, SITES);
	if (r->addresses)
		n += (size_t)sprintf(name + n, ADDRESSES);
	if (r->syscalls)
		n += (size_t)sprintf(name + n, SYSCALLS);
	if (r->insns)
		n += (size_t)sprintf(name + n, INSNS);
	if (r->from)
		n += (size_t)sprintf(name + n, FROM "%s", r->from);
	if (r->online)
		n += (size_t)sprintf(name + n, EVENTS "%llx:%s",
				     (unsigned long long)r->events_sum,
				     r->events);
	if (r->libs)
		n += (size_t)sprintf(name + n, LIBS "%s", r->libs);
	if (r->only_file)
		n += (size_t)sprintf(name + n, ONLY "@%llx:%s",
				     (unsigned long long)r->only_sum,
				     r->only_file);
	else if (r->count.only)
		n += (size_t)sprintf(name + n, ONLY "%s", r->count.only);
	if (r->weights)
		snprintf(name + n, sizeof name - n, WEIGHTS "%llx:%s",
			 (unsigned long long)r->weights_sum, r->weights);
	return name;
}

/* what follows `word` at *s, up to `end`, is read, and *s moves there */
static bool take_option(const char **s, const char *word, const char *end,
			char *value, size_t room)
{
	size_t n = strlen(word), size;

	if (strncmp(*s, word, n))
		return false;
	size = (size_t)(end - *s) - n;
	if (size >= room)
		return false;
	memcpy(value, *s + n, size);
	value[size] = 0;
	*s = end;
	return true;
}

/* the hash of all that is in a file */
static int hash_file(const char *path, uint64_t *sum, struct err *e)
{
	size_t size;
	char *text = file_text(path, &size, e);

	if (!text)
		return -1;
	*sum = hash_bytes(text, size, 0);
	mem_free(text);
	return 0;
}

/* lines, but for empty ones, become a list; the same memory */
static const char *list_lines(char *text)
{
	char *to = text, *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		size_t n;

		line += strspn(line, " \t\r");
		n = strcspn(line, " \t\r");
		if (!n || *line == '#')
			continue;
		if (to != text)
			*to++ = ',';
		memmove(to, line, n);
		to += n;
	}
	*to = 0;
	return text;
}

/* the list in a file that must have that name; it stays for good */
static int read_only(struct recipe *r, const char *path, struct err *e)
{
	size_t size;
	char *text = file_text(path, &size, e);

	if (!text)
		return -1;
	if (strlen(text) != size) {
		mem_free(text);
		return err_set(e, ERR_INPUT,
			       "%s: not a list of names: there "
			       "are zeroes in it",
			       path);
	}
	r->only_sum = hash_bytes(text, size, 0);
	r->only_file = path;
	r->count.only = list_lines(text);
	return 0;
}

int recipe_only(struct recipe *r, const char *value, struct err *e)
{
	static char path[PATH_MAX];

	r->count.only = value;
	if (*value != '@')
		return 0;
	if (!realpath(value + 1, path))
		return err_set(e, ERR_INPUT, "%s: %s", value + 1,
			       strerror(errno));
	return read_only(r, path, e);
}

/* "@SUM:PATH": the file must be as it was; any other list is itself */
static bool parse_only(struct recipe *r, char *list)
{
	char *path;
	uint64_t sum;
	struct err e;

	r->count.only = list;
	if (*list != '@')
		return true;
	sum = strtoull(list + 1, &path, 16);
	return *path == ':' && !read_only(r, path + 1, &e) &&
	       r->only_sum == sum;
}

void recipe_events(struct recipe *r, const struct event_list *l)
{
	static char *text;

	mem_free(text);
	text = event_list_text(l, &r->events_sum);
	r->events = text;
	recipe_placement(r, "online");
}

/* "SUM:LIST": files in it must be as they were */
static bool parse_events(struct recipe *r, char *text)
{
	struct event_list l;
	uint64_t sum;
	struct err e;
	char *list;

	sum = strtoull(text, &list, 16);
	if (*list != ':')
		return false;
	if (event_list_read(&l, list + 1, &e)) {
		event_list_free(&l);
		return false;
	}
	recipe_events(r, &l);
	event_list_free(&l);
	return r->events_sum == sum;
}

bool recipe_parse(struct recipe *r, const char *name)
{
	static char libs[RECIPE_LIST_MAX], only[RECIPE_LIST_MAX + PATH_MAX],
		from[RECIPE_LIST_MAX];
	char placement[32], *end, none[1], events[RECIPE_LIST_MAX + 32];
	const char *s = name, *weights = strstr(name, WEIGHTS);
	const char *options = weights ? weights : name + strlen(name);
	const char *list = strstr(name, ONLY), *some = strstr(name, LIBS);
	bool is_online;

	*r = (struct recipe){0};
	list = list ? list : options;
	if (!take_option(&s, "", s + strcspn(s, "+"), placement,
			 sizeof placement))
		return false;
	r->trap_unexpected = take_option(&s, TRAP, s + strlen(TRAP), none, 1);
	r->count.after_calls =
		take_option(&s, AFTER, s + strlen(AFTER), none, 1);
	r->count.pairs = take_option(&s, CALLS, s + strlen(CALLS), none, 1);
	r->stops = take_option(&s, STOP, s + strlen(STOP), none, 1);
	r->calls = take_option(&s, SITES, s + strlen(SITES), none, 1);
	r->addresses = take_option(&s, ADDRESSES, s + strlen(ADDRESSES), none,
				   1);
	r->syscalls = take_option(&s, SYSCALLS, s + strlen(SYSCALLS), none, 1);
	r->insns = take_option(&s, INSNS, s + strlen(INSNS), none, 1);
	if (take_option(&s, FROM, some ? some : list, from, sizeof from))
		r->from = from;
	is_online = take_option(&s, EVENTS, some ? some : list, events,
				sizeof events);
	if (take_option(&s, LIBS, list, libs, sizeof libs))
		r->libs = libs;
	if (take_option(&s, ONLY, options, only, sizeof only) &&
	    !parse_only(r, only))
		return false;
	if (s != options)
		return false;
	if (weights) {
		weights += strlen(WEIGHTS);
		r->weights_sum = strtoull(weights, &end, 16);
		if (*end != ':')
			return false;
		r->weights = end + 1;
	}
	return recipe_placement(r, placement) && r->online == is_online &&
	       (!is_online || parse_events(r, events));
}

int recipe_weights(struct recipe *r, const char *profile, struct err *e)
{
	static char path[PATH_MAX];
	struct profile p;

	if (profile_open(&p, profile, e))
		return -1;
	profile_close(&p);
	if (!realpath(profile, path))
		return err_set(e, ERR_INPUT, "%s: %s", profile,
			       strerror(errno));
	r->weights = path;
	return hash_file(path, &r->weights_sum, e);
}

/* is the file a library that is not to be counted? */
static bool is_left_out(const struct recipe *r, const char *path)
{
	const char *base = strrchr(path, '/');
	const char *so;

	base = base ? base + 1 : path;
	so = strstr(base, ".so");
	return r->libs && so && (!so[3] || so[3] == '.') &&
	       !libs_have(r->libs, base);
}

/* hooks, as programs need that are counted elsewhere */
static int rewrite_hooked(const struct cfg *c,
			  const struct counter_layout *layout,
			  const struct rewrite_options *o, const char *out,
			  struct rewrite_report *report, struct err *e)
{
	struct plan hooks;
	int failed;

	if (!hooks_plan(&hooks, c, layout))
		return rewrite_image(c, NULL, o, out, report, e);
	failed = rewrite_image(c, &hooks, o, out, report, e);
	hooks_plan_free(&hooks);
	return failed;
}

/* poison in what is dead, and hooks if a launcher will be there */
static int rewrite_poisoned(const struct recipe *r, const struct cfg *c,
			    const struct rewrite_options *o, const char *out,
			    struct rewrite_report *report, struct err *e)
{
	struct plan hooks, poison;
	struct survey survey;
	struct joint both;
	int failed;

	survey_make(&survey, c);
	poison_plan(&poison, &survey);
	if (!r->by_hand && hooks_plan(&hooks, c, NULL)) {
		plans_join(&both, &hooks, &poison);
		failed = rewrite_image(c, &both.plan, o, out, report, e);
		joint_free(&both);
		hooks_plan_free(&hooks);
	} else {
		failed = rewrite_image(c, &poison, o, out, report, e);
	}
	vec_free(&poison.insertion);
	survey_free(&survey);
	return failed;
}

/* --- what measures something else than counters, by the same graphs */

struct placers {
	struct placer *is; /* NULL: counters it is */
	struct event_list list;
	struct event_placer events;
	struct call_code calls;
	struct trace_placer trace;
};

static bool is_online(const struct recipe *r)
{
	return r->online;
}

static int begin_events(struct placers *x, const struct recipe *r,
			const struct cfg *c, struct err *e)
{
	if (event_list_read(&x->list, r->events, e) ||
	    (r->calls && call_code_read(&x->calls, c, x->list.n, e)))
		return -1;
	event_placer_begin(&x->events, c->image, &x->list, r->stops,
			   r->calls ? &x->calls : NULL);
	x->is = &x->events.placer;
	return 0;
}

static void lay_out_events(const struct placers *x, const struct recipe *r,
			   struct counter_layout *layout)
{
	(void)r;
	layout->nevent = x->events.placer.nevent;
	layout->traps = x->events.traps;
	layout->highest = *x->events.highest;
}

static void end_events(struct placers *x)
{
	if (x->is)
		event_placer_free(&x->events);
	call_code_free(&x->calls);
	event_list_free(&x->list);
}

static bool is_traced(const struct recipe *r)
{
	return r->traces;
}

static int begin_trace(struct placers *x, const struct recipe *r,
		       const struct cfg *c, struct err *e)
{
	if (trace_placer_begin(&x->trace, c, r->encoding, r->addresses,
			       r->from, r->insns, e))
		return -1;
	x->is = &x->trace.placer;
	return 0;
}

static void lay_out_trace(const struct placers *x, const struct recipe *r,
			  struct counter_layout *layout)
{
	(void)x;
	layout->traces = true;
	layout->addresses = r->addresses;
	layout->syscalls = r->syscalls;
	layout->waits = r->from;
}

static void end_trace(struct placers *x)
{
	trace_placer_free(&x->trace);
}

/* each can be ended when its begin has failed, too */
static const struct placer_kind {
	bool (*is_wanted)(const struct recipe *r);
	int (*begin)(struct placers *x, const struct recipe *r,
		     const struct cfg *c, struct err *e);
	void (*lay_out)(const struct placers *x, const struct recipe *r,
			struct counter_layout *layout);
	void (*end)(struct placers *x);
} placer_kinds[] = {
	{is_online, begin_events, lay_out_events, end_events},
	{is_traced, begin_trace, lay_out_trace, end_trace},
};

/* what the recipe asks for, or NULL: counters */
static const struct placer_kind *placer_kind_of(const struct recipe *r)
{
	for (size_t i = 0; i < sizeof placer_kinds / sizeof *placer_kinds; i++)
		if (placer_kinds[i].is_wanted(r))
			return &placer_kinds[i];
	return NULL;
}

/* hooks and counters; *too_far: it has to be done again, for threads */
static int rewrite_planned(const struct recipe *r, const struct cfg *c,
			   const struct count_options *q,
			   const struct placers *placers,
			   const struct rewrite_options *o, const char *out,
			   struct rewrite_report *report, bool *too_far,
			   struct err *e)
{
	struct counter_layout layout = {
		.by_hand = r->by_hand,
		.client = client_code_find(c->image).client,
	};
	const struct placer_kind *kind = placer_kind_of(r);
	struct count_plan counters;
	struct plan hooks;
	struct joint both;
	int failed;

	count_plan_make(&counters, c, q);
	if (!counters.ncounter) {
		count_plan_free(&counters);
		return rewrite_hooked(c, &layout, o, out, report, e);
	}
	layout.ncounter = counters.ncounter;
	layout.counters = counters.code.counters;
	if (kind) {
		layout.running = c->isa->page;
		kind->lay_out(placers, r, &layout);
	}
	if (counters.routines) {
		layout.callee = counters.callee.offset;
		layout.ncallee = (uint32_t)counters.callee.n;
		layout.calls_size = (uint32_t)counters.routines->size;
	}
	memcpy(layout.id, counters.id, sizeof layout.id);
	layout.nsite = (uint32_t)counters.code.site.n;
	layout.takes_slot = counters.takes_slot;
	layout.jump = counters.jump.at;
	layout.njump = (uint32_t)counters.jump.n;
	hooks_plan(&hooks, c, &layout);
	plans_join(&both, &hooks, &counters.plan);
	failed = rewrite_image(c, &both.plan, o, out, report, e);
	*too_far = counters.code.too_far;
	joint_free(&both);
	hooks_plan_free(&hooks);
	count_plan_free(&counters);
	return failed;
}

/* by the options, and once more if counters are too far from some code */
static int rewrite_placed(const struct recipe *r, const struct cfg *c,
			  struct count_options *options,
			  const struct placers *placers,
			  const struct rewrite_options *o, const char *out,
			  struct rewrite_report *report, struct err *e)
{
	bool too_far = false;
	int failed = rewrite_planned(r, c, options, placers, o, out, report,
				     &too_far, e);

	if (failed || !too_far)
		return failed;
	rewrite_report_free(report);
	options->for_threads = true;
	return rewrite_planned(r, c, options, placers, o, out, report,
			       &too_far, e);
}

static int rewrite_counted(const struct recipe *r, const struct cfg *c,
			   const struct rewrite_options *o, const char *out,
			   struct rewrite_report *report, struct err *e)
{
	const struct placer_kind *kind = placer_kind_of(r);
	struct count_options options = r->count;
	struct placers placers = {0};
	struct feedback feedback;
	int failed;

	if (!hooks_exist(c->isa->elf_machine))
		return err_set(e, ERR_INPUT,
			       "%s: code for %s is not moved "
			       "yet",
			       c->image->path, c->isa->name);
	if (r->weights) {
		if (feedback_open(&feedback, r->weights,
				  count_file_sum(c->image), e))
			return -1;
		options.feedback = &feedback;
	}
	failed = kind ? kind->begin(&placers, r, c, e) : 0;
	options.placer = placers.is;
	if (!failed)
		failed = rewrite_placed(r, c, &options, &placers, o, out,
					report, e);
	if (kind)
		kind->end(&placers);
	if (r->weights)
		feedback_close(&feedback);
	return failed;
}

int recipe_rewrite(const struct recipe *r, const struct cfg *c,
		   const struct rewrite_options *o, const char *out,
		   struct rewrite_report *report, struct err *e)
{
	struct counter_layout left_out = {.left_out = true};

	left_out.client = client_code_find(c->image).client;
	if (r->counts && is_left_out(r, c->image->path))
		return rewrite_hooked(c, &left_out, o, out, report, e);
	if (r->counts)
		return rewrite_counted(r, c, o, out, report, e);
	if (r->poisons)
		return rewrite_poisoned(r, c, o, out, report, e);
	if (r->by_hand)
		return rewrite_image(c, NULL, o, out, report, e);
	return rewrite_hooked(c, NULL, o, out, report, e);
}

static int rewrite_file(const void *ctx, const char *in, const char *out,
			struct err *e)
{
	const struct recipe *recipe = ctx;
	struct rewrite_options o = {
		.trap_unexpected = recipe->trap_unexpected,
	};
	struct rewrite_report report;
	struct image im;
	struct unwind u;
	struct cfg c;
	int failed;

	if (image_open(&im, in, e))
		return -1;
	if (im.interp && machine_of(im.machine)->tls_align < TLS_ALIGN)
		o.tls_align = TLS_ALIGN;
	/* a static program of which nothing moves runs as it is, and we say
	   so; others have libraries, or are ones */
	o.strict = im.type == ET_EXEC && !im.interp;
	unwind_read(&u, &im);
	failed = cfg_build(&c, &im, &u, e) ||
		 recipe_rewrite(recipe, &c, &o, out, &report, e);
	if (!failed)
		rewrite_report_free(&report);
	cfg_free(&c);
	unwind_free(&u);
	image_close(&im);
	return failed ? -1 : 0;
}

/* tally's version and build: another build may rewrite otherwise */
static const char *version(void)
{
	static char text[160];
	struct needs n;
	struct err e;
	int at = snprintf(text, sizeof text, "%s", TALLY_VERSION);

	if (needs_read(&n, "/proc/self/exe", &e))
		return text;
	for (unsigned i = 0; i < n.build_id_len; i++)
		at += sprintf(text + at, "%02x", n.build_id[i]);
	needs_free(&n);
	return text;
}

struct file_rewriter recipe_rewriter(const struct recipe *r)
{
	return (struct file_rewriter){
		.ctx = r,
		.rewrite = rewrite_file,
		.options = recipe_name(r),
		.version = version(),
	};
}
