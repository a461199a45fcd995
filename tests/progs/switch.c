/*
 * switch: the forms of switch statements that compilers turn into jump
 * tables. Calls in the cases keep them from becoming tables of values.
 */
#include "progs.h"

/* dense, with a default */
int dense(int n)
{
	switch (n) {
	case 0: return use(10);
	case 1: return use(7) + 1;
	case 2: return use(5) * 2;
	case 3: return use(3) - 9;
	case 4: return use(2) ^ n;
	case 5: return use(1) | 8;
	default: return -1;
	}
}

/* holes, and cases far away from the others */
int sparse(int n)
{
	switch (n) {
	case 100: return use(10);
	case 101: return use(7) + 1;
	case 103: return use(5) * 2;
	case 106: return use(3) - 9;
	case 107: return use(2) ^ n;
	case 110: return use(1) | 8;
	case 5000: return use(4);
	case -77: return use(9) - 1;
	}
	return 0;
}

int negative(long n)
{
	switch (n) {
	case -4: return use(10);
	case -3: return use(7) + 1;
	case -2: return use(5) * 2;
	case -1: return use(3) - 9;
	case 0: return use(2) ^ 5;
	case 1: return use(1) | 8;
	case 2: return use(4);
	}
	return 0;
}

/* all values of the index's type are entries, or nearly so */
int bytes(unsigned char c)
{
	switch (c) {
#define BYTE(i) case i: return use(i * 3 + 1) + i;
	EACH(BYTE, 0) EACH(BYTE, 8) EACH(BYTE, 16) EACH(BYTE, 32)
	EACH(BYTE, 64) EACH(BYTE, 128) EACH(BYTE, 240) EACH(BYTE, 248)
	}
	return 1;
}

int characters(const char *s)
{
	int n = 0;

	for (;; s++)
		switch (*s) {
		case '\0': return n;
		case '%': n += use(1); break;
		case '(': n -= use(2); break;
		case ')': n ^= use(3); break;
		case '*': n |= use(4); break;
		case '+': n &= use(5); break;
		case '-': n *= use(6); break;
		case '/': n = use(n); break;
		}
}

/* no default: clang drops the bound */
enum color { RED, GREEN, BLUE, CYAN, MAGENTA, YELLOW };
int colors(enum color c)
{
	switch (c) {
	case RED: return use(10);
	case GREEN: return use(7) + 1;
	case BLUE: return use(5) * 2;
	case CYAN: return use(3) - 9;
	case MAGENTA: return use(2) ^ 5;
	case YELLOW: return use(1) | 8;
	}
	__builtin_unreachable();
}

/* the bound follows from an and-mask */
int masked(unsigned n)
{
	switch (n & 7) {
#define MASK(i) case i: return use(i * 5 + 2) - i;
	EACH(MASK, 0)
	}
	return 0;
}

int nested(int a, int b)
{
	switch (a) {
	case 0: return use(1);
	case 1:
		switch (b) {
		case 0: return use(2) + 1;
		case 1: return use(3) + 2;
		case 2: return use(4) + 4;
		case 3: return use(5) + 8;
		case 4: return use(6) + 16;
		case 5: return use(6) + 32;
		}
		return 7;
	case 2: return use(7) + 1;
	case 3: return use(8) + 2;
	case 4: return use(9) + 4;
	case 5: return use(10) + 8;
	}
	return 0;
}

/* a state machine: table bases are hoisted out of the loop */
int machine(const unsigned char *s, int n)
{
	int state = 0, sum = 0;

	while (n--) {
		switch (state) {
		case 0: state = use(*s); break;
		case 1: state = use(1); sum += 3; break;
		case 2: sum ^= use(2); state = 4; break;
		case 3: sum -= use(3); state = 0; break;
		case 4: sum = use(sum); state = 5; break;
		case 5: state = use(sum) & 7; break;
		case 6: return sum;
		}
		switch (*s++) {
		case 'a': sum += use(4); break;
		case 'b': sum -= use(5); break;
		case 'c': sum ^= use(6); break;
		case 'd': sum |= use(7); break;
		case 'e': sum &= use(8); break;
		case 'g': return use(sum);
		}
	}
	return sum;
}

