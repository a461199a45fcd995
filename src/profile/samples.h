/*
 * samples: databases of samples, added up: for each image how many samples of
 * each event fell where. Names and lines are found when they are asked for.
 */
#ifndef PROFILE_SAMPLES_H
#define PROFILE_SAMPLES_H

#include "base/dict.h"
#include "isa/isa.h"
#include "profile/lines/lines.h"
#include "profile/symbols/object.h"
#include "store/store.h"

enum { SAMPLES_EVENTS = 16 };

struct samples_event {
	const char *name;
	uint64_t samples, lost;
	uint64_t period; /* of the last epoch; 0: it varies */
};

struct samples_process {
	const char *name;
	uint32_t pid;
	uint64_t samples[SAMPLES_EVENTS];
};

struct samples_epoch {
	const char *database; /* the directory, as it was given */
	const char *file, *host;
	int64_t number;
	uint64_t start, end; /* seconds since 1970 */
	const char *command;
	uint64_t samples[SAMPLES_EVENTS]; /* that were read of it */
};

struct samples_code; /* samples_code.c */

struct samples_image {
	struct stored_image is;
	const char *name; /* without folders */
	run samples[SAMPLES_EVENTS];
	size_t settled[SAMPLES_EVENTS]; /* of these, so many are in order */
	uint64_t total[SAMPLES_EVENTS];
	VEC(struct stored_procedure) made; /* by start, if it is of that kind */
	/*
	 * It has so few samples, and so many others have more, that its names
	 * are not looked for: any user can make thousands of images run, and
	 * to read each takes its time. See samples_few().
	 */
	bool few;
	struct samples_code *code; /* what is known of it, or NULL: not yet
				      asked */
};

struct samples {
	VEC(struct samples_image) image;
	VEC(struct samples_event) event;
	VEC(struct samples_process) process;
	VEC(struct samples_epoch) epoch; /* that were read */
	struct intern text, key, process_key;
	struct store store; /* that was read last, still open; or none */
};

/* how much of them is wanted: to read all samples of a year takes a while */
enum samples_depth {
	SAMPLES_PLACES, /* where samples fell */
	SAMPLES_TOTALS, /* how many each image has */
	SAMPLES_SUMS,   /* how many there are of each event, in each epoch */
};

/* what of databases is wanted; all 0: everything, but for processes */
struct samples_query {
	enum samples_depth depth;
	bool processes;      /* these, too */
	int64_t first, last; /* epochs, by number; last 0: there is none */
	bool newest;         /* the last epoch of each host alone */
	uint64_t since;      /* epochs that lasted until then, or longer */
	uint64_t until;      /* and were begun by then; 0: ever */
	const char *host;    /* a pattern, or NULL */
	const char *event;   /* that one alone, or NULL */
	/* only samples of processes of that name, if these were kept apart;
	   or NULL */
	const char *process;
};

struct samples_epochs {
	VEC(struct samples_epoch) v; /* by database, host and number */
	struct intern text;
};

/* the epochs that are wanted of databases, one at least; or -1 */
int samples_epochs_read(struct samples_epochs *l, const char *const *path,
			size_t n, const struct samples_query *pick,
			struct err *e);
void samples_epochs_free(struct samples_epochs *l);

/*
 * All that is wanted of databases, together; at least one sample's event is
 * there. On -1 nothing needs closing.
 */
int samples_open(struct samples *s, const char *const *path, size_t n,
		 const struct samples_query *pick, struct err *e);
void samples_close(struct samples *s);

/*
 * Opened epoch by epoch: reads some, then samples_settle(), and the counts
 * are there. samples_forget() makes them 0 and keeps all that is known of
 * images, for other epochs, and how many samples were lost.
 */
int samples_read(struct samples *s, const struct samples_epoch *x,
		 const struct samples_query *pick, struct err *e);
void samples_settle(struct samples *s);
void samples_forget(struct samples *s);
/* -1 and *e if there are none of what was asked for: no samples, or event */
int samples_check(const struct samples *s, uint64_t samples,
		  const struct samples_query *pick, struct err *e);

/* how many images there are whose names are not looked for */
size_t samples_few(const struct samples *s);

/* something and its samples, for a list with most first */
struct ranked {
	uint32_t number; /* decides among equal ones */
	uint64_t samples;
};
void ranked_sort(struct ranked *v, size_t n);

/* where a sample is, for people */
struct samples_place {
	uint64_t address;      /* in the image's file, as its linker had it */
	uint64_t start;        /* of the procedure */
	uint64_t end;          /* of it; 0: not known */
	const char *procedure; /* as its author calls it */
	const char *symbol;    /* as the linker does, or the same */
	const char *file;      /* of the source, or NULL; if lines are wanted */
	uint32_t line;
};
void samples_find(struct samples_image *m, uint64_t offset, bool lines,
		  struct samples_place *out);
/* whether its file is here and has lines */
bool samples_has_lines(struct samples_image *m);
/* the frames at an address of it: lines_frames() */
unsigned samples_frames(struct samples_image *m, uint64_t address,
			struct line_frame out[LINE_FRAMES]);
/* where its code lies, if its file is here, else NULL */
const struct segments *samples_segments(struct samples_image *m);
/* where in the source the address is; false: not known */
bool samples_line(struct samples_image *m, uint64_t address,
		  struct line_place *out);
/* the machine that its file, which is here, is for; else NULL */
const struct isa *samples_isa(struct samples_image *m);
/* why there are no names but addresses, or NULL */
const char *samples_nameless(const struct samples_image *m);
/* samples_code.c; part of samples_close() */
void samples_code_free(struct samples_code *c);

#endif
