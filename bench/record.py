#!/usr/bin/env python3
"""record: what sampling a program costs, beside perf.

    bench/record.py TALLY [ROUNDS]

Two loads, one that computes and one of many short processes, as they are, under
`tally record` and under `perf record`, at the same rate; user and system time of
the load and of the profiler together, by that of the load alone. The ways take
turns within a round; the median of the rounds and the middle half of them.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

RATE = "5200"
INPUT = 20 << 20 # bytes
LOADS = {
    "bzip2": ["sh", "-c", "bzip2 -9 -c input >/dev/null"],
    "short processes": ["sh", "-c", "for i in $(seq 400); do /bin/true; "
                        "ls / >/dev/null; done"],
}


def seconds(words):
    """user and system time of all that was started"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run(words, cwd=where, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if p.returncode:
        sys.exit("%s: %s" % (" ".join(words), p.stderr))
    return (after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime)


def ways(tally, load):
    yield "alone", load
    yield "tally record", [tally, "record", "--quiet", "--rate", RATE, "-o",
                           "db", "--", *load]
    if shutil.which("perf"):
        yield "perf record", ["perf", "record", "-q", "-F", RATE, "-o",
                              "data", "--", *load]


def make_input():
    """some megabytes of programs"""
    with open(os.path.join(where, "input"), "wb") as f:
        for name in sorted(os.listdir("/usr/bin")):
            path = os.path.join("/usr/bin", name)
            if f.tell() < INPUT and os.path.isfile(path):
                f.write(open(path, "rb").read())


def main(tally, rounds=9):
    print("%-16s %-14s %8s %17s" % ("load", "way", "ratio", "middle half"))
    for name, load in LOADS.items():
        ratios = {}
        for _ in range(int(rounds)):
            time = {way: seconds(words)
                    for way, words in ways(tally, load)}
            for way in time:
                ratios.setdefault(way, []).append(time[way] / time["alone"])
        for way in list(ratios)[1:]:
            low, middle, high = statistics.quantiles(ratios[way], n=4)
            print("%-16s %-14s %8.3f   %6.3f to %6.3f" %
                  (name, way, middle, low, high))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        make_input()
        main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
