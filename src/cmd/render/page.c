/* page: see page.h. */
#include "cmd/render/page.h"

#include <string.h>

#include "base/embed.h"

EMBED(page_style, "src/cmd/render/page_style.css");
EMBED(page_script, "src/cmd/render/page_script.js");

static void write_style(const void *what, FILE *to)
{
	(void)what;
	fputs(page_style, to);
}

static void write_script(const void *what, FILE *to)
{
	(void)what;
	fputs(page_script, to);
}

/* words of all pages */
static const struct page_word shared[] = {
	{"@STYLE@", write_style}, {"@SCRIPT@", write_script}, {0},
};

/* the word that the text begins with, or NULL */
static const struct page_word *word_at(const struct page_word *w,
				       const char *at)
{
	for (; w->word; w++)
		if (!strncmp(at, w->word, strlen(w->word)))
			return w;
	return NULL;
}

void page_print(const char *page, const struct page_word *words,
		const void *what, FILE *to)
{
	while (*page) {
		size_t n = strcspn(page, "@");
		const struct page_word *w;

		fwrite(page, 1, n, to);
		page += n;
		w = word_at(words, page);
		if (!w)
			w = word_at(shared, page);
		if (w) {
			w->write(what, to);
			page += strlen(w->word);
		} else if (*page) {
			putc(*page++, to);
		}
	}
}
