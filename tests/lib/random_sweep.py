#!/usr/bin/env python3
"""random_sweep: random programs, as they are and rewritten.

    random_sweep.py [--keep FOLDER] [--ways WAY,..] [--few] csmith|calls
                    MACHINE SEED...

csmith: programs of Debian's csmith; calls: of random_calls.py. Each is
compiled by two compilers at four levels or five; of two neighbours in this
list one is static and position-dependent, the other dynamic and not, and the
next seed has it the other way round; of calls there are more: the second file
as a shared library, and both optimized as one at link time. One in three has
no unwind tables, and half of those no symbols either. Each of these files
then runs as it is and rewritten in several ways, among libraries rewritten
the same way (rewrite_run.py). It prints checksums: output and status have to
be the same. Prints what differs, and sums. --few: of each program two files,
other ones for the next seed.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import random_calls
from rewrite_run import *

COMPILERS = ("gcc", "clang")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
LINKS = (["-static", "-fno-pie", "-no-pie"], ["-fPIE", "-pie"])
SHARED = ["-fPIC", "-shared"]
# what vouches for the code then are its symbols, or nobody
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
BARES = (BARE, BARE + ["-s"])
HEADERS = "-I/usr/include/csmith"
ENDS = 4        # seconds: programs that run longer may never end
COMPILED = 60   # seconds: some seeds keep clang -O3 busy for ever
TIMED_OUT = 124 # status of timeout(1)


def compiled(words):
    """Did the compiler come to an end?"""
    # timeout(1) ends what the compiler itself started, too
    p = subprocess.run(["timeout", str(COMPILED), *words],
                       stderr=subprocess.PIPE, text=True)
    if p.returncode not in (0, TIMED_OUT):
        raise Failed("%s: %s" % (" ".join(words), p.stderr.strip()))
    return p.returncode == 0


def bare(seed, i, j):
    return BARES[(seed + i) % 2] if (seed + i + j) % 3 == 0 else []


class Csmith:
    """what csmith writes: one file, and arguments for the program"""
    args = ["1"]

    @staticmethod
    def missing():
        return not shutil.which("csmith")

    @staticmethod
    def version(where):
        return run("csmith", "--version", cwd=where).split("\n")[0].strip()

    @staticmethod
    def write(seed, folder):
        # it leaves a file where it runs
        with open(os.path.join(folder, "random.c"), "w") as f:
            f.write(run("csmith", "--seed", str(seed), cwd=folder))

    @staticmethod
    def kinds(seed):
        """(compiler, level, name, flags, sources, libraries) of each file"""
        for i, name in enumerate(COMPILERS):
            for j, level in enumerate(LEVELS):
                link = LINKS[(seed + i + j) % 2]
                yield (name, level, link[0], [*link, *bare(seed, i, j),
                       HEADERS], ["random.c"], [])


class Calls:
    """what random_calls.py writes: two files"""
    args = []

    @staticmethod
    def missing():
        return False

    @staticmethod
    def version(where):
        return "random_calls"

    @staticmethod
    def write(seed, folder):
        random_calls.write(seed, folder)

    @staticmethod
    def kinds(seed):
        both = ["main.c", "other.c"]
        for i, name in enumerate(COMPILERS):
            for j, level in enumerate(LEVELS[1:]):
                link = LINKS[(seed + i + j) % 2]
                more = bare(seed, i, j)
                yield name, level, link[0], [*link, *more], both, []
                # the loader's lazy binder keeps less than some conventions
                yield (name, level, "library", [*LINKS[1], "-Wl,-z,now",
                       *more], ["main.c"], ["other.c"])
                if name == "gcc":
                    yield (name, level, "-flto", ["-flto", *link, *more],
                           both, [])


GENERATORS = {"csmith": Csmith, "calls": Calls}


class Sweep:
    def __init__(self, generator, isa, ways, where, few):
        self.generator, self.isa, self.few = generator, isa, few
        self.worlds = {way: World(isa, way) for way in (None, *ways)}
        self.where = where
        self.sums = collections.Counter()

    def kinds(self, seed):
        every = list(self.generator.kinds(seed))
        if not self.few:
            return every
        return [every[(seed * 7 + k * len(every) // 2) % len(every)]
                for k in range(2)]

    def compile(self, folder, kind):
        """Was the file and its library made? None: not in time"""
        name, level, link, flags, sources, libraries = kind
        words = [*compiler(self.isa, name), "-w", level]
        exe = os.path.join(folder, name + level + link)
        made = []
        for source in libraries:
            lib = exe + ".lib/lib%s.so" % source[:-2]
            os.makedirs(os.path.dirname(lib), exist_ok=True)
            if not compiled([*words, *SHARED, os.path.join(folder, source),
                             "-o", lib]):
                return None
            made.append(lib)
        if not compiled([*words, *flags, *(os.path.join(folder, s)
                                           for s in sources),
                         *made, "-o", exe]):
            return None
        return exe, made

    def program(self, seed):
        """[(title, complaints)] of one seed"""
        folder = os.path.join(self.where, str(seed))
        os.makedirs(folder, exist_ok=True)
        self.generator.write(seed, folder)
        bad, ends = [], False
        for kind in self.kinds(seed):
            files = self.compile(folder, kind)
            if not files:
                self.sums["files not compiled in time"] += 1
                continue
            exe, made = files
            want = self.worlds[None].run(exe, *self.generator.args,
                                         libs=map(os.path.dirname, made),
                                         seconds=ENDS)
            if want[0] == "hangs":
                self.sums["files that do not end"] += 1
                continue
            ends = True
            self.sums["files " + kind[2]] += 1
            for way in self.worlds:
                if way:
                    bad += self.compare(seed, way, exe, made, want)
        self.sums["programs that end" if ends else "programs left out"] += 1
        if not bad:
            shutil.rmtree(folder)
        return bad

    def compare(self, seed, way, exe, made, want):
        copy = "%s-%s" % (exe, way)
        libs = []
        self.sums["runs " + way] += 1
        try:
            rewrite(way, exe, copy)
            for lib in made:
                libs.append(copy + ".lib")
                os.makedirs(libs[-1], exist_ok=True)
                rewrite(way, lib, os.path.join(libs[-1],
                                               os.path.basename(lib)))
            got = self.worlds[way].run(
                copy, *self.generator.args, libs=libs,
                env={"TALLY_OUT": copy + ".tally"})
            why = differences(want, got)
        except Failed as e:
            why = [str(e)]
        title = "seed %d %s %s" % (seed, os.path.basename(exe), way)
        return [(title, why)] if why else []


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("generator", choices=sorted(GENERATORS))
    ap.add_argument("isa", choices=("aarch64", "x86_64"))
    ap.add_argument("seeds", type=int, nargs="+")
    ap.add_argument("--keep", help="folder for the files of what differs")
    ap.add_argument("--ways", default="moved,trap,poison")
    ap.add_argument("--few", action="store_true")
    args = ap.parse_args()
    generator = GENERATORS[args.generator]
    missing = [n for n in COMPILERS if not compiler(args.isa, n)]
    if emulator(args.isa) is None or missing or generator.missing():
        print("1..0 # SKIP no tools for " + args.isa)
        return 0
    with tempfile.TemporaryDirectory() as where, ThreadPoolExecutor(2) as pool:
        print("# %s, %s, seeds %d to %d" % (
            args.isa, generator.version(where), min(args.seeds),
            max(args.seeds)))
        sweep = Sweep(generator, args.isa, args.ways.split(","),
                      args.keep or where, args.few)
        return print_sweep(sweep.sums, pool.map(sweep.program, args.seeds))


if __name__ == "__main__":
    sys.exit(main())
