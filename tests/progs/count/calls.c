/*
 * calls: every kind of indirect call and jump. What is called how often does
 * not depend on chance; of what it prints nothing does either.
 *
 *	calls plain	one thread
 *	calls threads	four, which share everything
 *	calls fork	children with calls of their own, one in vfork()
 *	calls plugin FILE	a library that comes, goes and comes again
 *	calls many	more callees than a small table has room for
 *	calls full	the same, and no file may grow
 *	calls kill	it ends as badly as can be
 *	calls exec	it becomes another program
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))

typedef int (*step)(int);

NOINLINE static int add(int n) { return n + 3; }
NOINLINE static int twice(int n) { return 2 * n; }
NOINLINE static int less(int n) { return n - 1; }

static step volatile steps[] = {add, twice, less, abs};

/* a table of functions, one of them in the C library */
NOINLINE static int through_table(int times)
{
	int n = 1;

	for (int i = 0; i < times; i++)
		n = steps[i * i % 4](n) % 1000;
	return n;
}

/* objects with methods */
struct shape {
	const struct methods {
		int (*size)(const struct shape *s);
		int (*grow)(const struct shape *s, int by);
	} *of;
	int a, b;
};

NOINLINE static int square_size(const struct shape *s) { return s->a * s->a; }
NOINLINE static int box_size(const struct shape *s) { return s->a * s->b; }
NOINLINE static int any_grow(const struct shape *s, int by)
{
	return s->of->size(s) + by;
}

static const struct methods square = {square_size, any_grow};
static const struct methods box = {box_size, any_grow};

NOINLINE static int methods(int times)
{
	struct shape s[3] = {{&square, 3, 0}, {&box, 2, 5}, {&box, 1, 1}};
	int n = 0;

	for (int i = 0; i < times; i++)
		n += s[i % 3].of->grow(&s[i % 3], i);
	return n;
}

/* the last thing that a procedure does */
NOINLINE static int tail(step f, int n)
{
	return f(n + 1);
}

NOINLINE static int tails(int times)
{
	int n = 0;

	for (int i = 0; i < times; i++)
		n = tail(steps[i % 3], n) % 1000;
	return n;
}

/* calls f(n); where machines can, by a pointer in the frame */
static inline int call_by_frame(step f, int n)
{
#ifdef __x86_64__
	int result;

	asm volatile("call *%[f]"
		     : "=a"(result), "+D"(n)
		     : [f] "m"(f)
		     : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
		       "memory", "cc");
	return result;
#else
	return f(n);
#endif
}

NOINLINE static int by_frame(int times)
{
	int n = 0;

	for (int i = 0; i < times; i++)
		n = less(call_by_frame(steps[i % 3], n) % 1000);
	return n;
}

NOINLINE static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

NOINLINE static int by_value_down(const void *a, const void *b)
{
	return -by_value(a, b);
}

NOINLINE static int sorted(void)
{
	int v[40];

	for (int i = 0; i < 40; i++)
		v[i] = i * 37 % 40;
	qsort(v, 40, sizeof *v, by_value);
	qsort(v, 40, sizeof *v, by_value_down);
	return v[7];
}

static volatile int sink;

#define NEXT goto *at[*pc++ & 3]
#define PROGRAM \
	NEXT; \
add: n += 3; NEXT; \
sub: n -= 1; sink = n; NEXT; \
dbl: n *= 2; NEXT; \
stop: return n

/* jumps that share their targets; nobody could tell where the labels are */
NOINLINE static int computed(const unsigned char *pc)
{
	static const void *const at[] = {&&add, &&sub, &&dbl, &&stop};
	int n = 1;

	PROGRAM;
}

static const void *volatile seen;

/* here somebody could: the table stays, and is copied */
NOINLINE static int computed_seen(const unsigned char *pc)
{
	static const void *const at[] = {&&add, &&sub, &&dbl, &&stop};
	int n = 1;

	seen = at;
	PROGRAM;
}

/* distances in place of addresses */
NOINLINE static int computed_near(const unsigned char *pc)
{
	static const int at[] = {&&add - &&add, &&sub - &&add, &&dbl - &&add,
				 &&stop - &&add};
	int n = 1;

#undef NEXT
#define NEXT goto *(&&add + at[*pc++ & 3])
	PROGRAM;
}

