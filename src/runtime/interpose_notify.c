/*
 * interpose_notify: threads that a C library without hooks makes itself, to
 * call a routine of the program (SIGEV_THREAD): when a timer expires, a message
 * comes, or input and output in the background are done. The library gets a
 * routine that takes a block and becomes the program's. What it is to call for
 * a single aiocb stands in memory of the program's, which is not ours to
 * change: such a thread shares counters.
 */
#include "runtime/interpose.h"

enum { NOTIFY_THREAD = 2 }; /* SIGEV_THREAD */

/* struct sigevent of glibc and musl */
struct interpose_event {
	uintptr_t value;
	int32_t signal, notify;
	uintptr_t routine, attr;
	uint64_t more[4];
};

/* struct aiocb, as far as we read it */
struct interpose_aio {
	int32_t file, code, priority;
	uintptr_t buffer;
	uint64_t size;
	struct interpose_event event;
};

/*
 * What the library gets in the place of *event: perhaps *to, which it copies.
 */
static const struct interpose_event *notify(struct counting *c,
					    const struct interpose_event *event,
					    struct interpose_event *to)
{
	uintptr_t made;

	if (!event || event->notify != NOTIFY_THREAD)
		return event;
	made = c->confined
		       ? 0
		       : interpose_thread_made(c, event->routine, event->value);
	if (!made) {
		live_profile_trouble(c, TROUBLE_THREADS);
		return event;
	}
	*to = *event;
	to->routine = (uintptr_t)thread_starts;
	to->value = made;
	return to;
}

int interpose_timer_create(int clock, const struct interpose_event *event,
			   void *timer)
{
	struct counting *c = counting_here();
	int (*real)(int, const struct interpose_event *, void *) =
		interpose_real(c, INTERPOSE_TIMER_CREATE);
	struct interpose_event own;

	return real(clock, notify(c, event, &own), timer);
}

int interpose_mq_notify(int queue, const struct interpose_event *event)
{
	struct counting *c = counting_here();
	int (*real)(int, const struct interpose_event *) =
		interpose_real(c, INTERPOSE_MQ_NOTIFY);
	struct interpose_event own;

	return real(queue, notify(c, event, &own));
}

int interpose_getaddrinfo_a(int mode, void *list, int n,
			    const struct interpose_event *event)
{
	struct counting *c = counting_here();
	int (*real)(int, void *, int, const struct interpose_event *) =
		interpose_real(c, INTERPOSE_GETADDRINFO_A);
	struct interpose_event own;

	return real(mode, list, n, notify(c, event, &own));
}

/* says so if a thread will call the program back */
static void look_at(struct counting *c, const struct interpose_aio *aio)
{
	if (aio && aio->event.notify == NOTIFY_THREAD)
		live_profile_trouble(c, TROUBLE_THREADS);
}

static int call_aio(enum interposed_call h, struct interpose_aio *aio)
{
	struct counting *c = counting_here();
	int (*real)(struct interpose_aio *) = interpose_real(c, h);

	look_at(c, aio);
	return real(aio);
}

int interpose_aio_read(struct interpose_aio *aio)
{
	return call_aio(INTERPOSE_AIO_READ, aio);
}

int interpose_aio_write(struct interpose_aio *aio)
{
	return call_aio(INTERPOSE_AIO_WRITE, aio);
}

int interpose_aio_fsync(int how, struct interpose_aio *aio)
{
	struct counting *c = counting_here();
	int (*real)(int, struct interpose_aio *) =
		interpose_real(c, INTERPOSE_AIO_FSYNC);

	look_at(c, aio);
	return real(how, aio);
}

int interpose_lio_listio(int mode, struct interpose_aio **list, int n,
			 const struct interpose_event *event)
{
	struct counting *c = counting_here();
	int (*real)(int, struct interpose_aio **, int,
		    const struct interpose_event *) =
		interpose_real(c, INTERPOSE_LIO_LISTIO);
	struct interpose_event own;

	for (int i = 0; i < n; i++)
		look_at(c, list[i]);
	return real(mode, list, n, notify(c, event, &own));
}
