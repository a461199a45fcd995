/*
 * keep: values that stay in scratch registers across calls, which the
 * platform's convention does not promise but compilers know: callees that
 * were looked into (gcc -fipa-ra), outline atomics, TLS descriptors (as part
 * of a shared library), the hook of gcc -pg, and exceptions' landing pads
 * when compiled as C++. Prints sums; they must be the same whatever happens
 * to registers that are dead.
 */
#include <stdio.h>
#include <stdlib.h>

#define PART __attribute__((noinline, noclone))

static unsigned table[64];
static __thread unsigned local = 3;
__thread unsigned shared = 5;
static unsigned counter;

static PART unsigned leaf(unsigned x)
{
	return table[x & 63] ^ x >> 3;
}

static PART unsigned branch(unsigned x)
{
	return x & 1 ? leaf(x * 5) : leaf(x + 9) + 1;
}

/* a, b, c, d live in scratch registers across the calls */
static PART unsigned keep(unsigned a, unsigned b, unsigned c, unsigned d)
{
	unsigned x = leaf(a);

	x += leaf(x ^ b);
	return (x * 3 + a) ^ (b + c * 7) ^ (leaf(d) + d);
}

static PART unsigned deeper(unsigned a, unsigned b, unsigned c)
{
	unsigned x = branch(a + 1);

	return x * a + branch(b) * b + c;
}

static PART unsigned count(unsigned a, unsigned b, unsigned c)
{
	unsigned old = __atomic_fetch_add(&counter, a, __ATOMIC_SEQ_CST);

	return old * 31 + a * b + c;
}

static PART unsigned swap(unsigned a, unsigned b)
{
	unsigned want = b;

	__atomic_compare_exchange_n(&counter, &want, a, 0, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	return want ^ a + b;
}

/* arguments are in place before the thread's variable is found */
PART unsigned threads(unsigned a, unsigned b, unsigned c, unsigned d,
		      unsigned e, unsigned f, unsigned g, unsigned h)
{
	local += a;
	shared ^= local + b;
	return (local + shared * a + b * c) ^ (d + e * f) ^ (g + h * 3);
}

#ifdef __cplusplus
static PART void thrower(unsigned x)
{
	if (x % 3 == 0)
		throw x;
}

static PART unsigned catcher(unsigned a, unsigned b)
{
	unsigned x = a;

	try {
		x = leaf(b);
		thrower(a);
		x += b;
		thrower(b);
	} catch (unsigned v) {
		return x * 17 + v + a;
	}
	return x + a;
}
#else
static PART unsigned catcher(unsigned a, unsigned b)
{
	return leaf(a) * b;
}
#endif

int main(void)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < 64; i++)
		table[i] = i * 2654435761u;
	for (unsigned i = 0; i < 40; i++) {
		sum = sum * 31 + keep(i, sum, i + 2, sum >> 4);
		sum = sum * 31 + deeper(i, sum, i);
		sum = sum * 31 + count(i, 3, sum);
		sum = sum * 31 + swap(i, sum);
		sum = sum * 31 + threads(i, sum, 3, i, 5, sum, 7, i);
		sum = sum * 31 + catcher(i, i * 7 + 1);
	}
	printf("%u\n", sum);
	return (int)(sum % 100);
}
