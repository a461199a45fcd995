/*
 * edges: every kind of edge that code has, each many times, and different
 * times each. What it prints depends on nothing but its arithmetic, so that
 * what runs is the same wherever the code lies.
 */
#include <csignal>
#include <cstdio>
#include <stdexcept>

extern "C" {
/* edges-aarch64.S */
long edges_both(long n), edges_self(long n), edges_entry(long n);
long edges_first(long n), edges_second(long n), edges_jump(long n);
long edges_crowded(long n), edges_swap(long *word, long n);
long edges_inward(long n);
long edges_behind(long n);
long edges_call(long (*f)(long), long n);
}

#define NOINLINE __attribute__((noinline))

static volatile long sink;

NOINLINE long leaf(long n)
{
	sink = sink + n;
	return n & 3;
}

/* a table in which several entries lead to one target, and a loop over it */
NOINLINE static long tables(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		switch (i % 11) {
		case 0: sum += leaf(i); break;
		case 1: case 4: case 9: sum ^= leaf(i + 1); break;
		case 2: sum -= 3;
			/* fall through */
		case 3: sum += 7; break;
		case 5: sum *= 3; break;
		case 6: continue;
		case 7: case 8: sum += leaf(sum); break;
		default: sum--;
		}
	return sum;
}

/* two tables of one function with targets in common */
NOINLINE static long pair(long a, long b)
{
	long sum = 0;

	switch (a) {
	case 0: sum = leaf(1); break;
	case 1: goto shared;
	case 2: sum = leaf(2) + 5; break;
	case 3: sum = leaf(3); goto other;
	case 4: shared: sum += leaf(9); break;
	case 5: sum = 77; break;
	}
	switch (b) {
	case 0: sum += leaf(4); break;
	case 1: sum += leaf(5) * 2; break;
	case 2: other: sum += leaf(6) * 3; break;
	case 3: sum += 1; break;
	case 4: sum += leaf(7); break;
	case 5: return sum;
	}
	return sum + 1;
}

#define NEXT goto *op[*pc++ & 7]

/* threaded code: many jumps that share their targets */
NOINLINE static long threaded(const unsigned char *pc)
{
	static const void *const op[] = {&&add, &&sub, &&mul, &&neg, &&swap,
					 &&turn, &&skip, &&stop};
	long a = 0, b = 1, t;

	NEXT;
add: a += b; NEXT;
sub: a -= b; NEXT;
mul: a *= 3; NEXT;
neg: a = -a; NEXT;
swap: t = a; a = b; b = t; NEXT;
turn: a ^= b; NEXT;
skip: pc++; NEXT;
stop: return a + b;
}

/* the same with a call: gcc keeps the table's address in a scratch register */
NOINLINE static long calling(const unsigned char *pc)
{
	static const void *const op[] = {&&add, &&sub, &&call, &&call, &&sub,
					 &&add, &&call, &&stop};
	long a = 0, b = 1;

	NEXT;
add: a += b; NEXT;
sub: a -= b; NEXT;
call: b += leaf(a); NEXT;
stop: return a + b;
}

/* labels in memory that anybody could change: a jump to who knows where */
NOINLINE static long labels(long n)
{
	static void *volatile next[3];
	long sum = 0;

	next[0] = &&one;
	next[1] = &&two;
	next[2] = &&done;
again:
	goto *next[n > 0 ? n % 2 : 2];
one: sum += 3; n--; goto again;
two: sum += leaf(n); n--; goto again;
done: return sum;
}

struct guard {
	long n;
	explicit guard(long m) : n(m) {}
	~guard() { sink = sink + n; }
};
struct special {
	long code;
};

NOINLINE static long thrower(long n)
{
	if (n % 5 == 1)
		throw special{n};
	if (n % 5 == 2)
		throw std::runtime_error("two");
	if (n % 5 == 3)
		throw n;
	return n;
}

/* several calls with one landing pad, and one call with cleanups before it */
NOINLINE static long catcher(long n)
{
	long sum = 0;

	try {
		guard a(n);
		sum += thrower(n);
		guard b(n + 1);
		sum += thrower(n + 3);
		sum += thrower(n + 1);
	} catch (const special &s) {
		sum += s.code;
	} catch (const std::exception &e) {
		sum += e.what()[0];
	} catch (long e) {
		sum -= e;
	}
	return sum;
}

/* handlers that are calls with landing pads of their own */
NOINLINE static long nested(long n)
{
	try {
		guard a(n);
		try {
			return catcher(n) + thrower(n);
		} catch (long e) {
			if (e & 1)
				throw;
			return thrower(n + 4);
		}
	} catch (...) {
		return leaf(n);
	}
}

/* the same in a cold part */
NOINLINE static long chilly(long n)
{
	guard g(n);

	if (__builtin_expect(n % 7 == 6, 0)) {
		guard h(n * 2);
		try {
			return thrower(n);
		} catch (const special &) {
			return 8;
		} catch (...) {
			return thrower(n * 5);
		}
	}
	return leaf(n);
}

/* calls by pointer, virtual calls, tail calls, recursion */
struct base {
	virtual ~base() {}
	virtual long run(long n) { return leaf(n); }
};
struct derived : base {
	long run(long n) override { return n & 1 ? base::run(n) : n; }
};

NOINLINE static long even(long n);
NOINLINE static long odd(long n) { return n <= 0 ? 0 : even(n - 1); }
NOINLINE static long even(long n) { return n <= 0 ? 1 : odd(n - 1); }
NOINLINE static long deep(long n) { return n ? deep(n - 1) + leaf(n) : 5; }

NOINLINE static long calls(long n)
{
	long (*const f[])(long) = {leaf, odd, deep, edges_self, tables};
	derived d;
	base b, *v[] = {&b, &d};
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += f[i % 5](i) + v[i % 2]->run(i) + edges_call(leaf, i);
	return sum;
}

static void on_signal(int)
{
	sink = sink + 1;
}

static long by_hand(long i)
{
	long word = i;

	return edges_both(i) + edges_self(i) + edges_entry(i) +
	       edges_first(i) + edges_second(i) + edges_jump(i) +
	       edges_crowded(i % 4) + edges_swap(&word, i) + word +
	       edges_inward(i) + edges_behind(i);
}

int main()
{
	static const unsigned char program[] = {
		0, 0, 1, 2, 3, 4, 5, 6, 9, 0, 5, 2, 4, 1, 1, 0, 3, 6, 1, 7};
	long sum = tables(333);

	for (long i = 0; i < 60; i++)
		sum = sum * 3 + catcher(i) + nested(i) + chilly(i) +
		      pair(i % 7, i % 6) + by_hand(i);
	for (long i = 0; i < 9; i++)
		sum += threaded(program + i % 3) * i + calling(program + i);
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < 5; i++)
		raise(SIGUSR1);
	sum += labels(20) + calls(40);
	printf("%ld %ld\n", sum, sink);
	return (int)(sum & 63);
}
