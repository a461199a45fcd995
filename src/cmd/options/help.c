/*
 * help: `tally help [COMMAND]`, which commands there are, and what --help of
 * each prints.
 *
 *	usage: tally record [OPTION...] [--] PROGRAM [ARG...]
 *
 *	Runs PROGRAM as it is, ...
 *
 *	  -o, --output DB       the database, ...
 *	  --placement WHERE     where counters are
 *	    edges               on edges, ...
 *
 * `tally help --man SECTION [COMMAND]` prints sections of manual pages, for
 * `make man`.
 */

#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/options/manual.h"
#include "cmd/options/nearest.h"
#include "cmd/options/prose.h"
#include "cmd/options/shared_options.h"

const struct command *cmd_find(const char *name)
{
	const struct command *const *c = commands;

	while (*c && strcmp((*c)->name, name))
		c++;
	return *c;
}

int cmd_unknown(const char *name)
{
	struct nearest n = {.word = name};
	char text[NEAREST_TEXT];

	for (const struct command *const *c = commands; *c; c++)
		if (!(*c)->internal)
			nearest_offer(&n, (*c)->name);
	return cmd_misuse(&cmd_tally, "there is no command '%s'%s", name,
			  nearest_text(&n, "", text));
}

enum { TEXT = 24 }; /* column where the texts of options begin */

static void print_wrapped(const char *text, size_t column, size_t indent,
			  FILE *to)
{
	char *plain = prose_plain(text);

	prose_wrap(to, plain, column, indent);
	mem_free(plain);
}

static void print_paragraphs(const char *text, FILE *to)
{
	putc('\n', to);
	print_wrapped(text, 0, 0, to);
}

/* the text of an option whose head is `column` wide */
static void print_beside(const char *text, int column, FILE *to)
{
	if (column + 2 > TEXT)
		putc('\n', to);
	print_wrapped(text, column + 2 > TEXT ? 0 : (size_t)column, TEXT, to);
}

static void print_option(const struct option *o, FILE *to)
{
	int column = fprintf(to, "  ");

	if (o->letter)
		column += fprintf(to, "-%c, ", o->letter);
	column += fprintf(to, "--%s", o->name);
	if (o->type->takes)
		column += fprintf(to, " %s", option_placeholder(o));
	print_beside(o->help, column, to);
	for (const struct option_choice *x = o->choices; x && x->name; x++)
		if (x->help)
			print_beside(x->help, fprintf(to, "    %s", x->name),
				     to);
}

static void print_usage(const struct command *c, FILE *to)
{
	const char *line = c->usage;
	const char *before = "usage: tally ";

	while (*line) {
		size_t n = strcspn(line, "\n");

		fprintf(to, "%s%s%s%.*s\n", before, c->name,
			*c->name ? " " : "", (int)n, line);
		before = "       tally ";
		line += n + (line[n] == '\n');
	}
}

static void print_commands(FILE *to)
{
	putc('\n', to);
	for (const struct command *const *c = commands; *c; c++)
		if ((*c)->summary)
			fprintf(to, "  %-12s%s\n", (*c)->name, (*c)->summary);
}

void help_print(const struct command *c, FILE *to)
{
	if (c == &cmd_help)
		c = &cmd_tally;
	print_usage(c, to);
	if (c == &cmd_tally)
		print_commands(to);
	else
		print_paragraphs(c->about, to);
	for (const struct option_set *s = c->options; s->table; s++) {
		if (s->title)
			fprintf(to, "\n%s:\n", s->title);
		else if (s == c->options)
			putc('\n', to);
		for (const struct option *o = s->table; o->name; o++)
			if (o->help)
				print_option(o, to);
	}
	if (c->closing)
		print_paragraphs(c->closing, to);
}

struct help_call {
	int section; /* of a manual page; MANUAL_NONE: the help is wanted */
};

static int help_run(void *words, const struct arguments *a)
{
	const struct help_call *call = words;
	const char *name = a->operand.n ? a->operand.at[0] : "help";
	const struct command *c = cmd_find(name);

	if (!c || c->internal)
		return cmd_unknown(name);
	if (call->section)
		manual_print(c == &cmd_help ? &cmd_tally : c,
			     (enum manual_section)call->section, stdout);
	else
		help_print(c, stdout);
	return STATUS_OK;
}

static const struct option help_options[] = {
	{"man", .type = &type_choice, .choices = manual_sections,
	 FILLS(struct help_call, section)},
	{0},
};

const struct command cmd_help = {
	.name = "help",
	.operands = (const struct operand[]){
		{"COMMAND", OFFER_COMMANDS, .optional = true}, {0}},
	.options = (const struct option_set[]){
		OPTIONS(help_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct help_call){0},
	.size = sizeof(struct help_call),
	.run = help_run,
};

struct tally_call {
	bool version;
};

static int tally_run(void *words, const struct arguments *a)
{
	const struct tally_call *call = words;

	(void)a;
	if (call->version)
		puts("tally " TALLY_VERSION);
	else
		help_print(&cmd_tally, stderr);
	return call->version ? STATUS_OK : STATUS_USAGE;
}

static const struct option tally_options[] = {
	{"version", .type = &type_flag, FILLS(struct tally_call, version),
	 .help = "the version"},
	{0},
};

const struct command cmd_tally = {
	.name = "",
	.usage = "COMMAND [OPTION...] [ARGUMENT...]\n"
		 "help [COMMAND]\n"
		 "--version",
	.closing = "`tally help COMMAND` says more of each.",
	.operands = (const struct operand[]){
		{"COMMAND", OFFER_COMMANDS, .optional = true, .many = true},
		{0}},
	.options = (const struct option_set[]){
		OPTIONS(tally_options), OPTIONS(help_option), {0}},
	.defaults = &(const struct tally_call){0},
	.size = sizeof(struct tally_call),
	.run = tally_run,
};
