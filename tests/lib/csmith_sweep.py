#!/usr/bin/env python3
"""csmith_sweep: random programs, as they are and rewritten.

    csmith_sweep.py [--keep FOLDER] MACHINE SEED...

Each program is compiled by two compilers at five levels; of two neighbours in
this list one is static and position-dependent, the other dynamic and not, and
the next seed has it the other way round; one in three has no unwind tables, and
half of those no symbols either. Each of these files then runs as it is and
rewritten in three ways, among libraries rewritten the same way
(rewrite_run.py). It prints a checksum after every global variable: output and
status have to be the same. Prints what differs, and sums.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from rewrite_run import *

COMPILERS = ("gcc", "clang")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
LINKS = (["-static", "-fno-pie", "-no-pie"], ["-fPIE", "-pie"])
# what vouches for the code then are its symbols, or nobody
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
BARES = (BARE, BARE + ["-s"])
HEADERS = "-I/usr/include/csmith"
ENDS = 4        # seconds: programs that run longer may never end
COMPILED = 60   # seconds: some seeds keep clang -O3 busy for ever
TIMED_OUT = 124 # status of timeout(1)


def kinds(seed):
    """(compiler, level, more flags) of each file of a program"""
    for i, name in enumerate(COMPILERS):
        for j, level in enumerate(LEVELS):
            bare = BARES[(seed + i) % 2] if (seed + i + j) % 3 == 0 else []
            yield name, level, LINKS[(seed + i + j) % 2] + bare


def compiled(words):
    """Did the compiler come to an end?"""
    # timeout(1) ends what the compiler itself started, too
    p = subprocess.run(["timeout", str(COMPILED), *words],
                       stderr=subprocess.PIPE, text=True)
    if p.returncode not in (0, TIMED_OUT):
        raise Failed("%s: %s" % (" ".join(words), p.stderr.strip()))
    return p.returncode == 0


class Sweep:
    def __init__(self, isa, ways, where):
        self.isa = isa
        self.worlds = {way: World(isa, way) for way in (None, *ways)}
        self.where = where
        self.sums = collections.Counter()

    def program(self, seed):
        """[(title, complaints)] of one seed"""
        folder = os.path.join(self.where, str(seed))
        os.makedirs(folder, exist_ok=True)
        source = os.path.join(folder, "random.c")
        with open(source, "w") as f:
            # it leaves a file where it runs
            f.write(run("csmith", "--seed", str(seed), cwd=folder))
        bad, ends = [], False
        for name, level, link in kinds(seed):
            exe = os.path.join(folder, name + level)
            if not compiled([*compiler(self.isa, name), "-w", level, *link,
                             HEADERS, source, "-o", exe]):
                self.sums["files not compiled in time"] += 1
                continue
            want = self.worlds[None].run(exe, "1", seconds=ENDS)
            if want[0] == "hangs":
                self.sums["files that do not end"] += 1
                continue
            ends = True
            self.sums["files " + link[0]] += 1
            for way in self.worlds:
                if way:
                    bad += self.compare(seed, way, exe, want)
        self.sums["programs that end" if ends else "programs left out"] += 1
        if not bad:
            shutil.rmtree(folder)
        return bad

    def compare(self, seed, way, exe, want):
        copy = "%s-%s" % (exe, way)
        self.sums["runs " + way] += 1
        try:
            rewrite(way, exe, copy)
            why = differences(want, self.worlds[way].run(copy, "1"))
        except Failed as e:
            why = [str(e)]
        title = "seed %d %s %s" % (seed, os.path.basename(exe), way)
        return [(title, why)] if why else []


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("isa", choices=("aarch64", "x86_64"))
    ap.add_argument("seeds", type=int, nargs="+")
    ap.add_argument("--keep", help="folder for the files of what differs")
    args = ap.parse_args()
    missing = [n for n in COMPILERS if not compiler(args.isa, n)]
    if emulator(args.isa) is None or missing or not shutil.which("csmith"):
        print("1..0 # SKIP no tools for " + args.isa)
        return 0
    bad = 0
    with tempfile.TemporaryDirectory() as where, ThreadPoolExecutor(2) as pool:
        version = run("csmith", "--version", cwd=where).split("\n")[0].strip()
        print("# %s, %s, seeds %d to %d" % (args.isa, version,
                                            min(args.seeds), max(args.seeds)))
        sweep = Sweep(args.isa, ("moved", "trap", "crowded"),
                      args.keep or where)
        for found in pool.map(sweep.program, args.seeds):
            for title, why in found:
                bad += 1
                print("differs: " + title)
                print("".join("#   %s\n" % line for line in why), end="",
                      flush=True)
    for what, n in sorted(sweep.sums.items()):
        print("# %s: %d" % (what, n))
    print("1..1\n%sok 1 - %d differ" % ("not " if bad else "", bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
