/*
 * names: what a program can learn about its own code at run time.
 */
#include "trace.h"

/* the name of the function at an address, as the C library knows it */
static const char *name_of(const void *p)
{
	Dl_info info;

	return dladdr(p, &info) && info.dli_sname ? info.dli_sname : "none";
}

/* the names that the C library gives to the addresses of a backtrace */
static void print_symbols(void)
{
	void *pc[16];
	int n = backtrace(pc, 16);
	char **text = backtrace_symbols(pc, n);

	for (int i = 0; i < n; i++) {
		char *open = strchr(text[i], '('), *plus;

		if (!open)
			continue;
		plus = strpbrk(open, "+)");
		if (plus)
			*plus = 0;
		printf("symbol %s\n", open + 1);
	}
	free(text);
}

static int with_symbols;

__attribute__((noinline)) void names_inner(void)
{
	if (with_symbols)
		print_symbols();
	else
		trace_print("inner");
	__asm__ volatile("");
}

__attribute__((noinline)) void names_middle(int n)
{
	if (n)
		names_middle(n - 1);
	else
		names_inner();
	__asm__ volatile("");
}

__attribute__((noinline)) static const void *caller(void)
{
	return __builtin_return_address(0);
}

static int same_object(const void *p, const void *q)
{
	Dl_info a, b;

	return dladdr(p, &a) && dladdr(q, &b) && a.dli_fbase == b.dli_fbase;
}

int main(int argc, char **argv)
{
	(void)argv;
	with_symbols = argc > 1;
	printf("%s %s %s\n", name_of((const void *)main),
	       name_of((const void *)names_inner),
	       name_of((const void *)names_middle));
	printf("the caller's object: %d\n",
	       same_object(caller(), (const void *)main));
	names_middle(2);
	return 0;
}
