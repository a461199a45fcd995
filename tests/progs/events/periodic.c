/*
 * periodic: threads that do the same round for ever, and some that sleep in
 * the kernel and count how often they were disturbed. Writes a line when all
 * of them are there. The first thread ends all when stdin does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static _Atomic int there, disturbed;
static volatile unsigned sink[4 * 64];

OWN unsigned leaf(unsigned x)
{
	return x & 4 ? x * 3 : x + 1;
}

OWN unsigned turn(volatile unsigned *to)
{
	unsigned s = 1;

	for (unsigned i = 0; i < 6; i++) {
		s = leaf(s ^ i);
		if (i % 3 == 1)
			*to = s;
		else
			s += *to & 0;
	}
	return s;
}

/* for ever, each time the same */
OWN void *work(void *arg)
{
	volatile unsigned *to = &sink[64 * (long)arg];

	there++;
	for (;;)
		turn(to);
	return NULL;
}

static void *in_epoll(void *arg)
{
	struct epoll_event e;
	int fd = epoll_create1(0);

	(void)arg;
	there++;
	for (;;)
		if (epoll_wait(fd, &e, 1, -1) < 0)
			disturbed++;
	return NULL;
}

static void *in_sleep(void *arg)
{
	struct timespec t = {1000, 0};

	(void)arg;
	there++;
	for (;;)
		if (nanosleep(&t, NULL))
			disturbed++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	char c;
	int n = argc > 1 ? atoi(argv[1]) : 2;

	for (long i = 0; i < n; i++)
		pthread_create(&t, NULL, work, (void *)i);
	pthread_create(&t, NULL, in_epoll, NULL);
	pthread_create(&t, NULL, in_sleep, NULL);
	while (there < n + 2)
		usleep(1000);
	usleep(20000);
	puts("there");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	printf("disturbed %d\n", (int)disturbed);
	return 0;
}
