/*
 * throw: exceptions: many frames, cleanups, catch by type and catch-all,
 * rethrow, and cold parts of functions that throw.
 */
#include "progs.h"

#include <stdexcept>
#include <string>

namespace {
struct guard {
	int n;
	explicit guard(int m) : n(use(m)) {}
	~guard() { use(n); }
};
struct special {
	int code;
};
}

int throw_deep(int n)
{
	guard g(n);

	if (__builtin_expect(n > 5, 0))
		throw special{n};
	if (__builtin_expect(n == 4, 0))
		throw std::runtime_error("four");
	return n < 2 ? throw_deep(n + 1) : use(n);
}

int throw_many(int n)
{
	try {
		guard a(1);
		try {
			guard b(2);
			return throw_deep(n);
		} catch (const special &s) {
			use(s.code);
			throw;
		}
	} catch (const std::exception &e) {
		return use(e.what()[0]);
	} catch (int e) {
		return e;
	} catch (...) {
		return use(9);
	}
}

int throw_strings(int n)
{
	std::string a(static_cast<size_t>(n & 7), 'x');
	std::string b = a + "y";
	guard g(n);

	try {
		b += a.at(static_cast<size_t>(n));
	} catch (const std::out_of_range &) {
		b += std::to_string(n);
	}
	return use(static_cast<int>(b.size()));
}

int throw_switch(int n)
{
	guard g(n);

	switch (n) {
	case 0: return throw_deep(1);
	case 1: throw special{2};
	case 2: return throw_many(3);
	case 3: throw 4;
	case 4: return use(5);
	case 5: return throw_strings(6);
	}
	return 7;
}

int throw_never(int n) noexcept
{
	return throw_deep(n) + 1;
}

struct base {
	virtual ~base() { use(1); }
	virtual int run(int n) { return throw_many(n); }
};
struct derived : base {
	~derived() override { use(2); }
	int run(int n) override { return base::run(n) + throw_switch(n); }
};

extern "C" int throw_all(int n, char **v)
{
	derived d;
	base *b = v ? &d : new base;

	try {
		return b->run(n) + throw_switch(n) + throw_never(n);
	} catch (...) {
		return use(3);
	}
}
