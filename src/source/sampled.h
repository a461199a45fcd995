/*
 * sampled: databases of samples, added up: for each image how many samples of
 * each event fell where. Names and lines are found when they are asked for.
 */
#ifndef SOURCE_SAMPLED_H
#define SOURCE_SAMPLED_H

#include "base/intern.h"
#include "isa/isa.h"
#include "source/lines.h"
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

struct sampled_code; /* sampled_code.c */

struct sampled_image {
	struct stored_image is;
	const char *name; /* without folders */
	run samples[SAMPLED_EVENTS];
	uint64_t total[SAMPLED_EVENTS];
	struct sampled_code *code; /* what is known of it, or NULL: not yet
				      asked */
};

struct sampled {
	VEC(struct sampled_image) image;
	VEC(struct sampled_event) event;
	VEC(struct sampled_process) process;
	struct intern text, key, process_key;
};

/* reads databases: directories. On -1 nothing needs closing */
int sampled_open(struct sampled *s, const char *const *path, size_t n,
		 struct err *e);
void sampled_close(struct sampled *s);

/* where a sample is, for people */
struct sampled_place {
	uint64_t address;   /* in the image's file, as its linker had it */
	uint64_t start;	    /* of the procedure */
	uint64_t end;	    /* of it; 0: not known */
	const char *procedure; /* as its author calls it */
	const char *file;   /* of the source, or NULL; if lines are wanted */
	uint32_t line;
};
void sampled_find(struct sampled_image *m, uint64_t offset, bool lines,
		  struct sampled_place *out);
/* where in the source the address is; false: nobody knows */
bool sampled_line(struct sampled_image *m, uint64_t address,
		  struct line_place *out);
/* the machine that its file, which is here, is for; else NULL */
const struct isa *sampled_isa(struct sampled_image *m);
/* why there are no names but addresses, or NULL */
const char *sampled_nameless(const struct sampled_image *m);
/* sampled_code.c; part of sampled_close() */
void sampled_code_free(struct sampled_code *c);

#endif
