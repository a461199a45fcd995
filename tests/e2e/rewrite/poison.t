#!/usr/bin/env python3
"""
poison: programs do not notice when all registers and flags that are called
dead are overwritten, before every instruction and on every edge: the case that
was found by random programs, some of these, and real programs with all their
libraries. tests/sweep/random.sh, torture.sh and rewrite.sh do the same to
many more.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
SEEDS = [str(n) for n in range(1, 9)]
POISON = [TALLY, "count", "--placement", "poison", "--strict", "--"]
# an argument that is handed through, and written on a way that does not return
THROUGH = r"""
#include <stdio.h>
#include <stdlib.h>
struct two { long a, b; };
__attribute__((noinline, noreturn, cold)) static void die(long a)
{
	fprintf(stderr, "%ld\n", a);
	abort();
}
__attribute__((noinline)) static struct two step(long *q, long b)
{
	if (*q > 1000)
		die(*q);
	return (struct two){*q + 1, b};
}
__attribute__((noinline)) long use(long n, unsigned char *s)
{
	long b = 0, t = 0, a = n;

	for (int i = 0; i < 3; i++) {
		struct two r;

		b = *s & 127;
		while (*s & 128)
			b = b << 7 | (*++s & 127);
		s++;
		r = step(&a, b);
		t += r.a * 1000 + r.b;
	}
	return t;
}
int main(void)
{
	unsigned char d[] = {0x81, 3, 9, 0x85, 0x86, 7, 0};
	long s = 0;

	for (long i = 0; i < 16; i++)
		s = s * 3 + use(i, d);
	printf("%ld\n", s);
	return 0;
}
"""


def try_through(where, isa):
    source = os.path.join(where, "through.c")
    with open(source, "w") as f:
        f.write(THROUGH)
    plain, poison = World(isa), World(isa, "poison")
    for name in ("gcc", "clang"):
        cc = compiler(isa, name)
        if not cc:
            tap.skip("%s %s" % (isa, name), "not there")
            continue
        for level in ("-O1", "-O2", "-Os"):
            exe = os.path.join(where, "through")
            run(*cc, "-w", level, "-o", exe, source)
            rewrite("poison", exe, exe + "-poison")
            want = plain.run(exe)
            tap.ok(want == (0, "1879742621600\n") and
                   not differences(want, poison.run(exe + "-poison")),
                   "%s %s %s: an argument handed through" % (isa, name, level),
                   [str(want), str(poison.run(exe + "-poison"))])


def try_random(isa):
    p = subprocess.run([sys.executable, "tests/lib/random_sweep.py", "--few",
                        "--ways", "poison", "calls", isa, *SEEDS],
                       capture_output=True, text=True)
    tap.ok(p.returncode == 0 and "ok 1 - 0 differ" in p.stdout,
           "%s: random programs about calls" % isa,
           p.stdout.splitlines() + p.stderr.splitlines())


def try_system(where):
    """programs of this system, as they are and poisoned with all libraries"""
    numbers = os.path.join(where, "numbers")
    with open(numbers, "w") as f:
        f.writelines("%d\n" % (n * 7919 % 10007) for n in range(3000))
    for words in (["ls", "-l", "/usr/lib"], ["sort", "-n", numbers],
                  ["gzip", "-c", numbers], ["perl", "-e", "print sort { $a "
                   "<=> $b } map { $_ * 7 % 31 } 1 .. 999; /(.)\\1/"],
                  ["bash", "-c", "x[1]=$((3 * 4)); [[ $x =~ . ]]; printf "
                   "'%05d\\n' ${x[@]/1/2}; (exit 3); echo $? $(echo hi)"],
                  ["gcc", "-O2", "-S", "-o-", os.path.join(where,
                                                           "through.c")]):
        want = subprocess.run(words, capture_output=True)
        got = subprocess.run(POISON + words, capture_output=True)
        tap.ok((want.returncode, want.stdout) == (got.returncode, got.stdout),
               "poisoned: " + words[0], got.stderr.decode().splitlines() +
               [str(got.returncode)])


with tempfile.TemporaryDirectory() as where:
    os.environ["XDG_CACHE_HOME"] = os.path.join(where, "cache")
    for isa in each_machine(tap):
        try_through(where, isa)
        try_random(isa)
    if not EMULATED:
        try_system(where)
tap.done()
