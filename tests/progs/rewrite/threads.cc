/*
 * threads: create, join, cancel (deferred and at once), cleanup handlers,
 * destructors of the stack and of thread-local objects, pthread_exit. With a
 * word: no thread is cancelled.
 */
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "trace.h"

static std::atomic<int> made, destroyed, cleaned, ready;

struct local {
	int n = 1;
	local() { made++; }
	~local() { destroyed++; }
};
static thread_local local own;
static __thread int number;

struct guard {
	~guard() { cleaned++; }
};

static void clean(void *p)
{
	cleaned += *static_cast<int *>(p);
}

__attribute__((noinline)) static void wait_forever(int n)
{
	guard g;

	if (n) {
		wait_forever(n - 1);
		return;
	}
	ready = 1;
	for (;;)
		pause();
}

static void *deferred(void *)
{
	int ten = 10;

	pthread_cleanup_push(clean, &ten);
	wait_forever(5);
	pthread_cleanup_pop(0);
	return NULL;
}

static volatile unsigned long spins;

static void *at_once(void *)
{
	int hundred = 100, old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_cleanup_push(clean, &hundred);
	ready = 1;
	for (;;)
		spins = spins + 1;
	pthread_cleanup_pop(0);
	return NULL;
}

__attribute__((noinline)) static void leave(long n)
{
	guard g;

	pthread_exit(reinterpret_cast<void *>(n));
}

static void *exits(void *p)
{
	guard g;

	own.n++;
	leave(reinterpret_cast<long>(p));
	return NULL;
}

static void cancel(const char *what, void *(*f)(void *))
{
	pthread_t t;
	void *result;

	cleaned = ready = 0;
	pthread_create(&t, NULL, f, NULL);
	while (!ready)
		usleep(1000);
	pthread_cancel(t);
	pthread_join(t, &result);
	printf("%s: cancelled %d, cleaned %d\n", what,
	       result == PTHREAD_CANCELED, cleaned.load());
}

static int tally_of(int threads)
{
	std::mutex m;
	std::vector<std::thread> all;
	int sum = 0;

	for (int i = 0; i < threads; i++)
		all.emplace_back([&, i] {
			for (int k = 0; k < 200; k++) {
				number += i;
				errno = k;
				std::lock_guard<std::mutex> l(m);
				sum += own.n + (errno == k);
			}
			try {
				if (i % 2)
					throw std::runtime_error("odd");
			} catch (const std::exception &e) {
				std::lock_guard<std::mutex> l(m);
				sum += number == 200 * i;
			}
		});
	for (auto &t : all)
		t.join();
	return sum;
}

static std::mutex order;
static std::condition_variable changed;
static int turn;

static void ping(int me)
{
	for (int i = 0; i < 20; i++) {
		std::unique_lock<std::mutex> l(order);
		changed.wait(l, [&] { return turn % 2 == me; });
		turn++;
		changed.notify_all();
	}
}

int main(int argc, char **)
{
	pthread_t t;
	void *result;

	if (argc == 1) {
		cancel("deferred", deferred);
		cancel("at once", at_once);
	}
	cleaned = 0;
	pthread_create(&t, NULL, exits, reinterpret_cast<void *>(7));
	pthread_join(t, &result);
	printf("exited with %ld, cleaned %d, made %d, destroyed %d\n",
	       reinterpret_cast<long>(result), cleaned.load(), made.load(),
	       destroyed.load());
	printf("sum %d\n", tally_of(4));
	printf("made %d, destroyed %d\n", made.load(), destroyed.load());
	std::thread a(ping, 0), b(ping, 1);
	a.join();
	b.join();
	printf("turns %d\n", turn);
	std::thread([] { trace_print("thread"); }).join();
	pthread_create(&t, NULL, exits, NULL);
	pthread_detach(t);
	pthread_exit(NULL);
}
