/* launch: see launch.h. */
#include "launch/launch.h"

#define PERSONALITY_IS 0xfffffffful /* asks, and changes nothing */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/debug.h"
#include "elf/image.h"
#include "elf/needs.h"
#include "launch/closure.h"
#include "launch/live_profile.h"
#include "launch/find.h"
#include "base/installed.h"
#include "launch/run.h"
#include "launch/watch.h"
#include "launch/argv.h"
#include "hooks/hooks.h"
#include "abi/launch_env.h"
#include "abi/libs.h"

enum { LEFT_NAMED = 3 }; /* libraries of one message */

static char *keep(struct launch *l, const char *s)
{
	return arena_string(&l->arena, s, strlen(s));
}

/* "DIR/NAME" */
static char *keep_path(struct launch *l, const char *dir, const char *name)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return keep(l, path);
}

/* adds a line for the user */
__attribute__((format(printf, 2, 3)))
static void note(struct launch *l, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	vec_push(&l->note, keep(l, text));
}

/*
 * Something of ours does not work: a note, or with `strict` the end. 0 or
 * the exit status and *e.
 */
static int give_up(struct launch *l, const char *what, const char *why,
		   struct err *e)
{
	if (l->o->strict) {
		err_set(e, ERR_MACHINE, "%s: not rewritten, hence not run: %s",
			what, why);
		return LAUNCH_FAILED;
	}
	note(l, "%s: not rewritten: %s", what, why);
	return 0;
}

/* the program is not rewritten, and runs as it is */
static int give_up_program(struct launch *l, const char *why, struct err *e)
{
	l->why_left = keep(l, why);
	return give_up(l, l->program.path, why, e);
}

/* errors often name the file themselves: without it */
static const char *without_name(const char *text, const char *file)
{
	size_t n = strlen(file);

	return !strncmp(text, file, n) && !strncmp(text + n, ": ", 2) ?
		       text + n + 2 : text;
}

/* where tally is */
static void find_ourselves(struct launch *l)
{
	char exe[PATH_MAX];

	installed_self(exe, sizeof exe);
	l->tally = keep(l, exe);
}

/* the audit module for the machine */
static void find_module(struct launch *l, const struct machine *m)
{
	char name[64], path[2 * PATH_MAX];

	snprintf(name, sizeof name, "audit-%s.so", m->isa);
	/* ld.so splits its list of modules at colons, qemu at commas */
	if (installed_find(path, sizeof path, name) &&
	    !strpbrk(path, l->emulator ? ":," : ":"))
		l->module = keep(l, path);
}

/* an emulator for programs of the other machine; 0 or the exit status */
static int find_emulator(struct launch *l, const struct needs *n,
			 struct err *e)
{
	const char *prefix = getenv("QEMU_LD_PREFIX");
	char *cross, *interp;

	l->root = keep(l, l->x ? l->x->root : "");
	if (n->machine->host)
		return 0;
	l->emulator = find_in_path(n->machine->emulator);
	if (!l->emulator) {
		err_set(e, ERR_MACHINE, "%s: is made for %s, and there is no "
			"%s in PATH to run it", l->program.path,
			n->machine->name, n->machine->emulator);
		return LAUNCH_NO_PROGRAM;
	}
	/* where Debian's cross compilers have their libraries */
	cross = keep_path(l, "/usr", n->machine->triplet);
	interp = keep_path(l, cross, n->interp);
	if (*l->root)
		return 0;
	if (prefix && *prefix)
		l->root = keep(l, prefix);
	else if (n->loads && access(n->interp, F_OK) && !access(interp, F_OK))
		l->root = cross;
	return 0;
}

/* what the process will be called: as the file that is executed */
static const char *process_name(const struct launch *l)
{
	const char *execfn = l->program.execfn;
	const char *base = strrchr(execfn, '/');

	/* by a descriptor: as the file is called itself */
	if (!strncmp(execfn, "/dev/fd/", 8) && base == execfn + 7)
		base = strrchr(l->program.real, '/');
	return base ? base + 1 : execfn;
}

static void add_rewritten(struct launch *l, const char *file,
			  const char *copy)
{
	struct launch_file x = {keep(l, file), copy ? keep(l, copy) : NULL};

	vec_push(&l->rewritten, x);
}

