/*
 * plugin: a library that is opened and closed again and again: constructors,
 * destructors, thread-local objects, exceptions that leave it.
 */
#include <cstdio>
#include <stdexcept>

static int loads;

struct registered {
	registered() { printf("  plugin comes\n"); }
	~registered() { printf("  plugin goes\n"); }
};
static registered self;
static thread_local int calls;

__attribute__((constructor)) static void begin()
{
	loads++;
}

struct odd : std::runtime_error {
	using std::runtime_error::runtime_error;
};

extern "C" int plugin_work(int n, int (*callback)(int))
{
	calls++;
	try {
		if (n == 3)
			throw odd("odd");
		return callback(n) + calls;
	} catch (const odd &e) {
		return -1;
	}
}

extern "C" void plugin_throw(int n)
{
	if (n)
		throw std::invalid_argument("from the plugin");
}

extern "C" int plugin_loads()
{
	return loads;
}
