#!/usr/bin/env python3
"""count: how many instructions counting costs.

    bench/count.py TALLY ISA ROOT [NAME...]

Programs of a root (machine.py), and all their libraries, do the same work as
the originals, with counters in them: instructions that qemu executes by the
original's, one column per way (counted.py). And, of the default:

    extra      instructions that counting adds, per increment, those at the
               start of the program included (10 million for python)
    increments per 1000 instructions of the original, beside those of a counter
               per block (Table 2 of Ball and Larus '92), and those of gcc's
               own counters in a program built from its source (peers.sh)
    new/old    bytes of new code by bytes of old, of the program's file
    measured   percent of the instructions that the original and its libraries
               execute, the dynamic loader left out: the rest is code left in
               place. These are two runs: lua, whose hashes are random, differs
               from itself by up to 3 percent
"""
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from counted import *
from machine import Machine
from place import Place, counter, observed, observer
from work import MIDDLE, SMALL, Inputs, works

TALLY = os.path.abspath(sys.argv[1])
MACHINE = Machine(*sys.argv[2:4])
NAMES = sys.argv[4:]
SIZE = MIDDLE if MACHINE.native else SMALL
HEAD = ["extra", "increments", "redundant", "gcov", "new/old", "measured"]


def growth(src, out):
    size = json.loads(subprocess.run(
        [TALLY, "instrument", "--json", src, "-o", out], capture_output=True,
        text=True).stdout)
    return size["new_bytes"] / size["text_bytes"]


def measure(work, plugin, tmp, profile):
    """{way: instructions executed}, None being the original's"""
    places = {None: Place(MACHINE, tmp + "/old")}
    for way in WAYS:
        folder = tmp + "/" + way
        if way == "feedback":
            folder += work.name  # weights are the program's own
        places[way] = Place(MACHINE, folder, [TALLY, "instrument",
                                              *options(way, profile)])
    cost, want = {}, None
    for way, place in places.items():
        program = place.add(work.program)
        if way is None:
            # may leave something for the next run (python's caches)
            place.run(program, work, plugin)
        said, cost[way] = place.run(program, work, plugin)
        want = want or said
        if said != want:
            print("%-11s DIFFERS %s" % (work.name, way))
    return cost


def gcov(work, program, folder):
    """increments of the same work by gcc's own counters; None: not built"""
    if not program:
        return None
    subprocess.run([MACHINE.qemu, "-L", MACHINE.root, program, *work.args],
                   stdin=open(work.given or "/dev/null"),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "GCOV_PREFIX": folder})
    return gcov_increments(folder)


def row(work, plugin, all_seen, tmp, coverage):
    profile = count(TALLY, MACHINE, work, tmp + "/" + work.name,
                    tmp + "/cache")
    n, increments, redundant = figures(TALLY, profile)
    cost = measure(work, plugin, tmp, profile)
    base = cost.pop(None)
    ran = observed(MACHINE, work, all_seen, tmp + "/ran." + work.name)
    own = gcov(work, coverage.get(work.name), tmp + "/gcov." + work.name)
    print("%-11s" % work.name, *("%9.3f" % (cost[w] / base) for w in WAYS),
          "%10.2f %10.1f %10.1f" % (
              (cost["edges"] - base) / increments, 1000 * increments / n,
              1000 * redundant / n),
          "%10s" % ("%.1f" % (1000 * own / n) if own else "-"),
          "%10.2f %10.3f" % (growth(work.program, tmp + "/new"),
                             100 * n / ran))
    sys.stdout.flush()
    return [cost[w] / base for w in WAYS]


def main():
    if not shutil.which(MACHINE.qemu):
        sys.exit(MACHINE.qemu + " is not installed")
    with tempfile.TemporaryDirectory() as tmp:
        plugins = counter(tmp), observer(tmp, TALLY)
        coverage = MACHINE.built("gcov")[0]
        print("%-11s" % "", *("%9s" % w for w in WAYS),
              *("%10s" % h for h in HEAD))
        rows = [row(work, *plugins, tmp, coverage) for work in
                works(MACHINE, SIZE, Inputs(tmp), NAMES)]
        print("%-11s" % "geo. mean", *("%9.3f" % math.exp(statistics.mean(
            map(math.log, column))) for column in zip(*rows)))


main()
