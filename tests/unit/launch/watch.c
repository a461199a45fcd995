/*
 * launch/watch: threads of a process that is killed, seen by its watcher
 * (src/launch/watch.h). The process counts nothing: it has what the code that
 * travels in programs would have, and a profile with its chunk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/watch_int.h"
#include "runtime/counting.h"

enum {
	CHUNK = PROFILE_FIRST,
	CHUNK_SIZE = 8192,
	FILE_SIZE = CHUNK + CHUNK_SIZE,
	THREADS = 3,
	BASE = 0x1000, /* what addresses are less by in the file */
};

/* memory that the process shares with the test: which thread has arrived */
struct crew {
	uint32_t n; /* that have taken a place */
	volatile char there[2 * THREADS];
};

/* a file with one chunk, mapped */
struct sample {
	char name[32];
	char *map;
	struct chunk_process *k;
	struct watch w;
	pid_t group; /* of the process and its children */
	struct crew *crew;
};

static int setup(void **state)
{
	struct sample *s = calloc(1, sizeof *s);
	struct profile_header *h;
	int fd;

	strcpy(s->name, "/tmp/tally-watch-XXXXXX");
	fd = mkstemp(s->name);
	assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
	s->map = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	close(fd);
	h = (void *)s->map;
	h->magic = PROFILE_MAGIC;
	h->version = PROFILE_VERSION;
	h->end = FILE_SIZE;
	s->k = (void *)(s->map + CHUNK);
	s->k->chunk = (struct profile_chunk){CHUNK_MAGIC, CHUNK, CHUNK_SIZE,
					     CHUNK_PROCESS, 1};
	s->crew = mmap(NULL, sizeof *s->crew, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(s->crew, MAP_FAILED);
	watch_open(&s->w, s->name);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct sample *s = *state;

	kill(-s->group, SIGKILL);
	watch_close(&s->w);
	munmap(s->map, FILE_SIZE);
	unlink(s->name);
	munmap(s->crew, sizeof *s->crew);
	free(s);
	return 0;
}

/* --- in the process */

/* the next place of the crew */
static volatile char *take_place(const struct sample *s)
{
	return &s->crew->there[__atomic_fetch_add(&s->crew->n, 1,
						  __ATOMIC_RELAXED)];
}

/*
 * A function of which nothing is known but where it begins and ends. It says
 * itself that it is entered: what is only about to enter it may have to wait
 * for a processor for any time.
 */
__attribute__((noinline, section("spin_code"), used))
static void spin(volatile char *there)
{
	*there = 1;
	for (volatile long i = 0;; i++)
		;
}
extern char __start_spin_code[], __stop_spin_code[];

static void *spin_ready(void *s)
{
	spin(take_place(s));
	return NULL;
}

/* an object with counters is where spin() is */
static void begin_counting(const struct sample *s)
{
	static struct counted_image m;
	static struct counting c;

	m.base = (uintptr_t)__start_spin_code - BASE;
	m.low = BASE;
	m.counters = __stop_spin_code;
	m.id[0] = 77;
	c.number = 1;
	c.pid = (uint32_t)getpid();
	c.image = (struct list){&m, 1, 1};
	s->k->pid = c.pid;
	s->k->here = (uintptr_t)&c;
}

static void run_spinning(struct sample *s)
{
	begin_counting(s);
	spin_ready(s);
}

static void run_waiting(struct sample *s)
{
	begin_counting(s);
	*take_place(s) = 1;
	for (;;)
		pause();
}

/* some threads spin, one waits; the last one is the first's */
static void run_threads(struct sample *s)
{
	pthread_t t;

	begin_counting(s);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t, NULL, spin_ready, s);
	for (;;)
		pause();
}

/* the process that counts is a child, in which vfork() has a child */
static void run_lender(struct sample *s)
{
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, NULL, 0);
		_exit(5);
	}
	begin_counting(s);
	if (!vfork())
		spin_ready(s);
	for (;;)
		pause();
}

static void run_to_end(struct sample *s)
{
	pthread_t t;

	begin_counting(s);
	pthread_create(&t, NULL, spin_ready, s);
	/* when all are there, one ends the process in the midst of others */
	while (!s->crew->there[0])
		usleep(1000);
	s->k->ended = ENDED_BY_ITSELF;
	s->k->moving = 1;
	_exit(7);
}

