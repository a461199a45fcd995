/*
 * profile_int: what the files of the profile share, and its finished form:
 *
 *	struct profile_header, form PROFILE_FINISHED
 *	options '\0' command '\0'
 *	parts: struct finished_part and as many bytes as it says
 *
 *	INDEX   one: processes and images (compressed)
 *	MAP     of each image, in order (map.h's bytes)
 *	COUNTS  of a process and an image, if any counter is not 0
 *	        (compressed): distance from the last counter that is not 0,
 *	        value; both LEB128
 *	ENDS    one, if any thread ended in the middle of a block (compressed):
 *	        of each process, image, address, 1 if the instruction there
 *	        ran, else 0, and how many; all LEB128
 *	PAIRS   of a process, if it has any (compressed): image, less the last
 *	        one's; site, less the last one's if that is of the same image;
 *	        image of the target + 1, or 0; address, less the last one's,
 *	        signed; count; LEB128
 *	LEFT    one, if there are any (compressed): images that ran uncounted:
 *	        of each process (LEB128), why (LEB128), path '\0', reason '\0'
 *	THREADS one, if there are any (compressed): see profile_threads.c
 *	CALLS   one, if they are known (compressed): see profile_calls.c
 *	PHASES  one, if there are any (compressed): see profile_phases.c
 *	END     8 bytes: hash of all parts before, then of the header and
 *	        its text: a chain over structs and what follows each
 */
#ifndef COUNT_PROFILE_PROFILE_INT_H
#define COUNT_PROFILE_PROFILE_INT_H

#include "base/buffer.h"
#include "count/profile/profile.h"

enum finished_kind {
	FINISHED_INDEX = 1,
	FINISHED_MAP,
	FINISHED_COUNTS,
	FINISHED_END,
	FINISHED_ENDS,
	FINISHED_PAIRS = 6,
	FINISHED_LEFT = 7,
	FINISHED_THREADS = 8,
	FINISHED_CALLS = 9,
	FINISHED_PHASES = 10, /* behind threads */
};

struct finished_part {
	uint32_t kind;	  /* enum finished_kind */
	uint32_t process; /* FINISHED_COUNTS, FINISHED_PAIRS: number */
	uint32_t image;	  /* FINISHED_COUNTS, FINISHED_MAP: from 0 */
	uint32_t reserved;
	uint64_t size; /* of what follows */
};

/* start of the chain of hashes */
#define FINISHED_SEED UINT64_C(0x746c7970726f6631)

/* a string of exactly len bytes of the file and a zero, in the arena */
const char *profile_string(struct profile *p, uint64_t at, uint64_t len,
			   struct err *e);
/* the image of that identity, a new one if there is none; -1 and *e */
int profile_image_of(struct profile *p, const uint8_t *id, uint64_t ncounter,
		     uint64_t at, uint32_t *image, struct err *e);
/* the image whose identity begins so, as processes know it in a live profile;
   PROFILE_ELSEWHERE: there is none, or half is 0 */
uint32_t profile_image_by_half(const struct profile *p, uint64_t half);
/*
 * Sorts processes by number. Those without a name are taken out if there is one
 * of that number; -1 if there are two others.
 */
int profile_sort(struct profile *p, struct err *e);
/* whether there is such a process; requires: profile_sort() */
bool profile_has_process(const struct profile *p, uint32_t number);

/* sorts pieces by image, then process */
void profile_sort_pieces(struct profile *p);

/* takes the packed map of an image, which has none, to keep */
int profile_take_map(struct profile *p, uint32_t image, uint8_t *bytes,
		     size_t size, const char *where, struct err *e);
/*
 * Unpacks the map of an image, or (profile_unpack_all) of all, that were not
 * yet. -1 and *e if it is broken; in a live profile it is missing then.
 */
