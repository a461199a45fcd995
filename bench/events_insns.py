#!/usr/bin/env python3
"""events_insns: how many instructions counting events costs a machine that is
not at hand.

    bench/events_insns.py TALLY ISA ROOT [NAME...]

Programs of a root (machine.py) do the same work as they are, and in the ways of
event_ways.py that need no tracer, with all their libraries: instructions that
qemu executes by the original's, those at the start of the program included.
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from event_ways import ways
from machine import Machine
from place import counter
from work import SMALL, Inputs, works

TALLY = os.path.abspath(sys.argv[1])
MACHINE = Machine(*sys.argv[2:4])
NAMES = sys.argv[4:] or ["bzip2", "gzip", "xz", "lua5.4", "sqlite3"]
COLUMNS = ["edges", "totals", "insns", "four", "sites", "blocks"]


def executed(command, work, plugin, tmp):
    """(status and output, instructions executed)"""
    out = tmp + "/executed"
    env = {**MACHINE.environment(tmp + "/cache"),
           "QEMU_PLUGIN": "file=%s,out=%s" % (plugin, out)}
    p = subprocess.run([*command, work.program, *work.args],
                       stdin=open(work.given or "/dev/null"),
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       env=env)
    return (p.returncode, p.stdout), int(open(out).read())


def row(work, plugin, tmp):
    """[ratio], as COLUMNS"""
    want, base = executed([MACHINE.qemu], work, plugin, tmp)
    ratios = []
    for way in COLUMNS:
        said, n = executed(ways(TALLY, tmp)[way], work, plugin, tmp)
        if said != want:
            print("%s, %s: does not do what the original does" % (
                work.name, way))
        ratios.append(n / base)
    print("%-11s %7.0f" % (work.name, base / 1e6),
          *("%9.3f" % r for r in ratios))
    sys.stdout.flush()
    return ratios


def main():
    if MACHINE.native:
        sys.exit("this machine is at hand: bench/events.py says what it takes")
    if not shutil.which(MACHINE.qemu):
        sys.exit(MACHINE.qemu + " is not installed")
    with tempfile.TemporaryDirectory() as tmp:
        plugin = counter(tmp)
        print("%-11s %7s" % ("", "million"), *("%9s" % c for c in COLUMNS))
        rows = [row(work, plugin, tmp) for work in
                works(MACHINE, SMALL, Inputs(tmp), NAMES)]
        print("%-19s" % "geo. mean", *("%9.3f" % math.exp(statistics.mean(
            map(math.log, column))) for column in zip(*rows)))


main()
