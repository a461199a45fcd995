/*
 * count/profile: profiles of running and dead programs, as those leave them,
 * with gaps, threads and many processes; their finished form; and files that
 * are no profiles, in every state of damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count/profile/profile_int.h"
#include "make_profile.h"
#include "mutate.h"
#include "random_map.h"
#include "sample.h"

enum { IMAGES = 3, PROCESSES = 4, BLOCKS = 3 };
enum { NO_PID = 5000000 }; /* none is so large: the most is 2^22 */

/* a run: images, and what every thread of every process counted in each */
struct run {
	char dir[64], profile[96], file[IMAGES][96];
	struct map map[IMAGES];
	uint64_t *value[IMAGES][PROCESSES + 1];	/* by process; 0: all */
	bool idle; /* no events since then */
	buffer b;
};

static const char *in_dir(const struct run *t, const char *name)
{
	static char path[160];

	snprintf(path, sizeof path, "%s/%s", t->dir, name);
	return path;
}

/* counters of one thread, and the sums that they belong to */
static void add_thread(struct rng *r, struct run *t, unsigned m, uint32_t p,
		       uint32_t block)
{
	uint32_t n = t->map[m].ncounter;
	uint64_t *value = NEW_ARRAY(uint64_t, n);

	for (uint32_t i = 0; i < n; i++) {
		if (rng_once_in(r, 2))
			value[i] = rng_next(r) >> (8 + rng_below(r, 56));
		t->value[m][p][i] += value[i];
		t->value[m][0][i] += value[i];
	}
	live_counters(&t->b, p, &t->map[m], t->file[m], block, value);
	mem_free(value);
}

/* images that run uncounted, as they are told, in order of their paths */
static const struct profile_left lefts[] = {
	{0, LEFT_REFUSED, "/opt/go", "no code can be moved"},
	{1, LEFT_OUT, "/usr/lib/libc.so.6", ""},
	{2, LEFT_REFUSED, "/usr/lib/libodd.so", "it is odd"},
	{3, LEFT_REFUSED, "/usr/lib/libodd.so", ""},
};
enum { LEFTS = sizeof lefts / sizeof *lefts };

/* the last first, and one of them twice */
static void add_lefts(struct run *t)
{
	for (unsigned i = LEFTS; i-- > 0;)
		live_left(&t->b, lefts[i].process, lefts[i].why,
			  lefts[i].path, lefts[i].reason);
	live_left(&t->b, 2, LEFT_REFUSED, "/usr/lib/libodd.so", "still odd");
}

enum { EVENTS = 2, THREADS = 3 };

/* what thread k of a process counted of an event */
static uint64_t event_of(uint32_t process, unsigned thread, unsigned event)
{
	return 1000000 * process + 1000 * thread + event;
}

/* what the first thread left out, and counted in the phase that it is in */
static uint64_t left_out(unsigned event)
{
	return 300 + event;
}

static uint64_t in_phase(unsigned event)
{
	return 7 + 100 * (event + 1);
}

/* the thread's counts are `sum`; what is not of use is wrong */
static void add_phases(struct run *t, uint32_t p, const uint64_t *sum)
{
	uint64_t word[(PHASES + 1) * 2 * EVENTS];
	struct chunk_phases c = {.block = 0, .nevent = EVENTS,
				 .state = UINT64_C(1) << PHASE_NUMBER | 1 << 1,
				 .name = {[1] = "read\n"}};

	memset(word, 0x55, sizeof word);
	for (unsigned e = 0; e < EVENTS; e++) {
		word[phases_word(EVENTS, PHASE_LEFT_OUT, 0, e)] = left_out(e);
		word[phases_word(EVENTS, 1, 1, e)] = 7;
		word[phases_word(EVENTS, PHASE_BEGAN, 0, e)] =
			sum[e] - 100 * (e + 1);
	}
	live_phases(&t->b, p, c, word);
}

