/*
 * option_types: kinds of values that options take, which several commands
 * need; see options.h. A type that one option has is beside that option.
 */
#include "cmd/options/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool read_flag(const struct option *o, const char *word, void *field)
{
	(void)word;
	*(bool *)field = o->type != &type_off;
	return true;
}

static bool read_help(const struct option *o, const char *word, void *field)
{
	(void)o, (void)word, (void)field;
	return true;
}

bool option_number(const char *word, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

static bool read_number(const struct option *o, const char *word, void *field)
{
	uint64_t *n = field;

	return option_number(word, n) &&
	       (!o->most || (*n >= o->least && *n <= o->most));
}

static bool read_percent(const struct option *o, const char *word, void *field)
{
	double *share = field;
	char *end;

	(void)o;
	*share = strtod(word, &end) / 100;
	if (end != word && *end == '%')
		end++;
	return *word >= '0' && *word <= '9' && !*end && *share >= 0 &&
	       *share <= 1;
}

static const struct option_choice *find_choice(const struct option *o,
					       const char *word)
{
	const struct option_choice *x = o->choices;

	while (x->name && strcmp(x->name, word))
		x++;
	return x->name ? x : NULL;
}

static bool read_choice(const struct option *o, const char *word, void *field)
{
	const struct option_choice *x = find_choice(o, word);

	if (x)
		*(int *)field = x->value;
	return x;
}

static bool read_text(const struct option *o, const char *word, void *field)
{
	(void)o;
	*(const char **)field = word;
	return *word;
}

static bool read_word(const struct option *o, const char *word, void *field)
{
	return find_choice(o, word) && read_text(o, word, field);
}

static bool read_list(const struct option *o, const char *word, void *field)
{
	struct word_list *l = field;

	(void)o;
	vec_push(l, word);
	return *word;
}

enum { POINTER = sizeof(const char *) };

const struct option_type
	type_flag = {.size = sizeof(bool), .read = read_flag},
	type_off = {.size = sizeof(bool), .read = read_flag},
	type_help = {.read = read_help},
	type_number = {"N", "a number", OFFER_NOTHING, sizeof(uint64_t),
		       read_number},
	type_percent = {"PERCENT", "a percentage", OFFER_NOTHING,
			sizeof(double), read_percent},
	type_choice = {"WHAT", "", OFFER_NOTHING, sizeof(int), read_choice},
	type_word = {"WHAT", "", OFFER_NOTHING, POINTER, read_word},
	type_list = {"NAME", "a name", OFFER_NOTHING,
		     sizeof(struct word_list), read_list},
	type_text = {"NAME", "a name", OFFER_NOTHING, POINTER, read_text},
	type_file = {"FILE", "the name of a file", OFFER_FILES, POINTER,
		     read_text},
	type_directory = {"DB", "the name of a directory", OFFER_DIRECTORIES,
			  POINTER, read_text},
	type_profile = {"PROFILE", "the name of a profile", OFFER_PROFILES,
			POINTER, read_text},
	type_procedure = {"NAME", "the name of a procedure", OFFER_PROCEDURES,
			  POINTER, read_text},
	type_image = {"NAME", "the name of an image", OFFER_IMAGES, POINTER,
		      read_text},
	type_process = {"NAME", "the name of a process", OFFER_PROCESSES,
			POINTER, read_text},
	type_event = {"NAME", "the name of an event", OFFER_EVENTS, POINTER,
		      read_text},
	type_host = {"NAME", "the name of a host", OFFER_HOSTS, POINTER,
		     read_text};
