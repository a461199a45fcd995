#!/usr/bin/env python3
"""
merge-calls: what calls cost in several profiles (`tally events
--per-call-site`): the sum by image, call site and callee of what each of them
says, whether `merge` has made one of them or a command is given all. What is
unknown stays so; what cannot be added is refused.
"""
import os
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from cfg_oracle import EMULATED

# how much it does is an argument
RUNS = """
#include <stdio.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
NOINLINE unsigned rest(unsigned n) { return n * fib(3); }
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? strtoul(argv[1], NULL, 10) : EXTRA;
	printf("%u\\n", fib(n) + (n > 5 ? rest(n) : 0));
	return 0;
}
"""
# what the calls cost that are open when it switches stacks is unknown
SWITCHES = """
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t from, to;
static volatile unsigned sum;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void step(void) { sum++; }
NOINLINE void routine(void)
{
	for (;;) {
		step();
		swapcontext(&to, &from);
	}
}
NOINLINE void outer(void) { step(); swapcontext(&from, &to); step(); }
int main(int argc, char **argv)
{
	static char stack[1 << 16];
	getcontext(&to);
	to.uc_stack.ss_sp = stack;
	to.uc_stack.ss_size = sizeof stack;
	makecontext(&to, routine, 0);
	step();
	if (argc > 1) {
		outer();
		outer();
	}
	return 0;
}
"""
EVENTS = "insns,loads"


def measure(t, profile, *program, events=EVENTS, options=("--per-call-site",)):
    run(TALLY, "events", *options, "-e", events, "--output", "told", "-o",
        profile, *program, cwd=t.where, env=ENV)
    return profile


def sites(t, *profiles):
    """{image, call site, callee: [calls, costs of each event]}"""
    out = {}
    for r in t.parsed("report", "--by", "call-site", "--json", *profiles):
        key = tuple(r[k] for k in ("image", "procedure", "address", "kind",
                                   "callee_image", "callee",
                                   "callee_address"))
        row = [r["calls"]] + [x[k] for x in r["events"].values()
                              for k in ("inclusive", "inclusive_all")]
        out.setdefault(key, []).append(row)
    return {k: sorted(v, key=repr) for k, v in out.items()}


def added(*many):
    """the sum of rows that are alone with their names; None: unknown"""
    out = {}
    for one in many:
        for key, (row,) in one.items():
            was = out.setdefault(key, [[0] * len(row)])[0]
            out[key] = [[None if None in pair else sum(pair)
                         for pair in zip(was, row)]]
    return out


def ways(t, *profiles):
    """all answers, of these profiles"""
    return [t.tally(*way, *profiles)[:2] for way in (
        ("report", "--by", "call-site"), ("report", "--by", "call-site",
                                          "--json"),
        ("report",), ("report", "--json"), ("flame",),
        ("export", "--format", "callgrind"))]


def check_sum(t, what, a, b):
    """Both ways to add two, in both orders."""
    want = added(sites(t, a), sites(t, b))
    t.same(t.tally("merge", "-o", "sum", a, b), (0, "", ""),
           what + ": merge")
    t.same(sites(t, "sum"), want, what + ": costs are added")
    merged, given = ways(t, "sum"), ways(t, a, b)
    t.same([status for status, _ in given], [0] * len(given),
           what + ": all answers")
    t.same(given, merged, what + ": the same without a new file")
    t.tally("merge", "-o", "other", b, a)
    t.same(sites(t, "other"), want, what + ": in another order")
    return want


