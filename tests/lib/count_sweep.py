#!/usr/bin/env python3
"""count_sweep: programs of a root under `tally count`.

    count_sweep.py TALLY ROOT WORK [--emulator CMD] [--steps TOOL] [NAME...]

Each program in the bin directories of ROOT, a tree of programs and libraries
(a system's own root is "/"), runs with --version and --help: by itself, with
counters on edges, and with a counter in every block. Output and status have to
be the same, and what both tell of each instruction, in all images. Code that
runs otherwise in every run (it asks for random numbers) or when its files are
rewritten otherwise (it reads /proc/self/maps, makes a hash of addresses, or
looks at memory by the page) is told by more runs and other placements, which
do not agree on it among themselves; such programs are called unsteady. Once more with --calls, the callees of every
indirect call and jump have to add up to what it ran.

--steps: the first of these runs is also done by step-counts, one instruction at
a time. What it says of the program's own image has to be what was counted, and
of all that it ran, the loader and the vdso left out, it says which share was in
code that is measured. TAP, one line per program; sums at the end.
"""
import argparse
import collections
import ctypes
import glob
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rewrite_sweep import ACTS, BIN, is_elf, is_loader

TIMEOUT = 600
STEPPING = 120  # seconds; what takes longer is not stepped
EDGES, REDUNDANT = ["edges"], ["redundant"]
OTHERS = [["vertices"], ["vertex-edges"], ["edges", "--after-calls"],
          ["redundant"]]
ADDR_NO_RANDOMIZE = 0x0040000
PERSONALITY = ctypes.CDLL(None).personality


def programs(root, names):
    seen = set()
    for folder in BIN:
        full = os.path.join(root, folder)
        for name in sorted(os.listdir(full)) if os.path.isdir(full) else ():
            real = os.path.realpath(os.path.join(full, name))
            if real in seen or ACTS.match(name) or not is_elf(real) or \
                    os.stat(real).st_mode & 0o6000 or \
                    (names and name not in names):
                continue
            seen.add(real)
            yield os.path.join(full, name)


def same_place():
    """Runs before the program: addresses are the same in every run."""
    PERSONALITY(ADDR_NO_RANDOMIZE)


class Told:
    """What a profile says: counts of instructions, and what is unknown."""

    def __init__(self, blocks, tsv):
        self.count = {}
        self.unknown = [(b["image"], int(b["start"], 16), int(b["end"], 16))
                        for b in blocks if b["count"] is None]
        for line in tsv.splitlines():
            image, addr, n = line.split("\t")
            self.count[image, int(addr, 16)] = int(n)

    def get(self, place):
        """The count, or None if it is not known."""
        n = self.count.get(place)
        if n is None and not any(i == place[0] and s <= place[1] < e
                                 for i, s, e in self.unknown):
            n = 0
        return n


def differing(a, b):
    """Instructions of which two runs tell otherwise."""
    return [k for k in set(a.count) | set(b.count)
            if a.count.get(k) != b.count.get(k) and
            None not in (a.get(k), b.get(k)) and a.get(k) != b.get(k)]


