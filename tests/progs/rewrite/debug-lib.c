/*
 * debug-lib: a library that calls back.
 */
int library_work(int (*f)(int), int n);
int library_step(int (*f)(int), int n);

__attribute__((noinline)) int library_step(int (*f)(int), int n)
{
	return f(n + 1) * 3;
}

int library_work(int (*f)(int), int n)
{
	return library_step(f, n) + library_step(f, n + 10);
}
