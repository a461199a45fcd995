/*
 * wide: code at both ends of more than 128 MB (linked so), which no jump leads
 * over; called directly, by pointers and by the C library, entered by labels.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR_END __attribute__((noinline, section(".far_end")))

static jmp_buf back;

/* a computed goto: labels whose addresses are taken */
static __attribute__((noinline)) long low_labels(const char *program)
{
	static void *const label[] = {&&add, &&twice, &&less, &&stop};
	long x = 1;

	goto *label[*program++ - 'a'];
add:
	x += 5;
	goto *label[*program++ - 'a'];
twice:
	x *= 2;
	goto *label[*program++ - 'a'];
less:
	x -= 3;
	goto *label[*program++ - 'a'];
stop:
	return x;
}

FAR_END long high_switch(long x)
{
	switch (x % 9) {
	case 0: return x + 11;
	case 1: return x * 3;
	case 2: return -x;
	case 3: return x ^ 0x55;
	case 4: return low_labels("abcd");
	case 5: return x << 3;
	case 6: return x / 2;
	case 7: return puts("seven");
	default: return 0;
	}
}

static int low_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

FAR_END int high_order(const void *a, const void *b)
{
	return low_order(b, a);
}

FAR_END void high_leaves(int n)
{
	if (n == 3)
		longjmp(back, n);
	printf("%d stays\n", n);
}

static __attribute__((noinline)) void low_leaves(int n)
{
	high_leaves(n);
	printf("%d stayed\n", n);
}

static void show(const int *v)
{
	for (int i = 0; i < 6; i++)
		printf("%d ", v[i]);
	printf("\n");
}

int main(void)
{
	static int (*const order[])(const void *, const void *) = {
		low_order, high_order};
	int v[] = {5, 2, 9, 1, 7, 3};

	for (long i = 0; i < 20; i++)
		printf("%ld\n", high_switch(i));
	for (int i = 0; i < 2; i++) {
		qsort(v, 6, sizeof *v, order[i]);
		show(v);
	}
	if (!setjmp(back))
		for (int i = 0; i < 5; i++)
			low_leaves(i);
	printf("%ld\n", low_labels("aabbcabcd"));
	return 0;
}
