/*
 * fault: an exception that no call throws: it comes from a signal handler, at
 * a load, and lands in the landing pad of that load.
 */
#include <csignal>
#include <cstdio>

static volatile int count;

struct guard {
	~guard() { count = count + 1; }
};

static void on_fault(int)
{
	throw 5;
}

__attribute__((noinline)) static int load(volatile int *p)
{
	guard g;

	return *p;
}

int main()
{
	struct sigaction a = {};
	int n = 0, good = 7;

	a.sa_handler = on_fault;
	a.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &a, nullptr);
	for (int i = 0; i < 6; i++)
		try {
			n += load(i % 2 ? &good : nullptr);
		} catch (int e) {
			n += e;
		}
	printf("%d %d\n", n, count);
	return n & 63;
}
