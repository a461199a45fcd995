/*
 * placed: a switch for compilers that put every block into a section of its
 * own, with an unwind entry each: calls, so that there is a frame.
 */
int place(int);
static int last;

__attribute__((noinline)) static int next(int n)
{
	return last += n + 1;
}

int place(int n)
{
	switch (n) {
	case 0: next(n); last = 1; return 10 + next(n);
	case 1: last = 22; next(1); return 21;
	case 2: last = 3; next(4); return 37;
	case 3: last = 41; next(n + 5); return 49;
	case 4: last = 5; return 55 * next(3);
	case 5: last = 63 + next(7); return 68;
	case 6: last = 72; return 77 / next(9);
	case 7: last = 8; return 81 - next(n);
	}
	return 0;
}
