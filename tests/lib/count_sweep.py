#!/usr/bin/env python3
"""count_sweep: programs of a root under `tally count`.

    count_sweep.py TALLY ROOT WORK [--emulator CMD] [--steps TOOL] [NAME...]

Each program in the bin directories of ROOT, a tree of programs and libraries
(a system's own root is "/"), runs with --version and --help: by itself, with
counters on edges, and with a counter in every block. Output and status have to
be the same, and what both tell of each instruction, in all images. Code that
runs otherwise when its files are rewritten otherwise (it reads
/proc/self/maps, makes a hash of addresses, or looks at memory by the page) is
told by other placements, which do not agree on it among themselves; such
programs are called unsteady. Once more with --calls, the callees of every
indirect call and jump have to add up to what it ran.

--steps: the first of these runs is also done by step-counts, one instruction at
a time. What it says of the program's own image has to be what was counted, and
of all that it ran, the loader and the vdso left out, it says which share was in
code that is measured. TAP, one line per program; sums at the end.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rewrite_sweep import ACTS, BIN, is_elf

TIMEOUT = 600
EDGES, REDUNDANT = ["edges"], ["redundant"]
OTHERS = [["vertices"], ["vertex-edges"], ["edges", "--after-calls"],
          ["redundant"]]


def programs(root, names):
    seen = set()
    for folder in BIN:
        full = os.path.join(root, folder)
        for name in sorted(os.listdir(full)) if os.path.isdir(full) else ():
            real = os.path.realpath(os.path.join(full, name))
            if real in seen or ACTS.match(name) or not is_elf(real) or \
                    (names and name not in names):
                continue
            seen.add(real)
            yield os.path.join(full, name)


def differing(a, b):
    """Instructions of which two runs tell otherwise."""
    return [k for k in set(a) | set(b) if a.get(k, 0) != b.get(k, 0) and
            a.get(k, 0) is not None and b.get(k, 0) is not None]


class Run:
    def __init__(self, args):
        self.args = args
        self.env = {"PATH": "/usr/bin:/bin", "LANG": "C",
                    "HOME": "/nonexistent", "QEMU_LD_PREFIX": args.root,
                    "XDG_CACHE_HOME": args.work + "/cache"}

    def run(self, *words):
        try:
            p = subprocess.run(words, cwd=self.args.work, env=self.env,
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return "timeout", b"", b""
        return p.returncode, p.stdout, p.stderr

    def counts(self, profile):
        """{(image, address): count}; None: unknown"""
        out = self.run(self.args.tally, "report", "--by", "block", "--json",
                       profile)[1]
        told = {}
        for b in json.loads(out):
            if b["count"] is None:
                for a in range(int(b["start"], 16), int(b["end"], 16), 4):
                    told[b["image"], a] = None
        out = self.run(self.args.tally, "export", "--format", "tsv",
                       profile)[1]
        for line in out.decode().splitlines():
            image, addr, n = line.split("\t")
            told[image, int(addr, 16)] = int(n)
        return told

    def profile(self, exe, arg, want, bad, way, *options):
        """The profile of a run, which has to be as wanted."""
        profile = "%s/%s.%s" % (self.args.work, os.path.basename(exe), way)
        got = self.run(self.args.tally, "count", "-o", profile, *options,
                       "--", exe, arg)
        status = want[0] if want[0] == "timeout" or want[0] >= 0 else \
            128 - want[0]
        if got[0] != status or got[1] != want[1]:
            bad.append("%s %s: status %s, want %s" % (way, arg, got[0],
                                                      status))
        return profile

    def count(self, exe, arg, placement, want, bad):
        """Counts of a run."""
        profile = self.profile(exe, arg, want, bad, placement[0],
                               "--placement", *placement)
        told = self.counts(profile)
        os.unlink(profile)
        return told

    def calls(self, exe, arg, want, bad):
        """Callees of each indirect call and jump are all that it called."""
        profile = self.profile(exe, arg, want, bad, "calls", "--calls")
        told = self.counts(profile)
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
        bad += ["%s: %s+%#x: %d callees, ran %d" % (arg, *s, n, told[s])
                for s, n in sums.items() if told.get(s) not in (n, None)]

    def judge(self, exe):
        """(complaints, instructions executed, is steady)"""
        bad, executed, steady = [], 0, True
        for arg in ("--version", "--help"):
            want = self.run("qemu-aarch64", "-L", self.args.root, exe, arg)
            a, b = (self.count(exe, arg, p, want, bad)
                    for p in (EDGES, REDUNDANT))
            executed += sum(n for n in a.values() if n)
            other = differing(a, b)
            if other:
                steady = False
                group = [b] + [self.count(exe, arg, p, want, bad)
                               for p in OTHERS]
                other = [k for k in other if len(
                    {t.get(k, 0) for t in group} - {None}) == 1]
            if other:
                bad.append("%s: %d instructions differ: %s" % (
                    arg, len(other), " ".join("%s+%#x %s/%s" % (
                        *k, a.get(k), b.get(k)) for k in sorted(other)[:4])))
            self.calls(exe, arg, want, bad)
        return bad, executed, steady


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tally")
    ap.add_argument("root")
    ap.add_argument("work")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    args.tally = os.path.abspath(args.tally)
    r = Run(args)
    todo = list(programs(args.root, args.names))
    failed = executed = unsteady = 0
    with ThreadPoolExecutor(2) as pool:
        for i, (exe, (bad, n, steady)) in enumerate(
                zip(todo, pool.map(r.judge, todo)), 1):
            print("%sok %d - %s: %d instructions%s" % (
                "not " if bad else "", i, os.path.basename(exe), n,
                "" if steady else ", unsteady"))
            unsteady += not steady
            for line in bad:
                print("#   " + line)
            failed += bool(bad)
            executed += n
            sys.stdout.flush()
    print("1..%d" % len(todo))
    print("# programs %d, different %d, unsteady %d; %d instructions executed"
          % (len(todo), failed, unsteady, executed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
