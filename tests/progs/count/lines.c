/*
 * lines: a program for gcov, one thing per line, so that a line begins at one
 * place.
 */
#define OWN __attribute__((noipa))

static volatile int sink;
static long state = 1;

OWN static int next(int n)
{
	state = state * 1103515245 + 12345;
	return (int)((unsigned long)state >> 16) % n;
}

OWN static int gcd(int a, int b)
{
	int t;

again:
	if (!b)
		return a;
	t = a % b;
	a = b;
	b = t;
	goto again;
}

OWN static long fibonacci(int n)
{
	long a;
	long b;

	if (n < 2)
		return n;
	a = fibonacci(n - 1);
	b = fibonacci(n - 2);
	return a + b;
}

OWN static int kind(int n)
{
	switch (n) {
	case 0:
		return 3;
	case 1:
		n += 7;
		break;
	case 2:
		n *= 5;
		/* fall through */
	case 5:
		n -= 2;
		break;
	case 4:
		return next(9);
	default:
		n = 11;
	}
	return n;
}

OWN static int twice(int n)
{
	return n * 2;
}

OWN static int square(int n)
{
	return n * n;
}

OWN static int through(int (*f)(int), int n)
{
	int s = 0;

	while (n > 0) {
		s += f(n);
		n--;
	}
	return s;
}

int main(void)
{
	int i = 0;
	int j;

	do {
		j = next(60);
		sink += kind(j % 7);
		if (j > 30)
			sink += gcd(j, i + 1);
		else if (j > 20)
			sink += through(twice, j);
		else
			sink += through(square, j / 2);
		i++;
	} while (i < 500);
	sink = (int)fibonacci(12);
	return 0;
}
