// lines: functions that are inlined into each other, an overloaded one, a
// template, and a branch that is never taken.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static inline __attribute__((always_inline)) long square(long x)
{
	return x * x;
}

namespace shop {
template <class T> struct Sum {
	T total{};
	void add(T x) { total += square(x); }
	__attribute__((noinline)) T often(int n)
	{
		for (int i = 0; i < n; i++)
			if (i % 3)
				add(i);
			else
				total--;
		return total;
	}
};
} // namespace shop

__attribute__((noinline)) long work(int n)
{
	shop::Sum<long> s;

	if (n < 0) {
		puts("never");
		abort();
	}
	s.often(n);
	return s.total;
}

__attribute__((noinline)) int work(double n)
{
	shop::Sum<int> s;

	s.often((int)n);
	return s.total;
}

int main()
{
	std::vector<std::string> v;

	for (int i = 0; i < 100; i++)
		v.push_back(std::to_string(i));
	printf("%ld %d %zu\n", work(1000), work(7.5), v.size());
	return 0;
}
