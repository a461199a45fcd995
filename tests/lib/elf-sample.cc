// elf-sample: exceptions, cleanups, cold parts, constructors, tables of
// pointers, thread-local and weak symbols: something of everything that the
// ELF reader looks at.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

struct guard {
	const char *name;
	explicit guard(const char *n) : name(n) {}
	~guard() { std::printf("%s\n", name); }
};

struct base {
	virtual ~base() {}
	virtual int run(int n) = 0;
};

struct thrower : base {
	int run(int n) override
	{
		guard g("thrower");
		if (n > 2)
			throw std::runtime_error("n" + std::to_string(n));
		return n;
	}
};

thread_local int depth = 3;
extern "C" void maybe(void) __attribute__((weak));
static int first(int n) { return n + depth; }
static int second(int n) { return n * depth; }
int (*const table[])(int) = {first, second, std::abs};

__attribute__((constructor)) static void begin_sample(void)
{
	std::puts("begin");
}

__attribute__((destructor)) static void end_sample(void)
{
	std::puts("end");
}

static int many(base *b, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		std::string s(i, 'x');
		try {
			sum += b->run(i) + table[i % 3](i);
		} catch (const std::logic_error &e) {
			sum += 1;
		} catch (const std::runtime_error &e) {
			guard g(e.what());
			sum -= (int)s.size();
			if (i > 4)
				throw;
		}
	}
	return sum;
}

int nothing(int n) noexcept { return n > 7 ? std::abs(n) : many(nullptr, 0); }

int main(int argc, char **argv)
{
	thrower t;

	if (maybe)
		maybe();
	try {
		std::printf("%d %d\n", many(&t, argc + 6), nothing(argc));
	} catch (...) {
		std::puts("caught");
	}
	return argv[argc] != nullptr;
}
