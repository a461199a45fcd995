#!/usr/bin/env python3
"""times: what counting costs by the clock, beside others that count.

    bench/times.py TALLY [NAME...]

Programs of this machine do the same work as they are, under `tally count`
(with all their libraries) in every way of counted.py, and as others see them:

    BOLT       llvm-bolt -instrument; of the program alone, and it needs
               relocations
    gcov       gcc --coverage; of the program alone, and it needs the source
    callgrind  by valgrind, with all libraries

Numbers are user time by the original's of the same round: all ways in turns,
medians of seven rounds (or ROUNDS); callgrind's of one, on less work. Seven
programs are built from source (peers.sh), four are the system's. And
increments per 1000 instructions: ours, with weights guessed and from feedback,
of a counter per block, and gcov's, the sum of its counters (some of which it
holds in registers while a loop runs).
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from counted import *
from machine import Machine
from work import GOOD, LARGE, MIDDLE, Inputs, works

TALLY, NAMES = os.path.abspath(sys.argv[1]), sys.argv[2:]
MACHINE = Machine(os.uname().machine, "/")
ROUNDS = int(os.environ.get("ROUNDS", 7))
BUILT = ["bzip2", "gzip", "xz", "lua5.4", "sqlite3", "gawk", "minisat"]
STOCK = ["cc1", "python3.11", "perl"]
OTHER = ["mawk"]  # which no mean was asked of
COLUMNS = [*WAYS, "BOLT", "gcov", "callgrind"]
INCREMENTS = ["edges", "feedback", "redundant", "gcov"]


class Missing(Exception):
    pass


class Bench:
    """One program: how each column runs it, and what that took."""

    def __init__(self, large, less, tmp):
        self.large, self.less = large, less
        self.tmp = tmp + "/" + large.name
        os.mkdir(self.tmp)
        self.env = {"TALLY_CACHE": tmp + "/cache",
                    "GCOV_PREFIX": self.tmp + "/gcov"}
        self.commands, self.missing = {None: [large.program]}, {}
        self.ratios, self.increments = {}, {}

    def profile(self, way):
        return self.tmp + "/" + way + ".tally"

    def prepare(self, builds):
        """Every column's command, without the arguments."""
        weights = count(TALLY, MACHINE, self.large, self.profile("weights"),
                        self.env["TALLY_CACHE"])
        for way in WAYS:
            self.commands[way] = [
                TALLY, "count", "--quiet", "-o", self.profile(way),
                *options(way, weights), "--", self.large.program]
        for column, make in (("BOLT", self.bolt), ("gcov", lambda x: x)):
            try:
                self.commands[column] = [make(self.built(*builds[column]))]
            except Missing as reason:
                self.missing[column] = str(reason)

    def built(self, programs, why):
        name = self.large.name
        if name not in BUILT:
            raise Missing()  # as everybody knows
        if name not in programs:
            raise Missing(why.get(name, "is not built"))
        return programs[name]

    def bolt(self, program):
        if not shutil.which(BOLT):
            raise Missing(BOLT + " is not installed")
        out = self.tmp + "/bolted"
        p = subprocess.run(
            [BOLT, program, "-instrument", "-o", out,
             "-instrumentation-file=" + self.tmp + "/bolt.fdata"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode or not os.path.exists(out):
            said = [x for x in p.stdout.splitlines() if "ERROR" in x]
            raise Missing(said[-1] if said else "llvm-bolt fails")
        return out

    def run(self, column, work):
        command = self.commands[column]
        return timed([*command, *work.args], work.given, self.env)

    def first(self):
        """A run of each, which fills caches: does it do what it should?"""
        for column in list(self.commands):
            said, _ = self.run(column, self.large)
            if column is None:
                want = said
                if said[0] not in GOOD:
                    raise Missing("the original fails")
            elif said != want:
                self.missing[column] = "does not do what the original does"
                del self.commands[column]

    def rounds(self):
        times = {column: [] for column in self.commands}
        for _ in range(ROUNDS):
            for column in times:
                times[column].append(self.run(column, self.large)[1])
        base = times.pop(None)
        self.seconds = statistics.median(base)
        for column, t in times.items():
            self.ratios[column] = statistics.median(
                x / y for x, y in zip(t, base))

    def callgrind(self):
        """One run, between originals on the same work."""
        if not shutil.which("valgrind"):
            self.missing["callgrind"] = "valgrind is not installed"
            return
        self.commands["callgrind"] = [
            "valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" +
            self.tmp + "/callgrind", self.large.program]
        want, before = self.run(None, self.less)
        said, seconds = self.run("callgrind", self.less)
        _, after = self.run(None, self.less)
        if said != want:
            self.missing["callgrind"] = "does not do what the original does"
        else:
            self.ratios["callgrind"] = 2 * seconds / (before + after)

    def per_thousand(self):
        """Increments per 1000 instructions, of the runs in first()"""
        n, edges, redundant = figures(TALLY, self.profile("edges"))
        found = {"edges": edges, "redundant": redundant,
                 "feedback": figures(TALLY, self.profile("feedback"))[1],
                 "gcov": gcov_increments(self.env["GCOV_PREFIX"])}
        self.increments = {k: 1000 * v / n for k, v in found.items() if v}


def cell(value):
    return "%9.2f" % value if value else "%9s" % "-"


def show(bench):
    print("%-11s %7.2f" % (bench.large.name, bench.seconds),
          *(cell(bench.ratios.get(c)) for c in COLUMNS), "",
          *("%9.1f" % bench.increments[c] if c in bench.increments else
            "%9s" % "-" for c in INCREMENTS))
    sys.stdout.flush()


def mean(title, benches):
    def of(column):
        known = [b.ratios[column] for b in benches if column in b.ratios]
        return math.exp(statistics.mean(map(math.log, known))) if known else 0
    if benches and title:
        print("%-19s" % title, *(cell(of(c)) for c in COLUMNS))


def measure(large, less, tmp, builds):
    bench = Bench(large, less, tmp)
    bench.prepare(builds)
    bench.first()
    bench.per_thousand()
    bench.rounds()
    bench.callgrind()
    show(bench)
    return bench


def group(names, title, tmp, builds, notes):
    """Rows and their mean."""
    inputs, done = Inputs(tmp), []
    less = {w.name: w for w in works(MACHINE, MIDDLE, inputs, names)}
    large = {w.name: w for w in works(MACHINE, LARGE, inputs, names)}
    for name in names:
        if name not in large:
            notes.append("%s: is not there" % name)
            continue
        try:
            done.append(measure(large[name], less[name], tmp, builds))
        except Missing as reason:
            notes.append("%s: %s" % (name, reason))
            continue
        notes += ["%s, %s: %s" % (name, column, reason) for column, reason
                  in done[-1].missing.items() if reason]
    mean(title, done)


def main():
    builds = {"BOLT": MACHINE.peers, "gcov": MACHINE.built("gcov")}
    notes = []
    print("%-11s %7s %s  increments per 1000 instructions" % (
        "", "", " " * 10 * len(COLUMNS)))
    print("%-11s %7s" % ("", "seconds"), *("%9s" % c for c in COLUMNS), "",
          *("%9s" % c for c in INCREMENTS))
    with tempfile.TemporaryDirectory() as tmp:
        for names, title in ((BUILT, "geo. mean"), (STOCK, "geo. mean, stock"),
                             (OTHER, "")):
            names = [n for n in names if not NAMES or n in NAMES]
            if names:
                group(names, title, tmp, builds, notes)
    for note in notes:
        print(note)


main()
