/*
 * copies: cases that end alike, behind calls: where one of them comes back
 * another case begins, whose own start nothing but a table leads to. What a
 * shell's copying of its trees looks like.
 */
int copies(int);
static int depth;

struct node {
	int kind, a, b, c, d;
};

__attribute__((noinline)) static int copy(int n)
{
	return depth += n * 3 + 1;
}

__attribute__((noinline)) static int list(int n)
{
	return depth ^= n;
}

int copies(int n)
{
	struct node from = {n, n + 1, n + 2, n + 3, n + 4}, to = {0};

	__asm__("" : "+m"(from));
	switch (from.kind) {
	case 0:
		to.d = copy(from.d);
		/* fall through */
	case 1:
		to.c = list(from.c);
		/* fall through */
	case 2:
		to.b = copy(from.b);
		/* fall through */
	case 3:
		to.a = list(from.a);
		break;
	case 4:
		to.c = list(from.a);
		to.a = copy(from.d);
		break;
	case 5:
		to.b = copy(from.a);
		to.a = copy(from.c);
		break;
	case 6:
		to.a = from.b;
		break;
	}
	return to.a + to.b * 3 + to.c * 5 + to.d * 7;
}
