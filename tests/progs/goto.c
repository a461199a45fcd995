/* goto: GNU C's computed goto in the forms that interpreters use. */
#include "progs.h"

/* addresses of labels, one dispatch */
int table(int n)
{
	static const void *const at[] = {&&zero, &&one, &&two, &&three};

	if ((unsigned)n > 3)
		return -1;
	goto *at[n];
zero:
	return use(1);
one:
	return use(2) + 1;
two:
	return use(3) * 2;
three:
	return use(4) - 5;
}

/* differences of labels, as in glibc's printf */
int differences(const char *s)
{
	static const int at[] = {
		&&next - &&next, &&plus - &&next, &&minus - &&next,
		&&star - &&next, &&end - &&next,
	};
	int n = 0;

next:
	n += use(1);
	goto *(&&next + at[*s < '0' || *s > '4' ? 4 : *s - '0']);
plus:
	n += use(2);
	s++;
	goto *(&&next + at[*s < '0' || *s > '4' ? 4 : *s - '0']);
minus:
	n -= use(3);
	s++;
	goto *(&&next + at[*s < '0' || *s > '4' ? 4 : *s - '0']);
star:
	n *= use(4);
	s++;
	goto *(&&next + at[*s < '0' || *s > '4' ? 4 : *s - '0']);
end:
	return n;
}

/* threaded code: every operation dispatches the next one */
int threaded(const unsigned char *pc)
{
	static const void *const op[] = {
		&&add, &&sub, &&mul, &&neg, &&swap, &&call, &&jump, &&stop,
	};
	int a = 0, b = 1, t;

#define NEXT goto *op[*pc++ & 7]
	NEXT;
add:
	a += b;
	NEXT;
sub:
	a -= b;
	NEXT;
mul:
	a *= b;
	NEXT;
neg:
	a = -a;
	NEXT;
swap:
	t = a;
	a = b;
	b = t;
	NEXT;
call:
	a = use(a);
	NEXT;
jump:
	pc += *pc;
	NEXT;
stop:
	return a;
}

/* direct-threaded: the program itself holds addresses of labels */
int direct(const void *const *pc, int n)
{
	static const void *const op[] = {&&add, &&sub, &&stop};

	if (!pc)
		return op[n & 1] == op[2];
	goto **pc++;
add:
	n += 3;
	goto **pc++;
sub:
	n -= 5;
	goto **pc++;
stop:
	return n;
}

/* one of the jumps uses the second half of the table only */
int halves(const unsigned char *pc)
{
	static const void *const op[] = {&&up, &&flip, &&half, &&down,
					 &&keep, &&twice, &&set, &&stop};
	int n = 0;

	goto *op[*pc++];
up:
	n += 3;
	goto *op[*pc++];
flip:
	n ^= 5;
	goto *op[*pc++];
half:
	n *= 7;
	goto *op[4 + (*pc++ & 3)];
down:
	n -= 9;
	goto *op[*pc++];
keep:
	n = use(n);
	goto *op[*pc++];
twice:
	n <<= 1;
	goto *op[*pc++];
set:
	n |= 64;
	goto *op[*pc++];
stop:
	return n;
}

int goto_all(int n, char **v)
{
	return table(n) + differences(v[0]) + threaded((unsigned char *)v[0]) +
	       direct(0, n) + halves((unsigned char *)v[0]);
}