/* the program's file in the cache; 0 or the exit status and *e */
static int get_program(struct launch *l, struct err *e)
{
	const char *real = l->program.real;
	char name[PATH_MAX + NAME_MAX];
	struct cached got;
	struct err why;
	int status = 0;

	if (cache_get(&l->cache, real, &got, &why))
		return give_up_program(l, without_name(why.text, real), e);
	if (got.left) {
		status = give_up_program(l, without_name(got.reason, real), e);
	} else {
		l->file = keep(l, got.path);
		add_rewritten(l, real, got.path);
		l->enters = original_enters(real, got.path);
		snprintf(name, sizeof name, "%.*s/%s",
			 (int)(strrchr(real, '/') - real), real,
			 process_name(l));
		if (strcmp(name, real)) {
			char *path;

			if (!cache_name(&l->cache, real, name, &path, &why)) {
				l->file = keep(l, path);
				mem_free(path);
			}
		}
	}
	cached_free(&got);
	return status;
}

/* a library is not rewritten: see note_libraries() */
static int give_up_library(struct launch *l, const char *path,
			   const char *why, struct err *e)
{
	struct launch_left x = {keep(l, path), keep(l, why)};

	if (l->o->strict)
		return give_up(l, path, why, e);
	vec_push(&l->left, x);
	return 0;
}

static int get_library(struct launch *l, const char *path, struct err *e)
{
	struct cached got;
	struct err why;
	int status = 0;

	if (cache_get(&l->cache, path, &got, &why)) {
		add_rewritten(l, path, NULL);
		return give_up_library(l, path, why.text, e);
	}
	add_rewritten(l, path, got.left ? NULL : got.path);
	if (got.left)
		status = give_up_library(l, path,
					 without_name(got.reason, path), e);
	cached_free(&got);
	return status;
}

/* one line for all libraries that are left for the same reason */
static void note_libraries(struct launch *l)
{
	for (size_t i = 0; i < l->left.n; i++) {
		const char *why = l->left.at[i].why;
		char names[512] = "";
		size_t n = 0, at = 0;

		for (size_t k = i; why && k < l->left.n; k++) {
			if (!l->left.at[k].why ||
			    strcmp(l->left.at[k].why, why))
				continue;
			if (n++ < LEFT_NAMED && at < sizeof names)
				at += (size_t)snprintf(names + at,
					sizeof names - at, "%s%s",
					n > 1 ? ", " : "",
					l->left.at[k].file);
			l->left.at[k].why = NULL;
		}
		if (n > LEFT_NAMED)
			note(l, "%s and %zu more: not rewritten: %s", names,
			     n - LEFT_NAMED, why);
		else if (n)
			note(l, "%s: not rewritten: %s", names, why);
	}
}

/* all libraries that will be loaded; 0 or the exit status and *e */
static int get_libraries(struct launch *l, const struct closure *c,
			 struct err *e)
{
	int status = 0;

	for (size_t i = 0; i < c->path.n && !status; i++) {
		const char *base = strrchr(c->path.at[i], '/');

		progress_at(l->o->progress, "rewriting libraries",
			    (uint32_t)i, (uint32_t)c->path.n);
		if (libs_have(l->o->libs, base ? base + 1 : c->path.at[i]))
			status = get_library(l, c->path.at[i], e);
		else
			add_rewritten(l, c->path.at[i], NULL);
	}
	if (!l->o->told_later)
		note_libraries(l);
	return status;
}

/* a static program has to follow by itself; 0 or the exit status and *e */
static int check_entry(struct launch *l, const struct needs *n, struct err *e)
{
	if (!l->o->follow || l->enters || l->file == l->program.path ||
	    !hooks_exist(n->machine->id))
		return 0;
	return give_up(l, "programs that it executes", "the code for static "
		       "programs is not installed", e);
}

/* the program itself, and what its loader has to find beside it */
static int get_loaded(struct launch *l, const struct needs *n, struct err *e)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	int status = get_program(l, e);

	if (!status && n->loads && path)
		cache_origin(&l->cache, l->program.real, path);
	return status;
}

/*
 * With an audit module ld.so has the alignment of variables of threads that
 * the program asks for (rewrite/output/property.c): is it enough for the
 * libraries?
 */
static bool tls_fits(struct launch *l, const struct needs *n,
		     const struct closure *c)
{
	struct needs copy;
	struct err why;
	bool fits = c->tls_align <= n->machine->tls_align;

	if (fits || needs_read(&copy, l->file, &why))
		return fits;
	fits = c->tls_align <= copy.tls_align;
	needs_free(&copy);
	return fits;
}

