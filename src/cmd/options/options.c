/*
 * options: how the words of a call are read; see options.h.
 *
 *	--name VALUE	--name=VALUE	-o VALUE	-o=VALUE	-oVALUE
 *
 * Behind "--" no word is an option. The words of a program that is run are its
 * own, from the first that is no option on.
 */
#include "cmd/options/options.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/options/nearest.h"

enum { TAKES_TEXT = 400 };

struct reading {
	const struct command *c;
	char **at; /* the word that is read */
	void *call;
	struct arguments *a;
};

/* an option as it is in a call */
struct given {
	const struct option *o; /* NULL: there is none */
	const struct option_set *set;
	char spelled[48]; /* as it was written, without the value */
	const char *value; /* in the same word, or NULL */
};

const char *option_placeholder(const struct option *o)
{
	static char text[160];
	size_t n = 0;

	if (o->placeholder)
		return o->placeholder;
	if (!o->choices || o->choices->help || *o->type->takes)
		return o->type->placeholder;
	for (const struct option_choice *x = o->choices; x->name; x++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
				      n ? "|" : "", x->name);
	assert(n < sizeof text);
	return text;
}

/* choices and, if it is not "", something else: "a, b or c" */
static const char *list_choices(const struct option_choice *x,
				const char *other, char text[TAKES_TEXT])
{
	size_t n = 0;

	for (; x->name; x++)
		n += (size_t)snprintf(text + n, TAKES_TEXT - n, "%s%s",
				      !n ? "" : x[1].name || *other ? ", " :
				      " or ", x->name);
	if (*other)
		n += (size_t)snprintf(text + n, TAKES_TEXT - n, " or %s",
				      other);
	assert(n < TAKES_TEXT);
	return text;
}

/* what the value of an option is, for messages */
static const char *takes(const struct option *o, char text[TAKES_TEXT])
{
	if (o->choices)
		return list_choices(o->choices, o->type->takes, text);
	if (!o->most)
		return o->type->takes;
	snprintf(text, TAKES_TEXT, "%s from %" PRIu64 " to %" PRIu64,
		 o->type->takes, o->least, o->most);
	return text;
}

/* whether the word is the option, and where its value is in it */
static bool is_option(struct given *g, const struct option *o,
		      const char *word)
{
	bool letter = word[1] != '-';
	size_t n = letter ? 2 : 2 + strlen(o->name);

	if (letter ? word[1] != o->letter : strncmp(word + 2, o->name, n - 2))
		return false;
	/* a value may follow a letter at once */
	if (word[n] && word[n] != '=' &&
	    !(letter && (o->type->takes || o->refusal)))
		return false;
	snprintf(g->spelled, sizeof g->spelled, "%.*s", (int)n, word);
	if (word[n])
		g->value = word + n + (word[n] == '=');
	return true;
}

static struct given find_option(const struct command *c, const char *word)
{
	struct given g = {0};

	EACH_OPTION(c, s, o) {
		if (!is_option(&g, o, word))
			continue;
		g.o = o;
		g.set = s;
		return g;
	}
	return g;
}

/* says that there is no such option, and which are near */
static int refuse_option(const struct command *c, const char *word)
{
	char name[64], text[NEAREST_TEXT];
	struct nearest n = {.word = name};
	size_t dashes = strspn(word, "-");

	snprintf(name, sizeof name, "%.*s",
		 (int)strcspn(word + dashes, "="), word + dashes);
	EACH_OPTION(c, s, o)
		if (!o->refusal)
			nearest_offer(&n, o->name);
	return cmd_misuse(c, "unknown option '%.*s'%s",
			  (int)strcspn(word, "="), word,
			  nearest_text(&n, "--", text));
}

/* says what is wrong with a word that is no choice, and which are near */
static int refuse_word(const struct command *c, const char *what,
		       const char *list, const struct option_choice *choices,
		       const char *word)
{
	struct nearest n = {.word = word};
	char text[NEAREST_TEXT];

	for (const struct option_choice *x = choices; x && x->name; x++)
		nearest_offer(&n, x->name);
	return cmd_misuse(c, "%s %s, not '%s'%s", what, list, word,
			  nearest_text(&n, "", text));
}

