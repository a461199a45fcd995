/*
 * page: pages that need nothing else, made of a file of ours, in which @WORDS@
 * stand for what differs. @STYLE@ and @SCRIPT@ are the same for all pages
 * (page_style.css, page_script.js): how they look, search and listen to keys.
 */
#ifndef CMD_RENDER_PAGE_H
#define CMD_RENDER_PAGE_H

#include <stdio.h>

/* a word of the page, and what writes that in its place */
struct page_word {
	const char *word; /* NULL: there are no more */
	void (*write)(const void *what, FILE *to);
};

void page_print(const char *page, const struct page_word *words,
		const void *what, FILE *to);

#endif
