#!/usr/bin/env python3
"""
call_programs: random programs about how calls begin and end.

    call_programs.py [--features NAME,..] [--deep N] [--fuel N] SEED FOLDER

writes main.c (main.cc if there are exceptions) and lib.c, which may be a
shared library. The same words are the same program, and it does and prints the
same whenever it runs, but for what the C library does while it waits.

Procedures call one another by chance, which is part of their argument: each
thread, coroutine and handler has its own. Each thing that they may do is a
feature:

    recursion   any procedure calls any; without, only those after it
    pointer     calls by pointer, of several targets per site
    tail        calls as last thing, by name and by pointer
    library     calls into lib.c, and from there back, by name and by pointer
    sort        qsort and bsearch with callbacks
    jump        setjmp, in loops too, and longjmp over several frames
    throw       exceptions, with destructors on their way
    ends        exit, _exit or abort in the midst of calls
    thread      threads; some end by pthread_exit deep inside
    signal      handlers that call, by raise and by a timer
    altstack    the same on an alternate stack
    leave       handlers that are left by siglongjmp
    context     coroutines by swapcontext
    switch      coroutines by an assembler switcher, switch_stacks
    fork        a child that goes on as its parent does
    spawn       vfork and exec
    variadic    procedures with any number of arguments
    struct      large structures as arguments and results
    alloca      frames of any size
    noreturn    procedures that never return, with jump
    deep        one deep recursion
"""
import argparse
import os
import random

FEATURES = """recursion pointer tail library sort jump throw ends thread signal
altstack leave context switch fork spawn variadic struct alloca noreturn
deep""".split()
SWITCHERS = ["switch_stacks"]

HEAD = r"""
#define _GNU_SOURCE 1
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "calls.h"
"""

HEADER = r"""
typedef unsigned long u64;
#define OUT __attribute__((noinline))
#ifdef __cplusplus
#define SEEN extern "C" OUT
#else
#define SEEN OUT
#endif
struct state;
typedef u64 proc(struct state *s, int d);
/* what a thread, a coroutine or a handler has of its own */
struct state {
	u64 x, sum;
	long fuel;
	int first, thread, forks, tries;
	void *jump, *left;
	proc **table;
	int ntable;
};
static inline unsigned pick(struct state *s, unsigned n)
{
	s->x = s->x * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(s->x >> 33) % n;
}
static inline void add(struct state *s, u64 v)
{
	s->sum = s->sum * 31 + v;
}
#define GO(s, d) ((d) > 0 && (s)->fuel-- > 0)
struct big { u64 a[24]; };
"""

SWITCH = r"""
void *switch_from, *switch_to;
#ifdef __cplusplus
extern "C"
#endif
void switch_stacks(void **from, void *to);
#if defined(__aarch64__)
__asm__(".text\n.globl switch_stacks\n.type switch_stacks, %function\n"
"switch_stacks:\n"
".inst 0xd503245f\n" /* bti c */
"sub sp, sp, #160\n"
"stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"
"stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\n"
"stp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\n"
"stp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
"mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
"ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\n"
"ldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\n"
"ldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
"ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
"add sp, sp, #160\nret\n.size switch_stacks, . - switch_stacks\n");
enum { SAVED = 20, BACK = 11 };
#else
__asm__(".text\n.globl switch_stacks\n.type switch_stacks, %function\n"
"switch_stacks:\nendbr64\n"
"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
"mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
".size switch_stacks, . - switch_stacks\n");
enum { SAVED = 8, BACK = 6 };
#endif
static u64 switch_stack[8192] __attribute__((aligned(16)));
static struct state switch_state;
static OUT void switch_main(void)
{
	int i;
	for (i = 0;; i++) {
		add(&switch_state, START(&switch_state, 5));
		switch_stacks(&switch_to, switch_from);
	}
}
static int switch_busy;
static OUT void switch_run(struct state *s, int d)
{
	int i;
	if (switch_busy++)
		return;
	switch_state.x = s->x, switch_state.fuel = 30;
	switch_state.table = s->table, switch_state.ntable = s->ntable;
	switch_to = switch_stack + 8192 - 64 - SAVED;
	((u64 *)switch_to)[BACK] = (u64)switch_main;
	for (i = 0; i < 3; i++) {
		switch_stacks(&switch_from, switch_to);
		add(s, switch_state.sum + (u64)d);
	}
}
"""

