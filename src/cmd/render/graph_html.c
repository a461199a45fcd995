/*
 * graph_html: a graph as a page of its own, which needs nothing else: the SVG
 * in graph_page.html, which moves, zooms and searches it.
 */
#include "base/embed.h"
#include "cmd/render/graph_look.h"
#include "cmd/render/page.h"

EMBED(graph_page, "src/cmd/render/graph_page.html");

struct graph_text {
	const struct drawn *d;
	const char *svg;
};

static void html_title(const void *what, FILE *to)
{
	const struct graph_text *x = what;
	const struct picture *p = &x->d->picture;

	dot_text(to, symbolizer_procedure(p->m->symbolizer, p->proc), SIZE_MAX);
	fputs(" - ", to);
	dot_text(to, p->m->name, SIZE_MAX);
}

/* without what stands before the SVG of a file */
static void html_graph(const void *what, FILE *to)
{
	const struct graph_text *x = what;
	const char *start = strstr(x->svg, "<svg");

	fputs(start ? start : x->svg, to);
}

void graph_show_html(const struct drawn *d, const char *svg, FILE *to)
{
	static const struct page_word words[] = {
		{"@TITLE@", html_title}, {"@GRAPH@", html_graph}, {0},
	};

	page_print(graph_page, words, &(struct graph_text){d, svg}, to);
}
