/* ring: see ring.h. */
#include "sample/ring.h"

#include <sys/mman.h>
#include <unistd.h>

/* per CPU; every user may lock that much (perf_event_mlock_kb) */
enum { RING_BYTES = 256 << 10 };

int ring_open(struct ring *r, int fd)
{
	void *p;

	*r = (struct ring){.fd = fd, .page = (size_t)sysconf(_SC_PAGESIZE)};
	r->size = RING_BYTES > r->page ? RING_BYTES : r->page;
	p = mmap(NULL, r->page + r->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 fd, 0);
	if (p == MAP_FAILED)
		return -1;
	r->head = p;
	r->data = (uint8_t *)p + r->page;
	return 0;
}

void ring_close(struct ring *r)
{
	if (r->head)
		munmap(r->head, r->page + r->size);
	close(r->fd);
}

void ring_take(struct ring *r, records *out)
{
	uint64_t from = r->head->data_tail;
	uint64_t to = __atomic_load_n(&r->head->data_head, __ATOMIC_ACQUIRE);
	size_t n = (size_t)(to - from), at = (size_t)(from & (r->size - 1));
	size_t first = n < r->size - at ? n : r->size - at;

	if (!n)
		return;
	vec_reserve(out, n);
	memcpy(out->at + out->n, r->data + at, first);
	memcpy(out->at + out->n + first, r->data, n - first);
	out->n += n;
	__atomic_store_n(&r->head->data_tail, to, __ATOMIC_RELEASE);
}
