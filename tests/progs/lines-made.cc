// lines-made: functions that the compiler makes on the lines of others,
// exceptions caught on the line that throws them, lambdas, and functions whose
// last line is also what an exception passes.
#include <cstdio>
#include <cstdlib>
#include <string>

struct Base {
	virtual ~Base();
	virtual int area() const = 0;
};

Base::~Base()
{
}

#define SHAPE(name, size) \
	struct name : Base { \
		std::string text = #name; \
		static Base *make() { return new name(); } \
		int area() const override { return size; } \
	}

SHAPE(Square, 16);
SHAPE(Circle, 12);

#define THROWS(call) \
	do { try { call; } catch (int) { caught++; } } while (0)

static int caught;

__attribute__((noinline)) static int check(int n)
{
	if (n > 5)
		throw n;
	return n + 1;
}

__attribute__((noinline)) static size_t twice(int n)
{
	std::string s = std::to_string(n);

	s += s;
	return s.size() + check(n % 6);
}

int main()
{
	size_t sum = 0;
	auto add = [&](int n) { sum += n; };

	for (int i = 0; i < 10; i++) {
		Base *b = i % 3 ? Square::make() : Circle::make();
		sum += b->area();
		delete b;
		THROWS(check(i));
		THROWS(check(i - 3); check(i + 1));
		sum += twice(i);
		add(i);
	}
	if (sum == 1)
		abort();
	printf("%zu %d\n", sum, caught);
	return 0;
}