def check_twice(t):
    a, b = measure(t, "a", "./runs", "12"), measure(t, "b", "./runs", "12")
    one, two = sites(t, a), sites(t, b)
    t.same(one, two, "a run is as the other")
    check_sum(t, "the same twice", a, b)
    t.same(sites(t, "sum"), {k: [[n and 2 * n for n in row]]
                             for k, (row,) in one.items()}, "each twice")
    t.tally("merge", "-o", "three", "sum", a)
    t.same(sites(t, "three"), added(one, one, one), "sums can be added")
    t.same(sites(t, a, a, b), added(one, one, one), "three at once")
    rows = [{r["procedure"]: (r["calls"], r["events"]["insns"]["own"])
             for r in t.parsed("report", "--json", *p)}
            for p in ((a,), (a, b))]
    t.same(rows[1], {k: (2 * calls, own and 2 * own)
                     for k, (calls, own) in rows[0].items()},
           "procedures, and what they did themselves")


def check_different(t):
    """Another path through the program; other programs that share libc."""
    check_sum(t, "different runs", "a", measure(t, "short", "./runs", "3"))
    follow = ("--per-call-site", "--follow")
    x = measure(t, "x", "env", "./runs", "7", options=follow)
    y = measure(t, "y", "env", "./switches", options=follow)
    want = check_sum(t, "different programs", x, y)
    images = {k[0] for k in want}
    t.ok({"runs", "switches", "libc.so.6", "env"} <= images,
         "all images are there", images)
    t.refused(3, "the one is of", "report", "--by", "call-site", "a", y)
    # one name, two files
    z = measure(t, "z", "env", "./more/runs", "7", options=follow)
    t.tally("merge", "-o", "sum", x, z)
    got = sites(t, "sum")
    for name in "fib", "main", "rest":
        calls = [row[0] for k, rows in got.items() if k[0] == "runs" and
                 k[4] == "runs" and k[5] == name for row in rows]
        single = [row[0] for k, rows in sites(t, x).items() if k[0] ==
                  "runs" and k[4] == "runs" and k[5] == name
                  for row in rows]
        t.same(sorted(calls), sorted(single * 2),
               "images of one name stay apart: " + name)


def check_unknown(t):
    a, b = measure(t, "known", "./switches"), measure(t, "unknown",
                                                      "./switches", "1")
    t.ok(any(None in row for (row,) in sites(t, b).values()) and
         not any(None in row[:3] for k, (row,) in sites(t, a).items()
                 if k[5] == "main"), "some are unknown, in one of them")
    want = check_sum(t, "unknown costs", a, b)
    t.ok(any(None in row for (row,) in want.values()) and
         any(None not in row for (row,) in want.values()),
         "some are unknown, and not all")


def check_refused(t):
    other = measure(t, "events", "./runs", "12", events="insns")
    turned = measure(t, "turned", "./runs", "12", events="loads,insns")
    online = measure(t, "online", "./runs", "12", options=("--online",))
    run(TALLY, "count", "--quiet", "-o", "plain", "./runs", cwd=t.where,
        env=ENV)
    for name in other, turned, online, "plain":
        for words in (("merge", "-o", "none"), ("flame",), ("report",),
                      ("export", "--format", "callgrind")):
            t.refused(3, "a and %s cannot be added" % name, *words, "a",
                      name)
    t.ok(not os.path.exists(t.path("none")), "nothing is left behind")
    t.mutants("a", lambda x: ("merge", "-o", "x", "b", x), 0)
    for way in (["flame"], ["report"], ["export", "--format", "callgrind"]):
        t.mutants("a", lambda x: (*way, "b", x), 0)


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    if EMULATED:
        print("1..0 # SKIP programs of this machine are counted")
        sys.exit(0)
    ENV = {**os.environ, "XDG_CACHE_HOME": where}
    os.mkdir(t.path("more"))
    for name, text, extra in (("runs", RUNS, "1"), ("more/runs", RUNS, "2"),
                              ("switches", SWITCHES, "3")):
        with open(t.path(name + ".c"), "w") as f:
            f.write(text)
        run(*compiler(HOST, "gcc"), "-O1", "-g", "-DEXTRA=" + extra, "-o",
            name, name + ".c", cwd=where)
    check_twice(t)
    check_different(t)
    check_unknown(t)
    check_refused(t)
    t.done()