/* a jump through a table of its own */
NOINLINE static int switched(int n)
{
	switch (n % 8) {
	case 0: return sink = 7;
	case 1: return sink + 1;
	case 2: sink = n; return 3;
	case 3: return sink * 5;
	case 4: sink += 2; return n;
	case 5: return 11;
	case 6: return sink - n;
	default: return 1;
	}
}

/* the register that calls write, and others that are rare */
NOINLINE static int by_register(int n)
{
#ifdef __aarch64__
	register step f __asm__("x21") = steps[0];
	register long x0 __asm__("x0") = n;

#define LOST "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", \
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x30", "cc", \
	"memory"
	__asm__ volatile("mov x30, x21; blr x30" : "+r"(x0), "+r"(f) : : LOST);
	__asm__ volatile("mov x16, x21; blr x16" : "+r"(x0), "+r"(f) : : LOST);
	__asm__ volatile("mov x17, x21; blr x17" : "+r"(x0), "+r"(f) : : LOST);
	__asm__ volatile("mov x18, x21; blr x18" : "+r"(x0), "+r"(f) : : LOST);
	__asm__ volatile("cmp x21, x21\n\tblr x21\n\t"
			 : "+r"(x0), "+r"(f) : : LOST);
	return (int)x0;
#else
	return n;
#endif
}

/*
 * A call that needs all registers as they are (but for those that no call may
 * need, x9 to x17) and the flags, and a jump where none is free: all are read
 * behind it.
 */
#ifdef __aarch64__
long all_registers(void), no_register(long odd);

#define TO_8 "1, 2, 3, 4, 5, 6, 7, 8"
#define TO_17 TO_8 ", 9, 10, 11, 12, 13, 14, 15, 16, 17"
#define FROM_18 "18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29"
#define SET(which) "	.irp n, " which "\n" \
		   "	mov x\\n, #(\\n * 977 + 5)\n" \
		   "	.endr\n"
#define MIX(which) "	.irp n, " which "\n" \
		   "	eor x0, x\\n, x0, ror #5\n" \
		   "	.endr\n"

__asm__(".text\n"
	".type all_registers, %function\n"
	".globl all_registers\n"
	"all_registers:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-96]!\n"
	"	.cfi_def_cfa_offset 96\n"
	"	.cfi_offset 29, -96\n"
	"	.cfi_offset 30, -88\n"
	"	stp x19, x20, [sp, #16]\n"
	"	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n"
	"	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n"
	SET("0, " TO_17 "," FROM_18)
	"	adr x17, fingerprint\n"
	"	cmp x3, x2\n"
	"	blr x17\n"
	"	ldp x19, x20, [sp, #16]\n"
	"	ldp x21, x22, [sp, #32]\n"
	"	ldp x23, x24, [sp, #48]\n"
	"	ldp x25, x26, [sp, #64]\n"
	"	ldp x27, x28, [sp, #80]\n"
	"	ldp x29, x30, [sp], #96\n"
	"	.cfi_def_cfa_offset 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size all_registers, . - all_registers\n"
	".type fingerprint, %function\n"
	"fingerprint:\n"
	"	.cfi_startproc\n"
	MIX(TO_8 "," FROM_18)
	"	mrs x1, nzcv\n"
	MIX("1")
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size fingerprint, . - fingerprint\n"
	".type no_register, %function\n"
	".globl no_register\n"
	"no_register:\n"
	"	.cfi_startproc\n"
	"	tst x0, #1\n"
	"	adr x0, 1f\n"
	"	adr x1, 2f\n"
	"	csel x0, x0, x1, eq\n"
	SET(TO_17)
	"	br x0\n"
	"1:	mov x0, #1\n"
	MIX(TO_17)
	"	ret\n"
	"2:	mov x0, #2\n"
	MIX(TO_17)
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size no_register, . - no_register\n");
#else
static long all_registers(void) { return 0; }
static long no_register(long odd) { return odd; }
#endif

/* handlers, and frames that never return */
static jmp_buf back;

NOINLINE static int leave(int n)
{
	longjmp(back, n + 1);
}

static volatile sig_atomic_t handled;

NOINLINE static void on_signal(int sig)
{
	handled += steps[sig % 3](2);
}

NOINLINE static int unusual(void)
{
	step volatile f = leave;
	int n = setjmp(back);

	if (n < 5)
		f(n);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 6; i++)
		raise(SIGUSR1);
	return n + handled;
}