CONTEXT = r"""
static ucontext_t context_from, context_to;
static u64 context_stack[8192] __attribute__((aligned(16)));
static struct state context_state;
static OUT void context_main(void)
{
	int i;
	for (i = 0; i < 2; i++) {
		add(&context_state, START(&context_state, 5));
		swapcontext(&context_to, &context_from);
	}
}
static int context_busy;
static OUT void context_run(struct state *s, int d)
{
	int i;
	if (context_busy++)
		return;
	context_state.x = s->x, context_state.fuel = 30;
	context_state.table = s->table, context_state.ntable = s->ntable;
	getcontext(&context_to);
	context_to.uc_stack.ss_sp = context_stack;
	context_to.uc_stack.ss_size = sizeof context_stack;
	context_to.uc_link = &context_from;
	makecontext(&context_to, context_main, 0);
	for (i = 0; i < 3; i++) {
		swapcontext(&context_from, &context_to);
		add(s, context_state.sum + (u64)d);
	}
}
"""

SIGNAL = r"""
#if defined(__x86_64__)
#define HANDLER __attribute__((noinline, force_align_arg_pointer))
#else
#define HANDLER OUT
#endif
static struct state signal_state;
static volatile int signal_seen;
static HANDLER void on_usr1(int sig)
{
	signal_state.fuel = 12;
	add(&signal_state, START(&signal_state, 4));
	signal_seen = sig;
}
static HANDLER void on_alarm(int sig)
{
	signal_state.fuel = 5;
	add(&signal_state, START(&signal_state, 3));
	signal_seen = sig;
}
static OUT void wait_alarm(void)
{
	struct itimerval t = {{0, 0}, {0, 2000}};
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, &old);
	setitimer(ITIMER_REAL, &t, 0);
	sigsuspend(&old);
	sigprocmask(SIG_SETMASK, &old, 0);
}
static void install(int sig, void (*handler)(int), int flags)
{
	static struct sigaction a; /* where it is does not vary */
	memset(&a, 0, sizeof a);
	a.sa_handler = handler;
	a.sa_flags = flags;
	sigaction(sig, &a, 0);
}
"""

LEAVE = r"""
static HANDLER void on_usr2(int sig)
{
	signal_state.fuel = 6;
	add(&signal_state, START(&signal_state, 3));
	if (MAIN.left)
		siglongjmp(*(sigjmp_buf *)MAIN.left, sig);
}
static OUT void leave_try(struct state *s, int d)
{
	sigjmp_buf b;
	void *jump = s->jump, *left = s->left;
	int tries = s->tries;
	if (!sigsetjmp(b, 1)) {
		s->left = &b;
		s->jump = 0;
		s->tries = 0;
		add(s, START(s, d));
		raise(SIGUSR2);
	}
	s->jump = jump, s->left = left, s->tries = tries;
}
"""

ALTSTACK = "static u64 alt_stack[8192] __attribute__((aligned(16)));\n"


