/*
 * hook_notify: threads that a C library without gates makes itself, to call a
 * routine of the program (SIGEV_THREAD): when a timer expires, a message comes,
 * or input and output in the background are done. The library gets a routine
 * that takes a block and becomes the program's. What it is to call for a
 * single aiocb stands in memory of the program's, which is not ours to change:
 * such a thread shares counters.
 */
#include "runtime/hooks_int.h"

enum { NOTIFY_THREAD = 2 }; /* SIGEV_THREAD */

/* struct sigevent of glibc and musl */
struct hook_event {
	uintptr_t value;
	int32_t signal, notify;
	uintptr_t routine, attr;
	uint64_t more[4];
};

/* struct aiocb, as far as we read it */
struct hook_aio {
	int32_t file, code, priority;
	uintptr_t buffer;
	uint64_t size;
	struct hook_event event;
};

/*
 * What is to be told to the library in the place of *event: perhaps *to, which
 * it copies.
 */
static const struct hook_event *notify(struct counting *c,
				       const struct hook_event *event,
				       struct hook_event *to)
{
	uintptr_t made;

	if (!event || event->notify != NOTIFY_THREAD)
		return event;
	made = c->confined ? 0 :
			     hook_thread_made(c, event->routine, event->value);
	if (!made) {
		ledger_trouble(c, TROUBLE_THREADS);
		return event;
	}
	*to = *event;
	to->routine = (uintptr_t)thread_starts;
	to->value = made;
	return to;
}

int hook_timer_create(int clock, const struct hook_event *event, void *timer)
{
	struct counting *c = counting_here();
	int (*real)(int, const struct hook_event *, void *) =
		hook_real(c, HOOK_TIMER_CREATE);
	struct hook_event own;

	return real(clock, notify(c, event, &own), timer);
}

int hook_mq_notify(int queue, const struct hook_event *event)
{
	struct counting *c = counting_here();
	int (*real)(int, const struct hook_event *) =
		hook_real(c, HOOK_MQ_NOTIFY);
	struct hook_event own;

	return real(queue, notify(c, event, &own));
}

int hook_getaddrinfo_a(int mode, void *list, int n,
		       const struct hook_event *event)
{
	struct counting *c = counting_here();
	int (*real)(int, void *, int, const struct hook_event *) =
		hook_real(c, HOOK_GETADDRINFO_A);
	struct hook_event own;

	return real(mode, list, n, notify(c, event, &own));
}

/* says so if a thread will call the program back */
static void look_at(struct counting *c, const struct hook_aio *aio)
{
	if (aio && aio->event.notify == NOTIFY_THREAD)
		ledger_trouble(c, TROUBLE_THREADS);
}

int hook_aio_read(struct hook_aio *aio)
{
	struct counting *c = counting_here();
	int (*real)(struct hook_aio *) = hook_real(c, HOOK_AIO_READ);

	look_at(c, aio);
	return real(aio);
}

int hook_aio_write(struct hook_aio *aio)
{
	struct counting *c = counting_here();
	int (*real)(struct hook_aio *) = hook_real(c, HOOK_AIO_WRITE);

	look_at(c, aio);
	return real(aio);
}

int hook_aio_fsync(int how, struct hook_aio *aio)
{
	struct counting *c = counting_here();
	int (*real)(int, struct hook_aio *) = hook_real(c, HOOK_AIO_FSYNC);

	look_at(c, aio);
	return real(how, aio);
}

int hook_lio_listio(int mode, struct hook_aio **list, int n,
		    const struct hook_event *event)
{
	struct counting *c = counting_here();
	int (*real)(int, struct hook_aio **, int, const struct hook_event *) =
		hook_real(c, HOOK_LIO_LISTIO);
	struct hook_event own;

	for (int i = 0; i < n; i++)
		look_at(c, list[i]);
	return real(mode, list, n, notify(c, event, &own));
}