/* rewrites a program with a loader of glibc's, and what it needs */
static int get_dynamic(struct launch *l, const struct needs *n,
		       const struct closure *c, struct err *e)
{
	int status = get_loaded(l, n, e);

	l->tls = c->tls;
	if (status)
		return status;
	if (!tls_fits(l, n, c)) {
		l->file = l->program.path;
		return give_up_program(l, "a library of it has variables of "
				       "threads aligned so that ld.so has no "
				       "room for them beside an audit module",
				       e);
	}
	find_module(l, n->machine);
	if (!l->module)
		return give_up(l, "libraries", "the audit module is not "
			       "installed, or where its name has a colon or "
			       "comma", e);
	/* in the program's own process, its module asks for them */
	return strcmp(l->o->libs, "none") && !l->x ? get_libraries(l, c, e) :
						     0;
}

/* rewrites what has to be; 0 or the exit status and *e */
static int get_all(struct launch *l, const struct needs *n, struct err *e)
{
	bool libs = needs_is_musl(n) && strcmp(l->o->libs, "none");
	struct closure c;
	int status;

	/* it would not find them: $ORIGIN is the cache's folder there, and
	   musl has no audit modules to translate it */
	if (needs_is_musl(n) &&
	    (strchr(n->rpath, '$') || strchr(n->runpath, '$')))
		return give_up_program(l, "musl's loader looks for libraries "
				       "beside it", e);
	if (needs_audits(n)) {
		closure_find(&c, l->program.real, n, l->root);
		status = get_dynamic(l, n, &c, e);
		closure_free(&c);
		return status;
	}
	status = get_loaded(l, n, e);
	if (!status && !n->loads)
		status = check_entry(l, n, e);
	return !status && libs ? give_up(l, "libraries", "musl's loader has no "
					 "audit modules", e) : status;
}

/* opens the cache of a running program that asks: `key` must be ours */
static int open_asked(struct cache *c, const struct file_rewriter *r,
		     const char *dir, const char *key, struct err *e)
{
	char own[20];

	if (cache_open_at(c, r, dir, e))
		return -1;
	sprintf(own, "%016llx", (unsigned long long)c->key);
	if (!strcmp(own, key))
		return 0;
	cache_close(c);
	return err_set(e, ERR_USAGE, "another version asks");
}

static int open_cache(struct launch *l, struct err *said, struct err *why)
{
	const struct file_rewriter *r = &l->o->rewriter;

	said->text[0] = 0;
	return l->x ? open_asked(&l->cache, r, l->x->cache, l->x->key, why) :
		      cache_open(&l->cache, r, said, why);
}

/* opens the cache and fills it; 0 or the exit status and *e */
static int fill_cache(struct launch *l, const struct needs *n, struct err *e)
{
	struct err said, why;

	if (open_cache(l, &said, &why))
		return give_up_program(l, why.text, e);
	l->cached = true;
	debug(DEBUG_LAUNCH, "the cache is %s, options %s", l->cache.dir,
	      l->o->rewriter.options);
	if (said.text[0])
		note(l, "%s; rewritten for this run only", said.text);
	progress_at(l->o->progress, "rewriting the program", 0, 0);
	l->link = original_link(&l->arena, l->cache.dir, l->program.real);
	return get_all(l, n, e);
}

/* does a limit leave less memory than takes part in counting? */
static bool is_cramped(__rlimit_resource_t limit)
{
	struct rlimit now;

	return !getrlimit(limit, &now) && now.rlim_cur < MEMORY_LEAST;
}

/* why the program has to stay as it is, or NULL */
static const char *why_leave(const struct launch *l)
{
	if (!l->program.real)
		return strerror(l->program.why_unreal);
	if (is_cramped(RLIMIT_DATA))
		return "its limit on data (ulimit -d) is below "
		       MEMORY_LEAST_TEXT;
	if (is_cramped(RLIMIT_AS))
		return "its limit on memory (ulimit -v) is below "
		       MEMORY_LEAST_TEXT;
	return NULL;
}

/* what it executes can be followed; 0 or the exit status and *e */
static int check_follow(struct launch *l, const struct needs *n,
			struct err *e)
{
	char why[128];