static int refuse_value(const struct command *c, const struct given *g)
{
	char list[TAKES_TEXT], what[64];

	snprintf(what, sizeof what, "%s takes", g->spelled);
	return refuse_word(c, what, takes(g->o, list), g->o->choices,
			   g->value);
}

/* reads the option at r->at, which moves to its value; 0 or the exit status */
static int read_option(struct reading *r)
{
	struct given g = find_option(r->c, *r->at);
	char list[TAKES_TEXT];

	if (!g.o)
		return refuse_option(r->c, *r->at);
	if (g.o->refusal)
		return cmd_misuse(r->c, "%s", g.o->refusal);
	if (!g.o->type->takes && g.value)
		return cmd_misuse(r->c, "%s takes no value", g.spelled);
	if (g.o->type->takes && !g.value && !r->at[1])
		return cmd_misuse(r->c, "%s needs a value: %s", g.spelled,
				  takes(g.o, list));
	if (g.o->type->takes && !g.value)
		g.value = *++r->at;
	assert(g.o->size == g.o->type->size);
	if (!g.o->type->read(g.o, g.value, (char *)r->call + g.set->at +
						   g.o->at))
		return refuse_value(r->c, &g);
	r->a->help |= g.o->type == &type_help;
	if (g.set->of_databases)
		r->a->of_databases = g.o->name;
	return 0;
}

/* the operand that word number n is; NULL: too many */
static const struct operand *operand_of(const struct command *c, size_t n)
{
	const struct operand *x = c->operands;

	for (; n && x && x->name && !x->many; n--)
		x++;
	return x && x->name ? x : NULL;
}

static int read_operand(struct reading *r)
{
	const struct operand *x = operand_of(r->c, r->a->operand.n);
	const struct option_choice *k = x ? x->choices : NULL;
	char list[TAKES_TEXT];

	if (!x)
		return cmd_misuse(r->c, "too many arguments: '%s'", *r->at);
	while (k && k->name && strcmp(k->name, *r->at))
		k++;
	if (k && !k->name)
		return refuse_word(r->c, "it takes",
				   list_choices(x->choices, "", list),
				   x->choices, *r->at);
	vec_push(&r->a->operand, *r->at);
	return 0;
}

/* all that are needed are there; n: so many are. 0 or the exit status */
static int check_operands(const struct command *c, size_t n)
{
	const struct operand *x = c->operands;
	char list[TAKES_TEXT];

	for (; x && x->name && n; n--)
		x++;
	if (!x || !x->name || x->optional)
		return 0;
	return cmd_misuse(c, "missing argument: %s", x->choices ?
			  list_choices(x->choices, "", list) : x->name);
}

static bool is_dashed(const char *word)
{
	return word[0] == '-' && word[1];
}

/* --help anywhere before "--"; not in the words of another program */
static bool asks_for_help(const struct command *c, char **argv)
{
	for (; !c->runs_program && *argv && strcmp(*argv, "--"); argv++) {
		struct given g = {0};

		if (is_dashed(*argv))
			g = find_option(c, *argv);
		if (g.o && g.o->type == &type_help)
			return true;
	}
	return false;
}

int options_read(const struct command *c, char **argv, void *call,
		 struct arguments *a)
{
	struct reading r = {c, argv + 1, call, a};
	bool options = true;
	int status = 0;

	a->help = asks_for_help(c, argv + 1);
	for (; *r.at && !status && !a->help; r.at++) {
		if (options && !strcmp(*r.at, "--"))
			options = false;
		else if (options && is_dashed(*r.at))
			status = read_option(&r);
		else if (c->runs_program)
			break;
		else
			status = read_operand(&r);
	}
	if (status || a->help)
		return status;
	a->program = r.at;
	return check_operands(c, a->operand.n + (*r.at != NULL));
}

void options_free(const struct command *c, void *call, struct arguments *a)
{
	EACH_OPTION(c, s, o)
		if (o->type == &type_list) {
			struct word_list *l = (void *)((char *)call + s->at +
						       o->at);

			vec_free(l);
		}
	vec_free(&a->operand);
}
