/*
 * hand: threads of C++, which its library makes: std::thread, std::async, what
 * is destroyed when a thread ends, exceptions in threads.
 */
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

__attribute__((noinline)) static void work(volatile long *x)
{
	++*x;
}

__attribute__((noinline)) static long work_times(long n)
{
	volatile long x = 0;

	for (long i = 0; i < n; i++)
		work(&x);
	return x;
}

struct Mourner {
	long n = 100;
	~Mourner() { work_times(n); }
};

static thread_local Mourner mourner;

static long throws(long n)
{
	mourner.n += n;
	try {
		work_times(n);
		throw std::runtime_error("caught here");
	} catch (const std::exception &) {
		return work_times(n);
	}
}

int main()
{
	std::vector<std::thread> all;
	std::vector<std::future<long>> later;
	long sum = 0;

	for (long i = 0; i < 8; i++)
		all.emplace_back([i] { throws(10000 + i); });
	for (long i = 0; i < 8; i++)
		later.push_back(std::async(std::launch::async, throws, 500));
	for (auto &t : all)
		t.join();
	for (auto &f : later)
		sum += f.get();
	return sum == 4000 ? 0 : 1;
}