int profile_unpack(struct profile *p, uint32_t image, struct err *e);
int profile_unpack_all(struct profile *p, struct err *e);
/* profile_pairs.c: sorts them, and keeps one of each process and path */
void profile_sort_left(struct profile *p);
/* they as bytes, and back; `at` is for messages */
void profile_pack_left(const struct profile *p, buffer *out);
int profile_unpack_left(struct profile *p, uint64_t at, const buffer *all,
			struct err *e);

/* profile_live.c, profile_finished.c: what follows the header */
int profile_scan_live(struct profile *p, struct err *e);
int profile_scan_finished(struct profile *p, struct err *e);
int profile_add_live(const struct profile *p, const struct profile_piece *x,
		     uint64_t *value, struct err *e);
int profile_add_finished(const struct profile *p,
			 const struct profile_piece *x, uint64_t ncounter,
			 uint64_t *value, struct err *e);
/* profile_pairs_live.c: what processes said of their ends becomes p->end */
void profile_understand(struct profile *p);
/* profile_threads.c: chunks of a live profile, and when all were read */
int profile_live_running(struct profile *p, const struct profile_chunk *k,
			 struct err *e);
int profile_live_threads(struct profile *p, const struct profile_chunk *k,
			 struct err *e);
void profile_live_threads_end(struct profile *p);
/* the running counters of a block, or NULL */
struct live_running *profile_running_of(const struct profile *p,
					uint32_t process, uint32_t block);
/* threads as bytes, less what they had earlier (or NULL), and back */
void profile_pack_threads(const struct profile *p, const struct profile *minus,
			  buffer *out);
/* has no thread counted more in an earlier state? */
bool profile_threads_follow(const struct profile *p,
			    const struct profile *minus);
int profile_unpack_threads(struct profile *p, uint64_t at, const buffer *all,
			   struct err *e);
/* profile_calls.c: requires: images, running counters */
int profile_live_calls(struct profile *p, struct err *e);
/* sorts them and adds up those that are the same */
void profile_sort_calls(struct profile *p);
/* calls as bytes, less those of an earlier state (or NULL), and back */
void profile_pack_calls(const struct profile *p, const struct profile *minus,
			buffer *out);
int profile_unpack_calls(struct profile *p, uint64_t at, const buffer *all,
			 struct err *e);
/* profile_phases.c: in the same way; requires: threads before */
int profile_live_phases(struct profile *p, const struct profile_chunk *k,
			struct err *e);
/* what was left out is taken out of running counters; before
   profile_live_threads_end() */
int profile_live_phases_end(struct profile *p, struct err *e);
void profile_pack_phases(const struct profile *p, const struct profile *minus,
			 buffer *out);
bool profile_phases_follow(const struct profile *p,
			   const struct profile *minus);
int profile_unpack_phases(struct profile *p, uint64_t at, const buffer *all,
			  struct err *e);
/* profile_pairs.c: sorts them and adds up those that are the same */
int profile_sort_pairs(struct profile *p, struct err *e);
/* less than, equal, more than 0, but for the count */
int profile_compare_pairs(const void *a, const void *b);
/* the pairs of a process as bytes, and back; `at` is for messages */
void profile_pack_pairs(const struct profile_pair *pair, size_t n,
			buffer *out);
int profile_unpack_pairs(struct profile *p, uint32_t process, uint64_t at,
			 const buffer *all, struct err *e);
/*
 * Those of all processes, one behind the other, less what `minus` has, an
 * earlier state (or NULL). -1 and *e if it is none.
 */
struct pair_list {
	VEC(struct profile_pair) v;
};
int profile_list_pairs(const struct profile *p, const struct profile *minus,
		       struct pair_list *out, struct err *e);
/* profile_pairs_live.c: reads all chunks of them; requires: images, maps */
int profile_live_pairs(struct profile *p, struct err *e);

/* *sum += n; -1 if that is no number of 64 bits */
int profile_sum(const struct profile *p, uint64_t at, uint64_t *sum,
		uint64_t n, struct err *e);

#endif
