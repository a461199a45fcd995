/* manual: see manual.h. */
#include "cmd/options/manual.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/options/prose.h"

const struct option_choice manual_sections[] = {
	{"synopsis", MANUAL_SYNOPSIS, NULL, NULL},
	{"options", MANUAL_OPTIONS, NULL, NULL},
	{"commands", MANUAL_COMMANDS, NULL, NULL},
	{0},
};

/*
 * Part of a usage: what is in capitals stands for something, and what begins
 * with other letters, or a dash, is literal.
 */
static void print_words(const char *s, size_t n, FILE *to)
{
	const char *font = "R";

	for (size_t i = 0; i < n; i++) {
		const char *wanted = isupper(s[i]) ? "I" :
				     islower(s[i]) || s[i] == '-' ? "B" : "R";

		if (*wanted != *font && s[i] != ' ') {
			fprintf(to, "\\f%s", wanted);
			font = wanted;
		}
		fputs(s[i] == '-' ? "\\" : "", to);
		putc(s[i], to);
	}
	fputs(*font == 'R' ? "" : "\\fR", to);
}

static void print_synopsis(const struct command *c, FILE *to)
{
	const char *line = c->usage;

	while (*line) {
		size_t n = strcspn(line, "\n");

		fprintf(to, "\\fBtally%s%s\\fR ", *c->name ? " " : "", c->name);
		print_words(line, n, to);
		line += n + (line[n] == '\n');
		fputs(*line ? "\n.br\n" : "\n", to);
	}
}

/* one sentence, and perhaps more of them */
static void print_text(const char *help, const char *more, FILE *to)
{
	char *text = prose_troff(help);

	prose_wrap(to, text, 0, 0);
	mem_free(text);
	if (!more)
		return;
	text = prose_troff(more);
	prose_wrap(to, text, 0, 0);
	mem_free(text);
}

static void print_choices(const struct option_choice *x, FILE *to)
{
	fputs(".RS\n", to);
	for (; x->name; x++) {
		fputs(".TP\n", to);
		print_words(x->name, strlen(x->name), to);
		putc('\n', to);
		print_text(x->help, x->more, to);
	}
	fputs(".RE\n", to);
}

static void print_option(const struct option *o, FILE *to)
{
	fputs(".TP\n", to);
	if (o->letter)
		fprintf(to, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", to);
	for (const char *s = o->name; *s; s++)
		fprintf(to, "%s%c", *s == '-' ? "\\" : "", *s);
	fputs("\\fR", to);
	if (o->type->takes) {
		putc(' ', to);
		print_words(option_placeholder(o),
			    strlen(option_placeholder(o)), to);
	}
	putc('\n', to);
	print_text(o->help, o->more, to);
	if (o->choices && o->choices->help)
		print_choices(o->choices, to);
}

static void print_options(const struct command *c, FILE *to)
{
	for (const struct option_set *s = c->options; s->table; s++) {
		if (s->title)
			fprintf(to, ".SS %s\n", s->title);
		for (const struct option *o = s->table; o->name; o++)
			if (o->help)
				print_option(o, to);
	}
}

static void print_commands(FILE *to)
{
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->summary) {
			fprintf(to, ".TP\n.BR tally-%s (1)\n", (*c)->name);
			print_text((*c)->summary, NULL, to);
		}
}

void manual_print(const struct command *c, enum manual_section section,
		  FILE *to)
{
	if (section == MANUAL_SYNOPSIS)
		print_synopsis(c, to);
	else if (section == MANUAL_OPTIONS)
		print_options(c, to);
	else
		print_commands(to);
}
