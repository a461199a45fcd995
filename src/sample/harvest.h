/*
 * harvest: samples that are not in the database yet, by image and by process,
 * of up to EVENTS events.
 */
#ifndef SAMPLE_HARVEST_H
#define SAMPLE_HARVEST_H

#include "base/dict.h"
#include "base/intern.h"
#include "sample/event.h"
#include "sample/maker.h"
#include "store/store.h"

enum { HARVEST_NOBODY = 0 }; /* the process of samples that have none */
enum { HARVEST_UNKNOWN = 0 }; /* the image of what is in none that is known */
enum { HARVEST_NAME = 64 };   /* of a process */

/* samples of an image */
struct harvest_runs {
	run fresh[EVENTS];
	size_t settled[EVENTS]; /* of these, so many are in order */
};

struct harvest_image {
	struct stored_image is; /* its path is kept by the harvest */
	struct harvest_runs of;
};

/* a process that makes code, and the images of that code (maker.h) */
struct harvest_maker {
	struct maker *is;
	uint32_t by_address, by_place;
};

/* samples of an image in processes of one name alone */
struct harvest_apart {
	const char *process;
	uint32_t image;
	struct harvest_runs of;
};

struct harvest_process {
	uint32_t pid;
	char name[HARVEST_NAME];
	uint64_t fresh[EVENTS]; /* samples */
	bool apart; /* they are kept apart as well */
};

struct harvest {
	struct intern key; /* of images: build-id, kind and path */
	struct intern text; /* paths, names */
	VEC(struct harvest_image) image; /* by number of the key */
	VEC(struct harvest_process) process;
	const char *const *names; /* of processes to be kept apart, or NULL */
	VEC(struct harvest_apart) apart;
	struct dict apart_at; /* by name, as it is kept, and image */
	VEC(struct harvest_maker) maker;
	struct dict maker_at; /* by the image by address */
	struct parser parser; /* reads what they tell */
	struct err trouble;   /* the last with what one of them tells */
	uint64_t fresh[EVENTS]; /* samples of all */
	size_t places;	      /* that samples are of */
	size_t waiting;	      /* samples that makers keep */
	size_t bytes;	      /* of paths */
	bool unhurried; /* no samples are taken any more: there is time */
};

/*
 * The number of an image; all that makes it one is in `is`. HARVEST_UNKNOWN, if
 * there are so many that no more can be kept.
 */
uint32_t harvest_image(struct harvest *h, const struct stored_image *is);
/* the maker of an image by address; NULL: it has none, or that is gone */
struct maker *harvest_maker(const struct harvest *h, uint32_t image);
/*
 * The maker that is the process of that name and number, new if need be; *image
 * is its image by address. NULL: there are too many.
 */
struct maker *harvest_new_maker(struct harvest *h, uint32_t pid,
				const char *name, uint32_t *image);
/* the number of a new process; HARVEST_NOBODY, if there are too many */
uint32_t harvest_process(struct harvest *h, uint32_t pid, const char *name);
void harvest_samples(struct harvest *h, uint32_t image, uint32_t process,
		     uint32_t event, struct hit new);
/* adds samples of code that its maker tells of; image: the one by address */
void harvest_made(struct harvest *h, uint32_t image, const struct made_hit *x);
/*
 * Puts all into the database and forgets it, all in one: a crash leaves all of
 * it or nothing. event: how each was sampled.
 */
int harvest_store(struct harvest *h, struct store *s, int64_t epoch,
		  const struct stored_event *event, size_t events,
		  struct err *e);
/* the places that samples are of */
size_t harvest_places(const struct harvest *h);
/*
 * Is there so much that it should be stored, or given up? What is kept is
 * bounded by this, however many programs there are and whatever they do.
 */
bool harvest_is_full(const struct harvest *h);
void harvest_forget(struct harvest *h);
/*
 * Keeps only images that keep() gets to see, with a function that gives one a
 * new number, and no processes; memory is given back. Requires: nothing is
 * fresh.
 */
struct harvest_kept;
uint32_t harvest_keep(struct harvest_kept *k, uint32_t image);
void harvest_tidy(struct harvest *h,
		  void (*keep)(void *arg, struct harvest_kept *k), void *arg);
void harvest_free(struct harvest *h);

#endif