static void check_phases(const struct run *run, const struct profile *p)
{
	assert_int_equal(p->phase.n, 2 * PROCESSES);
	for (uint32_t i = 0; i < 2 * PROCESSES; i++) {
		const struct profile_phase *x = &p->phase.at[i];

		assert_int_equal(x->process, i / 2 + 1);
		assert_string_equal(x->name, i % 2 ? "" : "read?");
		assert_int_equal(x->open, !(i % 2));
		for (unsigned e = 0; e < EVENTS; e++)
			assert_true(x->value[e] ==
				    (run->idle ? 0 :
				     i % 2 ? left_out(e) : in_phase(e)));
	}
}

/*
 * Two threads, of which one has ended and left its block to the other, beside
 * the first one; counts are spread over lanes, and one is away.
 */
static void add_events(struct run *t, uint32_t p)
{
	const struct thread_record r[3] = {
		{THREAD_ENDED, 1, 10, 0}, {THREAD_NONE, 0, 0, 0},
		{THREAD_BEGAN, 1, 11, 0}};
	uint64_t word[2][RUNNING_WORDS] = {{0}}, value[3][2 * EVENTS] = {{0}};
	uint64_t sum[EVENTS];

	for (unsigned e = 0; e < EVENTS; e++) {
		sum[e] = event_of(p, 0, e) + left_out(e);
		word[0][running_event(e, 0)] = sum[e] + 5;
		word[0][running_event(e, 2)] = (uint64_t)-5;
		value[0][EVENTS + e] = event_of(p, 1, e);
		value[2][e] = event_of(p, 1, e);
		word[1][running_event(e, 1)] = event_of(p, 1, e) +
					      event_of(p, 2, e);
	}
	word[0][running_event(0, 0)] -= 77;
	word[0][RUNNING_BIAS + 3] = 77;
	live_running(&t->b, p, 0, EVENTS, word[0]);
	live_threads(&t->b, p, EVENTS, r, value[0], 3);
	live_running(&t->b, p, 1, EVENTS, word[1]);
	add_phases(t, p, sum);
}

static void check_events(const struct run *run, const struct profile *p)
{
	assert_int_equal(p->nevent, EVENTS);
	assert_int_equal(p->thread.n, PROCESSES * THREADS);
	for (uint32_t i = 0; i < PROCESSES * THREADS; i++) {
		const struct profile_thread *t = &p->thread.at[i];

		assert_int_equal(t->process, i / THREADS + 1);
		assert_int_equal(t->block, i % THREADS ? 1 : 0);
		assert_int_equal(t->ended, i % THREADS == 1);
		for (unsigned e = 0; e < EVENTS; e++)
			assert_true(t->value[e] ==
				    (run->idle ? 0 :
				     event_of(t->process, i % THREADS, e)));
	}
	check_phases(run, p);
}

static void make_run_of(struct rng *r, struct run *t, bool events)
{
	*t = (struct run){.dir = "/tmp/count-profile-XXXXXX"};
	assert_non_null(mkdtemp(t->dir));
	snprintf(t->profile, sizeof t->profile, "%s/p", t->dir);
	live_begin(&t->b, EM_AARCH64, "libs=all", "make -j2 all");
	for (unsigned m = 0; m < IMAGES; m++) {
		random_map(r, &t->map[m], 3, 12, PLACE_EDGES);
		snprintf(t->file[m], sizeof t->file[m], "%s/image%u", t->dir,
			 m);
		assert_true(write_map_file(t->file[m], &t->map[m]));
		for (unsigned p = 0; p <= PROCESSES; p++)
			t->value[m][p] = NEW_ARRAY(uint64_t,
						   t->map[m].ncounter);
	}
	for (uint32_t p = 1; p <= PROCESSES; p++) {
		if (rng_once_in(r, 3))
			live_gap(&t->b, 1 + rng_below(r, 4));
		/* the last one was killed before it could say its name */
		if (p < PROCESSES)
			live_process(&t->b, p, NO_PID + p, p / 2, "child");
		for (unsigned m = 0; m < IMAGES; m++)
			for (uint32_t k = 0; k < 1 + rng_below(r, BLOCKS); k++)
				add_thread(r, t, m, p, k);
		if (events)
			add_events(t, p);
	}
	add_lefts(t);
	live_gap(&t->b, 2);
	live_header(&t->b)->trouble = TROUBLE_FORK;
	assert_true(live_write(&t->b, t->profile));
}

