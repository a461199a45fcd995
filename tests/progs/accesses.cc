/*
 * A program that accesses memory in many ways: objects, strings, sorting,
 * vectors of all lengths, atomics, structures by value. It is run step by step
 * in an emulator, so it does little of each. (An exception would be dear: in
 * a static program it sorts the unwind tables.)
 */
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

enum { N = 23 };

static volatile unsigned seed = 1;

static unsigned chance()
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

struct Shape {
	virtual ~Shape() {}
	virtual double area() const = 0;
};

struct Square : Shape {
	double side;
	explicit Square(double s) : side(s) {}
	double area() const override { return side * side; }
};

struct Circle : Shape {
	float radius;
	long double exact;
	explicit Circle(float r) : radius(r), exact(r * 3.14159265358979L) {}
	double area() const override { return (double)(exact * radius); }
};

/* large, and passed by value */
struct Large {
	int64_t words[11];
	uint16_t halves[3];
	uint8_t bytes[5];
};

static __attribute__((noinline)) Large turn(Large l, int by)
{
	std::rotate(l.words, l.words + by, l.words + 11);
	l.halves[by % 3] += l.bytes[by % 5];
	return l;
}

template <class T> static __attribute__((noinline)) T sum(const T *a, int n)
{
	T s = 0;

	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

template <class T, class U>
static __attribute__((noinline)) void blend(T *to, const U *a, const U *b,
					    int n)
{
	for (int i = 0; i < n; i++)
		to[i] = static_cast<T>(a[2 * i] * b[i] + a[2 * i + 1]);
}

/* loads that turn an index of every width into an address */
template <class I>
static __attribute__((noinline)) uint64_t pick(const uint32_t *a, const I *at,
					       int n)
{
	uint64_t s = 0;

	for (int i = 0; i < n; i++)
		s = s * 3 + a[at[i] + N];
	return s;
}

static int format(char *to, size_t n, const char *as, ...)
{
	va_list args;
	int len;

	va_start(args, as);
	len = vsnprintf(to, n, as, args);
	va_end(args);
	return len;
}

template <class T> static uint64_t count_atomically(std::atomic<T> &a)
{
	T was = a.load(std::memory_order_acquire);

	a.fetch_add(3);
	a.fetch_or(static_cast<T>(0x11), std::memory_order_relaxed);
	a.fetch_xor(5, std::memory_order_acq_rel);
	a.fetch_and(0x7f);
	a.exchange(9, std::memory_order_release);
	a.compare_exchange_strong(was, 7);
	a.compare_exchange_strong(was, 8);
	a.store(was, std::memory_order_release);
	return was + a.fetch_sub(1);
}

static uint64_t atomics()
{
	static std::atomic<uint8_t> byte(1);
	static std::atomic<uint16_t> half(2);
	static std::atomic<uint32_t> word(3);
	static std::atomic<uint64_t> wide(4);

	return count_atomically(byte) + count_atomically(half) +
	       count_atomically(word) + count_atomically(wide);
}

static uint64_t strings()
{
	char a[300], b[300];
	uint64_t s = 0;

	for (unsigned n : {0, 1, 3, 7, 8, 15, 16, 31, 33, 64, 100, 129, 250}) {
		memset(a, 'a' + n % 20, n);
		a[n] = 0;
		memcpy(b, a, n + 1);
		memmove(b + 3, b, n);
		s = s * 7 + strlen(a) + strcmp(a, b) + strlen(b + 1);
		s += strchr(a, 'b') != nullptr;
		s += memchr(b, 'c', n) != nullptr;
		s += memcmp(a, b, n) > 0;
		s += strspn(a, "abc");
	}
	return s + format(a, sizeof a, "%d %s %.3f %Lg %lx", -5, "five", 5.5,
			  5.25L, 0x5555UL);
}

static uint64_t vectors()
{
	static float floats[4 * N];
	static double doubles[4 * N];
	static uint8_t bytes[4 * N], more[4 * N];
	static uint16_t halves[4 * N];
	static uint32_t words[4 * N];
	static int8_t narrow[N];
	static int32_t middle[N];
	static int64_t whole[N];
	static uint8_t unsign[N];

	for (int i = 0; i < 4 * N; i++) {
		floats[i] = doubles[i] = chance() % 100;
		bytes[i] = more[i] = halves[i] = words[i] = chance();
	}
	for (int i = 0; i < N; i++) {
		whole[i] = middle[i] = narrow[i] = (int)(chance() % N) - N / 2;
		unsign[i] = chance() % N;
	}
	blend(floats, floats + 1, floats + 2, N);
	blend(doubles, floats, floats + 2, N);
	blend(bytes, more, more + 3, N);
	blend(halves, bytes, more, N);
	blend(words, halves, halves + 5, N);
	return (uint64_t)(sum(floats, N) + sum(doubles, 3 * N)) +
	       sum(bytes, 3 * N) + sum(halves, N) + sum(words, 2 * N - 1) +
	       pick(words, narrow, N) + pick(words, middle, N) +
	       pick(words, whole, N) + pick(words, unsign, N);
}

static uint64_t objects()
{
	std::map<std::string, std::vector<int>> all;
	std::vector<Shape *> shapes;
	Large l = {};
	double area = 0;

	for (int i = 0; i < N; i++) {
		all[std::to_string(chance() % 7)].push_back(i);
		if (i % 2)
			shapes.push_back(new Square(i));
		else
			shapes.push_back(new Circle(i));
	}
	std::sort(shapes.begin(), shapes.end(),
		  [](Shape *a, Shape *b) { return a->area() < b->area(); });
	for (Shape *s : shapes)
		area += std::sqrt(s->area());
	for (Shape *s : shapes)
		delete s;
	for (int i = 0; i < 10; i++)
		l = turn(l, i);
	return (uint64_t)area + all.begin()->second.size() + l.halves[1];
}

int main()
{
	uint64_t s = vectors() + atomics() + strings() + objects();
	printf("%llu\n", (unsigned long long)s);
	return 0;
}