/* --- from outside */

/* starts a process that does this, watched */
static pid_t start(struct sample *s, void (*run)(struct sample *s))
{
	int go[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		close(go[1]);
		if (read(go[0], &c, 1) == 0)
			run(s);
		_exit(98);
	}
	setpgid(pid, pid);
	s->group = pid;
	assert_int_equal(watch_seize(&s->w, pid), 0);
	close(go[0]);
	close(go[1]);
	return pid;
}

/* takes what happens until the process has ended; its status */
static int wait_for(struct sample *s, pid_t pid)
{
	int status;
	pid_t got;

	while ((got = waitpid(-1, &status, __WALL)) > 0) {
		watch_event(&s->w, got, status);
		if (got == pid && !WIFSTOPPED(status))
			return status;
	}
	fail();
	return -1;
}

/* takes what happens until so many are where they will be */
static void await(struct sample *s, int n)
{
	int status;
	pid_t got;

	for (int i = 0; i < n; usleep(1000)) {
		while ((got = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
			watch_event(&s->w, got, status);
		i += s->crew->there[i];
	}
}

/* so many ended in spin(), and nothing else is noted */
static void check_spinning(const struct sample *s, uint64_t want)
{
	uint64_t size = (uint64_t)(__stop_spin_code - __start_spin_code);
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->k->nend; i++) {
		const struct process_end *e = &s->k->end[i];

		assert_int_equal(e->id[0], 77);
		assert_int_equal(e->counters, BASE + size);
		assert_in_range(e->address, BASE, BASE + size - 1);
		n += e->count;
	}
	assert_int_equal(n, want);
	assert_int_equal(s->k->lost, 0);
}

static void kill_and_check(struct sample *s, void (*run)(struct sample *),
			   int ready, uint64_t want)
{
	pid_t pid = start(s, run);
	int status;

	await(s, ready);
	kill(pid, SIGKILL);
	status = wait_for(s, pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	check_spinning(s, want);
	assert_int_equal(s->k->ended, ENDED_WATCHED);
}

static void test_running(void **state)
{
	kill_and_check(*state, run_spinning, 1, 1);
}

static void test_waiting(void **state)
{
	kill_and_check(*state, run_waiting, 1, 0);
}

static void test_threads(void **state)
{
	kill_and_check(*state, run_threads, THREADS, THREADS);
}

/* a child of vfork() runs in its parent's memory, and ends there */
static void test_lender(void **state)
{
	struct sample *s = *state;
	pid_t pid = start(s, run_lender), child = 0, lender;
	int status;

	await(s, 1);
	lender = (pid_t)s->k->pid;
	for (size_t i = 0; i < s->w.process.n; i++)
		if (s->w.process.at[i].lender == lender)
			child = s->w.process.at[i].pid;
	assert_true(child > 0);
	kill(child, SIGKILL);
	wait_for(s, child);
	assert_int_equal(s->k->ended, ENDED_NOT);
	kill(lender, SIGKILL);
	status = wait_for(s, pid);
	assert_int_equal(WEXITSTATUS(status), 5);
	check_spinning(s, 1);
	assert_int_equal(s->k->ended, ENDED_WATCHED);
}

/* other threads run when one of them ends the process */
static void test_moving(void **state)
{
	struct sample *s = *state;
	pid_t pid = start(s, run_to_end);
	int status = wait_for(s, pid);

	assert_int_equal(WEXITSTATUS(status), 7);
	check_spinning(s, 1);
	assert_int_equal(s->k->ended, ENDED_BY_ITSELF);
	assert_int_equal(s->k->moving, 0);
}

/* a thread that has noted it itself is not noted again */
static void run_said(struct sample *s)
{
	struct counting *c;

	begin_counting(s);
	c = (void *)(uintptr_t)s->k->here;
	c->said[0] = (uint32_t)gettid();
	c->nsaid = 1;
	spin_ready(s);
}

static void test_said(void **state)
{
	kill_and_check(*state, run_said, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_running), T(test_waiting), T(test_threads),
		T(test_lender),	 T(test_moving),  T(test_said),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
