/*
 * sampled: databases of samples, added up: for each image how many samples of
 * each event fell where. Names and lines are found when they are asked for.
 */
#ifndef SOURCE_SAMPLED_H
#define SOURCE_SAMPLED_H

#include "base/intern.h"
#include "isa/isa.h"
#include "source/lines.h"
#include "source/segments.h"
#include "store/store.h"

enum { SAMPLED_EVENTS = 16 };

struct sampled_event {
	const char *name;
	uint64_t samples, lost;
	uint64_t period; /* of the last epoch; 0: it varies */
};

struct sampled_process {
	const char *name;
	uint32_t pid;
	uint64_t samples[SAMPLED_EVENTS];
};

struct sampled_epoch {
	const char *database; /* the directory, as it was given */
	const char *file, *host;
	int64_t number;
	uint64_t start, end; /* seconds since 1970 */
	const char *command;
	uint64_t samples[SAMPLED_EVENTS]; /* that were read of it */
};

struct sampled_code; /* sampled_code.c */

struct sampled_image {
	struct stored_image is;
	const char *name; /* without folders */
	run samples[SAMPLED_EVENTS];
	size_t settled[SAMPLED_EVENTS]; /* of these, so many are in order */
	uint64_t total[SAMPLED_EVENTS];
	VEC(struct stored_procedure) made; /* by start, if it is of that kind */
	/*
	 * It has so few samples, and so many others have more, that its names
	 * are not looked for: any user can make thousands of images run, and
	 * to read each takes its time. See sampled_few().
	 */
	bool few;
	struct sampled_code *code; /* what is known of it, or NULL: not yet
				      asked */
};

struct sampled {
	VEC(struct sampled_image) image;
	VEC(struct sampled_event) event;
	VEC(struct sampled_process) process;
	VEC(struct sampled_epoch) epoch; /* that were read */
	struct intern text, key, process_key;
	struct store store; /* that was read last, still open; or none */
};

/* how much of them is wanted: to read all samples of a year takes a while */
enum sampled_depth {
	SAMPLED_PLACES, /* where samples fell */
	SAMPLED_TOTALS, /* how many each image has */
	SAMPLED_SUMS,	/* how many there are of each event, in each epoch */
};

/* what of databases is wanted; all 0: everything, but for processes */
struct sampled_pick {
	enum sampled_depth depth;
	bool processes; /* these, too */
	int64_t first, last; /* epochs, by number; last 0: there is none */
	bool newest;	     /* the last epoch of each host alone */
	uint64_t since;	     /* epochs that lasted until then, or longer */
	uint64_t until;	     /* and were begun by then; 0: ever */
	const char *host;    /* a pattern, or NULL */
	const char *event;   /* that one alone, or NULL */
	/* only samples of processes of that name, if these were kept apart;
	   or NULL */
	const char *process;
};

struct sampled_epochs {
	VEC(struct sampled_epoch) v; /* by database, host and number */
	struct intern text;
};

/* the epochs that are wanted of databases, one at least; or -1 */
int sampled_epochs_read(struct sampled_epochs *l, const char *const *path,
			size_t n, const struct sampled_pick *pick,
			struct err *e);
void sampled_epochs_free(struct sampled_epochs *l);

/*
 * All that is wanted of databases, together; at least one sample's event is
 * there. On -1 nothing needs closing.
 */
int sampled_open(struct sampled *s, const char *const *path, size_t n,
		 const struct sampled_pick *pick, struct err *e);
void sampled_close(struct sampled *s);

/*
 * The same epoch by epoch: reads some, then sampled_settle(), and the counts
 * are there. sampled_forget() makes them 0 and keeps all that is known of
 * images, for other epochs, and how many samples were lost.
 */
int sampled_read(struct sampled *s, const struct sampled_epoch *x,
		 const struct sampled_pick *pick, struct err *e);
void sampled_settle(struct sampled *s);
void sampled_forget(struct sampled *s);
/* -1 and *e if there are none of what was asked for: no samples, or event */
int sampled_check(const struct sampled *s, uint64_t samples,
		  const struct sampled_pick *pick, struct err *e);

/* how many images there are whose names are not looked for */
size_t sampled_few(const struct sampled *s);

/* where a sample is, for people */
struct sampled_place {
	uint64_t address;   /* in the image's file, as its linker had it */
	uint64_t start;	    /* of the procedure */
	uint64_t end;	    /* of it; 0: not known */
	const char *procedure; /* as its author calls it */
	const char *symbol; /* as the linker does, or the same */
	const char *file;   /* of the source, or NULL; if lines are wanted */
	uint32_t line;
};
void sampled_find(struct sampled_image *m, uint64_t offset, bool lines,
		  struct sampled_place *out);
/* whether its file is here and has lines */
bool sampled_has_lines(struct sampled_image *m);
/* the frames at an address of it: lines_frames() */
unsigned sampled_frames(struct sampled_image *m, uint64_t address,
			struct line_frame out[LINE_FRAMES]);
/* where its code lies, if its file is here, else NULL */
const struct segments *sampled_segments(struct sampled_image *m);
/* where in the source the address is; false: not known */
bool sampled_line(struct sampled_image *m, uint64_t address,
		  struct line_place *out);
/* the machine that its file, which is here, is for; else NULL */
const struct isa *sampled_isa(struct sampled_image *m);
/* why there are no names but addresses, or NULL */
const char *sampled_nameless(const struct sampled_image *m);
/* sampled_code.c; part of sampled_close() */
void sampled_code_free(struct sampled_code *c);

#endif
