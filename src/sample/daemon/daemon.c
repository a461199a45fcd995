/* daemon: see daemon.h. */
#include "sample/daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
	RETRY = 10,	/* seconds, after a first write has failed */
	KEPT = 1 << 20,	/* places with samples that cannot be written */
	LARGE = 1 << 20, /* places of an image in an epoch: to add to more of
			    them with each write takes much memory */
};

struct daemon {
	const struct daemon_config *w;
	const struct daemon_callbacks *callbacks;
	struct control control;
	struct store store;
	struct sampler sampler;
	struct aggregator aggregator;
	int signals, attention; /* descriptors; the second has all of ours */
	struct stored_epoch epoch;
	int64_t epoch_number;
	uint64_t epoch_began;	/* seconds of the steady clock */
	uint64_t cost_before;	/* microseconds, when the epoch began */
	uint64_t lost_before[EVENTS]; /* samples, then */
	uint64_t next_flush;	/* seconds of the steady clock */
	uint64_t size;		/* bytes of the database, after a flush */
	uint64_t size_before;	/* when the epoch began */
	bool stop;
	bool urgent;	    /* the owner waits, or all ends */
	bool ended;	    /* all samples are taken, and none will come */
	struct err trouble; /* of the last write, if it failed */
	uint64_t failed;    /* writes, one after the other */
};

/* --- times: the steady clock decides, whatever is done to the other one */