	if (!l->o->follow)
		return 0;
	if (!hooks_exist(n->machine->id))
		snprintf(why, sizeof why, "code for %s is not moved yet",
			 n->machine->name);
	else if (needs_is_musl(n))
		strcpy(why, "musl's loader executes them, and stays as it is");
	else
		return 0;
	return give_up(l, "programs that it executes", why, e);
}

/* the file for counters; 0 or the exit status and *e */
static int make_profile(struct launch *l, const struct needs *n,
			struct err *e)
{
	struct live_profile live_profile = {
		.machine = n->machine->id,
		.options = l->o->rewriter.options,
		.asked = l->o->asked,
		.argv = l->program.argv.at,
		.program = l->program.real ? l->program.real : l->program.path,
	};
	struct err why;
	char *name;

	if (l->x)
		l->profile = keep(l, l->x->profile);
	if (l->x || !l->o->profile)
		return 0;
	name = live_profile_make(l->o->profile, &live_profile, &why);
	if (name) {
		l->profile = keep(l, name);
		free(name);
		return 0;
	}
	if (l->o->strict) {
		err_set(e, ERR_MACHINE, "%s", why.text);
		return LAUNCH_FAILED;
	}
	note(l, "%s: nothing is counted", why.text);
	return 0;
}

/* nothing of ours runs in a program that stays: this is where it is reported */
static void report_left(const struct launch *l)
{
	if (*l->profile && l->why_left && !l->module && !l->enters)
		live_profile_left(l->profile,
				  l->program.real ? l->program.real :
						    l->program.path,
				  l->why_left);
}

/* does a file ask for that function of another's? */
static bool asks_for(const char *path, const char *function)
{
	struct image im;
	struct err why;
	bool found = false;

	if (image_open(&im, path, &why))
		return false;
	for (size_t i = 0; i < im.nreloc && !found; i++)
		found = im.reloc[i].symbol &&
			!strcmp(im.reloc[i].symbol, function);
	image_close(&im);
	return found;
}

bool launch_loads_more(const struct launch *l)
{
	bool more = l->o->follow || !l->rewritten.n;

	for (size_t i = 0; !more && i < l->rewritten.n; i++) {
		const char *file = l->rewritten.at[i].file;
		const char *base = strrchr(file, '/');

		if (!libs_is_c(base ? base + 1 : file))
			more = asks_for(file, "dlopen") ||
			       asks_for(file, "dlmopen");
	}
	return more;
}

/* it can be watched, if that is asked for; 0 or the exit status and *e */
static int check_watch(struct launch *l, struct err *e)
{
	const char *why = NULL;

	if (!l->o->watch)
		return 0;
	if (l->emulator)
		why = "an emulator runs it";
	else if (!l->x && watch_try())
		why = strerror(errno);
	l->watched = !why;
	if (why && l->o->strict) {
		err_set(e, ERR_MACHINE, "%s: it cannot be traced, hence not "
			"run: %s", l->program.path, why);
		return LAUNCH_FAILED;
	}
	if (why)
		note(l, "%s: it cannot be traced: %s; if it is killed, where "
		     "is not known", l->program.path, why);
	else if (!l->x && asks_for(l->program.path, "ptrace"))
		note(l, "%s: it uses ptrace(), which does not work while it is "
		     "traced itself: count it without --trace-kill",
		     l->program.path);
	return 0;
}

/* prepares l->program; 0 or the exit status and *e */
static int prepare(struct launch *l, struct err *e)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	const char *left = why_leave(l);
	struct needs n;
	struct err why;
	int status;

	l->file = l->program.path;
	l->profile = keep(l, "");
	find_ourselves(l);
	if (needs_read(&n, l->program.path, &why)) {
		l->root = keep(l, "");
		return give_up(l, l->program.path,
			       without_name(why.text, l->program.path), e);
	}
	status = find_emulator(l, &n, e);
	if (!status)
		status = check_follow(l, &n, e);
	if (!status)
		status = check_watch(l, e);
	/* a limit on the size of files is the program's: not our end */
	sigaction(SIGXFSZ, &ignore, &before);
	if (!status)
		status = left ? give_up_program(l, left, e) :
				fill_cache(l, &n, e);
	if (!status && l->o->check)
		status = l->o->check(l, l->o->check_ctx, e);
	if (!status)
		status = make_profile(l, &n, e);
	if (!status)
		report_left(l);
	sigaction(SIGXFSZ, &before, NULL);
	needs_free(&n);
	return status;
}

