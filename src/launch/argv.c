/* argv: see argv.h. */
#include "launch/argv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/launch_env.h"

/* bytes that stand for themselves in a field */
static bool is_plain(unsigned char c)
{
	return isalnum(c) || (c && strchr("/._+-=:@", c));
}

typedef VEC(char) text;

static void add(text *t, const char *s)
{
	for (; *s; s++)
		vec_push(t, *s);
}

/* a field of the launch_env and the blank behind it */
static void add_field(text *t, const char *s)
{
	char code[4];

	if (!*s)
		vec_push(t, '%');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (is_plain(c)) {
			vec_push(t, *s);
		} else {
			sprintf(code, "%%%02x", c);
			add(t, code);
		}
	}
	vec_push(t, ' ');
}

enum { ROUND = 1024 }; /* see pad() */

/* the string that t holds, without its last byte */
static char *finish(struct launch_argv *w, text *t)
{
	char *s = arena_string(&w->arena, t->at, t->n - 1);

	vec_free(t);
	return s;
}

/* what the user has of variables that are ours, too; or NULL */
struct theirs {
	const char *audit, *tunables;
};

/* letters for LAUNCH_ENV_FLAGS */
static const char *flags(const struct launch *l, const struct theirs *theirs)
{
	static char f[10];
	int n = 0;

	if (l->o->strict)
		f[n++] = 's';
	if (l->o->follow)
		f[n++] = 'f';
	if (theirs->audit)
		f[n++] = 'a';
	if (theirs->tunables)
		f[n++] = 't';
	if (l->emulator)
		f[n++] = 'e';
	if (l->watched)
		f[n++] = 'w';
	if (l->o->threads)
		f[n++] = 'o';
	if (l->o->small)
		f[n++] = 'p';
	if (l->o->brief)
		f[n++] = 'q';
	f[n] = 0;
	return f;
}

/*
 * Makes the variable's length a round number: the program's stack lies below
 * it, and code that looks at alignment would run otherwise with other options
 * of ours. Spaces behind all fields mean nothing.
 */
static void pad(text *t)
{
	while (t->n % ROUND)
		vec_push(t, ' ');
}

static char *launch_env(struct launch_argv *w, const struct launch *l,
			const struct theirs *theirs)
{
	text t = {0};
	char key[20];
	const char *field[LAUNCH_ENV_N] = {
		[LAUNCH_ENV_VERSION] = LAUNCH_ENV_FORMAT,
		[LAUNCH_ENV_FLAGS] = flags(l, theirs),
		[LAUNCH_ENV_KEY] = key,
		[LAUNCH_ENV_CACHE] = l->cache.dir,
		[LAUNCH_ENV_TALLY] = l->tally,
		[LAUNCH_ENV_OPTIONS] = l->o->rewriter.options,
		[LAUNCH_ENV_ROOT] = l->root,
		[LAUNCH_ENV_LIBS] = l->o->libs,
		[LAUNCH_ENV_EXECFN] = l->program.execfn,
		[LAUNCH_ENV_EXE] = l->program.real,
		[LAUNCH_ENV_LINK] = l->link ? l->link : "",
		[LAUNCH_ENV_COPY] = l->file,
		[LAUNCH_ENV_PROFILE] = l->profile,
		[LAUNCH_ENV_PARENT] = l->x ? l->x->number : "0",
	};

	sprintf(key, "%016llx", (unsigned long long)l->cache.key);
	add(&t, LAUNCH_ENV_VARIABLE "=");
	for (int i = 0; i < LAUNCH_ENV_N; i++)
		add_field(&t, field[i]);
	pad(&t);
	return finish(w, &t);
}

/* LD_AUDIT with the user's modules first, so that they see the real names */
static char *audit_list(struct launch_argv *w, const struct launch *l,
			const char *theirs)
{
	text t = {0};

	add(&t, "LD_AUDIT=");
	if (theirs && *theirs) {
		add(&t, theirs);
		vec_push(&t, ':');
	}
	/* a program that enters takes it out again, unread */
	add(&t, l->module ? l->module : "");
	vec_push(&t, 0);
	return finish(w, &t);
}

