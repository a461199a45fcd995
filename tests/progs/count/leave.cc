/*
 * leave: frames that are left in every way but by returning: exceptions
 * through several of them, with and without something to clean up, caught by
 * type or by all, thrown again; longjmp() over them, and out of a handler;
 * exit() from deep inside, with work left to do at the end. Prints nothing
 * that depends on addresses.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static volatile long work;
static jmp_buf back;
static sigjmp_buf out;

struct cleaner {
	long n;
	explicit cleaner(long k) : n(k) { work += k; }
	~cleaner() { work -= n; }
};

__attribute__((noinline)) static long bare(long depth)
{
	if (!depth)
		throw std::runtime_error("bottom");
	return bare(depth - 1) + 1;
}

__attribute__((noinline)) static long tidy(long depth)
{
	cleaner c(depth);

	if (!depth)
		return bare(3);
	return tidy(depth - 1) + c.n;
}

__attribute__((noinline)) static long again(long depth)
{
	try {
		return tidy(depth);
	} catch (const std::logic_error &) {
		return -1;
	} catch (...) {
		work++;
		if (depth % 3)
			throw;
		return depth;
	}
}

static long throws(void)
{
	long sum = 0;

	for (long i = 0; i < 40; i++)
		try {
			sum += again(i % 7);
		} catch (const std::exception &e) {
			sum += e.what()[0];
		}
	return sum;
}

__attribute__((noinline)) static void dive(long depth)
{
	cleaner *c = new cleaner(depth);

	work += depth;
	delete c;
	if (!depth)
		longjmp(back, 7);
	dive(depth - 1);
	work++;
}

static long jumps(void)
{
	volatile long n = 0;

	if (setjmp(back))
		n = n + 1;
	if (n < 25)
		dive(n % 5);
	return n;
}

static void handler(int)
{
	work++;
	siglongjmp(out, 1);
}

static long handled(void)
{
	volatile long n = 0;

	signal(SIGUSR1, handler);
	if (sigsetjmp(out, 1))
		n = n + 1;
	if (n < 10)
		raise(SIGUSR1);
	return n;
}

static void at_end(void)
{
	work += throws();
	printf("end %ld\n", (long)work);
}

__attribute__((noinline)) static long leave(long depth)
{
	if (!depth)
		exit(3);
	return leave(depth - 1) + 1;
}

int main(void)
{
	printf("%ld\n", throws());
	printf("%ld\n", jumps());
	printf("%ld\n", handled());
	atexit(at_end);
	return (int)leave(9);
}
