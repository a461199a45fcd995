/*
 * mem: allocation that never returns NULL, growable arrays, and an arena.
 *
 * A tool that runs out of memory half-way through a file has nothing useful
 * left to do, so no caller checks. When the system refuses, the handler given
 * to mem_on_exhausted() is called once (cmd/ prints and exits there); without
 * a handler the process aborts. Callers keep requests bounded by the size of
 * their input: a hostile file cannot ask for more than a small multiple of
 * its own length.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

void mem_on_exhausted(void (*handler)(size_t wanted));

/* n bytes, uninitialised */
void *mem_alloc(size_t n);
/* n items of size bytes, zeroed; the product is checked for overflow */
void *mem_zalloc(size_t n, size_t size);
/* p grown or shrunk to n items of size bytes */
void *mem_resize(void *p, size_t n, size_t size);
void mem_free(void *p);
/*
 * What p[0 .. n-1] hold is not needed any more: the system takes back the whole
 * pages among them, which are zero when they are used again. mem_recall()
 * before that: builds that watch over memory (`make asan`) then allow it.
 */
void mem_forget(void *p, size_t n);
void mem_recall(void *p, size_t n);

#define NEW_ARRAY(type, n) ((type *)mem_zalloc((n), sizeof(type)))

/*
 * Growable array: `VEC(uint32_t) v = {0};`. Elements are v.at[0 .. v.n-1].
 */
#define VEC(type) \
	struct { \
		type *at; \
		size_t n, cap; \
	}

/* room for `more` further elements */
#define vec_reserve(v, more) \
	do { \
		if ((v)->n + (more) > (v)->cap) \
			(v)->at = mem_grow((v)->at, (v)->n + (more), \
					   &(v)->cap, sizeof *(v)->at); \
	} while (0)

#define vec_push(v, x) \
	do { \
		vec_reserve(v, 1); \
		(v)->at[(v)->n++] = (x); \
	} while (0)

/* all of `from`, an array of the same type, behind the end of v */
#define vec_append(v, from) \
	do { \
		vec_reserve(v, (from)->n); \
		if ((from)->n) \
			memcpy((v)->at + (v)->n, (from)->at, \
			       (from)->n * sizeof *(v)->at); \
		(v)->n += (from)->n; \
	} while (0)

/* vec_append() that empties `from`; its memory is kept, if v has nothing */
#define vec_take(v, from) \
	do { \
		if (!(v)->n) { \
			mem_free((v)->at); \
			(v)->at = (from)->at; \
			(v)->n = (from)->n; \
			(v)->cap = (from)->cap; \
		} else { \
			vec_append(v, from); \
			mem_free((from)->at); \
		} \
		(from)->at = NULL; \
		(from)->n = (from)->cap = 0; \
	} while (0)

#define vec_free(v) \
	do { \
		mem_free((v)->at); \
		(v)->at = NULL; \
		(v)->n = (v)->cap = 0; \
	} while (0)

/* p with room for at least `need` items, doubling; *cap is updated */
void *mem_grow(void *p, size_t need, size_t *cap, size_t size);

/* qsort() of what is most often in order already: then it is left alone */
void mem_sort(void *at, size_t n, size_t size,
	      int (*order)(const void *, const void *));
#define vec_sort(v, order) mem_sort((v)->at, (v)->n, sizeof *(v)->at, order)
/* such an order, of numbers */
int order_u32(const void *a, const void *b);
int order_u64(const void *a, const void *b);
/* defines such an order, of structures by a field that is a number */
#define ORDER_BY(name, type, field) \
	static int name(const void *a, const void *b) \
	{ \
		const type *p = a, *q = b; \
\
		return p->field < q->field ? -1 : p->field > q->field; \
	}

/*
 * Arena: many small allocations that live and die together. Memory is zeroed,
 * unless it is asked for raw.
 */
struct arena {
	struct arena_chunk *chunks;
	char *next, *end;
};

void *arena_alloc(struct arena *a, size_t n);
/* n bytes that the caller fills */
void *arena_raw(struct arena *a, size_t n);
/* an array of n items */
#define ARENA_ARRAY(a, type, n) \
	((type *)arena_alloc((a), (size_t)(n) * sizeof(type)))
#define ARENA_RAW(a, type, n) \
	((type *)arena_raw((a), (size_t)(n) * sizeof(type)))
/* a copy of n bytes; NULL if n is 0 */
void *arena_copy(struct arena *a, const void *from, size_t n);
/* a copy of s[0 .. len-1], terminated */
char *arena_string(struct arena *a, const char *s, size_t len);
void arena_free(struct arena *a);

#endif
