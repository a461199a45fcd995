/*
 * sample_buffer: samples that are not in the database yet, by image and by
 * process, of up to EVENTS events.
 */
#ifndef SAMPLE_DAEMON_SAMPLE_BUFFER_H
#define SAMPLE_DAEMON_SAMPLE_BUFFER_H

#include "base/dict.h"
#include "sample/events/event.h"
#include "sample/jit/jit_process.h"
#include "store/store.h"

enum { HARVEST_NOBODY = 0 };  /* the process of samples that have none */
enum { HARVEST_UNKNOWN = 0 }; /* the image of what is in none that is known */
enum { HARVEST_NAME = 64 };   /* of a process */

/* samples of an image */
struct sample_buffer_runs {
	run fresh[EVENTS];
	size_t settled[EVENTS]; /* of these, so many are in order */
};

struct sample_buffer_image {
	struct stored_image is; /* its path is kept by the sample_buffer */
	struct sample_buffer_runs of;
};

/* a process that makes code, and the images of that code (jit_process.h) */
struct sample_buffer_maker {
	struct jit_process *is;
	uint32_t by_address, by_place;
};

/* samples of an image in processes of one name alone */
struct sample_buffer_apart {
	const char *process;
	uint32_t image;
	struct sample_buffer_runs of;
};

struct sample_buffer_process {
	uint32_t pid;
	char name[HARVEST_NAME];
	uint64_t fresh[EVENTS]; /* samples */
	bool apart;             /* they are kept apart as well */
};

struct sample_buffer {
	struct intern key;  /* of images: build-id, kind and path */
	struct intern text; /* paths, names */
	VEC(struct sample_buffer_image) image; /* by number of the key */
	VEC(struct sample_buffer_process) process;
	const char *const *names; /* of processes to be kept apart, or NULL */
	VEC(struct sample_buffer_apart) apart;
	struct dict apart_at; /* by name, as it is kept, and image */
	VEC(struct sample_buffer_maker) jit_process;
	struct dict jit_process_at; /* by the image by address */
	struct parser parser;       /* reads what they write */
	struct err trouble;         /* the last with what one of them writes */
	uint64_t fresh[EVENTS];     /* samples of all */
	size_t places;              /* that samples are of */
	size_t waiting;             /* samples that jit_processes keep */
	size_t bytes;               /* of paths */
	bool unhurried; /* no samples are taken any more: there is time */
};

/*
 * The number of an image; all that makes it one is in `is`. HARVEST_UNKNOWN, if
 * there are so many that no more can be kept.
 */
uint32_t sample_buffer_image(struct sample_buffer *h,
			     const struct stored_image *is);
/* the jit_process of an image by address; NULL: it has none, or that is gone */
struct jit_process *sample_buffer_maker(const struct sample_buffer *h,
					uint32_t image);
/*
 * The jit_process that is the process of that name and number, new if need be;
 * *image is its image by address. NULL: there are too many.
 */
struct jit_process *sample_buffer_new_maker(struct sample_buffer *h,
					    uint32_t pid, const char *name,
					    uint32_t *image);
/* the number of a new process; HARVEST_NOBODY, if there are too many */
uint32_t sample_buffer_process(struct sample_buffer *h, uint32_t pid,
			       const char *name);
void sample_buffer_samples(struct sample_buffer *h, uint32_t image,
			   uint32_t process, uint32_t event, struct hit new);
/* adds samples of code that its jit_process names; image: the one by address
 */
void sample_buffer_made(struct sample_buffer *h, uint32_t image,
			const struct made_hit *x);
/*
 * Puts all into the database and forgets it, all in one: a crash leaves all of
 * it or nothing. event: how each was sampled.
 */
int sample_buffer_store(struct sample_buffer *h, struct store *s, int64_t epoch,
			const struct stored_event *event, size_t events,
			struct err *e);
/* the places that samples are of */
size_t sample_buffer_places(const struct sample_buffer *h);
/*
 * Is there so much that it should be stored, or given up? What is kept is
 * bounded by this, however many programs there are and whatever they do.
 */
bool sample_buffer_is_full(const struct sample_buffer *h);
void sample_buffer_forget(struct sample_buffer *h);
/*
 * Keeps only images that keep() gets to see, with a function that gives one a
 * new number, and no processes; memory is given back. Requires: nothing is
 * fresh.
 */
struct sample_buffer_kept;
uint32_t sample_buffer_keep(struct sample_buffer_kept *k, uint32_t image);
void sample_buffer_tidy(struct sample_buffer *h,
			void (*keep)(void *arg, struct sample_buffer_kept *k),
			void *arg);
void sample_buffer_free(struct sample_buffer *h);

#endif
