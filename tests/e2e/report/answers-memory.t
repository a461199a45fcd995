#!/usr/bin/env python3
"""
answers-memory: answers about a large program take memory for what they show,
not for what there is: the C compiler itself, of whose procedures most do not
run. And --limit shows the first of what is shown without it.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
# Its map as a whole has a hundred and more; libraries and files included.
MOST = 64 << 20
# Rows of all instructions that ran would have 30.
MORE = 8 << 20
BY = ["image", "procedure", "line", "block", "edge", "instruction",
      "call-site", "process"]


def peak(t, *words):
    """Bytes of memory in use at most."""
    with open(t.path("output"), "w") as out:
        p = subprocess.Popen([TALLY, *words], cwd=t.where, stdout=out,
                             stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss << 10 if p.returncode == 0 else MOST + 1


def little(t, profile):
    least = peak(t, "report", "--by", "image", profile)
    for words in ([["report", "--by", b, "--limit", "20"] for b in BY] +
                  [["report"], ["annotate", "main"], ["graph", "main"],
                   ["export", "--format", "tsv"],
                   ["export", "--format", "json"],
                   ["export", "--format", "pixie"],
                   ["merge", "-o", "merged", profile]]):
        n = peak(t, *words, profile)
        t.ok(n <= MOST, "%s: at most %d MB" % (" ".join(words), MOST >> 20),
             ["%d" % n])
    n = peak(t, "report", "--by", "instruction", "--limit", "20", "--image",
             "cc1", profile)
    t.ok(n - least <= MORE + (12 << 20), "rows that are not shown are not "
         "kept", ["%d, and %d without any" % (n, least)])


def first(t, profile):
    """--limit, in every order"""
    for by in BY:
        orders = [[], ["--reverse"], ["--sort", "address"],
                  ["--sort", "name", "--reverse"], ["--sort", "count"],
                  ["--all"]]
        if by == "procedure":
            orders += [["--sort", "calls"], ["--min", "1"]]
        bad = []
        for words in orders:
            call = ["report", "--by", by, "--json", *words, profile]
            rows = t.parsed(*call)
            for n in (0, 1, 2, 7, len(rows) // 2, len(rows), len(rows) + 1):
                if t.parsed(*call, "--limit", str(n)) != rows[:n]:
                    bad.append("%s --limit %d" % (" ".join(call), n))
        t.none(bad, "--by %s --limit: the first of all" % by)


def main():
    with tempfile.TemporaryDirectory() as where:
        t = Asker(where)
        t.build("prog")
        first(t, t.count("small", "prog", options=["--calls"]))
        if SANITIZED:
            t.done()
            return
        cc1 = run("gcc", "-print-prog-name=cc1").strip()
        with open(t.path("some.c"), "w") as f:
            f.write("int twice(int x) { return 2 * x; }\n")
        run(TALLY, "count", "--libs", "none", "-o", "large", cc1, "-quiet",
            "-O2", "some.c", "-o", "some.s", cwd=where,
            env={**os.environ, "XDG_CACHE_HOME": where})
        little(t, "large")
        t.done()


main()
