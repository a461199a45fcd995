/*
 * cache_record: what the cache knows of one rewritten file. Written by tally,
 *read by tally and by the audit module inside the program; both machines are
 * 64-bit and little-endian, so it is a plain struct.
 *
 *	CACHE/
 *	  NAME/                     one entry, see record_* below
 *	    record                  struct record, path and reason behind it
 *	    usr/lib/libz.so.1.2.13  the rewritten file, at the original's path
 *	    opt/app/libz.so -> ...  other names by which it was opened
 *	  i-HEX -> NAME             from an original's identity to its entry
 *	  x-HEX -> PATH             to a program that was started, by its path
 *
 * NAME is the original's build id and a hash of its path, the options and
 * tally's version. HEX is a hash of its identity (struct file_id) and the same
 * options: one stat() and one open() find the entry, and a file that was
 * changed, whatever its build id says, is not found.
 *
 * The path below NAME is what the program would see of the original, so that
 * taking away CACHE and one more component turns any name that leaked out of
 * the cache ($ORIGIN) back into the original's.
 */
#ifndef ABI_CACHE_RECORD_H
#define ABI_CACHE_RECORD_H

#include <stdint.h>

#include "abi/hash.h"

/* which file it is, and whether it was written to; times in nanoseconds */
struct file_id {
	uint64_t dev, ino, size, mtime, ctime;
};

enum verdict {
	VERDICT_REWRITTEN = 1,
	VERDICT_LEFT = 2, /* cannot be rewritten: use the original */
};

#define RECORD_MAGIC 0x31647265636c6174u /* "talcerd1" */

enum { RECORD_NAME_MAX = 4096, RECORD_MAX = 8192 };

struct record {
	uint64_t magic;
	uint64_t sum;                /* hash of all that follows */
	uint64_t key;                /* hash of version and options */
	struct file_id from;         /* the original */
	struct file_id made;         /* the rewritten file; dev is 0 */
	uint64_t from_sum, made_sum; /* hashes of what is in them */
	uint32_t verdict;
	uint16_t path_len, reason_len; /* without the zero behind each */
				       /* path '\0' reason '\0' */
};

enum { RECORD_ID_LEN = 2 + 16 };

/* "i-HEX": the name of the link to the entry for a file of that identity */
static inline void record_id(char out[RECORD_ID_LEN + 1],
			     const struct file_id *f, uint64_t key)
{
	uint64_t h = hash_bytes(f, sizeof *f, key);

	out[0] = 'i';
	out[1] = '-';
	for (unsigned i = 0; i < 16; i++)
		out[2 + i] = "0123456789abcdef"[h >> (60 - 4 * i) & 15];
	out[RECORD_ID_LEN] = 0;
}

/* n bytes read from a file are a whole record, as it was written */
static inline _Bool record_valid(const struct record *r, uint64_t n)
{
	const char *text = (const char *)(r + 1);

	return n >= sizeof *r && n <= RECORD_MAX && r->magic == RECORD_MAGIC &&
	       n == sizeof *r + r->path_len + r->reason_len + 2u &&
	       r->sum == hash_bytes(&r->key, n - 16, r->magic) &&
	       text[0] == '/' && !text[r->path_len] &&
	       !text[r->path_len + 1u + r->reason_len];
}

/* the path of the original, links resolved */
static inline const char *record_path(const struct record *r)
{
	return (const char *)(r + 1);
}

static inline _Bool record_same_file(const struct file_id *a,
				     const struct file_id *b)
{
	return a->ino == b->ino && a->size == b->size && a->mtime == b->mtime &&
	       a->ctime == b->ctime;
}

#endif
