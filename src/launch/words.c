/* words: see words.h. */
#include "launch/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/handover.h"

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

/* a field of the handover and the blank behind it */
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
static char *finish(struct words *w, text *t)
{
	char *s = arena_string(&w->arena, t->at, t->n - 1);

	vec_free(t);
	return s;
}

/* letters for HANDOVER_FLAGS; `audit`: the user has an LD_AUDIT */
static const char *flags(const struct launch *l, bool audit)
{
	static char f[6];
	int n = 0;

	if (l->o->strict)
		f[n++] = 's';
	if (l->o->follow)
		f[n++] = 'f';
	if (audit)
		f[n++] = 'a';
	if (l->emulator)
		f[n++] = 'e';
	if (l->watched)
		f[n++] = 'w';
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

static char *handover(struct words *w, const struct launch *l, bool audit)
{
	text t = {0};
	char key[20];
	const char *field[HANDOVER_N] = {
		[HANDOVER_VERSION] = HANDOVER_FORMAT,
		[HANDOVER_FLAGS] = flags(l, audit),
		[HANDOVER_KEY] = key,
		[HANDOVER_CACHE] = l->cache.dir,
		[HANDOVER_TALLY] = l->tally,
		[HANDOVER_OPTIONS] = l->o->rewriter.options,
		[HANDOVER_ROOT] = l->root,
		[HANDOVER_LIBS] = l->o->libs,
		[HANDOVER_EXECFN] = l->program.execfn,
		[HANDOVER_EXE] = l->program.real,
		[HANDOVER_LINK] = l->link ? l->link : "",
		[HANDOVER_COPY] = l->file,
		[HANDOVER_PROFILE] = l->profile,
		[HANDOVER_PARENT] = l->x ? l->x->number : "0",
	};

	sprintf(key, "%016llx", (unsigned long long)l->cache.key);
	add(&t, HANDOVER_VARIABLE "=");
	for (int i = 0; i < HANDOVER_N; i++)
		add_field(&t, field[i]);
	pad(&t);
	return finish(w, &t);
}

/* LD_AUDIT with the user's modules first, so that they see the real names */
static char *audit_list(struct words *w, const struct launch *l,
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

/* a copy of s with another first letter */
static char *renamed(struct words *w, const char *s, char first)
{
	char *copy = arena_string(&w->arena, s, strlen(s));

	copy[0] = first;
	return copy;
}

/* the user's environment, and ours behind it if there is who reads it */
static void make_environment(struct words *w, const struct launch *l)
{
	bool told = l->module || l->enters;
	const char *theirs = NULL;

	for (char **v = environ; *v; v++) {
		if (told && !strncmp(*v, "LD_AUDIT=", 9)) {
			theirs = *v + 9;
			vec_push(&w->envp, renamed(w, *v, 'X'));
		} else {
			vec_push(&w->envp, *v);
		}
	}
	if (told) {
		vec_push(&w->envp, audit_list(w, l, theirs));
		vec_push(&w->envp, handover(w, l, theirs != NULL));
	}
}

/*
 * What is meant for the program's loader must not reach the emulator's: it
 * goes into the emulator's options. Values with commas cannot.
 */
static void take_loader_words(struct words *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->envp.n; i++) {
		char *v = w->envp.at[i];
		bool guest = !strncmp(v, "LD_", 3) ||
			     !strncmp(v, HANDOVER_VARIABLE "=",
				      sizeof HANDOVER_VARIABLE);

		if (guest && !strchr(v, ',')) {
			vec_push(&w->argv, (char *)"-E");
			vec_push(&w->argv, v);
		} else {
			w->envp.at[kept++] = v;
		}
	}
	w->envp.n = kept;
}

void words_make(struct words *w, const struct launch *l)
{
	*w = (struct words){0};
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

void words_free(struct words *w)
{
	vec_free(&w->argv);
	vec_free(&w->envp);
	arena_free(&w->arena);
	*w = (struct words){0};
}
