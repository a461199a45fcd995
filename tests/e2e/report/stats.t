#!/usr/bin/env python3
"""
stats: `tally stats` says of many runs what Python's statistics says of what
`tally report` tells of each.
"""
import os
import statistics
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *

KEYS = {"image": ("image",), "procedure": ("image", "procedure"),
        "line": ("image", "file", "line")}


def wanted(t, by, runs):
    """{key: (min, max, mean, deviation, sum, runs)}, from reports."""
    seen = {}
    for r in runs:
        for row in t.parsed("report", "--by", by, "--all", "--json", r):
            key = tuple(row[k] for k in KEYS[by])
            if row["instructions"] is not None:
                seen.setdefault(key, []).append(row["instructions"])
    return {k: (min(v), max(v), statistics.mean(v),
                statistics.stdev(v) if len(v) > 1 else 0, sum(v), len(v))
            for k, v in seen.items() if sum(v)}


def close(a, b):
    return all(abs(x - y) <= 1e-9 * max(abs(x), abs(y), 1)
               for x, y in zip(a, b))


def check(t, by, runs):
    rows = t.parsed("stats", "--by", by, "--json", *runs)["rows"]
    got = {tuple(r[k] for k in KEYS[by]):
           (r["min"], r["max"], r["mean"], r["deviation"], r["sum"],
            r["runs"]) for r in rows}
    want = wanted(t, by, runs)
    bad = [str((k, got.get(k), want.get(k))) for k in want.keys() | got.keys()
           if k not in got or k not in want or not close(got[k], want[k])]
    t.ok(not bad and got, "--by %s: %d rows" % (by, len(got)), bad[:5])
    ranges = [r["range"] for r in rows]
    t.ok(ranges == sorted(ranges, reverse=True) and all(
        abs(r["range"] - (r["max"] - r["min"]) / r["sum"]) < 1e-12
        for r in rows), "--by %s: by normalized range" % by)
    return rows


def text(t, runs):
    status, out, err = t.tally("stats", *runs)
    lines = out.splitlines()
    t.ok(status == 0 and lines[0].split() == [
        "range", "min", "max", "mean", "deviation", "sum", "%", "runs",
        "image", "procedure"] and lines[1].endswith("  all") and
        lines[2].endswith("prog   nested") and
        not any(l.endswith(" ") for l in lines), "a table", lines[:4])
    all_of = [sum(r["instructions"] or 0 for r in
                  t.parsed("report", "--by", "image", "--json", run))
              for run in runs]
    words = lines[1].split()
    t.same((words[1], words[2], words[5]),
           tuple("{:,}".format(f(all_of)) for f in (min, max, sum)),
           "all of it")
    t.same([r["instructions"] for r in
            t.parsed("stats", "--json", *runs)["runs"]], all_of, "the runs")
    t.same(len(t.tally("stats", "--limit", "2", *runs)[1].splitlines()), 4,
           "--limit")
    rows = t.parsed("stats", "--min", "10%", "--json", *runs)["rows"]
    t.same(sorted(r["procedure"] for r in rows),
           ["changed", "choose", "nested"], "--min")
    lines = t.tally("stats", "--by", "image", *runs)[1].splitlines()
    t.ok(lines[1].endswith("  all") and lines[2].endswith("  prog"),
         "images", lines)


def unlike(t, runs):
    """other builds, other placements, counts that are not known"""
    other = t.count("ways", "prog", "7", options=("--placement", "redundant"))
    check(t, "procedure", [*runs, other])
    t.build("prog", "-DNEWER")
    newer = t.count("newer", "prog", "9")
    rows = {r["procedure"]: r for r in
            t.parsed("stats", "--json", *runs, newer)["rows"]}
    t.same([rows[p]["runs"] for p in ("gone", "added", "nested")],
           [len(runs), 1, len(runs) + 1], "another build")
    a, b = t.make("a"), t.make("b", "contradiction")
    rows = {r["procedure"]: r for r in
            t.parsed("stats", "--json", a, b)["rows"]}
    t.same((rows["odd"]["runs"], rows["odd"]["unknown"], "dark" in rows),
           (1, 1, False), "what is not known does not count")
    rows = t.parsed("stats", "--json", a, t.make("c", "more"))["rows"]
    t.same([(r["min"], r["max"]) for r in rows if r["procedure"] == "main"],
           [(26, 46)], "by hand")


def twins(t):
    """One name twice in an image: by the order in the file."""
    for name, factor in (("one", 1), ("two", 10)):
        with open(t.path(name + ".c"), "w") as f:
            f.write('''static volatile int sink;
                __attribute__((noinline)) static void twin(int n)
                { for (int i = 0; i < n; i++) sink += i; }
                void %s(int n) { twin(n * %d); }''' % (name, factor))
    with open(t.path("main.c"), "w") as f:
        f.write('''#include <stdlib.h>
            void one(int), two(int);
            int main(int c, char **v)
            { one(atoi(v[1])); two(atoi(v[1])); return 0; }''')
    run(*compiler(HOST, "gcc"), "-O1", "-o", "twins", "one.c", "two.c",
        "main.c", cwd=t.where)
    runs = [t.count("t%d" % n, "twins", str(n)) for n in (100, 200)]
    each = [sorted(r["instructions"] for r in
                   t.parsed("report", "--json", x) if r["procedure"] ==
                   "twin") for x in runs]
    rows = t.parsed("stats", "--json", *runs)["rows"]
    t.same(sorted((r["min"], r["max"]) for r in rows
                  if r["procedure"] == "twin"), list(zip(*each)),
           "twins are two")


with tempfile.TemporaryDirectory() as where:
    t = Asker(where)
    t.build("prog")
    runs = [t.count("r%d" % i, "prog", str(n), str(m)) for i, (n, m) in
            enumerate(((10, 10), (20, 14), (35, 11), (12, 12)))]
    check(t, "procedure", runs)
    check(t, "image", runs)
    check(t, "line", runs)
    text(t, runs)
    unlike(t, runs)
    t.refused(2, "two or more", "stats", runs[0])
    t.refused(2, "--by takes procedure", "stats", "--by", "block", *runs)
    t.refused(2, "percentage", "stats", "--min", "x", *runs)
    twins(t)
    t.build("alone")
    t.refused(3, "r0 and single have nothing in common", "stats", runs[0],
              t.count("single", "alone"))
    t.refused(3, "No such file", "stats", runs[0], "nothing")
    t.mutants(runs[0], lambda x: ("stats", runs[1], x), 0)
    t.done()