static void at_end(void)
{
	static const char text[] = "end\n";

	write(1, text, sizeof text - 1);
}

static const unsigned char program[] = {
	0, 1, 2, 0, 0, 2, 1, 1, 0, 2, 2, 0, 1, 0, 0, 3,
};

NOINLINE static int everything(int times)
{
	int n = through_table(times) + methods(times) + tails(times) +
		by_frame(times) +
		computed(program) + computed_seen(program) +
		computed_near(program) + by_register(times);

	for (int i = 0; i < times; i++)
		n += switched(i * i);
	return n;
}

/* they begin at once: short as it is, all of them are at it */
static pthread_barrier_t begin;

static void *in_thread(void *what)
{
	long n = 0;

	pthread_barrier_wait(&begin);
	for (int i = 0; i < 5; i++)
		n += through_table(600) + methods(200) + tails(200) +
		     computed(program) + computed_seen(program) +
		     by_register(1);
	return (void *)(n + (long)what);
}

static int threads(void)
{
	pthread_t t[4];
	long sum = 0;

	pthread_barrier_init(&begin, NULL, 4);
	for (long i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, in_thread, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++) {
		void *n;

		pthread_join(t[i], &n);
		sum += (long)n;
	}
	printf("%ld\n", sum);
	return 0;
}

static int forks(void)
{
	int status, sum = 0;

	through_table(10);
	for (int i = 1; i <= 3; i++) {
		pid_t child = fork();

		if (!child)
			_exit(through_table(100 * i) & 127);
		waitpid(child, &status, 0);
		sum += WEXITSTATUS(status);
	}
	if (!vfork())
		_exit(tails(7) & 127);
	wait(&status);
	printf("%d\n", sum + through_table(10) + WEXITSTATUS(status));
	return 0;
}

NOINLINE static int plugins(const char *file)
{
	int n = 0;

	for (int i = 0; i < 3; i++) {
		void *lib = dlopen(file, RTLD_NOW);
		int (*each)(step f, int times);

		if (!lib)
			return 1;
		*(void **)&each = dlsym(lib, "each");
		n += each(steps[i], 10 + i);
		/* the last one stays: then it can be seen where it was */
		if (i < 2)
			dlclose(lib);
	}
	printf("%d\n", n);
	return 0;
}

/* as many procedures, each of them at a multiple of so many bytes */
#ifdef __aarch64__
#define EACH "4"
#define FUNCTION "%function"
#else
#define EACH "16"
#define FUNCTION "@function"
#endif
enum { MANY = 3000 };
extern const char many[];
__asm__(".text\n"
	".type many, " FUNCTION "\n"
	".globl many\n"
	"	.balign " EACH "\n"
	"many:\n"
	"	.rept 3000\n"
	"	.cfi_startproc\n"
	"	ret\n"
	"	.balign " EACH "\n"
	"	.cfi_endproc\n"
	"	.endr\n"
	"	.size many, . - many\n");

NOINLINE static int call_many(void)
{
	for (int i = 0; i < 3 * MANY; i++)
		((void (*)(void))(many + i % MANY * atoi(EACH)))();
	return 0;
}

static int call_many_full(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_FSIZE, &none);
	signal(SIGXFSZ, SIG_IGN);
	return call_many();
}

static int become(char **argv)
{
	char *words[] = {argv[0], "plain", NULL};

	through_table(10);
	return execv(argv[0], words);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "plain";

	atexit(at_end);
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "fork"))
		return forks();
	if (!strcmp(what, "many"))
		return call_many();
	if (!strcmp(what, "full"))
		return call_many_full();
	if (!strcmp(what, "kill"))
		return through_table(1000) + raise(SIGKILL);
	if (!strcmp(what, "exec"))
		return become(argv);
	if (!strcmp(what, "plugin"))
		return plugins(argv[2]);
	printf("%d %d %d\n", everything(100), sorted(), unusual());
	printf("%lx\n", all_registers());
	for (long i = 0; i < 5; i++)
		printf("%lx\n", no_register(i));
	return 0;
}