class Program:
    def __init__(self, seed, features, deep, fuel):
        self.rng = random.Random(seed)
        self.has = set(features)
        self.deep, self.fuel = deep, fuel
        if self.has & {"altstack", "leave"}:
            self.has.add("signal")
        self.n = self.rng.randrange(6, 14)
        self.nlib = self.rng.randrange(2, 5) if "library" in self.has else 0

    def cpp(self):
        return "throw" in self.has

    def callee(self, i, library=False):
        """a call of some procedure, from number i"""
        r = self.rng
        first = 0 if "recursion" in self.has else i + 1
        if first >= self.n:
            return "(u64)d"
        if self.nlib and not library and r.random() < .2:
            return "l%d(s, d - 1)" % r.randrange(self.nlib)
        if "pointer" in self.has and r.random() < .3:
            return "s->table[pick(s, s->ntable)](s, d - 1)"
        name = "f%d" % r.randrange(first, self.n)
        if library and name not in self.exported:
            name = r.choice(self.exported)
        return name + "(s, d - 1)"

    def statements(self):
        """[(feature, statement)]; %s: a call"""
        return [(None, "if (GO(s, d)) add(s, %s);"),
                (None, "if (GO(s, d) && pick(s, 3)) add(s, %s + %s);"),
                (None, "while (pick(s, 3) && GO(s, d)) add(s, %s);"),
                (None, "add(s, pick(s, 9) * (u64)d);"),
                ("sort", "if (GO(s, d)) sort_some(s);"),
                ("jump", "if (GO(s, d)) jump_try(s, d - 1);"),
                ("jump", "if (GO(s, d)) jump_loop(s, d - 1);"),
                ("throw", "if (GO(s, d)) throw_try(s, d - 1);"),
                ("signal", "if (s->first && !pick(s, 4)) raise(SIGUSR1);"),
                ("leave", "if (s->first && GO(s, d)) leave_try(s, d - 1);"),
                ("context", "if (s->first) context_run(s, d);"),
                ("switch", "if (s->first) switch_run(s, d);"),
                ("fork", "if (s->first && s->forks && !pick(s, 3)) "
                         "fork_some(s);"),
                ("spawn", "if (s->first && s->forks && !pick(s, 3)) "
                          "spawn_some(s);"),
                ("variadic", "if (GO(s, d)) add(s, variadic(s, d - 1, "
                             "3, 1ul, 2ul, (u64)d));"),
                ("struct", "if (GO(s, d)) { static struct big b; "
                           "memset(&b, d, sizeof b); "
                           "b = large(s, b, d - 1); add(s, b.a[7]); }"),
                ("alloca", "{ volatile char *p = (char *)alloca(1 + pick(s, "
                           "300)); *p = 1; if (GO(s, d)) add(s, %s + "
                           "(u64)*p); }")]

    def escapes(self):
        """[(feature, statement)] that end calls, now and then"""
        return [("jump", "if (s->jump && !pick(s, 3)) jump_out(s);"),
                ("throw", "if (s->tries && !pick(s, 3)) throw_out(s);"),
                ("thread", "if (s->thread == 2 && !pick(s, 9)) "
                           "pthread_exit(0);"),
                ("noreturn", "if (s->jump && !pick(s, 5)) "
                             "never(s, pick(s, 4));"),
                ("ends", "if (s->first && !pick(s, 60)) "
                         "end_now(s, pick(s, 8));")]

    def body(self, i, name, library=False):
        r = self.rng
        every = [t for f, t in self.statements() if f is None or
                 f in self.has and not library]
        lines = ["\t" + self.filled(r.choice(every), i, library)
                 for _ in range(r.randrange(1, 5))]
        if i == 0 and not library:
            # it is where everything begins: each feature gets its share
            r.shuffle(every)
            lines = ["\tif (s->first) s->fuel = %d;\n\t" % (
                self.fuel // len(every)) + self.filled(t, i, library)
                for t in every]
        elif not library:
            for f, t in self.escapes():
                if f in self.has and r.random() < .4:
                    lines.insert(r.randrange(len(lines) + 1), "\t" + t)
        end = "return s->sum;"
        if "tail" in self.has and r.random() < .5 and \
                ("recursion" in self.has or i + 1 < self.n):
            end = "return GO(s, d) ? %s : 7;" % self.callee(i, library)
        return "SEEN u64 %s(struct state *s, int d)\n{\n%s\n\t%s\n}\n" % (
            name, "\n".join(lines), end)

    def filled(self, text, i, library):
        while "%s" in text:
            text = text.replace("%s", self.callee(i, library), 1)
        return text

    def declarations(self):
        names = ["f%d" % i for i in range(self.n)] + \
                ["l%d" % i for i in range(self.nlib)]
        return HEADER + "".join(
            "SEEN u64 %s(struct state *s, int d);\n" % n for n in names)

    def library(self):
        self.exported = ["f%d" % i for i in range(self.n)]
        return '#include "calls.h"\n' + "".join(
            self.body(-1 if "recursion" in self.has else self.n, "l%d" % i,
                      True) for i in range(self.nlib))

    def text(self):
        out = [HEAD, "static struct state MAIN;\n",
               "#define START(s, d) f%d(s, d)\n" % (
                   self.n - 1 if "recursion" not in self.has else
                   self.rng.randrange(1, self.n))]
        for f, text in (("signal", SIGNAL), ("leave", LEAVE),
                        ("altstack", ALTSTACK), ("context", CONTEXT),
                        ("switch", SWITCH)):
            if f in self.has:
                out.append(text)
        out += [HELPERS[f] for f in FEATURES if f in self.has and
                f in HELPERS]
        if "noreturn" in self.has:
            out.append(NEVER % ("if (%s) longjmp(*(jmp_buf *)s->jump, 2);" % (
                "n" if "ends" in self.has else "n >= 0")
                if "jump" in self.has else ""))
        out += [self.body(i, "f%d" % i) for i in range(self.n)]
        table = self.rng.sample(range(self.n), min(self.n, 4))
        if "recursion" not in self.has:
            table = [self.n - 1]
        out.append("static proc *table[] = {%s};\n" % ", ".join(
            "f%d" % i for i in table))
        out.append(self.main())
        return "".join(out)

    def main(self):
        has, r = self.has, self.rng
        lines = ["MAIN.x = %d;" % r.randrange(1 << 30),
                 "MAIN.fuel = %d;" % self.fuel, "MAIN.first = 1;",
                 "MAIN.forks = 2;", "MAIN.table = table;",
                 "MAIN.ntable = sizeof table / sizeof *table;"]
        if "signal" in has:
            lines += ["signal_state.table = table;",
                      "signal_state.ntable = MAIN.ntable;"]
            flags = "0"
            if "altstack" in has:
                flags = "SA_ONSTACK"
                lines += ["static stack_t alt; memset(&alt, 0, sizeof alt);",
                          "alt.ss_sp = alt_stack; "
                          "alt.ss_size = sizeof alt_stack;",
                          "sigaltstack(&alt, 0);"]
            lines += ["install(SIGUSR1, on_usr1, 0);",
                      "install(SIGALRM, on_alarm, %s);" % flags,
                      "wait_alarm();"]
            if "leave" in has:
                lines.append("install(SIGUSR2, on_usr2, %s);" % flags)
            if "altstack" in has:
                lines.append("install(SIGUSR1, on_usr1, SA_ONSTACK);")
        if "deep" in has:
            lines.append("add(&MAIN, deep(&MAIN, %d));" % self.deep)
        if "thread" in has:
            lines.append("threads(table, MAIN.ntable);")
        for i in range(2):
            lines.append("add(&MAIN, f%d(&MAIN, %d));" % (
                i * (self.n - 1), r.randrange(5, 9)))
        lines += ["dprintf(1, \"%lu %ld\\n\", MAIN.sum, MAIN.fuel);",
                  "return 0;"]
        return "int main(void)\n{\n%s\n}\n" % "\n".join(
            "\t" + l for l in lines)

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        library = self.library()
        for name, text in (("calls.h", self.declarations()),
                           ("lib.c", library),
                           ("main.cc" if self.cpp() else "main.c",
                            self.text())):
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)


