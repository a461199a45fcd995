#!/usr/bin/env python3
"""events: what counting events costs by the clock, and what asking for them.

    bench/events.py TALLY [NAME...]

Programs of this machine do the same work as they are, and

    edges ...  in the ways of event_ways.py
    callgrind  by valgrind, one run on less work
    qemu       with a plugin that counts instructions, one run on less work

Numbers are user time by the original's of the same round: all ways in turns,
medians of five rounds (or ROUNDS). `fib` is a recursive function, all calls.
Then: `tally query` of a program with a thread that runs and one that sleeps,
microseconds per thread and query; and what a program pays that asks for its own
counts (tally.h), nanoseconds per call, the best of five, the loop included.
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from counted import timed
from event_ways import ways
from machine import Machine
from place import counter
from work import GOOD, LARGE, MIDDLE, Inputs, Work, works

TALLY, NAMES = os.path.abspath(sys.argv[1]), sys.argv[2:]
MACHINE = Machine(os.uname().machine, "/")
ROUNDS = int(os.environ.get("ROUNDS", 5))
SEVEN = ["bzip2", "gzip", "xz", "lua5.4", "sqlite3", "gawk", "minisat"]
FIB = """
#include <stdio.h>
#include <stdlib.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int n, char **v) { printf("%d\\n", fib(atoi(v[1]))); return n != 2; }
"""
THREADS = """
#include <pthread.h>
#include <unistd.h>
static volatile unsigned long sink;
static void *work(void *arg) { for (;;) sink++; return arg; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	write(1, "\\n", 1);
	for (;;) pause();
}
"""
QUERIES = 2000
CLIENT = r"""
#include <stdio.h>
#include <time.h>
#include <tally.h>
enum { CALLS = 2000000 };
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}
#define TIME(call) do { \
	double began = now(); \
	for (int i = 0; i < CALLS; i++) call; \
	printf("%.2f ", (now() - began) / CALLS); \
} while (0)
int main(void)
{
	uint64_t count[TALLY_EVENTS_MAX];
	TIME(tally_read(count, TALLY_EVENTS_MAX));
	TIME(tally_phase(i & 1 ? "odd" : "even"));
	TIME(i & 1 ? tally_start() : tally_stop());
	return 0;
}
"""


def others(work, tmp):
    """{way: command} of those that need less work"""
    found = {}
    # callgrind does not come to an end with gawk
    if shutil.which("valgrind") and work.name != "gawk":
        found["callgrind"] = ["valgrind", "-q", "--tool=callgrind",
                              "--callgrind-out-file=" + tmp + "/callgrind"]
    if shutil.which(MACHINE.qemu):
        found["qemu"] = [MACHINE.qemu, "-plugin", "%s,out=%s" % (
            counter(tmp), tmp + "/executed")]
    return found


def measure(work, less, tmp, env):
    """{way: ratio}, and the original's seconds"""
    columns = {None: [], **ways(TALLY, tmp)}
    times = {way: [] for way in columns}
    for way, command in columns.items():
        said, _ = timed([*command, work.program, *work.args], work.given, env)
        if way is None:
            want = said
            if said[0] not in GOOD:
                sys.exit(work.name + ": the original fails")
        elif said != want:
            print("%s, %s: does not do what the original does" %
                  (work.name, way))
            del times[way]
    for _ in range(ROUNDS):
        for way in times:
            times[way].append(timed(
                [*columns[way], work.program, *work.args], work.given,
                env)[1])
    base = times.pop(None)
    ratios = {way: statistics.median(x / y for x, y in zip(t, base))
              for way, t in times.items()}
    one = timed([less.program, *less.args], less.given, env)[1]
    for way, command in others(work, tmp).items():
        ratios[way] = timed([*command, less.program, *less.args], less.given,
                            env)[1] / one
    return ratios, statistics.median(base)


def build(tmp, name, source, *more):
    with open(tmp + "/" + name + ".c", "w") as f:
        f.write(source)
    subprocess.run(["cc", "-O2", "-pthread", "-o", tmp + "/" + name,
                    f.name, *more], check=True)
    return tmp + "/" + name


def query(tmp):
    """microseconds of one query, per thread"""
    p = subprocess.Popen([TALLY, "events", "--online", "-e", "insns",
                          "--output", tmp + "/counts",
                          build(tmp, "threads", THREADS)],
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    took = {}
    for n in 2, QUERIES:
        began = time.monotonic()
        subprocess.run([TALLY, "query", "--times", str(n), str(p.pid)],
                       stdout=subprocess.DEVNULL, check=True)
        took[n] = time.monotonic() - began
    p.terminate()
    p.wait()
    return 1e6 * (took[QUERIES] - took[2]) / (QUERIES - 2) / 2


def client(tmp, env):
    """{way: nanoseconds of each call}"""
    program = build(tmp, "client", CLIENT, "-Isrc/client", os.path.join(
        os.path.dirname(TALLY), "client/libtally-client.a"))
    how = {"alone": [], **{w: ways(TALLY, tmp)[w] for w in ("insns", "four")}}
    best = {}
    for _ in range(5):
        for way, command in how.items():
            p = subprocess.run([*command, program], check=True, text=True,
                               stdout=subprocess.PIPE,
                               env={**os.environ, **env})
            now = [float(n) for n in p.stdout.split()]
            best[way] = [min(p) for p in zip(now, best.get(way, now))]
    return best


def main():
    names = NAMES or SEVEN
    with tempfile.TemporaryDirectory() as tmp:
        env = {"TALLY_CACHE": tmp + "/cache"}
        inputs, rows = Inputs(tmp), []
        less = {w.name: w for w in works(MACHINE, MIDDLE, inputs, names)}
        todo = list(works(MACHINE, LARGE, inputs, names))
        if not NAMES:
            program = build(tmp, "fib", FIB)
            todo.append(Work("fib", program, ["38"], None))
            less["fib"] = Work("fib", program, ["30"], None)
        head = [*ways(TALLY, tmp), "callgrind", "qemu"]
        print("%-19s" % "", *("%9s" % h for h in head))
        for work in todo:
            ratios, seconds = measure(work, less[work.name], tmp, env)
            print("%-11s %7.2f" % (work.name, seconds),
                  *("%9.2f" % ratios[h] if h in ratios else "%9s" % "-"
                    for h in head))
            sys.stdout.flush()
            if work.name != "fib":
                rows.append(ratios)
        for title, of in ("geo. mean", lambda v: math.exp(
                statistics.mean(map(math.log, v)))), ("worst", max):
            known = {h: [r[h] for r in rows if h in r] for h in head}
            print("%-19s" % title, *("%9.2f" % of(v) if v else "%9s" % "-"
                                     for v in known.values()))
        print("a query: %.1f us per thread" % query(tmp))
        print("%-19s" % "ns per call", *("%9s" % h for h in (
            "read", "phase", "stop")))
        for way, times in client(tmp, env).items():
            print("%-19s" % way, *("%9.1f" % n for n in times))


main()