/* two switches on the same value */
int twice(unsigned n)
{
	int r = 0;

	switch (n) {
	case 0: r = use(1); break;
	case 1: r = use(2) + 1; break;
	case 2: r = use(3) + 2; break;
	case 3: r = use(4) + 4; break;
	case 4: r = use(5) + 8; break;
	}
	use(r);
	switch (n) {
	case 0: r += use(6); break;
	case 1: r -= use(7); break;
	case 2: r ^= use(8); break;
	case 3: r |= use(9); break;
	case 4: r &= use(10); break;
	}
	return r;
}

/* registers are short: index and base are spilled */
int pressed(int *v, unsigned n)
{
	int a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5];
	int g = v[6], h = v[7], i = v[8], j = v[9], k = v[10], l = v[11];
	unsigned step = use(a);

	while (step--) {
		a += b; c ^= d; e -= f; g |= h; i &= j; k *= l;
		switch (n) {
		case 0: a = use(b); break;
		case 1: b = use(c); break;
		case 2: c = use(d); break;
		case 3: d = use(e); break;
		case 4: e = use(f); break;
		case 5: f = use(g); break;
		case 6: g = use(h); n = h; break;
		}
		h += i; j ^= k; l -= a;
	}
	return a + b + c + d + e + f + g + h + i + j + k + l;
}

/* checks on a value that then changes */
int moved(int n, int m)
{
	if (n < 0 || n > 9)
		return 0;
	n += m & 3;
	switch (n) {
#define MOVED(i) case i: return use(i * 7) + 2 * i;
	EACH(MOVED, 0)
	case 8: return use(8);
	}
	return 1;
}

/* a thousand cases: entries of more than one byte */
int huge(int n)
{
	switch (n) {
#define HUGE(i) case i: return use(i * 31 + 7) + i;
#define HUGE64(i) EACH(HUGE, i) EACH(HUGE, i + 8) EACH(HUGE, i + 16) \
	EACH(HUGE, i + 24) EACH(HUGE, i + 32) EACH(HUGE, i + 40) \
	EACH(HUGE, i + 48) EACH(HUGE, i + 56)
	HUGE64(0) HUGE64(64) HUGE64(128) HUGE64(192)
	HUGE64(256) HUGE64(320) HUGE64(384) HUGE64(448)
	HUGE64(512) HUGE64(576) HUGE64(640) HUGE64(704)
	HUGE64(768) HUGE64(832) HUGE64(896) HUGE64(960)
	}
	return 0;
}

/* a case that goes on in the loop leads into the block of the jump itself */
int skipping(const unsigned char *text)
{
	for (;;) {
		switch (*text++) {
		case 0: return use(text[0]);
		case 1: return use(text[1]) + 1;
		case 2: return use(text[2]) * 5;
		case 3: continue;
		case 4: return use(text[0] - text[3]);
		case 5: return use(text[0] ^ 55);
		case 6: return use(text[0] / 7);
		case 7: return use(text[0] % 77);
		default: __builtin_unreachable();
		}
	}
}

/* one way brings a value from 8 on, the other one any */
int either(unsigned n, int other, const unsigned *p)
{
	if (n < 8)
		return 3;
	if (other)
		n = use(*p);
	switch (n) {
#define EITHER(i) case i: return use(i * 13) + i;
	EACH(EITHER, 0)
	EACH(EITHER, 8)
	}
	return 0;
}

int switch_all(int n, char **v)
{
	return dense(n) + sparse(n) + negative(n) + bytes(n) +
	       characters(v[0]) + colors(n % 6) + masked(n) + nested(n, n) +
	       machine((unsigned char *)v[0], n) + twice(n) +
	       pressed((int *)v, n) + moved(n, n) + huge(n) +
	       skipping((unsigned char *)v[0]) + either(n, n, (void *)v);
}
