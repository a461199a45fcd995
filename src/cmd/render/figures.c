/*
 * figures: numbers in aligned columns, for people.
 */
#include "cmd/render/figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* tables have millions of them, and printf() is slow */
const char *figures_number(uint64_t n, char *buf)
{
	char digits[FIGURE_WIDTH], *at = digits + sizeof digits;
	unsigned done = 0;

	*--at = '\0';
	do {
		if (done && done % 3 == 0)
			*--at = ',';
		*--at = (char)('0' + n % 10);
		done++;
	} while (n /= 10);
	return strcpy(buf, at);
}

/* a row of a table, in one of the style's looks */
static void print_row(const struct style *s, const char *look,
		      const char *what, uint64_t n)
{
	char buf[FIGURE_WIDTH];

	fprintf(s->to, "  %s%-34s %14s", look, what, figures_number(n, buf));
}

void figures_count(const struct style *s, const char *what, uint64_t n)
{
	print_row(s, "", what, n);
	putc('\n', s->to);
}

void figures_share(const struct style *s, const char *look,
		   const char *what, uint64_t n, uint64_t of)
{
	print_row(s, look, what, n);
	if (of)
		fprintf(s->to, "  %6.2f%%", 100.0 * (double)n / (double)of);
	fprintf(s->to, "%s\n", *look ? s->off : "");
}

/* regions with the same reason are added up */
struct reason_sum {
	const char *reason;
	uint64_t n, bytes;
};

static int by_bytes(const void *a, const void *b)
{
	const struct reason_sum *p = a, *q = b;

	return p->bytes > q->bytes ? -1 : p->bytes < q->bytes;
}

/* decimal digits of n */
static int digits(uint64_t n)
{
	return snprintf(NULL, 0, "%" PRIu64, n);
}

void figures_regions(const struct style *s, const struct region *region,
		     size_t n)
{
	VEC(struct reason_sum) sum = {0};
	int width = 0; /* of the numbers of regions */

	for (size_t i = 0; i < n; i++) {
		const struct region *r = &region[i];
		size_t k = 0;

		while (k < sum.n && strcmp(sum.at[k].reason, r->reason))
			k++;
		if (k == sum.n) {
			struct reason_sum first = {.reason = r->reason};

			vec_push(&sum, first);
		}
		sum.at[k].n++;
		sum.at[k].bytes += r->end - r->start;
		if (s->terminal && digits(sum.at[k].n) > width)
			width = digits(sum.at[k].n);
	}
	if (sum.n) {
		qsort(sum.at, sum.n, sizeof *sum.at, by_bytes);
		fprintf(s->to, "%sleft in place%s\n", s->head, s->off);
	}
	for (size_t k = 0; k < sum.n; k++)
		fprintf(s->to, "  %s%10" PRIu64 " bytes in %*" PRIu64
			" regions: %s%s\n", s->warn, sum.at[k].bytes, width,
			sum.at[k].n, sum.at[k].reason, s->off);
	vec_free(&sum);
}
