/*
 * throw: C++ exceptions: many frames, rethrow, catch-all, specifications,
 * cleanups, through C code, nested, out of constructors, uncaught.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "trace.h"

namespace {

int alive;

struct guard {
	const char *name;
	explicit guard(const char *n) : name(n) { alive++; }
	~guard()
	{
		alive--;
		if (name)
			printf("  ~%s\n", name);
	}
};

struct quiet {
	quiet() { alive++; }
	~quiet() { alive--; }
};

struct base {
	virtual ~base() {}
	int code = 0;
};
struct derived : base {
	explicit derived(int c) { code = c; }
};

__attribute__((noinline)) int deep(int n)
{
	quiet q;

	if (n == 0)
		throw derived(42);
	return deep(n - 1) + 1;
}

__attribute__((noinline)) void again(int n)
{
	guard g("again");

	try {
		deep(n);
	} catch (base &b) {
		b.code++;
		throw;
	}
}

__attribute__((noinline)) void specified(int n) noexcept(false)
{
	if (n)
		throw std::out_of_range("specified");
}

struct member {
	guard a, b;
	explicit member(bool fail) : a("a"), b("b")
	{
		if (fail)
			throw std::string("constructor");
	}
};

int compare(const void *a, const void *b)
{
	int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);

	if (x == 13 || y == 13)
		throw 13;
	return x - y;
}

/* an exception crosses qsort of the C library */
void through_c()
{
	int v[32];

	for (int i = 0; i < 32; i++)
		v[i] = (i * 11) % 32;
	try {
		guard g("sorter");
		qsort(v, 32, sizeof v[0], compare);
	} catch (int n) {
		printf("through C: %d\n", n);
	}
}

struct thrower_in_cleanup {
	~thrower_in_cleanup()
	{
		try {
			throw std::runtime_error("inner");
		} catch (const std::exception &e) {
			printf("  in a cleanup: %s\n", e.what());
		}
	}
};

void nested()
{
	try {
		try {
			thrower_in_cleanup t;
			throw std::logic_error("outer");
		} catch (const std::logic_error &e) {
			std::throw_with_nested(std::runtime_error("around"));
		}
	} catch (const std::exception &e) {
		printf("nested: %s", e.what());
		try {
			std::rethrow_if_nested(e);
		} catch (const std::exception &inner) {
			printf(" of %s\n", inner.what());
		}
	}
}

void by_pointer()
{
	std::exception_ptr p;

	try {
		std::vector<int>(3).at(7);
	} catch (...) {
		p = std::current_exception();
	}
	try {
		std::rethrow_exception(p);
	} catch (const std::out_of_range &) {
		printf("out of range, by pointer\n");
	}
}

struct visible {
	~visible() { trace_print("cleanup"); }
};

void seen_from_cleanup()
{
	try {
		visible v;
		deep(3);
	} catch (...) {
		trace_print("handler");
	}
}

__attribute__((noinline)) void lie() noexcept
{
	specified(1);
}

[[noreturn]] void on_terminate()
{
	printf("terminate: %s\n", std::current_exception() ? "exception" :
							     "none");
	trace_print("terminate");
	abort();
}

} /* namespace */

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	for (int i = 0; i < 300; i++)
		try {
			again(i % 50 ? 0 : i);
		} catch (const derived &d) {
			if (i % 50 == 0)
				printf("caught %d after %d\n", d.code, i);
		}
	try {
		specified(0);
		specified(1);
	} catch (const std::logic_error &e) {
		printf("caught %s\n", e.what());
	}
	try {
		member m(true);
	} catch (const std::string &s) {
		printf("caught %s\n", s.c_str());
	}
	try {
		throw &alive;
	} catch (const char *) {
		printf("wrong\n");
	} catch (int *p) {
		printf("caught a pointer: %d\n", p == &alive);
	}
	try {
		throw 1.5;
	} catch (int) {
		printf("wrong\n");
	} catch (...) {
		printf("caught something\n");
	}
	through_c();
	nested();
	by_pointer();
	seen_from_cleanup();
	printf("alive %d\n", alive);
	fflush(stdout);
	if (!strcmp(how, "uncaught"))
		throw std::runtime_error("nobody catches this");
	if (!strcmp(how, "noexcept"))
		lie();
	if (!strcmp(how, "terminate")) {
		std::set_terminate(on_terminate);
		deep(5);
	}
	return alive;
}