static uint64_t steady(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

/* microseconds */
static uint64_t cpu_time_of(int whose)
{
	struct rusage r;

	getrusage(whose, &r);
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* of this process, and of those that have read files of other users for it */
static uint64_t cpu_time(void)
{
	return cpu_time_of(RUSAGE_SELF) + cpu_time_of(RUSAGE_CHILDREN);
}

/* kilobytes; getrusage() would include what ran here before our execve() */
static uint64_t memory(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	uint64_t n = 0;

	while (f && fgets(line, sizeof line, f) &&
	       sscanf(line, "VmHWM: %" SCNu64, &n) != 1)
		;
	if (f)
		fclose(f);
	return n;
}

/* something happened that its owner may want to know */
static void note(const struct daemon *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void note(const struct daemon *d, const char *format, ...)
{
	char text[600];
	va_list more;

	va_start(more, format);
	vsnprintf(text, sizeof text, format, more);
	va_end(more);
	d->callbacks->note(d->callbacks->arg, text);
}

/* --- epochs and writes */

static int epoch_begin(struct daemon *d, const char *reason, struct err *e)
{
	uint64_t now = (uint64_t)time(NULL);
	struct stored_epoch x = {now, now, reason, ""};
	int64_t number = store_epoch(&d->store, &x, e);

	if (number < 0)
		return -1;
	d->store.largest = 0;
	d->size_before = d->size;
	d->epoch = x;
	d->epoch_number = number;
	d->epoch_began = steady();
	d->cost_before = cpu_time();
	memcpy(d->lost_before, d->aggregator.lost, sizeof d->lost_before);
	return 0;
}

/* what is stored with the samples */
static int store_state(struct daemon *d, struct err *e)
{
	struct stored_cost cost = {cpu_time() - d->cost_before, memory()};
	uint64_t end = d->epoch.start + steady() - d->epoch_began;

	return store_epoch_end(&d->store, d->epoch_number, end, e) ||
	       store_cost(&d->store, d->epoch_number, &cost, e) ? -1 : 0;
}

/* those that take turns are seen for a part of the time, and count for all */
static int store_all(struct daemon *d, struct err *e)
{
	const struct sampler *s = &d->sampler;
	struct stored_event v[EVENTS];

	for (size_t i = 0; i < s->events; i++)
		v[i] = (struct stored_event){
			.name = s->event[i].name,
			.period =
				s->event[i].period * (s->turns ? s->events : 1),
			.lost = d->aggregator.lost[i] - d->lost_before[i],
		};
	return sample_buffer_store(&d->aggregator.sample_buffer, &d->store,
				   d->epoch_number, v, s->events, e) ||
			       store_state(d, e)
		       ? -1
		       : 0;
}

/* writes to a file that was removed succeed, and are lost when it is closed */
static int find_file(struct daemon *d, struct err *e)
{
	if (!control_is_gone(&d->control))
		return 0;
	d->stop = true;
	return err_set(e, ERR_MACHINE, "%s: was removed, and with it all "
		       "samples", d->w->directory);
}

/*
 * A write has failed: samples are kept for the next try, as long as there are
 * not too many. That is later each time, as a disk that is full stays so for a
 * while; and once is enough to say so.
 */
static int suffer(struct daemon *d, const struct err *e)
{
	uint64_t most = d->w->flush > RETRY ? d->w->flush : RETRY;
	uint64_t wait = d->failed < 16 ? (uint64_t)RETRY << d->failed : most;

	if (!d->failed++ && !d->stop)
		note(d, "%s; it tries again", e->text);
	d->trouble = *e;
	d->next_flush = steady() + (wait < most ? wait : most);
	aggregator_shed(&d->aggregator, KEPT);
	return -1;
}

/*
 * Writes. Readers that do not let us are given until the next time, but if the
 * owner waits: then they had their moment.
 */
static int write_all(struct daemon *d, struct err *e)
{
	if (!store_all(d, e))
		return 0;
	return d->urgent && d->store.blocked ? store_all(d, e) : -1;
}

/* all samples so far are on disk, or *e */
static int flush(struct daemon *d, struct err *e)
{
	if (find_file(d, e) || write_all(d, e))
		return suffer(d, e);
	if (d->failed)
		note(d, "writes work again");
	d->next_flush = steady() + d->w->flush;
	d->trouble = (struct err){0};
	d->failed = 0;
	aggregator_tidy(&d->aggregator);
	return store_size(&d->store, &d->size, e) ? suffer(d, e) : 0;
}

/* bytes that an epoch may add to the database: an eighth of what that may
   have. Then epochs can go one by one to make room */
static uint64_t epoch_most(const struct daemon *d)
{
	return (d->w->size << 20) / 8;
}

/* so that there is room for the epoch that has begun */
static int make_room(struct daemon *d, struct err *e)
{
	uint64_t most = (d->w->size << 20) - epoch_most(d);
	int64_t n = d->size > most ? store_shrink(&d->store, most, e) : 0;

	if (n > 0)
		note(d, "%" PRIu64 " MB is all that the database may have "
		     "(--max-size): its oldest epochs, %" PRId64 " of them, "
		     "were removed", d->w->size, n);
	if (n < 0 || store_size(&d->store, &d->size, e))
		return -1;
	d->size_before = d->size;
	return 0;
}

/* from now on samples are the next epoch's; those of long ago become fewer */
static int epoch_end(struct daemon *d, const char *reason, struct err *e)
{
	if (flush(d, e))
		return -1;
	return epoch_begin(d, reason, e) ||
	       store_condense(&d->store, &store_rule_usual, d->epoch.start,
			      e) < 0 || make_room(d, e) ? suffer(d, e) : 0;
}

/* the last samples, and no more; what cannot be written is lost */
static int end(struct daemon *d, struct err *e)
{
	d->stop = d->ended = d->urgent = true;
	sampler_round(&d->sampler, &d->aggregator, true);
	return flush(d, e);
}

/* --- words from the owner */

/* one line: what a file is called is its author's choice, and may have
 * more */
static size_t say(char *to, size_t room, const char *name, const char *value)
{
	int n = snprintf(to, room, "%s\t%s\n", name, value);

	if (n <= 0 || (size_t)n >= room)
		return 0;
	for (char *p = to + strlen(name) + 1; p < to + n - 1; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	return (size_t)n;
}

static size_t say_number(char *to, size_t room, const char *name, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, n);
	return say(to, room, name, text);
}

static uint64_t sum(const uint64_t by_event[EVENTS])
{
	uint64_t n = 0;

	for (size_t i = 0; i < EVENTS; i++)
		n += by_event[i];
	return n;
}

/* the names of all events, with commas */
static size_t say_events(char *to, size_t room, const struct sampler *s)
{
	char names[EVENTS * EVENT_NAME] = "";

	for (size_t i = 0; i < s->events; i++) {
		strcat(names, i ? "," : "");
		strcat(names, s->event[i].name);
	}
	return say(to, room, "event", names);
}

static void tell_status(const struct daemon *d, char *to, size_t room)
{
	const struct aggregator *c = &d->aggregator;
	const struct {
		const char *name;
		uint64_t n;
	} figure[] = {
		{"pid", (uint64_t)getpid()},
		{"epoch", (uint64_t)d->epoch_number},
		{"seconds", steady() - d->epoch_began},
		{"rate", d->sampler.event[0].rate},
		{"cpus", sampler_cpus(&d->sampler)},
		{"samples", c->samples},
		{"unstored", sum(c->sample_buffer.fresh)},
		{"unknown", c->unknown},
		{"lost", sum(c->lost)},
		{"cpu_us", cpu_time() - d->cost_before},
		{"memory_kb", memory()},
	};
	size_t n = say_events(to, room, &d->sampler);

	n += say(to + n, room - n, "mode",
		 d->sampler.event[0].kernel ? "user and kernel" : "user");
	n += say(to + n, room - n, "source", sampler_means(&d->sampler));
	if (d->sampler.why_not.code)
		n += say(to + n, room - n, "no_bpf",
			 d->sampler.why_not.text);
	for (size_t i = 0; i < sizeof figure / sizeof *figure; i++)
		n += say_number(to + n, room - n, figure[i].name, figure[i].n);
	if (c->sample_buffer.trouble.code)
		n += say(to + n, room - n, "names",
			 c->sample_buffer.trouble.text);
	if (d->trouble.code) {
		n += say_number(to + n, room - n, "failed", d->failed);
		say(to + n, room - n, "error", d->trouble.text);
	}
}

/* control_serve() */
static void obey(void *daemon, const char *word, char *answer, size_t room)
{
	struct daemon *d = daemon;
	struct err e = {0};
	int status = 0;

	d->urgent = true;
	if (!d->ended)
		sampler_round(&d->sampler, &d->aggregator, false);
	if (d->ended)
		status = err_set(&e, ERR_MACHINE, "it ends just now");
	else if (!strcmp(word, "flush"))
		status = flush(d, &e);
	else if (!strcmp(word, "epoch"))
		status = epoch_end(d, "asked for", &e);
	else if (!strcmp(word, "stop")) /* unless samples would be lost */
		status = flush(d, &e) || end(d, &e);
	else if (strcmp(word, "status"))
		status = err_set(&e, ERR_USAGE, "unknown word '%s'", word);
	if (!strcmp(word, "stop") && !status)
		note(d, "ends, as it is told to");
	d->urgent = d->ended;
	if (status)
		say(answer, room, "error", e.text);
	else
		tell_status(d, answer, room);
}

/* --- beginning, and ending */

static int listen_to(struct daemon *d, int fd)
{
	struct epoll_event x = {.events = EPOLLIN, .data.fd = fd};

	return fd < 0 ? -1 : epoll_ctl(d->attention, EPOLL_CTL_ADD, fd, &x);
}

/* adds it, unless it was ignored when the daemon began, as nohup has it */
static void add_signal(sigset_t *set, int signal)
{
	struct sigaction had;

	if (sigaction(signal, NULL, &had) || had.sa_handler != SIG_IGN)
		sigaddset(set, signal);
}

static int catch_signals(struct daemon *d, struct err *e)
{
	sigset_t set;

	sigemptyset(&set);
	add_signal(&set, SIGINT);
	add_signal(&set, SIGTERM);
	add_signal(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	d->attention = epoll_create1(EPOLL_CLOEXEC);
	if (listen_to(d, d->signals) || listen_to(d, d->control.attention))
		return err_set(e, ERR_MACHINE, "no descriptors: %s",
			       strerror(errno));
	return 0;
}

/* this host's file is for this daemon alone */
static int take_file(struct daemon *d, struct err *e)
{
	char *path = store_path(d->w->directory);
	int status = store_directory(d->w->directory, e) ||
		     control_open(&d->control, path, e);

	mem_free(path);
	return status || store_create(&d->store, d->w->directory, e) ||
	       store_protect(d->w->directory, d->w->group, e) ? -1 : 0;
}

/* nothing is written before it is sure that there will be samples */
static int begin(struct daemon *d, struct err *e)
{
	if (sampler_open(&d->sampler, &d->w->sampler, e) || take_file(d, e) ||
	    catch_signals(d, e) || store_size(&d->store, &d->size, e) ||
	    epoch_begin(d, "daemon", e) || make_room(d, e))
		return -1;
	sampler_start(&d->sampler, &d->aggregator);
	d->next_flush = steady() + d->w->flush;
	return 0;
}

static void attend(struct daemon *d)
{
	struct signalfd_siginfo s;

	if (read(d->signals, &s, sizeof s) == sizeof s) {
		note(d, "ends by signal %" PRIu32 " of process %" PRIu32,
		     s.ssi_signo, s.ssi_pid);
		d->stop = true;
	}
	control_serve(&d->control, obey, d);
}

/* an epoch's end, too, waits if the last write has failed */
static void write_what_is_due(struct daemon *d)
{
	bool full = sample_buffer_is_full(&d->aggregator.sample_buffer);
	bool due = steady() >= d->next_flush || (full && !d->failed);
	struct err e;

	if (full && d->failed) /* and nothing can be written */
		aggregator_shed(&d->aggregator, KEPT);
	if (steady() >= d->epoch_began + d->w->epoch && (due || !d->failed))
		epoch_end(d, "time", &e);
	else if ((d->store.largest >= LARGE ||
		  d->size > d->size_before + epoch_most(d)) &&
		 (due || !d->failed))
		epoch_end(d, "size", &e);
	else if (due)
		flush(d, &e);
}

static void loop(struct daemon *d)
{
	while (!d->stop) {
		sampler_wait(&d->sampler, d->attention);
		sampler_round(&d->sampler, &d->aggregator, false);
		attend(d);
		if (!d->stop)
			write_what_is_due(d);
	}
}

static void free_all(struct daemon *d)
{
	sampler_close(&d->sampler);
	aggregator_free(&d->aggregator);
	store_close(&d->store);
	control_close(&d->control);
	if (d->signals >= 0)
		close(d->signals);
	if (d->attention >= 0)
		close(d->attention);
}

int daemon_run(const struct daemon_config *w,
	       const struct daemon_callbacks *callbacks, struct err *e)
{
	struct daemon d = {.w = w,
			   .callbacks = callbacks,
			   .signals = -1,
			   .attention = -1,
			   .control = CONTROL_NONE,
			   .aggregator.sample_buffer.names = w->apart};
	int status = begin(&d, e);

	if (!status) {
		callbacks->ready(callbacks->arg);
		loop(&d);
		if (!d.ended)
			status = end(&d, e);
		else if (d.trouble.code) {
			*e = d.trouble;
			status = -1;
		}
	}
	free_all(&d);
	return status ? -1 : 0;
}

/*
 * The file that this host's daemon writes to. It is called as the host is, or
 * was: then it is the only one there whose daemon can be reached from here.
 */
static char *find_daemon(const char *directory)
{
	char *path = store_path(directory), **file, *other = NULL;
	struct err e;
	int n;

	if (control_is_there(path))
		return path;
	n = store_files(&file, directory, &e);
	if (n < 0)
		return path;
	for (int i = 0; i < n; i++) {
		if (!other && control_is_there(file[i])) {
			other = file[i];
			continue;
		}
		mem_free(file[i]);
	}
	mem_free(file);
	if (other)
		mem_free(path);
	return other ? other : path;
}

int daemon_ask(const char *directory, const char *word,
	       char answer[CONTROL_ANSWER], struct err *e)
{
	char *path = find_daemon(directory);
	int status = control_ask(path, word, answer, e);

	if (!status && !strcmp(word, "stop") && strncmp(answer, "error", 5))
		control_wait(path);
	mem_free(path);
	return status;
}
