#!/usr/bin/env python3
"""torture_sweep: gcc's own programs, as they are and rewritten.

    torture_sweep.py [--ways WAY,..] [--every N] SUITE MACHINE [NAME...]

SUITE is gcc/testsuite of gcc's source. Its programs that are of one file and
to be run (C: gcc.c-torture/execute; C++ and Fortran: what says `dg-do run`)
are compiled in several ways; each file then runs as it is and rewritten, among
libraries rewritten the same way (rewrite_run.py). Output and status have to be
the same; what does not compile here, or fails by itself, is left out. --every
N: of each program one way in N, another for the next program.
"""
import argparse
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from rewrite_run import *

C_WAYS = [("gcc", "-O1"), ("gcc", "-O2"), ("gcc", "-O3"), ("gcc", "-Os"),
          ("gcc", "-O2", "-flto"), ("clang", "-O1"), ("clang", "-O2"),
          ("clang", "-Os"), ("gcc", "-O2", "-static")]
CXX_WAYS = [("g++", "-O1"), ("g++", "-O2"), ("g++", "-O3"), ("g++", "-Os"),
            ("g++", "-O2", "-flto"), ("clang++", "-O2")]
FORTRAN_WAYS = [("gfortran", "-O1"), ("gfortran", "-O3"),
                ("gfortran", "-Os"), ("gfortran", "-O2", "-flto")]
SUITES = [
    ("gcc.c-torture/execute", ("*.c", "*/*.c"), C_WAYS, False),
    ("c-c++-common/torture", ("*.c",), C_WAYS, True),
    ("gcc.dg/torture", ("*.c",), C_WAYS, True),
    ("g++.dg", ("eh/*.C", "torture/*.C", "opt/*.C", "cpp0x/*.C", "ext/*.C",
                "init/*.C", "tree-ssa/*.C", "ipa/*.C"), CXX_WAYS, True),
    ("gfortran.dg", ("*.f90",), FORTRAN_WAYS, True),
    ("gfortran.fortran-torture/execute", ("*.f90",), FORTRAN_WAYS, False),
]
RUNS = re.compile(r"dg-do\s+run")
OPTIONS = re.compile(r"dg-(?:additional-)?options\s+\"([^\"]*)\"\s*}")
# more than one file, or a compiler that is not here
MORE = re.compile(r"dg-additional-sources|dg-module|plugin|-fopenacc|"
                  r"-fcoarray|asan|-m32")
SECONDS = 20


def programs(suite):
    for folder, patterns, ways, marked in SUITES:
        for pattern in patterns:
            for path in sorted(glob.glob(os.path.join(suite, folder,
                                                      pattern))):
                with open(path, errors="replace") as f:
                    text = f.read()
                if MORE.search(text) or (marked and not RUNS.search(text)):
                    continue
                options = OPTIONS.search(text)
                yield path, ways, options.group(1).split() if options else []


class Sweep:
    def __init__(self, isa, ways, where, every):
        self.isa, self.where, self.every = isa, where, every
        self.worlds = {way: World(isa, way) for way in (None, *ways)}
        self.sums = collections.Counter()

    def one(self, number, path, ways, options):
        bad = []
        folder = os.path.join(self.where, str(number))
        os.makedirs(folder)
        for k, way in enumerate(ways):
            if (k + number) % self.every == 0:
                bad += self.file(folder, path, way, options)
        shutil.rmtree(folder)
        return bad

    def file(self, folder, path, how, options):
        exe = os.path.join(folder, "a.out")
        words = compiler(self.isa, how[0])
        if not words:
            return []
        flags = [o for o in options if not o.startswith("-O")]
        p = subprocess.run(["timeout", "60", *words, "-w", *how[1:], *flags,
                            path, "-o", exe, "-lm"], cwd=folder,
                           capture_output=True)
        if p.returncode:
            self.sums["files not compiled"] += 1
            return []
        want = self.worlds[None].run(exe, cwd=folder, seconds=SECONDS)
        if want[0] not in (0, 1) or \
           want != self.worlds[None].run(exe, cwd=folder, seconds=SECONDS):
            self.sums["files that fail, or differ, by themselves"] += 1
            return []
        self.sums["files " + how[0]] += 1
        found = []
        for way in self.worlds:
            if way:
                found += self.compare(way, exe, path, how, want, folder)
        return found

    def compare(self, way, exe, path, how, want, folder):
        self.sums["runs " + way] += 1
        try:
            shutil.move(exe, exe + ".original")
            rewrite(way, exe + ".original", exe)
            got = self.worlds[way].run(exe, cwd=folder)
            why = differences(want, got)
        except Failed as e:
            why = [str(e)]
        shutil.move(exe + ".original", exe)
        title = "%s %s %s" % (path, " ".join(how), way)
        return [(title, why)] if why else []


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("suite")
    ap.add_argument("isa", choices=("aarch64", "x86_64"))
    ap.add_argument("names", nargs="*")
    ap.add_argument("--ways", default="poison")
    ap.add_argument("--every", type=int, default=1)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as where, ThreadPoolExecutor(2) as pool:
        sweep = Sweep(args.isa, args.ways.split(","), where, args.every)
        jobs = [(i, *p) for i, p in enumerate(programs(args.suite))
                if not args.names or any(n in p[0] for n in args.names)]
        print("# %s: %d programs" % (args.isa, len(jobs)))
        return print_sweep(sweep.sums, pool.map(lambda j: sweep.one(*j),
                                                jobs))


if __name__ == "__main__":
    sys.exit(main())
