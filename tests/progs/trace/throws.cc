/*
 * throws: exceptions that are caught some frames up, thrown again, met by
 * cleanups; where no procedure is open twice.
 */
#include <cstdio>
#include <stdexcept>

#define OUT __attribute__((noinline))

static unsigned long sum = 1;

static OUT void add(unsigned long v)
{
	sum = sum * 31 + v;
}

struct guard {
	unsigned long v;
	OUT ~guard() { add(v); }
};

static OUT void third(int n)
{
	guard g{3};

	if (n == 1)
		throw n;
	if (n == 2)
		throw std::runtime_error("two");
	add(n);
}

static OUT void second(int n)
{
	guard g{2};

	try {
		third(n);
	} catch (int v) {
		add(v);
		throw;
	}
	add(4);
}

static OUT void first(int n)
{
	guard g{1};

	second(n);
	add(5);
}

int main()
{
	for (int n = 0; n < 4; n++) {
		try {
			first(n);
		} catch (int v) {
			add(v + 10);
		} catch (const std::exception &e) {
			add(e.what()[0]);
		}
	}
	std::printf("%lu\n", sum);
	return 0;
}
