#!/usr/bin/env python3
"""events_sweep: programs of a root under `tally events`, in both ways.

    events_sweep.py TALLY ROOT WORK [--emulator CMD] [--limit N] [NAME...]

Each program in the bin directories of ROOT runs with --version: by itself, and
with all events from an edge profile, and from running counters (--online).
Output and status have to be the same, and so every event's count. A program of
which counts differ from run to run in one way already is called unsteady, and
tried again. TAP, one line per program; sums at the end.
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from count_sweep import programs, same_place

EVENTS = ("insns,loads,stores,load-bytes,store-bytes,branches,taken,calls,"
          "indirect-calls,returns,syscalls,fp,vector,atomics")
TIMEOUT = 300
TRIES = 4


def run(command, env):
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=env, preexec_fn=same_place)
    except subprocess.TimeoutExpired:
        return None
    return p.returncode, p.stdout


def counts(path):
    """what is known of each event, and what is said of the others"""
    told = json.load(open(path))
    least = {**told.get("about", {}), **told.get("at_least", {})}
    return {name: (n if n is not None else least[name], n is not None)
            for name, n in told["events"].items()}


class Sweep:
    def __init__(self, args):
        self.args = args
        self.env = {**os.environ, "TALLY_CACHE": args.work + "/cache",
                    "LC_ALL": "C", "PYTHONHASHSEED": "0",
                    "PERL_HASH_SEED": "0"}
        self.insns = self.same = self.unsteady = self.bad = self.tried = 0

    def told(self, program, online):
        out = self.args.work + "/counts"
        if os.path.exists(out):
            os.remove(out)
        said = run([self.args.tally, "events", *(["--online"] if online else
                   []), "-e", EVENTS, "--json", "--output", out, program,
                   "--version"], self.env)
        return said, counts(out) if os.path.exists(out) else None

    def compare(self, program):
        """what is wrong, or [] or None: it differs from run to run"""
        plain = run([*self.args.emulator, program, "--version"], self.env)
        seen = []
        if plain is None:
            return None
        for _ in range(TRIES):
            (said, derived), (also, online) = (self.told(program, False),
                                               self.told(program, True))
            for got, way in (said, "derived"), (also, "online"):
                if got != plain and run([*self.args.emulator, program,
                                         "--version"], self.env) == plain:
                    return ["%s: answers otherwise, %s" % (way, got)]
            if derived is None or online is None:
                return None
            if derived == online:
                self.insns += derived["insns"][0]
                return []
            seen.append((derived, online))
        first = seen[0]
        if any(x[0] != first[0] or x[1] != first[1] for x in seen):
            return None
        return ["%s: %s derived, %s online" % (e, first[0][e], first[1][e])
                for e in first[0] if first[0][e] != first[1][e]]

    def all(self):
        for program in programs(self.args.root, self.args.name):
            if self.tried == self.args.limit:
                break
            self.tried += 1
            wrong = self.compare(program)
            self.same += wrong == []
            self.unsteady += wrong is None
            self.bad += bool(wrong)
            print("%sok %d - %s%s" % ("not " if wrong else "", self.tried,
                                      os.path.basename(program),
                                      "" if wrong is not None else
                                      " # unsteady"))
            for line in wrong or ():
                print("# " + line)
            sys.stdout.flush()
        print("1..%d" % self.tried)
        print("# %d programs, %d instructions: %d the same in both ways, %d "
              "unsteady, %d not" % (self.tried, self.insns, self.same,
                                    self.unsteady, self.bad))
        return 1 if self.bad else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tally")
    p.add_argument("root")
    p.add_argument("work")
    p.add_argument("--emulator", default="", type=str.split)
    p.add_argument("--limit", default=100, type=int)
    p.add_argument("name", nargs="*")
    sys.exit(Sweep(p.parse_args()).all())


main()