NEVER = r"""
__attribute__((noinline, noreturn)) static void never(struct state *s, int n)
{
	add(s, (u64)n);
	%s
	_exit(9);
}
"""

HELPERS = {
    "sort": r"""
static OUT int sort_order(const void *a, const void *b)
{
	const u64 x = *(const u64 *)a, y = *(const u64 *)b;
	return x < y ? -1 : x > y;
}
static OUT void sort_some(struct state *s)
{
	u64 a[9], *p;
	int i, n = 3 + (int)pick(s, 7);
	for (i = 0; i < n; i++)
		a[i] = pick(s, 1000);
	qsort(a, (size_t)n, sizeof *a, sort_order);
	p = (u64 *)bsearch(&a[1], a, (size_t)n, sizeof *a, sort_order);
	add(s, a[0] + (p ? *p : 0));
}
""",
    "jump": r"""
static OUT void jump_out(struct state *s)
{
	longjmp(*(jmp_buf *)s->jump, 1);
}
static OUT void jump_try(struct state *s, int d)
{
	jmp_buf b;
	void *jump = s->jump, *left = s->left;
	int tries = s->tries;
	if (!setjmp(b)) {
		s->jump = &b;
		s->tries = 0;
		add(s, START(s, d));
	}
	s->jump = jump, s->left = left, s->tries = tries;
}
static OUT void jump_loop(struct state *s, int d)
{
	jmp_buf b;
	void *jump = s->jump, *left = s->left;
	int tries = s->tries;
	volatile int i;
	for (i = 0; i < 3; i++) {
		if (!setjmp(b)) {
			s->jump = &b;
			s->tries = 0;
			add(s, START(s, d));
		}
		s->jump = jump, s->left = left, s->tries = tries;
	}
}
""",
    "throw": r"""
struct Guard {
	struct state *s;
	~Guard() { leave(); }
	OUT void leave() { add(s, 3); }
};
static OUT void throw_out(struct state *s)
{
	throw (int)pick(s, 9);
}
static OUT void throw_through(struct state *s, int d)
{
	Guard g = {s};
	add(s, START(s, d));
}
static OUT void throw_try(struct state *s, int d)
{
	void *jump = s->jump, *left = s->left;
	s->jump = 0;
	s->tries++;
	try {
		if (d & 1)
			throw_through(s, d - 1);
		else
			add(s, START(s, d));
	} catch (int e) {
		add(s, (u64)e);
	}
	s->tries--;
	s->jump = jump, s->left = left;
}
""",
    "thread": r"""
static OUT void *thread_main(void *p)
{
	struct state *s = (struct state *)p;
	add(s, START(s, 6));
	return 0;
}
static OUT void threads(proc **table, int n)
{
	static struct state s[3];
	pthread_t t[3];
	u64 i;
	for (i = 0; i < 3; i++) {
		s[i].x = i * 77, s[i].fuel = 40, s[i].thread = i ? 2 : 1;
		s[i].table = table, s[i].ntable = n;
		pthread_create(&t[i], 0, thread_main, &s[i]);
		if (i == 1)
			pthread_join(t[1], 0);
	}
	pthread_join(t[0], 0);
	pthread_join(t[2], 0);
	for (i = 0; i < 3; i++)
		add(&MAIN, s[i].sum);
}
""",
    "fork": r"""
static OUT void fork_some(struct state *s)
{
	int status = 0;
	pid_t pid;
	s->forks--;
	pid = fork();
	if (!pid) {
		s->forks = 0;
		s->x ^= 5;
		if (s->fuel > 60)
			s->fuel = 60;
		return;
	}
	waitpid(pid, &status, 0);
	add(s, (u64)status);
}
""",
    "spawn": r"""
static OUT void spawn_some(struct state *s)
{
	int status = 0;
	pid_t pid;
	s->forks--;
	pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", (char *)0);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	add(s, (u64)status);
}
""",
    "variadic": r"""
static OUT u64 variadic(struct state *s, int d, int n, ...)
{
	va_list ap;
	u64 sum = 0;
	va_start(ap, n);
	while (n--)
		sum += va_arg(ap, u64);
	va_end(ap);
	return GO(s, d) ? sum + START(s, d - 1) : sum;
}
""",
    "struct": r"""
static OUT struct big large(struct state *s, struct big b, int d)
{
	b.a[7] += b.a[3] + (GO(s, d) ? START(s, d - 1) : 1);
	return b;
}
""",
    "ends": r"""
static OUT void end_now(struct state *s, long how)
{
	dprintf(1, "%lu\n", s->sum);
	if (how < 4)
		exit(3);
	if (how < 6)
		_exit(4);
	abort();
}
""",
    "deep": r"""
static OUT u64 deep(struct state *s, int n)
{
	volatile u64 v = (u64)n;
	if (n > 0)
		v = v + deep(s, n - 1);
	return v + 1;
}
""",
}


def chosen(seed):
    """The features of a seed: those of all but few are few."""
    r = random.Random(seed * 7919 + 1)
    if seed % 9 == 0:
        return [f for f in FEATURES if f != "ends"]
    some = {"recursion"} if r.random() < .9 else set()
    some |= set(r.sample(FEATURES, r.randrange(2, 7)))
    return [f for f in FEATURES if f in some]


def write(seed, folder, features=None, deep=2000, fuel=150):
    p = Program(seed, chosen(seed) if features is None else features, deep,
                fuel)
    p.write(folder)
    return p


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--features")
    ap.add_argument("--deep", type=int, default=2000)
    ap.add_argument("--fuel", type=int, default=150)
    ap.add_argument("seed", type=int)
    ap.add_argument("folder")
    args = ap.parse_args()
    features = args.features
    if features is not None:
        features = [f for f in features.split(",") if f]
    p = write(args.seed, args.folder, features, args.deep, args.fuel)
    print(" ".join(f for f in FEATURES if f in p.has))


if __name__ == "__main__":
    main()