int launch_prepare(struct launch *l, char *const *argv,
		   const struct launch_options *o, struct err *e)
{
	int status;

	*l = (struct launch){.o = o};
	status = (int)find_program(&l->program, argv, e);
	return status ? status : prepare(l, e);
}

int launch_prepare_execution(struct launch *l, const struct execution *x,
			     const struct launch_options *o, struct err *e)
{
	int status;

	*l = (struct launch){.o = o, .x = x};
	status = (int)find_opened(&l->program, x->fd, x->name, x->argv, e);
	return status ? status : prepare(l, e);
}

void launch_execute(struct launch *l)
{
	struct launch_argv w;

	if (l->file == l->program.path && !l->module)
		return; /* there is nothing of ours in it */
	argv_make(&w, l);
	execve(l->emulator ? l->emulator : l->file, w.argv.at, w.envp.at);
	argv_free(&w);
}

/* runs the program watched; or not, if that is not allowed after all */
static int run_with_watch(struct launch *l, const char *file,
			  const struct launch_argv *words, int *why)
{
	struct watch w;
	bool refused;
	int status;

	watch_open(&w, *l->profile ? l->profile : NULL);
	w.stopper = l->o->stopper;
	status = run_watched(file, words->argv.at, words->envp.at, &w,
			     &refused, why);
	watch_close(&w);
	if (!refused)
		return status;
	note(l, "%s: it cannot be traced: %s", l->program.path,
	     strerror(*why));
	return run_program(file, words->argv.at, words->envp.at, why);
}

/* runs what was prepared, once; -1 and *why if it cannot be executed */
static int run_once(struct launch *l, int *why)
{
	const char *file = l->emulator ? l->emulator : l->file;
	struct launch_argv w;
	int status;

	debug(DEBUG_LAUNCH, "%s: runs as %s; emulator: %s; audit module: %s; "
	      "LD_LIBRARY_PATH: %s", l->program.path, l->file,
	      l->emulator ? l->emulator : "none",
	      l->module ? l->module : "none",
	      getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "none");
	argv_make(&w, l);
	if (l->o->no_aslr)
		personality(ADDR_NO_RANDOMIZE | (unsigned long)personality(
							PERSONALITY_IS));
	if (l->o->begin && *l->profile)
		l->o->begin(l->o->begin_ctx, l->profile);
	status = l->watched ? run_with_watch(l, file, &w, why) :
			      run_program(file, w.argv.at, w.envp.at, why);
	if (l->o->begin && *l->profile)
		l->o->end(l->o->begin_ctx);
	argv_free(&w);
	return status;
}

int launch_run(struct launch *l, struct err *e)
{
	int why, status;

	e->code = ERR_NONE;
	status = run_once(l, &why);
	/* whatever stood in the way may be ours: the original, and nothing */
	if (status < 0 && !l->o->strict && l->file != l->program.path) {
		l->file = l->program.path;
		l->module = NULL;
		l->enters = false;
		status = run_once(l, &why);
	}
	if (status >= 0)
		return status;
	err_set(e, ERR_MACHINE, "%s: %s", l->program.path, strerror(why));
	return why == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NO_PROGRAM;
}

void launch_free(struct launch *l)
{
	if (l->cached)
		cache_close(&l->cache);
	mem_free(l->emulator);
	program_free(&l->program);
	vec_free(&l->note);
	vec_free(&l->rewritten);
	vec_free(&l->left);
	arena_free(&l->arena);
}

int launch_answer(const struct launch_request *q, const struct file_rewriter *r,
		  struct err *e)
{
	char file[PATH_MAX], *path;
	struct cache c;
	struct cached got;
	struct stat st;
	int status;

	/* what an emulator opens is below its root, if it is there */
	if (!*q->root || *q->file != '/' ||
	    snprintf(file, sizeof file, "%s%s", q->root, q->file) >= PATH_MAX ||
	    stat(file, &st))
		snprintf(file, sizeof file, "%s", q->file);
	if (open_asked(&c, r, q->cache, q->key, e))
		return -1;
	status = cache_get(&c, file, &got, e);
	if (!status) {
		if (got.left && q->strict)
			status = err_set(e, ERR_MACHINE, "%s: not rewritten, "
					 "hence not loaded: %s", file,
					 without_name(got.reason, file));
		else if (!got.left && *q->name &&
			 !(status = cache_name(&c, file, q->name, &path, e)))
			mem_free(path);
		cached_free(&got);
	}
	cache_close(&c);
	return status;
}
