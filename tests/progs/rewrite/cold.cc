/*
 * cold: functions in two parts; the landing pads are in the cold one.
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "trace.h"

struct guard {
	int &n;
	explicit guard(int &m) : n(m) { n++; }
	~guard() { n--; }
};

static int depth;

__attribute__((cold, noinline)) static void complain(int n)
{
	guard g(depth);

	trace_print("cold");
	if (n % 3 == 0)
		throw std::runtime_error("three");
	if (n % 3 == 1)
		throw n;
}

__attribute__((noinline)) static int work(int n, int *seen)
{
	guard g(depth);
	int x = n;

	for (int i = 0; i < n; i++)
		x = x * 7 + i;
	if (__builtin_expect(n > 900, 0)) {
		seen[0]++;
		complain(n);
		printf("back in the cold part, %d\n", n);
		x ^= seen[0];
	}
	try {
		if (__builtin_expect(n == 500, 0))
			throw "five hundred";
	} catch (const char *s) {
		printf("%s\n", s);
		seen[1]++;
	}
	return x;
}

int main()
{
	int seen[2] = {0, 0};
	unsigned sum = 0;

	for (int i = 0; i < 904; i++)
		try {
			sum += (unsigned)work(i, seen);
		} catch (const std::exception &e) {
			printf("%d: %s, depth %d\n", i, e.what(), depth);
		} catch (int n) {
			printf("%d: number %d, depth %d\n", i, n, depth);
		}
	printf("%u %d %d, depth %d\n", sum, seen[0], seen[1], depth);
	return depth;
}
