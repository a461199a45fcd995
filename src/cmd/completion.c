/*
 * completion: `tally completion SHELL`, a script with which the shell completes
 * command lines of tally.
 *
 * A script is tables of commands, options, values and operands in the shell's
 * language, which are made here, and then a file that is the same for all of
 * them (completion.bash and others). What a value may be is words, and @kinds
 * of things; names of procedures, images and the like are looked up when they
 * are needed (completion_names.c).
 */
#include "cmd/cmd.h"

#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "cmd/options/prose.h"
#include "cmd/options/shared_options.h"

EMBED(completion_bash, "src/cmd/completion.bash");
EMBED(completion_fish, "src/cmd/completion.fish");
EMBED(completion_zsh, "src/cmd/completion.zsh");

static const char *const offers[] = {
	[OFFER_NOTHING] = "",
	[OFFER_FILES] = "@files",
	[OFFER_DIRECTORIES] = "@directories",
	[OFFER_PROFILES] = "@profiles",
	[OFFER_PROCEDURES] = "@procedures",
	[OFFER_IMAGES] = "@images",
	[OFFER_PROCESSES] = "@processes",
	[OFFER_EVENTS] = "@events",
	[OFFER_HOSTS] = "@hosts",
	[OFFER_COMMANDS] = "@commands",
};

/* those for people */
#define EACH_COMMAND(c) \
	for (const struct command *const *at = commands, *c; \
	     (c = *at) && !c->internal; at++)
#define EACH_OPERAND(c, x) \
	for (const struct operand *x = (c)->operands; x && x->name; x++)

/* spelling number i of an option that is listed; NULL: there are no more */
static const char *spelling(const struct option *o, int i)
{
	static char text[64];

	if (!o->help || i > (o->letter ? 1 : 0))
		return NULL;
	if (o->letter && !i)
		snprintf(text, sizeof text, "-%c", o->letter);
	else
		snprintf(text, sizeof text, "--%s", o->name);
	return text;
}

/* the number of an operand, from 0 on; "more" if it may be several */
static const char *operand_number(const struct command *c,
				  const struct operand *x)
{
	static char text[24];

	snprintf(text, sizeof text, "%td", x - c->operands);
	return x->many ? "more" : text;
}

static void print_commands(bool runners, FILE *to)
{
	EACH_COMMAND(c)
		if (!runners || c->runs_program)
			fprintf(to, "%s ", c->name);
}

/* what a value may be */
static void print_offer(const struct option_choice *x, enum offer offer,
			FILE *to)
{
	for (; x && x->name; x++)
		fprintf(to, "%s ", x->name);
	fputs(offers[offer], to);
}

/* a text up to its first stop, to be put in quotes; quote: one in these */
static void print_brief(const char *text, const char *quote, FILE *to)
{
	char *plain = prose_plain(text ? text : "");
	size_t n = strcspn(plain, ";:(");

	while (n && plain[n - 1] == ' ')
		n--;
	plain[n] = '\0';
	for (const char *s = plain; *s; s++)
		if (*s == '\'')
			fputs(quote, to);
		else if (!strchr("\"\\$[]", *s))
			putc(*s, to);
	mem_free(plain);
}

/* --- bash: arrays, by the names of commands and "COMMAND OPTION" */

static void bash_options(const struct command *c, FILE *to)
{
	const char *word;

	fprintf(to, "\t[%s]='", *c->name ? c->name : "tally");
	EACH_OPTION(c, s, o)
		for (int i = 0; (word = spelling(o, i)); i++)
			fprintf(to, "%s ", word);
	fputs("'\n", to);
}

static void bash_value(const struct command *c, const char *word,
		       const struct option_choice *x, enum offer offer,
		       FILE *to)
{
	fprintf(to, "\t['%s %s']='", c->name, word);
	print_offer(x, offer, to);
	fputs("'\n", to);
}

static void bash_values(const struct command *c, FILE *to)
{
	const char *word;

	EACH_OPTION(c, s, o)
		for (int i = 0; o->type->takes && (word = spelling(o, i)); i++)
			bash_value(c, word, o->choices, o->type->offer, to);
	EACH_OPERAND(c, x)
		bash_value(c, operand_number(c, x), x->choices, x->offer, to);
}

static void print_bash(FILE *to)
{
	fputs("# bash completion for tally(1), by 'tally completion bash'\n\n"
	      "_tally_commands='", to);
	print_commands(false, to);
	fputs("'\n_tally_runners='", to);
	print_commands(true, to);
	fputs("'\ndeclare -gA _tally_options=(\n", to);
	bash_options(&cmd_tally, to);
	EACH_COMMAND(c)
		bash_options(c, to);
	fputs(")\ndeclare -gA _tally_values=(\n", to);
	EACH_COMMAND(c)
		bash_values(c, to);
	fputs(")\n", to);
	fputs(completion_bash, to);
}

/* --- fish: a call of `complete` for each option and operand */

static void fish_value(const struct option_choice *x, enum offer offer,
		       FILE *to)
{
	if (offer == OFFER_FILES)
		fputs(" -F", to);
	fputs(" -a '", to);
	if (!x || !x->help) {
		fputs("(__tally_offer ", to);
		print_offer(x, offer, to);
		putc(')', to);
	} else {
		for (; x->name; x++) {
			fprintf(to, "%s\\t\"", x->name);
			print_brief(x->help, "\\'", to);
			fputs("\" ", to);
		}
	}
	putc('\'', to);
}

