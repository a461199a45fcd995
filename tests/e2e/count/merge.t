#!/usr/bin/env python3
"""
merge: the sum of profiles is what the processes of all of them ran, the same
as `tally report` tells of several; and what cannot be added is refused, with
both sides named.
"""
import os
import re
import stat
import struct
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *


def counts(t, *profiles):
    out = {}
    for line in t.tally("export", "--format", "tsv",
                        *profiles)[1].splitlines():
        image, address, n = line.split("\t")
        out[image, address] = int(n)
    return out


def added(*many):
    out = {}
    for one in many:
        for key, n in one.items():
            out[key] = out.get(key, 0) + n
    return out


def by_hand(t):
    a, b = t.make("a"), t.make("b", "more", "trouble")
    t.same(t.tally("merge", "-o", "sum", a, b), (0, "", ""), "merge")
    want = added(counts(t, a), counts(t, b))
    t.same(counts(t, "sum"), want, "counts are added")
    t.same(counts(t, a, b), want, "and so they are without a new file")
    rows = t.parsed("report", "--by", "process", "--json", "sum")
    t.same([(r["number"], r["parent"], r["instructions"]) for r in rows],
           [(1, None, 5000000046), (2, 1, 10), (3, None, 5000000066),
            (4, 3, 10)], "every process is there")
    sites = [t.parsed("report", "--by", "call-site", "--json", *p)
             for p in ((a,), (a, b), ("sum",))]
    t.same([r["count"] for r in sites[1]],
           [2 * r["count"] for r in sites[0]], "pairs are added")
    t.same(sites[1], sites[2], "and stay so")
    t.ok("no room on disk" in t.tally("report", "sum")[2],
         "what went wrong in one is told of the sum")
    t.same(t.parsed("export", "--format", "json", "sum")["command"],
           "prog -x", "the command")
    # order does not matter, nor does it what was added first
    t.tally("merge", "-o", "ba", b, a)
    t.tally("merge", "-o", "three", "sum", a)
    t.same((counts(t, "ba"), counts(t, "three")),
           (want, added(want, counts(t, a))), "sums can be added")
    t.same(t.tally("merge", "-o", "sum", "sum", b)[0], 0,
           "a finished profile may be replaced")
    t.same(counts(t, "sum"), added(want, counts(t, b)), "by its sum")
    t.refused(2, "not finished", "merge", "-o", a, a, b)
    gone = t.make("gone", "lost")
    t.refused(3, "No such file", "merge", "-o", "x", gone, gone)
    t.tally("merge", "-o", "both", gone, a)
    t.same(counts(t, "both"), added(counts(t, a), counts(t, a)),
           "a map that is gone may be in the other profile")


def too_much(t, profile):
    """counters that are numbers alone, but not together"""
    with open(t.path(profile), "rb") as f:
        data = bytearray(f.read())
    at = [i for i in range(65536, len(data), 4096)
          if data[i:i + 8] == b"tlychnk1"][1]
    struct.pack_into("<Q", data, at + 4096 + 8 * 5, 2 ** 63)
    with open(t.path("much"), "wb") as f:
        f.write(data)
    t.same(t.tally("report", "much")[0], 0, "many")
    t.refused(3, "64 bits", "merge", "-o", "x", "much", "much")
    t.ok(not os.path.exists(t.path("x")), "nothing is left behind")


def real(t):
    t.build("prog")
    runs = [t.count("r%d" % n, "prog", str(n)) for n in (5, 50, 500)]
    t.same(t.tally("merge", "-o", "runs", *runs), (0, "", ""), "three runs")
    t.same(counts(t, "runs"), added(*(counts(t, r) for r in runs)),
           "their sum")
    rows = t.parsed("report", "--json", "runs")
    calls = {r["procedure"]: r["calls"] for r in rows}
    t.same((calls.get("nested"), calls.get("choose")), (3, 18), "calls")
    t.same(t.parsed("export", "--format", "json", "runs")["command"],
           "./prog 5; ./prog 50; ./prog 500", "three commands")
    t.same([n["count"] for n in t.parsed("annotate", "--json", "nested",
                                         *runs)["code"]],
           [n["count"] for n in t.parsed("annotate", "--json", "nested",
                                         "runs")["code"]],
           "annotate takes several, too")
    other = t.count("ways", "prog", options=("--placement", "vertices"))
    t.refused(3, "was counted in two ways, 'edges+libs=none' and "
              "'vertices+libs=none'", "merge", "-o", "x", runs[0], other)
    t.build("prog", "-DNEWER")
    newer = t.count("newer", "prog")
    builds = [re.search(r"Build ID: (\w+)", run("readelf", "-nW", t.path(p)))
              for p in ("prog",)]
    t.refused(3, "prog is build ", "merge", "-o", "x", runs[0], newer)
    t.refused(3, "and build %s in the other" % builds[0][1], "merge", "-o",
              "x", runs[0], newer)
    t.refused(3, "r5 and newer cannot be added", "report", runs[0], newer)
    t.build("another", "-O2")
    t.refused(3, "the one is of ", "merge", "-o", "x", newer,
              t.count("another.tally", "another", "7"))
    t.refused(3, "no image in common", "merge", "-o", "x", newer,
              t.make("a"))


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    by_hand(t)
    too_much(t, t.make("a"))
    real(t)
    t.refused(2, "missing argument: PROFILE", "merge", "-o", "x")
    t.refused(2, "-o OUT", "merge", "a/profile")
    t.refused(2, "unknown option", "merge", "-o", "x", "--wrong")
    t.refused(3, "No such file", "merge", "-o", "x", "nothing")
    t.refused(4, "cannot write", "merge", "-o", "/nowhere/x", "a/profile")
    # as root, /dev/null would be a file from then on
    os.mkfifo(t.path("pipe"))
    t.refused(3, "no regular file", "merge", "-o", "pipe", "a/profile")
    t.refused(3, "no regular file", "snapshot", "-o", "pipe", "a/profile")
    t.same(stat.S_ISFIFO(os.stat(t.path("pipe")).st_mode), True,
           "a pipe stays one")
    t.mutants("sum", lambda x: ("merge", "-o", "x", "sum", x), 0)
    t.done()
