/* mem: see mem.h. The arena takes chunks that double up to a megabyte. */
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#ifdef NO_LEAK_CHECK /* see `make asan` */
const char *__asan_default_options(void);

__attribute__((weak)) const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

enum { GROW_FAST = 1 << 20 }; /* bytes */
enum { LARGE = 4 << 20 };     /* as well; two large pages or so */
enum { ARENA_FIRST_CHUNK = 4096, ARENA_LAST_CHUNK = 1 << 20, ARENA_ALIGN = 16 };

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
};

static void (*exhausted_handler)(size_t wanted);

void mem_on_exhausted(void (*handler)(size_t wanted))
{
	exhausted_handler = handler;
}

/* called when the system refuses; does not return */
static void mem_exhausted(size_t wanted)
{
	if (exhausted_handler)
		exhausted_handler(wanted);
	abort();
}

/*
 * Much of the time that a large array costs is for its pages, which the system
 * gives one by one: it is asked for large ones, and may refuse. Not of memory
 * that is to be zero: of that, pages that are never touched should cost
 * nothing.
 */
static void *mem_in_large_pages(void *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)p & ~(page - 1);

	if (n >= LARGE)
		madvise((void *)from, (uintptr_t)p + n - from, MADV_HUGEPAGE);
	return p;
}

void *mem_alloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		mem_exhausted(n);
	return mem_in_large_pages(p, n);
}

void *mem_zalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		mem_exhausted(n);
	return p;
}

void *mem_resize(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		mem_exhausted(SIZE_MAX);
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		mem_exhausted(bytes);
	return mem_in_large_pages(p, bytes);
}

void mem_free(void *p)
{
	free(p);
}

void mem_forget(void *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + n) & ~(page - 1);

	/* refused, it costs memory and nothing else */
	if (from < end)
		madvise((void *)from, end - from, MADV_DONTNEED);
	ASAN_POISON_MEMORY_REGION(p, n);
}

void mem_recall(void *p, size_t n)
{
	ASAN_UNPOISON_MEMORY_REGION(p, n);
}

void *mem_grow(void *p, size_t need, size_t *cap, size_t size)
{
	size_t n = *cap ? *cap : 16;

	/* doubling copies least; large arrays are moved by the system, and
	   half of one is memory that counts */
	while (n < need)
		n += n * size < GROW_FAST ? n : n / 2;
	*cap = n;
	return mem_resize(p, n, size);
}

void mem_sort(void *at, size_t n, size_t size,
	      int (*order)(const void *, const void *))
{
	const char *x = at;

	for (size_t i = 1; i < n; i++)
		if (order(x + (i - 1) * size, x + i * size) > 0) {
			qsort(at, n, size, order);
			return;
		}
}

int order_u32(const void *a, const void *b)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

	return p < q ? -1 : p > q;
}

int order_u64(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p < q ? -1 : p > q;
}

/* a fresh chunk with room for n bytes, zeroed or not, becomes current */
static void arena_grow(struct arena *a, size_t n, bool zeroed)
{
	size_t size = a->chunks ? a->chunks->size * 2 : ARENA_FIRST_CHUNK;
	struct arena_chunk *c;

	if (size > ARENA_LAST_CHUNK)
		size = ARENA_LAST_CHUNK;
	if (n > SIZE_MAX - ARENA_ALIGN - sizeof *c)
		mem_exhausted(n);
	if (size < n + ARENA_ALIGN)
		size = n + ARENA_ALIGN;
	c = zeroed ? mem_zalloc(1, sizeof *c + size) :
		     mem_alloc(sizeof *c + size);
	c->older = a->chunks;
	c->size = size;
	a->chunks = c;
	a->next = (char *)(c + 1);
	a->end = a->next + size;
}

void *arena_raw(struct arena *a, size_t n)
{
	char *p;
	uintptr_t pad = -(uintptr_t)a->next & (ARENA_ALIGN - 1);

	if (!a->next || (size_t)(a->end - a->next) < pad ||
	    (size_t)(a->end - a->next) - pad < n) {
		arena_grow(a, n, false);
		pad = -(uintptr_t)a->next & (ARENA_ALIGN - 1);
	}
	p = a->next + pad;
	a->next = p + n;
	return p;
}

/*
 * Large blocks are zero when the system gives them, and pages of them that are
 * never touched cost nothing: most of an image does not run.
 */
void *arena_alloc(struct arena *a, size_t n)
{
	if (n < ARENA_LAST_CHUNK)
		return memset(arena_raw(a, n), 0, n);
	arena_grow(a, n, true);
	return arena_raw(a, n);
}

void *arena_copy(struct arena *a, const void *from, size_t n)
{
	return n ? memcpy(arena_raw(a, n), from, n) : NULL;
}

char *arena_string(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	memcpy(p, s, len);
	return p;
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c = a->chunks;

	while (c) {
		struct arena_chunk *older = c->older;

		free(c);
		c = older;
	}
	*a = (struct arena){0};
}
