#!/usr/bin/env python3
"""
start: what the launcher costs. A small program is started natively and from a
warm cache, in turns; printed are the medians of both and of the difference.
The claim: at most 10 ms over native. And calls through the PLT, which an audit
module must not make slower.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

TALLY = os.path.join(os.environ.get("BUILD", "build"), "tally")
ROUNDS = 60
COUNT = [TALLY, "count", "--placement", "none"]

CALLS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void)
{
	struct timespec a, b;
	volatile int sum = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 50000000; i++)
		sum += abs_elsewhere(i);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%f\n", (b.tv_sec - a.tv_sec) * 20. +
	       (b.tv_nsec - a.tv_nsec) / 5e7);
	return 0;
}
"""


def milliseconds(words):
    start = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def compare(name, words):
    subprocess.run(COUNT + words, stdout=subprocess.DEVNULL, check=True)
    plain, ours = [], []
    for _ in range(ROUNDS):
        plain.append(milliseconds(words))
        ours.append(milliseconds(COUNT + words))
    over = statistics.median(b - a for a, b in zip(plain, ours))
    print("%-24s %8.2f %8.2f %8.2f" % (name, statistics.median(plain),
                                      statistics.median(ours), over))
    return over


def calls(where):
    """Nanoseconds for a call through the PLT, natively and ours."""
    def path(name):
        return os.path.join(where, name)
    with open(path("far.c"), "w") as f:
        f.write("int abs_elsewhere(int x) { return x < 0 ? -x : x; }\n")
    with open(path("calls.c"), "w") as f:
        f.write("int abs_elsewhere(int);\n" + CALLS)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o",
                    path("libfar.so"), path("far.c")], check=True)
    subprocess.run(["gcc", "-O2", "-Wl,-z,lazy", "-o", path("calls"),
                    path("calls.c"), "-L" + where, "-lfar",
                    "-Wl,-rpath,$ORIGIN"], check=True)
    plain, ours = [], []
    for _ in range(7):
        for words, to in (([], plain), (COUNT, ours)):
            to.append(float(subprocess.check_output(words +
                                                    [path("calls")])))
    print("%-24s %8.2f %8.2f" % ("ns per call (PLT, lazy)",
                                 statistics.median(plain),
                                 statistics.median(ours)))


with tempfile.TemporaryDirectory() as cache:
    os.environ["TALLY_CACHE"] = os.path.join(cache, "cache")
    print("%-24s %8s %8s %8s" % ("milliseconds to start", "native", "tally",
                                 "over"))
    worst = compare("true", ["/bin/true"])
    compare("bash", ["/bin/bash", "-c", ":"])
    compare("perl", ["/usr/bin/perl", "-e", "1"])
    compare("python3", ["/usr/bin/python3", "-c", "pass"])
    if os.path.exists("/usr/bin/gdb"):
        compare("gdb", ["/usr/bin/gdb", "--version"])
    calls(cache)
sys.exit(worst > 10)
