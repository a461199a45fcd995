#!/usr/bin/env python3
"""
coverage: what ran and what never did, line by line, of a real program that was
not compiled for it: our own graph algorithms with one of their tests. gcov, of
the same program compiled for it and not optimized, is right. Then the same
source in a program and in a library, as lcov reads it.

Not optimized, a line ran here if gcov says so, and as often. Compilers join
jumps even then: a `continue` to which an `if` leads has an instruction that only
one of its ways passes; and of an expression that goes over several lines gcov
counts blocks. These are less than a hundredth of the lines. Optimized, code of
a line is gone, moved or merged, and some lines are known by the marks alone
that the compiler left: what ran is told right of 98 in 100.
"""
import re
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED

UNIT = "tests/unit/flow/place.c"
TOP = os.getcwd()


def sources():
    flow = ["src/flow/" + f for f in sorted(os.listdir("src/flow"))
            if f.endswith(".c")]
    return [os.path.join(TOP, f) for f in ("src/base/mem.c", *flow)]


def build(t, name, *flags):
    os.mkdir(t.path(name))
    cc = [*compiler(HOST, "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-g", "-w",
          *flags, "-I%s/src" % TOP, "-I%s/tests/lib" % TOP]
    # gcov's notes are called as the object: the test as what it tests, else
    run(*cc, "-c", "-o", "test.o", os.path.join(TOP, UNIT), cwd=t.path(name))
    run(*cc, "-o", "program", "test.o", *sources(), "-lcmocka", "-lm",
        cwd=t.path(name))


def lines_of(pairs):
    out = {}
    for file, line, n in pairs:
        out[file, line] = out.get((file, line), 0) + n
    return out


def by_gcov(t):
    build(t, "gcov", "-O0", "--coverage")
    here = t.path("gcov")
    run("./program", cwd=here, env=ENV)
    out = []
    for data in (f for f in os.listdir(here) if f.endswith(".gcda")):
        text = run("gcov", "--json-format", "--stdout", data, cwd=here)
        out += [(os.path.realpath(f["file"]), l["line_number"], l["count"])
                for f in json.loads(text)["files"] for l in f["lines"]]
    return lines_of(out)


def by_tally(t, level):
    here = "plain" + level
    build(t, here, level)
    run(TALLY, "count", "--quiet", "--libs", "none", "-o", "profile",
        "./program", cwd=t.path(here), env=ENV)
    rows = t.parsed("report", "--by", "line", "--all", "--json",
                    here + "/profile")
    return lines_of((os.path.realpath(r["file"]), r["line"], r["count"])
                    for r in rows)


def say(unlike, want, got):
    return ["%s:%d: %d, gcov says %d" % (os.path.basename(f), n, got[f, n],
                                         want[f, n]) for f, n in unlike]


def real_code(t):
    want = by_gcov(t)
    for level, alike, lines in (("-O0", 1, .99), ("-O2", .98, .8)):
        got = by_tally(t, level)
        both = sorted(k for k in want if k in got)
        t.ok(len(both) >= lines * len(want) and len(both) > 1000,
             "%s: %d lines of gcov's %d" % (level, len(both), len(want)))
        unlike = [k for k in both if bool(want[k]) != bool(got[k])]
        never = sum(not got[k] for k in both)
        t.ok(len(unlike) <= (1 - alike) * len(both) and never > 20,
             "%s: what ran, and what never did (%d)" % (level, never),
             say(unlike, want, got))
        if level == "-O0":
            unlike = [k for k in both if want[k] != got[k]]
            t.ok(len(unlike) < len(both) / 100, level + ": how often",
                 say(unlike, want, got))


HEADER = """
static __attribute__((noinline)) int shared(int n)
{
	return n * 2;
}
"""
PARTS = {
    "near.c": '#include "shared.h"\nint far(int);\nint main(void)\n'
              '{ return shared(1) + shared(2) + shared(3) + far(4) - 28; }\n',
    "far.c": '#include "shared.h"\nint far(int n)\n'
             '{ return shared(n) + shared(n); }\n',
}


def records(text):
    """Of a tracefile: (source, {function: calls}, {line: count})."""
    for r in text.split("end_of_record\n")[:-1]:
        yield (re.search("^SF:(.*)", r, re.M)[1],
               {f: int(n) for n, f in re.findall(r"^FNDA:(\d+),(.*)", r,
                                                 re.M)},
               {int(l): int(n) for l, n in re.findall(r"^DA:(\d+),(\d+)", r,
                                                      re.M)})


def two_images(t):
    """Three calls in the program, two in its library: five, not ten."""
    for name, text in {**PARTS, "shared.h": HEADER}.items():
        with open(t.path(name), "w") as f:
            f.write(text)
    cc = [*compiler(HOST, "gcc"), "-g", "-O0"]
    run(*cc, "-shared", "-fPIC", "-o", "libfar.so", "far.c", cwd=t.where)
    run(*cc, "-o", "near", "near.c", "-L.", "-lfar", "-Wl,-rpath," + t.where,
        cwd=t.where)
    run(TALLY, "count", "--quiet", "--libs", "libfar.so", "-o", "two",
        "./near", cwd=t.where, env=ENV)
    text = run(TALLY, "export", "--format", "lcov", "two", cwd=t.where)
    found = [(f, l[4]) for s, f, l in records(text) if s.endswith("shared.h")]
    t.same(sorted(found, key=str), [({"shared": 2}, 2), ({"shared": 3}, 3)],
           "lcov: a header in two images, a record each")
    if not shutil.which("lcov"):
        t.skip("lcov adds them up", "it is not installed")
        return
    with open(t.path("two.info"), "w") as f:
        f.write(text)
    run("lcov", "-q", "-a", "two.info", "-o", "sum.info", cwd=t.where)
    found = [(f, l[4]) for s, f, l in records(open(t.path("sum.info")).read())
             if s.endswith("shared.h")]
    t.same(found, [({"shared": 5}, 5)], "lcov adds them up")


DENSE = """
#include <stdio.h>
static int
opened(int n)
{
	if (n < 3) return 1; else if (n == 3) return 2;
	return 0; }
static void early(int *p, int n) {
	if (n & 1) return;
	*p += n; }
static int cases(int n)
{
	int x = 0;
	switch (n % 5) { case 0: x = 1; break; case 1: x = 2; break; case 2: x++;
	default: x += 4; }
	for (int i = 0; i < n; i++) x += i & 1;
	while (x > 100) { x -= 7; } do x++; while (x & 3);
	x = n > 4 ? n > 6 ? x + 1 : x + 2 : x + 3; x *= 2; if (x & 8) x++;
	return x;
}
static int never(void) { return 7; }
int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < 9; i++) { sum += cases(i); sum += opened(i); early(
		&sum, i); }
	if (argc > 1) return never();
	printf("%d\\n", sum); return 0;
}
"""


def dense(t):
    """Several statements, cases and loops on a line; lines that open."""
    here = t.path("dense")
    os.mkdir(here)
    with open(here + "/dense.c", "w") as f:
        f.write(DENSE)
    cc = [*compiler(HOST, "gcc"), "-g", "-O0", "-w"]
    run(*cc, "--coverage", "-o", "covered", "dense.c", cwd=here)
    run(*cc, "-o", "plain", "dense.c", cwd=here)
    run("./covered", cwd=here, env=ENV)
    (data,) = (f for f in os.listdir(here) if f.endswith(".gcda"))
    text = run("gcov", "--json-format", "--stdout", data, cwd=here)
    want = {l["line_number"]: l["count"]
            for l in json.loads(text)["files"][0]["lines"]}
    run(TALLY, "count", "--quiet", "--libs", "none", "-o", "profile",
        "./plain", cwd=here, env=ENV)
    rows = t.parsed("report", "--by", "line", "--all", "--json",
                    "dense/profile")
    got = {r["line"]: r["count"] for r in rows}
    t.same({k: got.get(k) for k in want}, want,
           "lines of several statements are as gcov counts them")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    if EMULATED:
        print("1..0 # SKIP programs of this machine are counted")
        sys.exit(0)
    ENV = {**os.environ, "XDG_CACHE_HOME": where, "TALLY_TEST_GRAPHS": "20",
           "LC_ALL": "C"}
    two_images(t)
    dense(t)
    real_code(t)
    t.done()
