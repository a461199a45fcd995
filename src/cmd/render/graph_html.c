/*
 * graph_html: a graph as a page of its own, which needs nothing else: the SVG
 * in graph_page.html, which moves, zooms and searches it. @WORDS@ there stand
 * for what differs.
 */
#include "cmd/render/graph_look.h"

/* the page's bytes and a zero; a file of its own, in its own language */
__asm__(".pushsection .rodata\n"
	".global graph_page\n"
	".hidden graph_page\n"
	"graph_page:\n"
	".incbin \"src/cmd/render/graph_page.html\"\n"
	".byte 0\n"
	".popsection");
extern const char graph_page[] __attribute__((visibility("hidden")));

static void html_title(const struct drawn *d, FILE *to)
{
	const struct picture *p = &d->picture;

	dot_text(to, symbolizer_procedure(p->m->symbolizer, p->proc), SIZE_MAX);
	fputs(" - ", to);
	dot_text(to, p->m->name, SIZE_MAX);
}

/* without what stands before the SVG of a file */
static void html_graph(const char *svg, FILE *to)
{
	const char *start = strstr(svg, "<svg");

	fputs(start ? start : svg, to);
}

void graph_show_html(const struct drawn *d, const char *svg, FILE *to)
{
	static const char title[] = "@TITLE@", graph[] = "@GRAPH@";
	const char *at = graph_page;

	while (*at) {
		size_t n = strcspn(at, "@");

		fwrite(at, 1, n, to);
		at += n;
		if (!strncmp(at, title, sizeof title - 1)) {
			html_title(d, to);
			at += sizeof title - 1;
		} else if (!strncmp(at, graph, sizeof graph - 1)) {
			html_graph(svg, to);
			at += sizeof graph - 1;
		} else if (*at) {
			putc(*at++, to);
		}
	}
}
