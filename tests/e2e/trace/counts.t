#!/usr/bin/env python3
"""
trace/counts: a trace is a source of answers: replayed, it has the same count of
each edge as the profile that `tally count` leaves of the same program. Reports,
annotations, graphs and exports of both are the same; and where a trace does not
tell all, counts are called lower bounds.
"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from answers import *
from count_run import EMULATED

TRACE = "tests/progs/trace/"
ENCODINGS = "witness", "bits", "every-branch"
# sources, flags, compiler, arguments; whether libraries run the same each time,
# and are told in full
PROGRAMS = {
    "turns": (["turns.c"], ["-O2"], "gcc", [], True),
    "paths": (["paths.c"], ["-O2"], "gcc", [], True),
    "plain": (["paths.c"], ["-O0"], "gcc", [], True),
    "crew": (["crew.c"], ["-O2"], "gcc", [], False),
    "throws": (["throws.cc"], ["-O2"], "g++", [], False),
    "labels": (["../rewrite/labels.c"], ["-O2"], "gcc", [], True),
}
# what is different in each run
PIDS = re.compile(r"(?m)^( *\d+ +)\d+")


class Counts(Asker):
    def build(self, name):
        sources, flags, cc, _, _ = PROGRAMS[name]
        cc = compiler(HOST, cc)
        if not cc:
            return False
        run(*cc, "-g", "-pthread", *flags, "-o", self.path(name),
            *(os.path.abspath(TRACE + s) for s in sources), "-ldl")
        return True

    def measure(self, verb, file, name, *options):
        env = {**os.environ, "XDG_CACHE_HOME": self.where, "LD_BIND_NOW": "1"}
        status, out, err = self.tally(verb, *options, "-o", file, "--",
                                      "./" + name, *PROGRAMS[name][3], env=env)
        if status:
            raise Failed("%s %s: %d %s" % (verb, name, status, err))
        return out

    def edges(self, file, *options):
        """{edge: counts}, of those that ran, or perhaps"""
        rows = self.parsed("report", "--by", "edge", "--json", *options, file)
        out = {}
        for r in rows:
            key = tuple(str(r.get(k)) for k in (
                "image", "procedure", "from", "to", "kind", "callee", "hub"))
            out.setdefault(key, []).append(r["count"])
        return out


def same_edges(t, name, want, file, own):
    """Of libraries those that are the same in two runs."""
    got = t.edges(file, *own)
    bad = ["%s: %s, want %s" % (k, got.get(k), want.get(k))
           for k in sorted(set(got) | set(want))
           if want.get(k, 0) is not None and got.get(k) != want.get(k)]
    ran = sum(n for v in got.values() for n in v if n)
    unknown = sum(n is None for v in got.values() for n in v)
    t.none(bad[:9], "%s: %d edges, %d times" % (name, len(want), ran))
    t.ok(ran and unknown < len(got) // 10, "%s: they are known" % name,
         ["%d of %d are not" % (unknown, len(got))])


def same_answers(t, name, profile, trace):
    """Of the program's own code."""
    own = "--image", name
    asked = [("report", "--by", by, *own) for by in (
        "procedure", "line", "instruction", "block", "edge", "call-site")]
    asked += [("report", "--by", "procedure", "--json", *own),
              ("annotate", *own, "main"), ("annotate", *own, "--json", "main"),
              *(("graph", "--format", f, *own, "main")
                for f in (["dot", "svg"] if PROGRAMS[name][4] else ["dot"])),
              *(("export", "--format", f) for f in (
                  "tsv", "lcov", "callgrind", "bolt", "folded"))]
    bad = []
    for words in asked:
        a, b = (t.tally(*words, f) for f in (profile, trace))
        if words[0] == "export":
            a, b = (own_lines(x, name) for x in (a, b))
        elif not PROGRAMS[name][4]:
            a, b = (without_total(x) for x in (a, b))
        if a[:2] != b[:2] or a[0]:
            bad.append("%s: %s" % (" ".join(words), first_other(a, b)))
    t.none(bad, "%s: %d answers" % (name, len(asked)))
    a, b = (t.tally("report", "--by", "process", f)[1]
            for f in (profile, trace))
    t.same(len(PIDS.findall(a)), len(PIDS.findall(b)),
           "%s: processes" % name)


