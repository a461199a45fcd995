/*
 * proc_query: a procedure as the user calls it: by its name as it is shown,
 * with or without arguments, by its symbol, or by 0xADDRESS of anything in it.
 */
#ifndef REPORT_PROC_QUERY_H
#define REPORT_PROC_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct proc_query {
	const char *word;
	bool is_address;
	uint64_t address;
};

static inline struct proc_query proc_query_of(const char *word)
{
	struct proc_query w = {.word = word};
	char *end;

	w.address = strtoull(word, &end, 16);
	w.is_address = !strncmp(word, "0x", 2) && word[2] && !*end;
	return w;
}

/* "f" names f(int), and f(int) [clone .part.0], but not f<int>(): there may be
   many of those */
static inline bool proc_query_names(const struct proc_query *w,
				    const char *name)
{
	size_t n = strlen(w->word);

	return !strncmp(name, w->word, n) &&
	       (!name[n] || name[n] == '(' ||
		!strncmp(name + n, " [clone ", 8));
}

#endif
