#!/usr/bin/env python3
"""optimized: what our counts are worth to those who place code by them.

    bench/optimized.py TALLY [NAME...]

llvm-bolt optimizes programs of this machine, which peers.sh built with
relocations, always with the same options; and a library as the system has it,
stripped and without relocations (libsqlite3):

    nothing    without a profile
    tally      with what `tally export --format bolt` says of a run on less
               work, counted with --calls
    BOLT       with what BOLT's own counters (-instrument) say of the same run,
               which need relocations

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
COLUMNS = PROFILES + ["gain"]
BLOCKS = ["-reorder-blocks=ext-tsp", "-split-functions"]
ALL = [*BLOCKS, "-reorder-functions=cdsort", "-split-all-cold", "-icf=1"]
STOCK = "libsqlite3.so.0"


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


def our_profile(less, out, cache, *image):
    count(TALLY, MACHINE, less, out + ".tally", cache, ["--calls"])
    with open(out, "w") as f:
        subprocess.run([TALLY, "export", "--format", "bolt", *image,
                        out + ".tally"], stdout=f,
                       stderr=subprocess.DEVNULL, check=True)


def optimized(less, tmp):
    """{profile: (program, environment)}"""
    out = {}
    for way in PROFILES:
        file = "%s/%s.%s" % (tmp, less.name, way)
        data = ["-data", file + ".fdata"] if way != "nothing" else []
        if way == "tally":
            our_profile(less, file + ".fdata", tmp + "/cache")
        elif way == "BOLT":
            own_profile(less, file + ".fdata")
        bolt(less.program, "-o", file, *data, *ALL)
        out[way] = (file, {})
    return out


def optimized_stock(less, tmp):
    """The same of the system's library that a program uses."""
    out, lib = {}, os.path.realpath(MACHINE.library(STOCK))
    for way in PROFILES[:2]:
        folder = "%s/stock.%s" % (tmp, way)
        os.mkdir(folder)
        data = ["-data", folder + "/fdata"] if way != "nothing" else []
        if data:
            our_profile(less, folder + "/fdata", tmp + "/cache", "--image",
                        os.path.basename(lib))
        bolt("--allow-stripped", lib, "-o", folder + "/" + STOCK, *data,
             *BLOCKS)
        out[way] = (less.program, {"LD_LIBRARY_PATH": folder})
    return out


def measure(large, programs):
    """{profile: ratio}, and the seconds of the original"""
    programs = {None: (large.program, {}), **programs}
    times = {way: [] for way in programs}
    want = timed([large.program, *large.args], large.given, {})[0]
    if want[0] not in GOOD:
        raise Missing("the original fails")
    for _ in range(ROUNDS):
        for way, (program, env) in programs.items():
            said, seconds = timed([program, *large.args], large.given, env)
            if said != want:
                raise Missing("%s: does not do what the original does" % way)
            times[way].append(seconds)
    base = times.pop(None)
    ratios = {way: statistics.median(x / y for x, y in zip(t, base))
              for way, t in times.items()}
    ratios["gain"] = statistics.median(
        x / y for x, y in zip(times["tally"], times["nothing"]))
    return statistics.median(base), ratios


def row(name, large, optimize, less, tmp):
    """Prints a line; its ratios, or None"""
    try:
        seconds, ratios = measure(large, optimize(less, tmp))
    except (Missing, OSError, TypeError) as reason:
        print("%s: %s" % (name, reason))
        return None
    print("%-11s %7.2f" % (name, seconds), *(
        "%9.3f" % ratios[c] if c in ratios else "%9s" % "-"
        for c in COLUMNS), flush=True)
    return ratios


def main():
    done = []
    print("%-11s %7s" % ("", "seconds"), *("%9s" % c for c in COLUMNS))
    with tempfile.TemporaryDirectory() as tmp:
        inputs = Inputs(tmp)
        less = {w.name: w for w in works(MACHINE, MIDDLE, inputs)}
        large = {w.name: w for w in works(MACHINE, LARGE, inputs)}
        for name in MACHINE.peers[0]:
            if not NAMES or name in NAMES:
                done.append(row(name, large[name], optimized, less[name], tmp))
        if not NAMES or STOCK in NAMES:
            small, big = (w["sqlite3"]._replace(program="/usr/bin/sqlite3")
                          for w in (less, large))
            row(STOCK.split(".")[0], big, optimized_stock, small, tmp)
    done = [r for r in done if r]
    if done:
        print("%-19s" % "geo. mean, built", *("%9.3f" % math.exp(
            statistics.mean(math.log(r[c]) for r in done)) for c in COLUMNS))


main()
