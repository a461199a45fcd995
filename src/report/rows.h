/*
 * rows: answers as tables, most first: places of one kind with their values,
 * a column for each metric (profile/dataset.h). What has nothing is not listed,
 * unless one asks for it; what may have run, but how often is not known, comes
 * last.
 *
 * An image has millions of instructions, and people ask for the first twenty:
 * procedures are looked at one after the other, and only rows that may be
 * among those shown in the end are kept.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "report/by_line.h"
#include "profile/dataset.h"

#define ROW_NONE UINT32_MAX

struct row {
	uint32_t image;	 /* in dataset.image */
	uint32_t proc;	 /* in its map; ROW_NONE: in none of it */
	uint32_t item;	 /* edge or block in the map; process, event or epoch
			    of its source; line in rows.lines, or ROW_NONE */
	uint32_t number; /* how many were found before it */
	uint32_t value;	 /* its first one, in rows.value */
	bool sampled;	 /* of a process: the item is one of samples */
	bool ran;	 /* it is unknown, but some counter of its procedure
			    is not 0 */
	uint64_t start;	 /* of the procedure */
	uint64_t addr;	 /* of the procedure, block or instruction */
	uint32_t line;	 /* of the source, */
	const char *file; /* or NULL: not known */
	/* of a procedure that is in no map */
	const char *procedure, *symbol;
	/* of a call site: its kind and what was called, as in sites.h */
	uint8_t kind;
	uint32_t to_image;
	uint64_t to;
	const char *to_unknown;
};

enum rows_sort {
	SORT_DEFAULT, /* most first; processes of a profile: as they began;
			 epochs: as they were */
	SORT_COUNT,   /* most first */
	SORT_CALLS,   /* of procedures: most first */
	SORT_ADDRESS, /* images by name; of lines: file and number */
	SORT_NAME,    /* of procedures: by that, then by image */
};

/* which rows are asked for, and in what order */
struct rows_query {
	const char *image; /* its file's name, or a pattern as of a shell */
	const char *procedure; /* see find.h, or a pattern */
	double share; /* at least that much of all of the first metric */
	enum rows_sort sort;
	bool reverse; /* the other way round; what is unknown stays last */
	bool all;     /* also what did not run */
	bool sure;    /* not what is unknown, but for procedures that ran */
	size_t limit; /* not more than that */
};

struct rows;

/* what is done with each row instead of keeping it; its values are there */
struct row_sink {
	void (*take)(struct row_sink *to, const struct rows *r,
		     const struct row *row);
	uint32_t first; /* the image that comes before all others */
};

struct rows {
	VEC(struct row) v;
	VEC(struct value) values; /* of each row `metrics`; the first ones
					 are of the row that is being made */
	struct metric metric[METRICS];
	unsigned metrics;
	unsigned first_event, events; /* those of samples */
	unsigned first_more;	      /* those of further sources follow */
	struct dataset *data;
	enum by by;
	const struct rows_query *query;
	struct row_sink *sink; /* or NULL */
	uint32_t found;	 /* rows that there are, wanted or not */
	uint32_t wanted; /* of these, but for query.sure and query.limit */
	struct line_counts lines; /* by line: what the rows are about */
};

/*
 * Fills *r, requires: dataset_has(), and what the query asks for is there; it
 * has to stay. On -1 nothing needs freeing.
 */
int rows_make(struct rows *r, struct dataset *v, enum by by,
	      const struct rows_query *w, struct err *e);
void rows_free(struct rows *r);
/*
 * All rows that have something, one after the other, as they are found: image
 * by image, procedure by procedure; none is kept.
 */
int rows_each(struct dataset *v, enum by by, struct row_sink *to,
	      struct err *e);

/* the values of a row, one for each metric */
static inline struct value *row_values(const struct rows *r,
				       const struct row *row)
{
	return &r->values.at[row->value];
}

/* do rows by that have procedures? */
bool rows_have_procedures(enum by by);
/* its image, if that was counted, or NULL */
const struct counts_image *row_counts(const struct rows *r,
				      const struct row *row);
/* its image, if that has samples, or NULL */
struct samples_image *row_sampled(const struct rows *r, const struct row *row);
/* how many samples of an event it has */
uint64_t row_samples(const struct rows *r, const struct row *row,
		     unsigned event);
/* whether it has samples of any */
bool row_has_samples(const struct rows *r, const struct row *row);
/* where it is, for further sources */
struct metric_place row_place(const struct rows *r, const struct row *row);
/* the name of its image */
const char *row_image(const struct rows *r, const struct row *row);
/* the name of its procedure, and what the linker calls that */
const char *row_procedure(const struct rows *r, const struct row *row);
const char *row_symbol(const struct rows *r, const struct row *row);
/* what a call site called, or NULL; requires: to_image is known */
const char *row_callee(const struct rows *r, const struct row *row);

#endif
