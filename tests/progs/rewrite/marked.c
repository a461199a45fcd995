/*
 * marked: a program without any library, all of whose code is compiled with
 * branch protection: the processor faults at indirect branches to places that
 * are not marked.
 */
static long call_system(long number, long a, long b, long c)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2)
			 : "memory");
	return x0;
}

static void print(unsigned n)
{
	char text[12];
	int i = 11;

	text[i] = '\n';
	do
		text[--i] = (char)('0' + n % 10);
	while (n /= 10);
	call_system(64, 1, (long)(text + i), 12 - i);
}

static unsigned one(unsigned n)
{
	return n + 1;
}

static unsigned two(unsigned n)
{
	return n * 2;
}

static unsigned (*volatile call[])(unsigned) = {one, two};

__attribute__((noinline)) static unsigned choose(unsigned n, unsigned x)
{
	static const void *const to[] = {&&a, &&b, &&c};

	switch (n) {
	case 0: x += 3; break;
	case 1: x ^= 5; break;
	case 2: return x;
	case 3: x -= 7; break;
	case 4: x *= 9; break;
	case 5: x = ~x; break;
	case 6: x >>= 1; break;
	}
	goto *to[n % 3];
a:	x += 1;
b:	x += 2;
c:	return x;
}

__attribute__((used)) static void run(void)
{
	unsigned x = 1;

	for (unsigned i = 0; i < 100; i++)
		x = choose(i % 8, call[i & 1](x));
	print(x);
	call_system(94, 7, 0, 0);
}

__asm__(".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"bti c\n"
	"bl run\n"
	"brk #1\n"
	".size _start, . - _start\n");
