#!/usr/bin/env python3
"""events_sweep: programs of a root under `tally events`, in both ways.

    events_sweep.py TALLY ROOT WORK [--emulator CMD] [--limit N] [NAME...]

Each program in the bin directories of ROOT runs with --version: by itself, and
with all events from an edge profile, and from running counters (--online).
Output and status have to be the same, and so every event's count.

A program may do otherwise when its files are rewritten otherwise: it reads
/proc/self/maps, or makes a hash of addresses. Which procedures do is told by
edge profiles alone (Moving), and the program is called unsteady if both ways
agree on all its other procedures. TAP, one line per program, with procedures
that are unsteady; sums at the end.
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
RANDOM_RUNS = 4
NAMES_SHOWN = 6


def run(command, env, before=same_place):
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           env=env, preexec_fn=before)
    except subprocess.TimeoutExpired:
        return None
    return p.returncode, p.stdout


def counts(path):
    """what is known of each event, and what is said of the others"""
    told = json.load(open(path))
    least = {**told.get("about", {}), **told.get("at_least", {})}
    return {name: (n if n is not None else least[name], n is not None)
            for name, n in told["events"].items()}


class Otherwise(Exception):
    """A program does not answer as it does by itself."""


class Moving:
    """Procedures of which edge profiles of one program do not say the same.

    Profiles are of several runs, at the same addresses and at random ones, with
    counters elsewhere, with one half of the libraries or the other, and
    without the program's own code: an image that is counted is larger, and has
    more mappings. Images and addresses of procedures are their keys.
    """

    def __init__(self, tally, program, work, env):
        self.tally, self.program, self.env = tally, program, env
        self.file, self.only = work + "/profile", work + "/only"
        first = self.profile()
        self.ran = {place: name for place, (name, n) in first.items() if n}
        self.names = {}
        for more in self.others():
            self.names.update(differing(first, more))

    def profile(self, *options, before=same_place):
        """{(image, entry): (name, instructions)} of all that is counted"""
        run([self.tally, "count", "--quiet", "-o", self.file, *options, "--",
             self.program, "--version"], self.env, before)
        rows = json.loads(run([self.tally, "report", "--all", "--json",
                               self.file], self.env)[1])
        os.remove(self.file)
        return {(r["image"], r["entry"]): (r["procedure"], r["instructions"])
                for r in rows}

    def others(self):
        program = {p for p in self.ran if ".so" not in p[0]}
        stems = sorted({image.split(".so")[0] + ".so"
                        for image, _ in set(self.ran) - program})
        yield self.profile()
        for _ in range(RANDOM_RUNS):
            yield self.profile(before=None)
        yield self.profile("--placement", "vertices")
        for half in filter(None, (stems[::2], stems[1::2])):
            yield self.profile("--libs", ",".join(half))
        if stems:
            yield self.profile(*self.all_but(program))

    def all_but(self, places):
        """options to count what ran elsewhere; without images, as --only is"""
        entries = {entry for _, entry in self.ran} - {e for _, e in places}
        with open(self.only, "w") as f:
            f.writelines(entry + "\n" for entry in sorted(entries))
        return "--only", "@" + self.only

    def shown(self):
        names = sorted(self.names.values())
        more = len(names) - NAMES_SHOWN
        return ", ".join(names[:NAMES_SHOWN]) + (
            ", %d more" % more if more > 0 else "")


def differing(a, b):
    """{place: name} where both counts are known and differ"""
    return {place: a[place][0] for place in set(a) & set(b)
            if None not in (a[place][1], b[place][1])
            and a[place][1] != b[place][1]}


class Sweep:
    def __init__(self, args):
        self.args = args
        self.env = {**os.environ, "TALLY_CACHE": args.work + "/cache",
                    "LC_ALL": "C", "PYTHONHASHSEED": "0",
                    "PERL_HASH_SEED": "0", "QEMU_LD_PREFIX": args.root}
        self.insns = self.same = self.unsteady = self.bad = self.tried = 0

    def alone(self, program):
        return run([*self.args.emulator, program, "--version"], self.env)

    def told(self, program, *options):
        out = self.args.work + "/counts"
        if os.path.exists(out):
            os.remove(out)
        said = run([self.args.tally, "events", *options, "-e", EVENTS,
                    "--json", "--output", out, program, "--version"], self.env)
        if said is None:
            raise Otherwise("%s: no end in %d s" % (options, TIMEOUT))
        if said != self.plain and self.alone(program) == self.plain:
            raise Otherwise("%s: answers otherwise, %s" % (options, said))
        if not os.path.exists(out):
            raise Otherwise("%s: there are no counts" % (options,))
        return counts(out)

    def compare(self, program, *options):
        """what is wrong: events whose counts differ each time"""
        for _ in range(TRIES):
            derived, online = (self.told(program, *way, *options)
                               for way in ((), ("--online",)))
            if derived == online:
                self.insns += derived["insns"][0]
                return []
        return ["%s: %s derived, %s online" % (e, derived[e], online[e])
                for e in derived if derived[e] != online[e]]

    def judge(self, program):
        """(what is wrong, procedures that are unsteady)"""
        self.plain = self.alone(program)
        try:
            wrong = self.compare(program)
            if not wrong:
                return [], ""
            moving = Moving(self.args.tally, program, self.args.work, self.env)
            if not moving.names:
                return wrong, ""
            return (self.compare(program, *moving.all_but(moving.names)),
                    moving.shown())
        except Otherwise as e:
            return [str(e)], ""

    def all(self):
        for program in programs(self.args.root, self.args.name):
            if self.tried == self.args.limit:
                break
            self.tried += 1
            wrong, moving = self.judge(program)
            self.bad += bool(wrong)
            self.unsteady += not wrong and moving != ""
            self.same += not wrong and not moving
            print("%sok %d - %s%s" % ("not " if wrong else "", self.tried,
                                      os.path.basename(program),
                                      moving and ", unsteady: " + moving))
            for line in wrong:
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
