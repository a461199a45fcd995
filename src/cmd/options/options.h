/*
 * options: the options of a command are declared once, in tables. From these
 * come how the words of a call are read (options.c), the help (help.c), the
 * sections of the manual page (manual.c) and what shells complete
 * (completion.c).
 *
 *	static const struct option record_options[] = {
 *		{"rate", .type = &type_number, .placeholder = "HZ",
 *		 .least = 1, .most = 100000, FILLS(struct record_call, rate),
 *		 .help = "samples per second of each CPU; 5200 by default"},
 *		{0},
 *	};
 *
 * An option fills a field of the command's call, a struct that begins as the
 * command's defaults. Options that several commands have with one meaning are
 * one table (shared_options.h), which fills fields of a struct that is
 * somewhere in their calls: a set says which table, and where.
 *
 * Texts are paragraphs without line breaks. `word` is literal, <NAME> stands
 * for something; words that begin with a dash, and page(1), need no marks.
 * .help is one sentence without its full stop; the manual page has it, then
 * .more, which is of sentences with theirs.
 */
#ifndef CMD_OPTIONS_OPTIONS_H
#define CMD_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct option;

/* what a shell offers for a word, besides choices */
enum offer {
	OFFER_NOTHING,
	OFFER_FILES,
	OFFER_DIRECTORIES,
	OFFER_PROFILES,	  /* and databases */
	OFFER_PROCEDURES, /* these five: names in a profile or database */
	OFFER_IMAGES,
	OFFER_PROCESSES,
	OFFER_EVENTS,
	OFFER_HOSTS,
	OFFER_COMMANDS,	  /* of tally */
};

/* a word that a value may be; the last of a list has no name */
struct option_choice {
	const char *name;
	int value;
	const char *help, *more; /* help NULL: only the name is listed */
};

/* a kind of value */
struct option_type {
	const char *placeholder; /* NULL: the option takes no value */
	const char *takes; /* in messages: "the name of a file" */
	enum offer offer;
	size_t size; /* of the field, in bytes */
	/* reads the value into the field; false: it is no such value */
	bool (*read)(const struct option *o, const char *word, void *field);
};

extern const struct option_type
	type_flag,	/* bool, becomes true */
	type_off,	/* bool, becomes false */
	type_number,	/* uint64_t, least to most */
	type_percent,	/* double, a share: 12.5 or 12.5% is 0.125 */
	type_choice,	/* int, the value of one of the choices */
	type_word,	/* const char *, one of the choices */
	type_list,	/* struct word_list, one more each time */
	type_help,	/* of --help: fills nothing */
	/* const char *, whatever is not empty */
	type_text, type_file, type_directory, type_profile, type_procedure,
	type_image, type_process, type_event, type_host;

struct option {
	const char *name; /* without dashes; NULL: the table ends */
	char letter;	  /* also -LETTER, or 0 */
	const struct option_type *type;
	const char *placeholder; /* if not that of the type */
	const struct option_choice *choices; /* or NULL */
	uint64_t least, most; /* most 0: no limits */
	size_t at, size; /* the field: FILLS() */
	const char *help, *more;
	/* not NULL: there is no such option, and why; it is listed nowhere */
	const char *refusal;
};

#define FILLS(call, field) \
	.at = offsetof(call, field), .size = sizeof(((call *)0)->field)

/* a table in the use of a command; the last has none */
struct option_set {
	const struct option *table;
	size_t at, size; /* what its fields are in, in the call; size 0: it */
	const char *title; /* in the help, or NULL */
	bool of_databases; /* such an option is noted in the arguments */
};

#define OPTIONS(options) {.table = options}
/* whose fields are in a field of the call */
#define OPTIONS_AT(options, call, field) \
	{.table = options, .at = offsetof(call, field), \
	 .size = sizeof(((call *)0)->field)}

/* a word that is no option; the last has no name */
struct operand {
	const char *name; /* as in the usage */
	enum offer offer;
	const struct option_choice *choices; /* or NULL: any word */
	bool optional;
	bool many; /* there may be more of it: the last one */
};

/* words, a vector (base/mem.h) */
struct word_list {
	const char **at;
	size_t n, cap;
};

/* what is in a call beside options */
struct arguments {
	struct word_list operand;
	char **program; /* of a command that runs one: its words */
	const char *of_databases; /* such an option that was given, or NULL */
	bool help; /* is asked for: then nothing else is to be done */
};

#define EACH_OPTION(c, s, o) \
	for (const struct option_set *s = (c)->options; s->table; s++) \
		for (const struct option *o = s->table; o->name; o++)

/*
 * Reads argv[1] and what follows, up to NULL, into the call and *a; both are to
 * be freed. 0, or the exit status if the call is wrong: that was said.
 */
int options_read(const struct command *c, char **argv, void *call,
		 struct arguments *a);
void options_free(const struct command *c, void *call, struct arguments *a);

/* a number of decimal digits, and nothing else */
bool option_number(const char *word, uint64_t *n);
/* the placeholder of its value: its own, its choices or that of the type */
const char *option_placeholder(const struct option *o);

#endif
