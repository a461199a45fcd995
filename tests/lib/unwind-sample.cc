// unwind-sample: what exception tables may have: exception specifications,
// lists of types, catch-all, pads in cold parts, arguments on the stack,
// frames of unknown size. Compile as C++14 or before.
#include <alloca.h>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

struct guard {
	int n;
	explicit guard(int m) : n(m) {}
	~guard() { std::printf("~%d\n", n); }
};

struct big {
	long v[9];
};

int by_value(big a, big b, int n);
int only_ints(int n) throw(int);
int two_types(int n) throw(int, std::runtime_error);
int never(int n) throw();

__attribute__((noinline)) int by_value(big a, big b, int n)
{
	if (n == 3)
		throw std::runtime_error("three");
	if (n == 4)
		throw n;
	return (int)(a.v[n & 7] + b.v[1]);
}

__attribute__((noinline)) int only_ints(int n) throw(int)
{
	guard g(n);
	big a = {{1, 2, 3}}, b = {{n}};

	return by_value(a, b, n);
}

__attribute__((noinline)) int two_types(int n) throw(int, std::runtime_error)
{
	guard g(n);
	big a = {{1, 2, 3}}, b = {{n}};

	return by_value(a, b, n) + (n > 8 ? only_ints(n) : 0);
}

__attribute__((noinline)) int never(int n) throw()
{
	big a = {{1}}, b = {{2}};

	return n < 0 ? by_value(a, b, -n) : n;
}

__attribute__((noinline)) int grows(int n)
{
	char *p = (char *)alloca((size_t)n * 16 + 16);
	guard g(n);

	std::memset(p, n, (size_t)n * 16);
	try {
		return two_types(n) + p[n];
	} catch (std::logic_error &) {
		return 1;
	} catch (int i) {
		return i + p[0];
	} catch (...) {
		guard h(-n);
		if (n > 100)
			throw;
		return never(n);
	}
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 6; i++)
		sum += grows(i + argc - 1);
	std::printf("%d %s\n", sum, argv[0] ? "done" : "");
	return 0;
}