static void make_run(struct rng *r, struct run *t)
{
	make_run_of(r, t, true);
}

static void end_run(struct run *t)
{
	for (unsigned m = 0; m < IMAGES; m++) {
		map_release(&t->map[m]);
		unlink(t->file[m]);
		for (unsigned p = 0; p <= PROCESSES; p++)
			mem_free(t->value[m][p]);
	}
	unlink(t->profile);
	unlink(in_dir(t, "q"));
	assert_int_equal(rmdir(t->dir), 0);
	vec_free(&t->b);
}

/* the counters of an image are those that were written, factor times */
static void check_values(const struct run *t, const struct profile *p,
			 uint32_t image, unsigned m)
{
	uint32_t n = t->map[m].ncounter;
	struct err e;

	for (uint32_t q = 0; q <= PROCESSES; q++) {
		uint64_t *value = NEW_ARRAY(uint64_t, n);

		assert_int_equal(profile_add(p, image, q, value, &e), 0);
		assert_memory_equal(value, t->value[m][q],
				    n * sizeof *value);
		mem_free(value);
	}
}

static void check_lefts(const struct profile *p)
{
	assert_int_equal(p->left.n, LEFTS);
	for (unsigned i = 0; i < LEFTS; i++) {
		const struct profile_left *x = &p->left.at[i];

		assert_int_equal(x->process, lefts[i].process);
		assert_int_equal(x->why, lefts[i].why);
		assert_string_equal(x->path, lefts[i].path);
		assert_string_equal(x->reason, lefts[i].reason);
	}
}

static void check_run(const struct run *t, const char *path, bool finished)
{
	struct profile p;
	struct err e;

	if (profile_open(&p, path, &e))
		fail_msg("%s", e.text);
	assert_int_equal(p.finished, finished);
	assert_string_equal(p.options, "libs=all");
	assert_string_equal(p.command, "make -j2 all");
	assert_int_equal(p.header.trouble, TROUBLE_FORK);
	assert_int_equal(p.process.n, PROCESSES);
	assert_int_equal(p.image.n, IMAGES);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		const struct profile_process *q = &p.process.at[i];
		bool named = i + 1 < PROCESSES;

		assert_int_equal(q->number, i + 1);
		assert_int_equal(q->pid, named ? NO_PID + 1 + i : 0);
		assert_int_equal(q->parent, named ? (i + 1) / 2 : 0);
		assert_string_equal(q->name, named ? "child" : "");
	}
	for (uint32_t i = 0; i < IMAGES; i++) {
		assert_null(p.image.at[i].missing);
		assert_string_equal(p.image.at[i].file, t->file[i]);
		assert_string_equal(p.image.at[i].map.path, "/usr/bin/sample");
		check_values(t, &p, i, i);
	}
	check_lefts(&p);
	check_events(t, &p);
	profile_close(&p);
}

static void test_live(void **state)
{
	struct rng r = {31};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct run t;

		make_run(&r, &t);
		check_run(&t, t.profile, false);
		end_run(&t);
	}
}

static bool none_lives(const struct profile_process *q)
{
	(void)q;
	return false;
}

static bool all_live(const struct profile_process *q)
{
	(void)q;
	return true;
}

