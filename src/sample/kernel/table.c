/* table: see table.h. */
#include "sample/kernel/table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <table.skel.h>

enum {
	BURST = 20,	  /* milliseconds */
	BURST_TIMES = 10, /* as often as asked for, in it */
	LEAST_PAUSE = 1,  /* milliseconds */
	SLICE = 100,	  /* milliseconds, where there are no bursts */
	SLICED = 60,	  /* generations, once that is asked for */
	ROUND = 1000,	  /* milliseconds of a generation, at most */
	SELDOM = 2000,	  /* milliseconds, where nothing is in a hurry */
};

static const uint64_t MILLISECOND = 1000000;
/* of the one namespace of processes that is above all others */
static const ino_t FIRST_NAMESPACE = 0xeffffffc;

static uint64_t steady(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * MILLISECOND + (uint64_t)t.tv_nsec;
}

/* --- opening */

static int refused(struct err *e, const char *what, int why)
{
	return err_set(e, ERR_MACHINE, "the kernel does not count samples for "
		       "us: %s: %s", what, strerror(why));
}

/*
 * The program sees the numbers that processes have for the kernel; records
 * have those that they have for us.
 */
static int see_numbers(struct err *e)
{
	struct stat s;

	if (!stat("/proc/self/ns/pid", &s) && s.st_ino == FIRST_NAMESPACE)
		return 0;
	return err_set(e, ERR_MACHINE, "the kernel does not count samples for "
		       "us: processes have other numbers here than for it");
}

static int be_silent(enum libbpf_print_level level, const char *text,
		     va_list more)
{
	(void)level;
	(void)text;
	(void)more;
	return 0;
}

/* so many entries for each CPU; maps are made when the program is loaded */
static void widen(struct bpf_map *m, uint32_t cpus)
{
	bpf_map__set_max_entries(m, bpf_map__max_entries(m) * cpus);
}

static int load(struct table *t, const struct table_config *w, struct err *e)
{
	int cpus = libbpf_num_possible_cpus(), why;

	libbpf_set_print(be_silent);
	t->bpf = cpus > 0 ? table_bpf__open() : NULL;
	if (!t->bpf)
		return refused(e, "the program cannot be read", errno);
	t->cpus = (uint32_t)cpus;
	t->bpf->rodata->register_words = sizeof(bpf_user_pt_regs_t) / 8;
	t->bpf->rodata->events = (uint32_t)w->events;
	t->bpf->rodata->bursts = t->bursts;
	t->bpf->rodata->nothing = w->nothing;
	widen(t->bpf->maps.cpus, t->cpus);
	widen(t->bpf->maps.sets, t->cpus);
	widen(t->bpf->maps.spill, t->cpus);
	why = table_bpf__load(t->bpf);
	return why ? refused(e, "the program is not loaded", -why) : 0;
}

static size_t bytes_of(const struct bpf_map *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n = (size_t)bpf_map__max_entries(m) * bpf_map__value_size(m);

	return (n + page - 1) / page * page;
}

static void *map_memory(const struct bpf_map *m)
{
	void *p = mmap(NULL, bytes_of(m), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(m), 0);

	if (p == MAP_FAILED)
		return NULL;
	/* it is not for processes of ours that read files of other users */
	madvise(p, bytes_of(m), MADV_DONTFORK);
	return p;
}

static int map_all(struct table *t, struct err *e)
{
	t->cpu = map_memory(t->bpf->maps.cpus);
	t->set = map_memory(t->bpf->maps.sets);
	t->spill = map_memory(t->bpf->maps.spill);
	return t->cpu && t->set && t->spill ? 0 :
	       refused(e, "its memory is not mapped", errno);
}

/* an event of a CPU, that the program is tied to; it is still off */
static int open_tap(struct table *t, uint32_t event, int cpu)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .perf_event.bpf_cookie = event);
	struct tap x = {.event = event, .cpu = (uint32_t)cpu, .link = -1};

	x.fd = event_open(&t->event[event], EVENT_EVERYBODY, cpu, false);
	if (x.fd < 0)
		return -1;
	x.link = bpf_link_create(bpf_program__fd(t->bpf->progs.count_sample),
				 x.fd, BPF_PERF_EVENT, &o);
	vec_push(&t->tap, x);
	return x.link < 0 ? -1 : 0;
}

static bool has_bursts(const struct table *t, uint32_t event)
{
	return t->bursts >> event & 1;
}

static int open_taps(struct table *t, const struct table_config *w,
		     struct err *e)
{
	for (uint32_t i = 0; i < w->events; i++) {
		bool bursts = has_bursts(t, i);

		t->event[i] = event_faster(&w->event[i],
					   bursts ? t->times : 1);
		/* there bursts end, too */
		t->event[i].idle = bursts && t->ends;
		t->rate += w->event[i].rate;
		for (int cpu = 0; cpu < (int)t->cpus; cpu++) {
			if (!open_tap(t, i, cpu))
				continue;
			if (cpu && (errno == ENODEV || errno == EINVAL))
				continue; /* a processor that is off */
			return refused(e, "it is not tied to samples", errno);
		}
	}
	return 0;
}

