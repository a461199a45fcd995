/* rings: see rings.h. */
#include "sample/events/rings.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int open_ring(struct rings *r, int fd, uint32_t event, int cpu)
{
	struct ring one;
	int why;

	if (!ring_open(&one, fd)) {
		vec_push(&r->ring, one);
		vec_push(&r->of, event);
		vec_push(&r->on, cpu);
		return 0;
	}
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

/* one has sideband records; one that is off, for others' turns, has none */
static int open_on(struct rings *r, uint32_t event, int cpu)
{
	bool sideband = event == (r->turns ? r->events : 0);
	int fd = event_open(&r->event[event], r->pid, cpu, sideband);

	return fd < 0 ? -1 : open_ring(r, fd, event, cpu);
}

static int open_event(struct rings *r, uint32_t event)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (!open_on(r, event, cpu))
			continue;
		if (!cpu || (errno != ENODEV && errno != EINVAL))
			return -1; /* else it is a processor that is off */
	}
	return 0;
}

int rings_open(struct rings *r, const struct rings_config *w)
{
	*r = (struct rings){.random = (uint64_t)time(NULL) ^
				      (uint64_t)getpid(),
			    .events = w->events, .pid = w->pid,
			    .turns = w->turns && w->events > 1};
	memcpy(r->event, w->event, w->events * sizeof *w->event);
	r->event[w->events] = event_sideband();
	for (uint32_t i = 0; i < w->events + r->turns; i++)
		if (open_event(r, i))
			return -1;
	return r->ring.n ? 0 : -1;
}

/* samples are of that event, and of no other */
static void give_turn(const struct rings *r, uint32_t event)
{
	for (size_t i = 0; i < r->ring.n; i++)
		ioctl(r->ring.at[i].fd,
		      r->of.at[i] == event || r->of.at[i] == r->events ?
			      PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
		      0);
}

void rings_start(const struct rings *r)
{
	if (r->turns) {
		give_turn(r, 0);
		return;
	}
	for (size_t i = 0; i < r->ring.n; i++)
		ioctl(r->ring.at[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

bool rings_wait(const struct rings *r, int also, int milliseconds)
{
	int found;
	struct pollfd *fds = NEW_ARRAY(struct pollfd, r->ring.n + 1);

	for (size_t i = 0; i < r->ring.n; i++)
		fds[i] = (struct pollfd){r->ring.at[i].fd, POLLIN, 0};
	fds[r->ring.n] = (struct pollfd){also, POLLIN, 0};
	found = poll(fds, r->ring.n + 1, milliseconds);
	mem_free(fds);
	return found > 0;
}

static void take_turns(struct rings *r)
{
	r->turn = (r->turn + 1) % (uint32_t)r->events;
	give_turn(r, r->turn);
}

void rings_round(struct rings *r, bool all, order_fn *fn, void *arg)
{
	for (size_t i = 0; i < r->ring.n; i++) {
		ring_take(&r->ring.at[i], order_room(&r->order));
		order_tag(&r->order, r->of.at[i]);
		event_jitter(&r->event[r->of.at[i]], r->ring.at[i].fd,
			     &r->random);
	}
	order_round(&r->order, all, fn, arg);
	if (r->turns && !all)
		take_turns(r);
}

void rings_leave(struct rings *r, int cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < r->ring.n; i++) {
		if (r->on.at[i] == cpu) {
			ring_close(&r->ring.at[i]);
			continue;
		}
		r->ring.at[n] = r->ring.at[i];
		r->of.at[n] = r->of.at[i];
		r->on.at[n++] = r->on.at[i];
	}
	r->ring.n = r->of.n = r->on.n = n;
}

int rings_come(struct rings *r, int cpu)
{
	for (uint32_t i = 0; i < r->events + r->turns; i++)
		if (open_on(r, i, cpu)) {
			rings_leave(r, cpu);
			return -1;
		}
	if (r->turns)
		give_turn(r, r->turn);
	else
		rings_start(r); /* those that are on stay so */
	return 0;
}

void rings_close(struct rings *r)
{
	for (size_t i = 0; i < r->ring.n; i++)
		ring_close(&r->ring.at[i]);
	vec_free(&r->ring);
	vec_free(&r->of);
	vec_free(&r->on);
	order_free(&r->order);
}