class Run:
    def __init__(self, args):
        self.args = args
        self.emulator = args.emulator.split() if args.emulator else []
        # hash tables in the same order in every run
        self.env = {"PATH": "/usr/bin:/bin", "LANG": "C",
                    "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0",
                    "HOME": "/nonexistent", "QEMU_LD_PREFIX": args.root,
                    "XDG_CACHE_HOME": args.work + "/cache"}

    def run(self, *words, timeout=TIMEOUT, **env):
        try:
            p = subprocess.run(words, cwd=self.args.work,
                               env={**self.env, **env},
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, preexec_fn=same_place,
                               stderr=subprocess.PIPE, timeout=timeout)
        except subprocess.TimeoutExpired:
            return "timeout", b"", b""
        return p.returncode, p.stdout, p.stderr

    def told(self, profile):
        blocks = self.run(self.args.tally, "report", "--by", "block",
                          "--json", profile)[1]
        return Told(json.loads(blocks),
                    self.run(self.args.tally, "export", "--format", "tsv",
                             profile)[1].decode())

    def profile(self, exe, arg, want, bad, way, *options):
        """The profile of a run, which has to be as wanted; or None."""
        profile = "%s/%s.%s" % (self.args.work, os.path.basename(exe), way)
        got = self.run(self.args.tally, "count", "--quiet", "-o", profile,
                       *options, "--", exe, arg)
        status = want[0] if want[0] == "timeout" or want[0] >= 0 else \
            128 - want[0]
        if got[0] != status or got[1] != want[1]:
            bad.append("%s %s: status %s, want %s" % (way, arg, got[0],
                                                      status))
        return profile if os.path.exists(profile) else None

    def count(self, exe, arg, placement, want, bad):
        """Counts of a run, or None."""
        profile = self.profile(exe, arg, want, bad, placement[0],
                               "--placement", *placement)
        if not profile:
            return None
        told = self.told(profile)
        os.unlink(profile)
        return told

    def calls(self, exe, arg, want, bad):
        """Callees of each indirect call and jump are all that it called."""
        profile = self.profile(exe, arg, want, bad, "calls", "--calls")
        if not profile:
            return
        told = self.told(profile)
        sums = collections.Counter()
        out = self.run(self.args.tally, "report", "--by", "call-site",
                       "--json", profile)[1]
        os.unlink(profile)
        for r in json.loads(out):
            site = r["image"], int(r["address"], 16)
            if r["kind"].startswith("indirect") and r["count"] is not None:
                sums[site] += r["count"]
            if r.get("callee_unknown", "in code").split()[0] == "pairs":
                bad.append("%s: %s+%#x: %s" % (arg, *site,
                                               r["callee_unknown"]))
        bad += ["%s: %s+%#x: %d callees, ran %d" % (arg, *s, n, told.get(s))
                for s, n in sums.items() if told.get(s) not in (n, None)]

    def steps(self, exe, arg, **env):
        """{(path, address): count} of the original, or None"""
        here = "%s/%s.steps" % (self.args.work, os.path.basename(exe))
        os.makedirs(here)
        # the libraries once, to see what of them is measured
        done = self.run(self.args.steps, *([] if env else ["-a"]),
                        here + "/ran", exe, arg, timeout=STEPPING, **env)
        files = glob.glob(here + "/ran.*")
        ran = None
        if done[0] != "timeout" and len(files) == 1:
            ran = {}
            for line in open(files[0]):
                w = line.split("\t")
                if w[0] == "ran":
                    ran[w[1], int(w[2], 16)] = int(w[5])
        shutil.rmtree(here)
        return ran

    def in_place(self, path):
        """[(start, end)] of the code of a file that is not moved"""
        copy = "%s/%s.copy" % (self.args.work, os.path.basename(path))
        out = self.run(self.args.tally, "instrument", "--json", path, "-o",
                       copy)
        if out[0] != 0:
            return [(0, 1 << 64)]
        os.unlink(copy)
        return [(int(r["start"], 16), int(r["end"], 16))
                for r in json.loads(out[1])["in_place"]]

    def measured(self, ran, told):
        """(instructions executed, of which not measured)"""
        executed, dark, places = 0, 0, {}
        for (path, addr), n in ran.items():
            name = os.path.basename(path)
            if is_loader(name) or path[:1] != "/":
                continue
            executed += n
            if (name, addr) in told.count:
                continue
            if path not in places:
                places[path] = self.in_place(path)
            if told.get((name, addr)) is None or \
                    any(s <= addr < e for s, e in places[path]):
                dark += n
        return executed, dark

    def compare(self, exe, arg, told, steady, bad):
        """(executed, not measured) by steps; complaints about the program"""
        ran = self.steps(exe, arg)
        if not ran:
            return 0, 0
        real = os.path.realpath(exe)
        name = os.path.basename(real)
        dark = self.in_place(real)
        other = [a for (path, a), n in ran.items() if path == real and
                 told.get((name, a)) not in (n, None) and
                 ((name, a) in told.count or
                  not any(s <= a < e for s, e in dark))]
        other += [a for (i, a), n in told.count.items()
                  if i == name and n and (real, a) not in ran]
        # how strings lie on the stack matters to who looks at many bytes
        for pad in ("X", "12345678", "123456789abc") if other else ():
            again = self.steps(exe, arg, PAD=pad) or {}
            other = [a for a in other if
                     again.get((real, a)) == ran.get((real, a))]
        if other and steady:
            bad.append("%s: steps: %d instructions differ: %s" % (
                arg, len(other), " ".join(
                    "%#x %s/%s" % (a, told.get((name, a)),
                                   ran.get((real, a), 0))
                    for a in sorted(other)[:4])))
        return self.measured(ran, told)

    def judge(self, exe):
        """(complaints, is steady, executed, stepped, not measured)"""
        bad, executed, steady, stepped = [], 0, True, (0, 0)
        for arg in ("--version", "--help"):
            want = self.run(*self.emulator, exe, arg)
            a, b = (self.count(exe, arg, p, want, bad)
                    for p in (EDGES, REDUNDANT))
            if not a or not b:
                bad.append(arg + ": no profile")
                continue
            executed += sum(a.count.values())
            other = differing(a, b)
            if other:
                steady = False
                groups = [[one] + [self.count(exe, arg, p, want, bad)
                                   for p in more]
                          for one, more in ((a, 3 * [EDGES]), (b, OTHERS))]
                other = [k for k in other if all(
                    len({t.get(k) for t in g if t} - {None}) == 1
                    for g in groups)]
            if other:
                bad.append("%s: %d instructions differ: %s" % (
                    arg, len(other), " ".join("%s+%#x %s/%s" % (
                        *k, a.get(k), b.get(k)) for k in sorted(other)[:4])))
            self.calls(exe, arg, want, bad)
            if self.args.steps and arg == "--version":
                stepped = self.compare(exe, arg, a, steady, bad)
        return bad, steady, executed, *stepped


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tally")
    ap.add_argument("root")
    ap.add_argument("work")
    ap.add_argument("names", nargs="*")
    ap.add_argument("--emulator")
    ap.add_argument("--steps")
    ap.add_argument("--jobs", type=int, default=2)
    args = ap.parse_intermixed_args()
    args.tally = os.path.abspath(args.tally)
    args.steps = args.steps and os.path.abspath(args.steps)
    r = Run(args)
    todo = list(programs(args.root, args.names))
    failed = unsteady = 0
    sums = [0, 0, 0]
    with ThreadPoolExecutor(args.jobs) as pool:
        for i, (exe, (bad, steady, *n)) in enumerate(
                zip(todo, pool.map(r.judge, todo)), 1):
            share = "" if not n[1] else ", %.2f%% of %d measured" % (
                100 - 100 * n[2] / n[1], n[1])
            print("%sok %d - %s: %d instructions%s%s" % (
                "not " if bad else "", i, os.path.basename(exe), n[0], share,
                "" if steady else ", unsteady"))
            unsteady += not steady
            for line in bad:
                print("#   " + line)
            failed += bool(bad)
            sums = [a + b for a, b in zip(sums, n)]
            sys.stdout.flush()
    print("1..%d" % len(todo))
    print("# programs %d, different %d, unsteady %d; %d instructions executed"
          % (len(todo), failed, unsteady, sums[0]))
    if sums[1]:
        print("# stepped %d instructions, of which measured %.3f%%"
              % (sums[1], 100 - 100 * sums[2] / sums[1]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
