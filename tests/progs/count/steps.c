/*
 * steps: a small program without a C library, through which a debugger steps.
 */
#define OWN __attribute__((noipa))

static volatile long sink;

OWN static long gcd(long a, long b)
{
	while (b) {
		long t = a % b;

		a = b;
		b = t;
	}
	return a;
}

OWN static long kind(long n)
{
	switch (n) {
	case 0:
		return 3;
	case 1:
		return sink;
	case 2:
		return n * sink;
	case 3:
		return gcd(sink, 8);
	case 4:
		return -n;
	}
	return n;
}

OWN static long deep(long n)
{
	return n < 2 ? n : deep(n - 1) + deep(n - 2);
}

static long (*const table[])(long) = {kind, deep};

void _start(void)
{
	for (long i = 0; i < 12; i++) {
		sink += table[i % 3 == 1](i % 6);
		if (sink & 4)
			sink ^= gcd(sink, i);
	}
	register long x0 __asm__("x0") = 0;
	register long x8 __asm__("x8") = 94; /* exit_group */
	__asm__ volatile("svc #0" : : "r"(x0), "r"(x8) : "memory");
	__builtin_unreachable();
}
