/*
 * answers: a program for questions about its counts. Its words say how much of
 * what it does. NEWER is another build of it: `changed` does more, `gone` is
 * no more, `added` is new, and what is in front moves all the rest.
 */
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned sink;

#ifdef NEWER
KEEP void added(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i ^ 0x55;
}
#else
KEEP void gone(unsigned n)
{
	sink += n;
}
#endif

/* a loop in a loop */
KEEP void nested(unsigned n, unsigned m)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < m; k++)
			sink += i * k;
}

KEEP void changed(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		sink += i;
#ifdef NEWER
		if (i % 3 == 1)
			sink -= 7;
#endif
	}
	sink *= 2;
}

/* a switch, one case of which is never taken */
KEEP void choose(unsigned n)
{
	switch (n % 7) {
	case 0: sink += 3; break;
	case 1: sink -= 5; break;
	case 2: sink ^= 9; break;
	case 3: sink |= 2; break;
	case 4: sink *= 3; break;
	case 5: sink = ~sink; break;
	default: sink = 0;
	}
}

KEEP void never(void)
{
	sink = 99;
}

/* answers N M: loops of N, and M choices */
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
	unsigned m = argc > 2 ? (unsigned)atoi(argv[2]) : 6;

	if (n == 12345)
		never();
#ifdef NEWER
	added(n);
#else
	gone(n);
#endif
	nested(n, 3);
	changed(n);
	for (unsigned i = 0; i < m; i++)
		choose(i);
	return 0;
}
