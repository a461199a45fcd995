/*
 * status_line: see status_line.h. A thread looks at the progress now and
 * then, so that the work itself asks no clock and prints nothing.
 */
#include "cmd/render/status_line.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/render/style.h"

enum {
	PATIENCE_MS = 500, /* shorter work shows nothing */
	REFRESH_MS = 100,
};

#define ERASE_LINE "\r\033[K"

/* shows where the work is; true if it showed something */
static bool draw(const struct progress *p)
{
	struct progress at = progress_look(p);

	if (!at.what)
		return false;
	fprintf(stderr, ERASE_LINE "tally: %s", at.what);
	if (at.done < at.of)
		fprintf(stderr, " %u%%",
			(unsigned)((uint64_t)at.done * 100 / at.of));
	fflush(stderr);
	return true;
}

/* thread body: draws until the other end of the pipe is closed */
static void *watch(void *arg)
{
	struct status_line *l = arg;
	struct pollfd stop = {.fd = l->stop[0]};
	int wait = PATIENCE_MS;
	bool drawn = false;

	while (poll(&stop, 1, wait) == 0) {
		drawn |= draw(&l->progress);
		wait = REFRESH_MS;
	}
	if (drawn)
		fputs(ERASE_LINE, stderr);
	return NULL;
}

void status_line_begin(struct status_line *l)
{
	*l = (struct status_line){0};
	/* without a pipe or a thread the work is done all the same */
	if (!style_can_erase(stderr) || pipe2(l->stop, O_CLOEXEC))
		return;
	l->running = !pthread_create(&l->thread, NULL, watch, l);
	if (!l->running) {
		close(l->stop[0]);
		close(l->stop[1]);
	}
}

void status_line_end(struct status_line *l)
{
	if (!l->running)
		return;
	close(l->stop[1]);
	pthread_join(l->thread, NULL);
	close(l->stop[0]);
	l->running = false;
}
