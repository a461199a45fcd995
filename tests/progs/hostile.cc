// hostile: a bit of everything that `tally cfg` looks at, in little code;
// it is damaged by the tests, never run.
extern int sink(int), source();
extern void fatal() __attribute__((noreturn));
struct guard {
	~guard() { sink(1); }
};
int (*volatile hook)(int) = sink;

int dense(int n)
{
	switch (n) {
	case 0: return sink(10);
	case 1: return sink(7) + 1;
	case 2: return sink(5) * 2;
	case 3: fatal();
	case 4: return sink(3) - 4;
	case 6: return sink(n) ^ 6;
	default: return n;
	}
}

int threaded(const unsigned char *pc)
{
	static void *const op[] = {&&add, &&sub, &&call, &&stop};
	int acc = 0;

	goto *op[*pc & 3];
add:
	acc += pc[1];
	goto *op[*++pc & 3];
sub:
	acc -= pc[1];
	goto *op[*++pc & 3];
call:
	acc = sink(acc);
	goto *op[*++pc & 3];
stop:
	return acc;
}

int handled(int n)
{
	guard g;

	try {
		return hook(dense(n));
	} catch (int e) {
		return e;
	} catch (...) {
		fatal();
	}
}

int tail(int n)
{
	return n > 3 ? hook(n) : threaded((const unsigned char *)"\1\2\3");
}

__attribute__((constructor)) static void begin()
{
	sink(handled(source()));
}

extern "C" void _start()
{
	tail(handled(1));
}