def first_other(a, b):
    if a[0] or b[0]:
        return "status %d, %d: %s%s" % (a[0], b[0], a[2][:200], b[2][:200])
    for x, y in zip(a[1].splitlines(), b[1].splitlines()):
        if x != y:
            return "want %r, got %r" % (x[:100], y[:100])
    return "%d and %d bytes" % (len(a[1]), len(b[1]))


def without_total(answer):
    """Libraries ran otherwise: shares of all are others."""
    status, out, err = answer
    out = re.sub(r"(?m)^(at least )?[\d,]+ instructions$", "", out)
    return status, re.sub(r"\d+\.\d+%", "", out), err


def own_lines(answer, name):
    """Lines of formats in which images are told in each, or all."""
    status, out, err = answer
    lines = [l for l in out.splitlines() if l.startswith(name + "\t")]
    if not lines and "\n" in out and name + ";" in out:
        lines = sorted(l for l in out.splitlines() if name + ";" in l)
    return status, "\n".join(lines), err


def check(t, name):
    if not t.build(name):
        t.skip(name, "no compiler")
        return
    steady = PROGRAMS[name][4]
    own = () if steady else ("--image", name)
    profile = "%s.tally" % name
    text = t.measure("count", profile, name, "--after-calls")
    want = t.edges(profile, *own)
    if steady:
        t.measure("count", "again.tally", name, "--after-calls")
        again = t.edges("again.tally")
        want = {k: want.get(k) if want.get(k) == again.get(k) else None
                for k in set(want) | set(again)}
    for e in ENCODINGS if name in ("turns", "paths") else ENCODINGS[:1]:
        trace = "%s.%s.trace" % (name, e)
        t.same(t.measure("trace", trace, name, "--encoding", e), text,
               "%s %s: traced" % (name, e))
        same_edges(t, "%s %s" % (name, e), want, trace, own)
    same_answers(t, name, profile, "%s.witness.trace" % name)


def check_hub(t):
    """
    Computed jumps that are taken for calls of others, and go by the table of
    a hub: the procedure was called once, and passed 20 labels.
    """
    for file in "paths.tally", "paths.witness.trace":
        rows = t.parsed("report", "--by", "edge", "--json", "--procedure",
                        "machine", file)
        n = {}
        for r in rows:
            n[r["kind"]] = n.get(r["kind"], 0) + r["count"]
        t.same((n["entry"], n["return"], n["from-hub"],
                n["to-hub"] + n["arrival"]), (1, 1, 20, 20),
               "%s: jumps by a hub" % file)


def check_sums(t):
    """Several traces, and what is kept of them."""
    t.measure("trace", "second.trace", "turns")
    both = "turns.witness.trace", "second.trace"
    one = t.parsed("report", "--json", "--image", "turns", both[0])
    two = t.parsed("report", "--json", "--image", "turns", *both)
    t.same([2 * r["instructions"] for r in one],
           [r["instructions"] for r in two], "two traces are added up")
    t.same(t.tally("merge", "-o", "kept.tally", *both)[0], 0, "and kept")
    t.same(t.parsed("report", "--json", "--image", "turns", "kept.tally"),
           two, "as a profile")
    t.refused(3, "was counted in two ways", "report", both[0], "turns.tally")


def check_part(t):
    """What is missing is said to be."""
    t.measure("trace", "part.trace", "paths", "--last", str(256 << 10))
    t.same(t.tally("report", "part.trace")[2].count("part of the run"), 0,
           "a short one is all there")
    whole = open(t.path("paths.witness.trace"), "rb").read()
    with open(t.path("cut.trace"), "wb") as f:
        f.write(whole[:len(whole) - 40])
    status, out, err = t.tally("report", "--by", "image", "cut.trace")
    t.ok(status == 0 and "at least" in out and "part of the run" in err,
         "a trace that was cut", [out, err])
    rows = t.parsed("report", "--json", "cut.trace")
    t.ok(rows and all(r["instructions"] is None and r["calls"] is None and
                      ("at_least" in r) == ("does not tell" in r["unknown"])
                      for r in rows) and "at_least" in rows[0],
         "counts are lower bounds", [str(rows)[:300]])
    t.mutants("turns.witness.trace",
              lambda v: ["report", "--by", "edge", v], 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Counts(folder)
        if HOST != "x86_64" or EMULATED:
            t.skip("counts", "traces of x86-64 alone")
            t.done()
        for name in sys.argv[1:] or PROGRAMS:
            check(t, name)
        if not sys.argv[1:]:
            check_hub(t)
            check_sums(t)
            check_part(t)
    t.done()


main()