static void test_finish(void **state)
{
	struct rng r = {32};
	struct run t;
	struct stat live, st;
	struct err e;

	(void)state;
	make_run(&r, &t);
	assert_int_equal(chmod(t.profile, 0640), 0);
	assert_int_equal(stat(t.profile, &live), 0);
	assert_int_equal(profile_finish(t.profile, all_live, &e), 0);
	check_run(&t, t.profile, false);
	assert_int_equal(profile_finish(t.profile, none_lives, &e), 1);
	check_run(&t, t.profile, true);
	assert_int_equal(stat(t.profile, &st), 0);
	assert_int_equal(st.st_mode, live.st_mode);
	assert_true(st.st_size < live.st_size);
	/* by way of a link, too */
	assert_int_equal(symlink("p", in_dir(&t, "q")), 0);
	assert_true(live_write(&t.b, t.profile));
	assert_int_equal(profile_finish(in_dir(&t, "q"), none_lives, &e), 1);
	assert_int_equal(lstat(in_dir(&t, "q"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	check_run(&t, t.profile, true);
	/* once is enough, and the rewritten files are not needed any more */
	assert_int_equal(profile_finish(t.profile, all_live, &e), 1);
	for (unsigned m = 0; m < IMAGES; m++)
		unlink(t.file[m]);
	check_run(&t, t.profile, true);
	end_run(&t);
}

static void test_missing_map(void **state)
{
	struct rng r = {33};
	struct run t;
	struct profile p;
	struct err e;

	(void)state;
	make_run(&r, &t);
	unlink(t.file[0]);
	/* the same file, rewritten in another way */
	t.map[1].id[3] ^= 1;
	assert_true(write_map_file(t.file[1], &t.map[1]));
	assert_int_equal(profile_open(&p, t.profile, &e), 0);
	assert_non_null(strstr(p.image.at[0].missing, "No such file"));
	assert_non_null(strstr(p.image.at[1].missing, "rewritten anew"));
	check_values(&t, &p, 2, 2);
	profile_close(&p);
	/* what cannot be kept is not thrown away */
	assert_int_equal(profile_finish(t.profile, none_lives, &e), 0);
	end_run(&t);
}

static void test_minus(void **state)
{
	struct rng r = {34};
	struct run t;
	struct profile now, then;
	struct err e;

	(void)state;
	make_run(&r, &t);
	assert_int_equal(profile_open(&then, t.profile, &e), 0);
	assert_int_equal(profile_write(&then, NULL, in_dir(&t, "q"), &e), 0);
	profile_close(&then);
	assert_int_equal(profile_open(&then, in_dir(&t, "q"), &e), 0);
	/* the same counts again, in other threads */
	for (uint32_t p = 1; p <= PROCESSES; p++)
		for (unsigned m = 0; m < IMAGES; m++)
			live_counters(&t.b, p, &t.map[m], t.file[m], 9,
				      t.value[m][p]);
	assert_true(live_write(&t.b, t.profile));
	assert_int_equal(profile_open(&now, t.profile, &e), 0);
	/* what was counted since then is what had been before, and no event */
	assert_int_equal(profile_write(&now, &then, t.profile, &e), 0);
	t.idle = true;
	check_run(&t, t.profile, true);
	/* the other way round time would run backwards */
	assert_int_equal(profile_write(&then, &now, t.profile, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_non_null(strstr(e.text, "not an earlier state"));
	then.thread.at[0].value[0]++;
	assert_int_equal(profile_write(&now, &then, t.profile, &e), -1);
	assert_non_null(strstr(e.text, "not an earlier state"));
	then.header.started++;
	assert_int_equal(profile_write(&now, &then, t.profile, &e), -1);
	assert_non_null(strstr(e.text, "not of the same run"));
	profile_close(&now);
	profile_close(&then);
	end_run(&t);
}

/* reads all there is; false if it is broken, or says that it is not whole */
static bool try_profile(const char *path)
{
	struct profile p;
	struct err e = {0};
	bool good;

	if (profile_open(&p, path, &e)) {
		assert_true(e.code == ERR_INPUT && strstr(e.text, ": "));
		return false;
	}
	good = !(p.header.trouble & TROUBLE_CUT);
	for (uint32_t m = 0; m < p.image.n; m++) {
		uint64_t *value;

		if (p.image.at[m].missing)
			continue;
		value = NEW_ARRAY(uint64_t, p.image.at[m].map.ncounter);
		good &= !profile_add(&p, m, 0, value, &e);
		mem_free(value);
	}
	profile_close(&p);
	return good;
}

static void spoil(struct rng *r, struct run *t, const buffer *whole,
		  const struct mutate_spot *spot, size_t nspot, bool strict)
{
	buffer copy = {0};
	unsigned mutants = sample_of(1500, 50);
	uint32_t good = 0;

	for (size_t n = 0; n < whole->n; n += 1 + n / 97) {
		assert_true(write_whole(in_dir(t, "q"), whole->at, n));
		assert_false(try_profile(in_dir(t, "q")));
	}
	for (unsigned i = 0; i < mutants; i++) {
		size_t n;

		copy.n = 0;
		vec_append(&copy, whole);
		n = mutate(copy.at, copy.n, rng_next(r), spot, nspot);
		if (n == whole->n && !memcmp(copy.at, whole->at, n))
			continue;
		assert_true(write_whole(in_dir(t, "q"), copy.at, n));
		good += try_profile(in_dir(t, "q"));
	}
	/* a finished profile is as it was written, or is refused */
	if (strict)
		assert_int_equal(good, 0);
	vec_free(&copy);
}

static void read_whole(const char *path, buffer *b)
{
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	b->n = 0;
	vec_reserve(b, 1 << 20);
	b->n = fread(b->at, 1, 1 << 20, f);
	fclose(f);
}

static void test_broken(void **state)
{
	struct rng r = {35};
	struct run t;
	struct err e;
	buffer whole = {0};
	VEC(struct mutate_spot) spot = {0};

	(void)state;
	make_run(&r, &t);
	vec_push(&spot, ((struct mutate_spot){0, 64, 4}));
	for (uint64_t at = PROFILE_FIRST; at < t.b.n; at += PROFILE_UNIT)
		if (*(uint64_t *)(t.b.at + at) == CHUNK_MAGIC)
			vec_push(&spot, ((struct mutate_spot){at, 88, 4}));
	spoil(&r, &t, &t.b, spot.at, spot.n, false);
	assert_int_equal(profile_finish(t.profile, none_lives, &e), 1);
	read_whole(t.profile, &whole);
	spot.n = 0;
	vec_push(&spot, ((struct mutate_spot){0, 128, 4}));
	spoil(&r, &t, &whole, spot.at, spot.n, true);
	vec_free(&whole);
	vec_free(&spot);
	end_run(&t);
}

static void test_messages(void **state)
{
	struct rng r = {36};
	struct run t;
	struct profile p;
	struct err e;

	(void)state;
	make_run(&r, &t);
	assert_int_equal(profile_open(&p, "/nowhere/p", &e), -1);
	assert_string_equal(e.text, "/nowhere/p: No such file or directory");
	assert_int_equal(profile_open(&p, "/dev/null", &e), -1);
	assert_string_equal(e.text, "/dev/null: not a regular file");
	assert_int_equal(profile_open(&p, t.file[0], &e), -1);
	assert_non_null(strstr(e.text, "image0: not a profile of tally"));
	live_header(&t.b)->version = 77;
	assert_true(live_write(&t.b, in_dir(&t, "q")));
	assert_int_equal(profile_open(&p, in_dir(&t, "q"), &e), -1);
	assert_non_null(strstr(e.text, "version 77; this tally reads 3 to 7"));
	/* running pages were other ones then */
	live_header(&t.b)->version = PROFILE_RUNNING - 1;
	assert_true(live_write(&t.b, in_dir(&t, "q")));
	assert_int_equal(profile_open(&p, in_dir(&t, "q"), &e), -1);
	assert_non_null(strstr(e.text, "not finished, version 6"));
	live_header(&t.b)->version = PROFILE_OLDEST - 1;
	assert_true(live_write(&t.b, in_dir(&t, "q")));
	assert_int_equal(profile_open(&p, in_dir(&t, "q"), &e), -1);
	assert_non_null(strstr(e.text, "version 2"));
	live_header(&t.b)->version = PROFILE_VERSION;
	live_header(&t.b)->form = 2;
	assert_true(live_write(&t.b, in_dir(&t, "q")));
	assert_int_equal(profile_open(&p, in_dir(&t, "q"), &e), -1);
	assert_non_null(strstr(e.text, "form 2"));
	end_run(&t);
}

/* one without running counters is the same, but for what it does not have */
static void test_older(void **state)
{
	struct rng r = {38};
	struct run t;
	struct profile p;
	struct err e;

	(void)state;
	make_run_of(&r, &t, false);
	live_header(&t.b)->version = PROFILE_OLDEST;
	assert_true(live_write(&t.b, in_dir(&t, "q")));
	assert_int_equal(profile_finish(in_dir(&t, "q"), none_lives, &e), 1);
	assert_int_equal(profile_open(&p, in_dir(&t, "q"), &e), 0);
	assert_true(p.finished);
	assert_int_equal(p.nevent, 0);
	assert_int_equal(p.image.n, IMAGES);
	for (uint32_t i = 0; i < IMAGES; i++)
		check_values(&t, &p, i, i);
	profile_close(&p);
	end_run(&t);
}

/* a file that claims to be huge costs neither time nor memory */
static void test_sparse(void **state)
{
	struct rng r = {37};
	struct run t;

	(void)state;
	make_run(&r, &t);
	live_header(&t.b)->end = UINT64_C(1) << 40;
	assert_true(write_whole(t.profile, t.b.at, t.b.n));
	assert_int_equal(truncate(t.profile, (off_t)1 << 40), 0);
	check_run(&t, t.profile, false);
	end_run(&t);
}

/* cut while it is read: an error, no signal */
static void test_cut(void **state)
{
	struct rng r = {38};
	struct run t;
	struct profile p;
	struct err e;
	uint64_t *value;

	(void)state;
	make_run(&r, &t);
	assert_int_equal(profile_open(&p, t.profile, &e), 0);
	value = NEW_ARRAY(uint64_t, t.map[0].ncounter);
	assert_int_equal(truncate(t.profile, 100), 0);
	assert_int_equal(profile_add(&p, 0, 0, value, &e), -1);
	assert_non_null(strstr(e.text, "the file ends here, too early"));
	mem_free(value);
	profile_close(&p);
	end_run(&t);
}

/* room was taken that was never reserved on disk */
static void test_short(void **state)
{
	struct rng r = {39};
	struct run t;
	struct profile p;
	struct err e;

	(void)state;
	make_run(&r, &t);
	live_header(&t.b)->end = t.b.n + 5 * PROFILE_UNIT;
	assert_true(write_whole(t.profile, t.b.at, t.b.n));
	assert_int_equal(profile_open(&p, t.profile, &e), 0);
	assert_int_equal(p.header.trouble, TROUBLE_FORK | TROUBLE_CUT);
	assert_int_equal(p.process.n, PROCESSES);
	profile_close(&p);
	/* there is a better reason */
	live_header(&t.b)->trouble = TROUBLE_NO_SPACE;
	assert_true(write_whole(t.profile, t.b.at, t.b.n));
	assert_int_equal(profile_open(&p, t.profile, &e), 0);
	assert_int_equal(p.header.trouble, TROUBLE_NO_SPACE);
	profile_close(&p);
	end_run(&t);
}

static void test_alive(void **state)
{
	struct profile_process q = {.pid = (uint32_t)getpid()};
	pid_t child;

	(void)state;
	assert_true(profile_is_alive(&q));
	q.started = 1; /* another process that had this number after boot */
	assert_false(profile_is_alive(&q));
	child = fork();
	if (!child)
		_exit(0);
	assert_true(child > 0);
	q = (struct profile_process){.pid = (uint32_t)child};
	/* dead, though no wait() has asked for its status yet */
	while (profile_is_alive(&q))
		usleep(1000);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(profile_is_alive(&q));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_missing_map),
		cmocka_unit_test(test_minus),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_older),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_alive),
	};

	return cmocka_run_group_tests_name("count_profile", tests, NULL,
					   NULL);
}