static void fish_option(const struct command *c, const struct option *o,
			FILE *to)
{
	fprintf(to, "complete -c tally -n '__tally_in %s'",
		*c->name ? c->name : "tally");
	if (o->letter)
		fprintf(to, " -s %c", o->letter);
	fprintf(to, " -l %s", o->name);
	if (o->type->takes) {
		fputs(o->type->offer == OFFER_FILES ? " -r" : " -x", to);
		fish_value(o->choices, o->type->offer, to);
	}
	fputs(" -d '", to);
	print_brief(o->help, "\\'", to);
	fputs("'\n", to);
}

static void fish_command(const struct command *c, FILE *to)
{
	if (*c->name) {
		fprintf(to, "complete -c tally -n '__tally_in tally' -a %s "
			"-d '", c->name);
		print_brief(c->summary, "\\'", to);
		fputs("'\n", to);
	}
	EACH_OPTION(c, s, o)
		if (o->help)
			fish_option(c, o, to);
	EACH_OPERAND(c, x) {
		if (!*c->name || c->runs_program)
			continue;
		fprintf(to, "complete -c tally -n '__tally_at %s %s'",
			c->name, operand_number(c, x));
		fish_value(x->choices, x->offer, to);
		putc('\n', to);
	}
}

static void print_fish(FILE *to)
{
	const char *word;

	fputs("# fish completion for tally(1), by 'tally completion fish'\n\n"
	      "set -g __tally_commands ", to);
	print_commands(false, to);
	fputs("\nset -g __tally_runners ", to);
	print_commands(true, to);
	fputs("\nset -g __tally_operands", to);
	EACH_COMMAND(c)
		EACH_OPERAND(c, x)
			fprintf(to, " '%s %s'", c->name, operand_number(c, x));
	fputs("\nset -g __tally_with_value", to);
	EACH_COMMAND(c)
		EACH_OPTION(c, s, o)
			for (int i = 0; o->type->takes &&
				       (word = spelling(o, i)); i++)
				fprintf(to, " '%s %s'", c->name, word);
	fputs("\ncomplete -c tally -f\n", to);
	fish_command(&cmd_tally, to);
	EACH_COMMAND(c)
		fish_command(c, to);
	fputs(completion_fish, to);
}

/* --- zsh: a function for each command, which calls _arguments */

static void zsh_value(const char *name, const struct option_choice *x,
		      enum offer offer, FILE *to)
{
	putc(':', to);
	print_brief(name, "", to);
	putc(':', to);
	if (!x || !x->help) {
		fputs("_tally_offer ", to);
		print_offer(x, offer, to);
		return;
	}
	fputs("((", to);
	for (; x->name; x++) {
		fprintf(to, "%s\\:\"", x->name);
		print_brief(x->help, "'\\''", to);
		fputs("\" ", to);
	}
	fputs("))", to);
}

/* an option is offered once, in either spelling, unless it is a list */
static void zsh_option(const struct option *o, FILE *to)
{
	bool list = o->type == &type_list;
	const char *word;

	for (int i = 0; (word = spelling(o, i)); i++) {
		fputs("\t'", to);
		if (o->letter && !list)
			fprintf(to, "(-%c --%s)", o->letter, o->name);
		fprintf(to, "%s%s%s[", list ? "*" : "", word,
			!o->type->takes ? "" : word[1] == '-' ? "=" : "+");
		print_brief(o->help, "'\\''", to);
		putc(']', to);
		if (o->type->takes)
			zsh_value(option_placeholder(o), o->choices,
				  o->type->offer, to);
		fputs("'\n", to);
	}
}

static void zsh_command(const struct command *c, FILE *to)
{
	fprintf(to, "_tally_of_%s() {\n\tspecs=(\n",
		*c->name ? c->name : "tally");
	EACH_OPTION(c, s, o)
		zsh_option(o, to);
	EACH_OPERAND(c, x) {
		if (!*c->name || c->runs_program)
			continue;
		fputs(x->many ? "\t'*" : x->optional ? "\t':" : "\t'", to);
		zsh_value(x->name, x->choices, x->offer, to);
		fputs("'\n", to);
	}
	fputs("\t)\n}\n", to);
}

static void print_zsh(FILE *to)
{
	fputs("#compdef tally\n"
	      "# zsh completion for tally(1), by 'tally completion zsh'\n\n"
	      "_tally_runners=(", to);
	print_commands(true, to);
	fputs(")\n_tally_commands=(\n", to);
	EACH_COMMAND(c) {
		fprintf(to, "\t'%s:", c->name);
		print_brief(c->summary, "'\\''", to);
		fputs("'\n", to);
	}
	fputs(")\n", to);
	zsh_command(&cmd_tally, to);
	EACH_COMMAND(c)
		zsh_command(c, to);
	fputs(completion_zsh, to);
}

/* --- the command */

static const struct shell {
	const char *name;
	void (*print)(FILE *to);
} scripts[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static const struct option_choice shells[] = {
	{.name = "bash"}, {.name = "zsh"}, {.name = "fish"}, {0}};

static int completion_run(void *call, const struct arguments *a)
{
	const struct shell *x = scripts;

	(void)call;
	while (strcmp(x->name, a->operand.at[0]))
		x++;
	x->print(stdout);
	return STATUS_OK;
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "a script with which a shell completes these words",
	.usage = "bash|zsh|fish",
	.about = "Prints a script with which the shell completes commands, "
		 "options, values, files, and names of procedures and images "
		 "in profiles and databases. `make install` puts all three "
		 "where the shells look for them. To switch it on in a shell "
		 "that runs:\n"
		 "bash: `. <(tally completion bash)`\n"
		 "zsh, after compinit: `. <(tally completion zsh)`\n"
		 "fish: `tally completion fish | source`",
	.operands = (const struct operand[]){
		{.name = "SHELL", .choices = shells}, {0}},
	.options = (const struct option_set[]){OPTIONS(help_option), {0}},
	.run = completion_run,
};