/* the kernel has a highest rate; more than each one there is cannot be had */
static bool is_too_fast(const struct event *v, uint64_t times)
{
	return v->rate * times > EVENT_RATE_MOST ||
	       (v->period && v->period < times);
}

/*
 * Which events have bursts, and of how many times as many samples. Turns are as
 * long as it is from burst to burst, which is random: too rough for an event
 * that is on all that time.
 */
static void plan_bursts(struct table *t, const struct table_config *w)
{
	uint32_t all = (1u << w->events) - 1;

	t->times = BURST_TIMES;
	for (size_t i = 0; w->bursts && i < w->events; i++) {
		if (!event_is_time(&w->event[i]))
			continue;
		t->bursts |= 1u << i;
		while (t->times > 1 && is_too_fast(&w->event[i], t->times))
			t->times--;
	}
	if (!t->bursts || (t->turns && t->bursts != all))
		t->times = 1;
	if (t->times == 1)
		t->bursts = 0;
}

/*
 * Since Linux 6.10 the kernel asks the program whether an overflow is one; it
 * does not before, and we have to end bursts.
 */
static bool kernel_ends(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	return !uname(&u) &&
	       sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

int table_open(struct table *t, const struct table_config *w, struct err *e)
{
	*t = (struct table){.random = (uint64_t)time(NULL) ^
				      (uint64_t)getpid(),
			    .slices = {{.n = 1}, {.n = 1}},
			    .events = (uint32_t)w->events,
			    .turns = w->turns && w->events > 1};
	plan_bursts(t, w);
	t->ends = t->times > 1 && kernel_ends();
	if (see_numbers(e) || load(t, w, e) || map_all(t, e) ||
	    open_taps(t, w, e)) {
		table_close(t);
		return -1;
	}
	return 0;
}

static void unmap(void *p, const struct bpf_map *m)
{
	if (p)
		munmap(p, bytes_of(m));
}

static void close_tap(const struct tap *x)
{
	if (x->link >= 0)
		close(x->link);
	close(x->fd);
}

void table_close(struct table *t)
{
	for (size_t i = 0; i < t->tap.n; i++)
		close_tap(&t->tap.at[i]);
	vec_free(&t->tap);
	if (t->bpf) {
		unmap(t->cpu, t->bpf->maps.cpus);
		unmap(t->set, t->bpf->maps.sets);
		unmap(t->spill, t->bpf->maps.spill);
	}
	table_bpf__destroy(t->bpf);
	*t = (struct table){0};
}

/* --- which processes there are */

void table_census(struct table *t, records *to)
{
	int link = bpf_link_create(bpf_program__fd(t->bpf->progs.census),
				   0, BPF_TRACE_ITER, NULL);
	int fd = link < 0 ? -1 : bpf_iter_create(link);
	struct four_way_citizen x;
	ssize_t n;

	/* the kernel hands out whole ones; a partial one would be the last */
	while (fd >= 0 && (n = read(fd, &x, sizeof x)) == sizeof x) {
		struct citizen c = {
			.header = {.type = TABLE_CITIZEN, .size = sizeof c},
			.pid = x.pid,
			.exec = x.exec,
			.birth = x.birth,
			.time = x.time,
		};

		vec_reserve(to, sizeof c);
		memcpy(to->at + to->n, &c, sizeof c);
		to->n += sizeof c;
	}
	if (fd >= 0)
		close(fd);
	if (link >= 0)
		close(link);
}

/* --- when */

/*
 * A burst of an event on a CPU, that the kernel ends (bpf/table.bpf.c): it is
 * allowed one overflow more, unless it has not had the last one yet. Then it
 * goes on, or was only stopped for another's turn.
 */
static void light(const struct table *t, const struct tap *x)
{
	uint32_t bit = 1u << x->event;
	bool lit = __atomic_fetch_or(&t->cpu[x->cpu].lit, bit,
				     __ATOMIC_SEQ_CST) & bit;

	ioctl(x->fd, lit ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_REFRESH,
	      lit ? 0 : 1);
}

/*
 * On, or off if it has no turn; most bursts of the kernel's are off by then.
 * One without bursts stays on beside those that have some.
 */
static void switch_one(const struct table *t, const struct tap *x, bool on)
{
	bool its = !t->turns || x->event == t->turn;
	bool bursts = has_bursts(t, x->event);

	if (!on && !bursts)
		return;
	if (on && its && bursts && t->ends)
		light(t, x);
	else if (on && its)
		ioctl(x->fd, PERF_EVENT_IOC_ENABLE, 0);
	else
		ioctl(x->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * All of them, or those whose turn it is. One may have to wait for its CPU, for
 * milliseconds: it is since the mean of their times.
 */
static void switch_all(struct table *t, bool on)
{
	uint64_t began = steady(), late = 0;

	for (size_t i = 0; i < t->tap.n; i++) {
		switch_one(t, &t->tap.at[i], on);
		late += steady() - began;
	}
	t->since = began + (t->tap.n ? late / t->tap.n : 0);
}

/* --- CPUs that go and come */

void table_leave(struct table *t, uint32_t cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < t->tap.n; i++)
		if (t->tap.at[i].cpu == cpu)
			close_tap(&t->tap.at[i]);
		else
			t->tap.at[n++] = t->tap.at[i];
	t->tap.n = n;
	if (cpu < t->cpus) /* no burst is on there */
		__atomic_store_n(&t->cpu[cpu].lit, 0, __ATOMIC_SEQ_CST);
}

int table_come(struct table *t, uint32_t cpu)
{
	if (cpu >= t->cpus)
		return -1;
	for (uint32_t i = 0; i < t->events; i++) {
		if (open_tap(t, i, (int)cpu)) {
			table_leave(t, cpu);
			return -1;
		}
		if (!has_bursts(t, i))
			switch_one(t, &t->tap.at[t->tap.n - 1], true);
	}
	return 0;
}

/* what CPUs are to count in from now on */
static void set_now(const struct table *t, uint32_t cpu)
{
	uint32_t slice = t->slices[t->generation].n - 1;

	__atomic_store_n(&t->cpu[cpu].now, slice << 1 | t->generation,
			 __ATOMIC_SEQ_CST);
}

/* the next slice of this generation begins; the last one there is goes on */
static void next_slice(struct table *t)
{
	struct slices *s = &t->slices[t->generation];

	if (!t->sliced || s->n == FOUR_WAY_SLICES)
		return;
	s->from[s->n++] = steady();
	for (uint32_t i = 0; i < t->cpus; i++)
		set_now(t, i);
	if (t->times == 1)
		s->to[s->n - 2] = steady();
}

void table_slice(struct table *t)
{
	t->sliced = SLICED;
}

/* a burst's samples, and with them a slice, end then */
static void set_until(struct table *t, uint64_t until)
{
	struct slices *s = &t->slices[t->generation];

	t->until = s->to[s->n - 1] = until;
	for (uint32_t i = 0; i < t->cpus; i++)
		__atomic_store_n(&t->cpu[i].until, until, __ATOMIC_RELEASE);
}

/* from half of it to one and a half */
static uint64_t about(struct table *t, uint64_t n)
{
	t->random = t->random * 6364136223846793005u + 1442695040888963407u;
	return n / 2 + (t->random >> 33) % (n + 1);
}

/*
 * When the next burst begins, if this one ends then. The pause is random, but
 * as much as it is too long, be it by chance or since another process had the
 * processor, the next one is shorter: each stretch of time has its burst,
 * somewhere in it.
 */
static void plan_pause(struct table *t)
{
	uint64_t mean = t->until > t->since ?
				(t->times - 1) * (t->until - t->since) : 0;
	int64_t least = LEAST_PAUSE * (int64_t)MILLISECOND;
	int64_t due = (int64_t)mean - t->late;
	int64_t pause = due + (int64_t)about(t, mean) - (int64_t)mean;

	if (pause < least)
		pause = least;
	t->too_long = pause - due;
	t->next = t->until + (uint64_t)pause;
}

static void burst_now(struct table *t)
{
	set_until(t, steady() + BURST * MILLISECOND);
	switch_all(t, true);
	t->to_end = !t->ends;
}

/* the next event's turn */
static void turn_now(struct table *t)
{
	t->turn = (t->turn + 1) % t->events;
}

static void next_burst(struct table *t)
{
	turn_now(t);
	next_slice(t);
	burst_now(t);
	t->late = t->too_long + (int64_t)(t->since - t->next);
	plan_pause(t);
}

static void slice_now(struct table *t)
{
	next_slice(t);
	if (t->turns) {
		turn_now(t);
		switch_all(t, true);
	}
	t->next = steady() + SLICE * MILLISECOND;
}

void table_start(struct table *t)
{
	t->slices[t->generation].from[0] = steady();
	if (t->times > 1) {
		burst_now(t);
		plan_pause(t);
		return;
	}
	switch_all(t, true);
	t->next = steady() + SLICE * MILLISECOND;
}

int table_due(const struct table *t)
{
	uint64_t now = steady(), next = t->to_end ? t->until : t->next;

	if (t->times == 1 && !t->sliced && !t->turns)
		return -1;
	return next <= now ? 0 :
	       (int)((next - now + MILLISECOND - 1) / MILLISECOND);
}

void table_schedule(struct table *t)
{
	if (table_due(t))
		return;
	if (t->times == 1) {
		slice_now(t);
	} else if (t->to_end) {
		switch_all(t, false);
		t->to_end = false;
	} else {
		next_burst(t);
	}
}

void table_rest(struct table *t)
{
	uint64_t now = steady();

	if (t->times == 1 || now >= t->until)
		return;
	set_until(t, now);
	plan_pause(t);
}

/* --- what is counted */

static struct four_way_entry *sets_of(const struct table *t, uint32_t cpu,
				      uint32_t generation)
{
	return (struct four_way_entry *)t->set +
	       (size_t)(2 * cpu + generation) * FOUR_WAY_SETS * FOUR_WAY;
}

static struct four_way_entry *spill_of(const struct table *t, uint32_t cpu,
				       uint32_t generation)
{
	return t->spill + (size_t)(2 * cpu + generation) * FOUR_WAY_SPILL;
}

/* at worst no two samples are at one place, and bursts come too soon */
static uint64_t patience(const struct table *t)
{
	return FOUR_WAY_SPILL * UINT64_C(1000) / (2 * t->rate + 1);
}

int table_patience(const struct table *t)
{
	uint64_t most = t->times > 1 && !t->sliced ? SELDOM : ROUND;

	/* bursts look whether there is room: see table_is_full() */
	if (t->times == 1 && patience(t) < most)
		most = patience(t);
	return (int)most;
}

bool table_is_full(const struct table *t)
{
	uint64_t burst = t->rate * t->times * BURST / 1000;

	for (uint32_t i = 0; i < t->cpus; i++)
		if (t->cpu[i].spilled[t->generation] + 2 * burst >
		    FOUR_WAY_SPILL)
			return t->times > 1;
	return false;
}

/* see bpf/table.bpf.c for why this is enough */
void table_flip(struct table *t)
{
	struct slices *old = &t->slices[t->generation];

	if (t->sliced)
		t->sliced--;
	t->generation = !t->generation;
	t->slices[t->generation] = (struct slices){.from = {steady()}, .n = 1};
	for (uint32_t i = 0; i < t->cpus; i++) {
		set_now(t, i);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		while (__atomic_load_n(&t->cpu[i].busy, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	if (t->times == 1)
		old->to[old->n - 1] = steady();
	for (size_t i = 0; i < t->tap.n; i++)
		event_jitter(&t->event[t->tap.at[i].event], t->tap.at[i].fd,
			     &t->random);
}

/* the lowest bits of a word, and the word without them */
static uint32_t take_bits(uint64_t *word, int bits)
{
	uint32_t low = (uint32_t)(*word & FOUR_WAY_MASK(bits));

	*word >>= bits;
	return low;
}

static struct counted unpack(const struct table *t,
			     const struct four_way_entry *x)
{
	const struct slices *s = &t->slices[!t->generation];
	uint64_t bits = x->who;
	int64_t place = (int64_t)x->place;
	struct counted c = {
		.event = four_way_event(x->place),
		.kernel = place < 0,
		.address = (uint64_t)(place >> FOUR_WAY_EVENT_BITS),
	};
	uint32_t slice;

	c.count = take_bits(&bits, FOUR_WAY_COUNT_BITS);
	slice = take_bits(&bits, FOUR_WAY_SLICE_BITS);
	c.birth = take_bits(&bits, FOUR_WAY_BIRTH_BITS);
	c.exec = take_bits(&bits, FOUR_WAY_EXEC_BITS);
	c.pid = (uint32_t)bits;
	c.from = s->from[slice];
	c.to = s->to[slice];
	return c;
}

/* passes on those that have samples, and takes them away */
static void take_entries(const struct table *t, struct four_way_entry *x,
			 size_t n,
			 void (*fn)(void *arg, const struct counted *x),
			 void *arg)
{
	for (size_t i = 0; i < n; i++) {
		struct counted c;

		if (!four_way_samples(&x[i]))
			continue;
		c = unpack(t, &x[i]);
		fn(arg, &c);
		x[i] = (struct four_way_entry){0};
	}
}

void table_take(struct table *t,
		void (*fn)(void *arg, const struct counted *x), void *arg)
{
	uint32_t old = !t->generation;

	for (uint32_t i = 0; i < t->cpus; i++) {
		take_entries(t, sets_of(t, i, old), FOUR_WAY_SETS * FOUR_WAY,
			     fn, arg);
		take_entries(t, spill_of(t, i, old), t->cpu[i].spilled[old],
			     fn, arg);
		t->cpu[i].spilled[old] = 0;
	}
}

uint64_t table_lost(const struct table *t, uint32_t event)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->cpus; i++)
		n += __atomic_load_n(&t->cpu[i].lost[event], __ATOMIC_RELAXED);
	return n;
}
