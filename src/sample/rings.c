/* rings: see rings.h. */
#include "sample/rings.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static int open_ring(struct rings *r, int fd)
{
	struct ring one;
	int why;

	if (!ring_open(&one, fd)) {
		vec_push(&r->ring, one);
		return 0;
	}
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

int rings_open(struct rings *r, const struct event *v, pid_t pid)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);

	*r = (struct rings){.random = (uint64_t)time(NULL) ^
				      (uint64_t)getpid()};
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = event_open(v, pid, cpu);

		if (fd < 0 && (errno == ENODEV || errno == EINVAL) && cpu)
			continue; /* a processor that is off */
		if (fd < 0 || open_ring(r, fd))
			return -1;
	}
	return r->ring.n ? 0 : -1;
}

void rings_start(const struct rings *r)
{
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

void rings_round(struct rings *r, const struct event *v, bool all,
		 order_fn *fn, void *arg)
{
	for (size_t i = 0; i < r->ring.n; i++) {
		ring_take(&r->ring.at[i], order_room(&r->order));
		event_jitter(v, r->ring.at[i].fd, &r->random);
	}
	order_round(&r->order, all, fn, arg);
}

void rings_close(struct rings *r)
{
	for (size_t i = 0; i < r->ring.n; i++)
		ring_close(&r->ring.at[i]);
	vec_free(&r->ring);
	order_free(&r->order);
}
