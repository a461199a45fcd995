/* order: see order.h. */
#include "sample/order.h"

#include <stdlib.h>

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
