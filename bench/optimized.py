#!/usr/bin/env python3
"""optimized: what our counts are worth to those who place code by them.

    bench/optimized.py TALLY [NAME...]

llvm-bolt optimizes programs of this machine, which peers.sh built with
relocations, always with the same options:

    nothing    without a profile
    tally      with what `tally export --format bolt` says of a run on less
               work, counted with --calls
    BOLT       with what BOLT's own counters (-instrument) say of the same run

Numbers are user time on more work by the original's of the same round: all in
turns, medians of eleven rounds (or ROUNDS). The last column is tally's by that
without a profile: below 1 is what the counts gained.
"""
import math
import os
import statistics
import subprocess
import sys
import tempfile

from counted import *
from machine import Machine
from work import GOOD, LARGE, MIDDLE, Inputs, works

TALLY, NAMES = os.path.abspath(sys.argv[1]), sys.argv[2:]
MACHINE = Machine(os.uname().machine, "/")
ROUNDS = int(os.environ.get("ROUNDS", 11))
PROFILES = ["nothing", "tally", "BOLT"]
OPTIONS = ["-reorder-blocks=ext-tsp", "-reorder-functions=cdsort",
           "-split-functions", "-split-all-cold", "-icf=1"]


class Missing(Exception):
    pass


def bolt(*words):
    p = subprocess.run([BOLT, *words], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        raise Missing(p.stdout.splitlines()[-1])
    if "stale" in p.stdout:
        raise Missing("the profile is not its own")


def own_profile(less, out):
    """What BOLT counts itself."""
    bolt(less.program, "-instrument", "-o", out + ".counts",
         "-instrumentation-file=" + out)
    timed([out + ".counts", *less.args], less.given, {})


def our_profile(less, out, cache):
    count(TALLY, MACHINE, less, out + ".tally", cache, ["--calls"])
    with open(out, "w") as f:
        subprocess.run([TALLY, "export", "--format", "bolt", out + ".tally"],
                       stdout=f, stderr=subprocess.DEVNULL, check=True)


def optimized(less, tmp):
    """{profile: program}"""
    out = {}
    for way in PROFILES:
        file = "%s/%s.%s" % (tmp, less.name, way)
        data = ["-data", file + ".fdata"] if way != "nothing" else []
        if way == "tally":
            our_profile(less, file + ".fdata", tmp + "/cache")
        elif way == "BOLT":
            own_profile(less, file + ".fdata")
        bolt(less.program, "-o", file, *data, *OPTIONS)
        out[way] = file
    return out


def measure(less, large, tmp):
    """{profile: ratio}, and the seconds of the original"""
    programs = {None: large.program, **optimized(less, tmp)}
    times = {way: [] for way in programs}
    want = timed([large.program, *large.args], large.given, {})[0]
    if want[0] not in GOOD:
        raise Missing("the original fails")
    for _ in range(ROUNDS):
        for way, program in programs.items():
            said, seconds = timed([program, *large.args], large.given, {})
            if said != want:
                raise Missing("%s: does not do what the original does" % way)
            times[way].append(seconds)
    base = times.pop(None)
    ratios = {way: statistics.median(x / y for x, y in zip(t, base))
              for way, t in times.items()}
    ratios["gain"] = statistics.median(
        x / y for x, y in zip(times["tally"], times["nothing"]))
    return statistics.median(base), ratios


def main():
    done = []
    columns = PROFILES + ["gain"]
    print("%-11s %7s" % ("", "seconds"), *("%9s" % c for c in columns))
    with tempfile.TemporaryDirectory() as tmp:
        inputs = Inputs(tmp)
        names = [n for n in MACHINE.peers[0] if not NAMES or n in NAMES]
        less = {w.name: w for w in works(MACHINE, MIDDLE, inputs, names)}
        for large in works(MACHINE, LARGE, inputs, names):
            try:
                seconds, ratios = measure(less[large.name], large, tmp)
            except (Missing, OSError) as reason:
                print("%s: %s" % (large.name, reason))
                continue
            done.append(ratios)
            print("%-11s %7.2f" % (large.name, seconds),
                  *("%9.3f" % ratios[c] for c in columns), flush=True)
    if done:
        print("%-19s" % "geo. mean", *("%9.3f" % math.exp(statistics.mean(
            math.log(r[c]) for r in done)) for c in columns))


main()
