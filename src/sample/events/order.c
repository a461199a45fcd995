/* order: see order.h. */
#include "sample/events/order.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* of a record with PERF_SAMPLE_IP, TID and TIME (event.c) */
enum { SAMPLE_TIME_AT = 24, LEAST = 16 };

static uint64_t time_of(const uint8_t *p, const struct perf_event_header *h)
{
	uint64_t time;

	/* of what is no sample it stands last */
	memcpy(&time, p + (h->type == PERF_RECORD_SAMPLE ?
				   SAMPLE_TIME_AT : h->size - sizeof time),
	       sizeof time);
	return time;
}

void order_tag(struct order *o, uint32_t tag)
{
	struct perf_event_header h;

	while (o->bytes.n - o->parsed >= sizeof h) {
		const uint8_t *p = o->bytes.at + o->parsed;
		struct timed t = {.at = o->parsed, .tag = tag};

		memcpy(&h, p, sizeof h);
		if (h.size < sizeof h || h.size > o->bytes.n - o->parsed)
			break; /* the kernel does not do that */
		o->parsed += h.size;
		if (h.size < (h.type == PERF_RECORD_SAMPLE ?
				      SAMPLE_TIME_AT + 8 : LEAST))
			continue;
		t.time = time_of(p, &h);
		if (t.time > o->youngest)
			o->youngest = t.time;
		vec_push(&o->item, t);
	}
}

static int time_order(const void *a, const void *b)
{
	const struct timed *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->at < q->at ? -1 : p->at > q->at;
}

/* keeps the records from the first on, and forgets those before */
static void keep_from(struct order *o, size_t first)
{
	records kept = {0};

	for (size_t i = first; i < o->item.n; i++) {
		struct timed t = o->item.at[i];
		struct perf_event_header h;

		memcpy(&h, o->bytes.at + t.at, sizeof h);
		vec_reserve(&kept, h.size);
		memcpy(kept.at + kept.n, o->bytes.at + t.at, h.size);
		o->item.at[i - first] = (struct timed){t.time, kept.n, t.tag};
		kept.n += h.size;
	}
	o->item.n -= first;
	vec_free(&o->bytes);
	o->bytes = kept;
	o->parsed = kept.n;
}

void order_round(struct order *o, bool all, order_fn *fn, void *arg)
{
	size_t i;

	order_tag(o, 0);
	mem_sort(o->item.at, o->item.n, sizeof *o->item.at, time_order);
	for (i = 0; i < o->item.n; i++) {
		if (!all && o->item.at[i].time > o->limit)
			break;
		fn(arg, o->item.at[i].tag,
		   (const void *)(o->bytes.at + o->item.at[i].at));
	}
	keep_from(o, i);
	o->limit = o->youngest;
}

void order_free(struct order *o)
{
	vec_free(&o->bytes);
	vec_free(&o->item);
}

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