#define STATIC_TLS "glibc.rtld.optional_static_tls="
enum { STATIC_TLS_DEFAULT = 512 }; /* of that, in glibc */

/* GLIBC_TUNABLES with more room for TLS than the user's, or the default */
static char *tunables(struct launch_argv *w, const struct launch *l,
		      const char *theirs)
{
	const char *own = theirs ? strstr(theirs, STATIC_TLS) : NULL;
	uint64_t room = own ? strtoull(own + strlen(STATIC_TLS), NULL, 0)
			    : STATIC_TLS_DEFAULT;
	char more[64];
	text t = {0};

	add(&t, "GLIBC_TUNABLES=");
	if (theirs && *theirs) {
		add(&t, theirs);
		vec_push(&t, ':');
	}
	/* always as many digits, see pad() */
	snprintf(more, sizeof more, STATIC_TLS "0x%08llx",
		 (unsigned long long)(room + l->tls));
	add(&t, more);
	vec_push(&t, 0);
	return finish(w, &t);
}

/* a variable of the user's that is called otherwise, where ours has its name */
static char *renamed(struct launch_argv *w, char *v, const char *name,
		     const char **value)
{
	char *copy;

	if (strncmp(v, name, strlen(name)))
		return v;
	*value = v + strlen(name);
	copy = arena_string(&w->arena, v, strlen(v));
	copy[0] = 'X';
	return copy;
}

/* the user's environment, and behind it ours if the audit module or the
   program's entry code will read it */
static void make_environment(struct launch_argv *w, const struct launch *l)
{
	bool needs_env = l->module || l->enters;
	struct theirs theirs = {0};

	for (char **v = environ; *v; v++) {
		char *own = *v;

		if (needs_env) {
			own = renamed(w, own, "LD_AUDIT=", &theirs.audit);
			own = renamed(w, own,
				      "GLIBC_TUNABLES=", &theirs.tunables);
		}
		vec_push(&w->envp, own);
	}
	if (needs_env) {
		vec_push(&w->envp, audit_list(w, l, theirs.audit));
		vec_push(&w->envp, tunables(w, l, theirs.tunables));
		vec_push(&w->envp, (char *)LAUNCH_ENV_FILLER "=");
		vec_push(&w->envp, launch_env(w, l, &theirs));
	}
}

/*
 * What is meant for the program's loader must not reach the emulator's: it
 * goes into the emulator's options. Values with commas cannot.
 */
static void take_loader_words(struct launch_argv *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->envp.n; i++) {
		char *v = w->envp.at[i];
		bool guest = !strncmp(v, "LD_", 3) ||
			     !strncmp(v, "GLIBC_TUNABLES=", 15) ||
			     !strncmp(v, LAUNCH_ENV_FILLER "=",
				      sizeof LAUNCH_ENV_FILLER) ||
			     !strncmp(v, LAUNCH_ENV_VARIABLE "=",
				      sizeof LAUNCH_ENV_VARIABLE);

		if (guest && !strchr(v, ',')) {
			vec_push(&w->argv, (char *)"-E");
			vec_push(&w->argv, v);
		} else {
			w->envp.at[kept++] = v;
		}
	}
	w->envp.n = kept;
}

void argv_make(struct launch_argv *w, const struct launch *l)
{
	*w = (struct launch_argv){0};
	make_environment(w, l);
	if (l->emulator) {
		vec_push(&w->argv, l->emulator);
		vec_push(&w->argv, (char *)"-0");
		vec_push(&w->argv, l->program.argv.at[0]);
		if (*l->root) {
			vec_push(&w->argv, (char *)"-L");
			vec_push(&w->argv, l->root);
		}
		take_loader_words(w);
		vec_push(&w->argv, l->file);
	} else {
		vec_push(&w->argv, l->program.argv.at[0]);
	}
	for (size_t i = 1; i < l->program.argv.n; i++)
		vec_push(&w->argv, l->program.argv.at[i]);
	vec_push(&w->envp, NULL);
}

void argv_free(struct launch_argv *w)
{
	vec_free(&w->argv);
	vec_free(&w->envp);
	arena_free(&w->arena);
	*w = (struct launch_argv){0};
}
