#!/usr/bin/env python3
"""
trace_sweep: what `tally replay` says of random programs, and what single steps
say (trace_run.py).

    trace_sweep.py [--isa ISA] [--features NAME,..] [--without NAME,..] [--all]
                   [--own] [--kind N] [--encoding NAME].. [--keep FOLDER]
                   SEED...

Each seed is a program whose calls begin and end in all ways
(call_programs.py), and a way to compile it (call_compare.py). Of these
features those are left out with which traces are known not to be exact
(NOT_YET), but for --all. --own: libraries are not compared.
"""
import argparse
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import call_programs
import count_run
import trace_run
from call_compare import KINDS, Case
from count_run import *

# what replays do not follow yet: where handlers of signals interrupt
NOT_YET = set("signal altstack leave".split())


def features_of(seed, args):
    has = set(args.features.split(",")) if args.features else \
        set(call_programs.chosen(seed))
    if not args.all:
        has -= NOT_YET
    has -= set(args.without.split(","))
    return [f for f in call_programs.FEATURES if f in has]


def attempt(seed, args, folder):
    here = os.path.join(folder, "seed-%d" % seed)
    os.makedirs(here)
    case = Case(here, seed, seed if args.kind is None else args.kind,
                features_of(seed, args), args.deep, args.fuel)
    case.build()
    # the unwinder reads other tables with tally
    throws = "throw" in case.has
    # and what libraries do while they wait is not the same each time
    libs = not args.own and not throws and \
        not case.has & {"thread", "signal", "spawn"}
    found = trace_run.judge(here, case.exe, (), args.encoding or
                            trace_run.ENCODINGS, libs,
                            twin=case.twins.get(case.exe), names=
                            case.names if throws and case.static else None)
    good = not any(bad for _, bad in found)
    print("%s seed %d %s: %s" % ("ok" if good else "FAILED", seed, case.kind,
                                 " ".join(sorted(case.has))))
    for what, bad in found:
        if bad:
            print("  %s" % what)
        for line in bad:
            print("    %s" % line)
    sys.stdout.flush()
    if args.keep and not good:
        shutil.copytree(here, os.path.join(args.keep, "seed-%d" % seed),
                        dirs_exist_ok=True)
    shutil.rmtree(here)
    return good


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--isa", choices=ISAS, default=HOST)
    ap.add_argument("--features")
    ap.add_argument("--without", default="")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--own", action="store_true")
    ap.add_argument("--kind", type=int)
    ap.add_argument("--encoding", action="append")
    ap.add_argument("--deep", type=int, default=2000)
    ap.add_argument("--fuel", type=int, default=150)
    ap.add_argument("--keep")
    ap.add_argument("seed", type=int, nargs="+")
    args = ap.parse_args()
    count_run.use(args.isa)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        begin(folder, *trace_run.plugins())
        for seed in args.seed:
            try:
                failed += not attempt(seed, args, folder)
            except Failed as e:
                print("FAILED seed %d: %s" % (seed, e))
                failed += 1
    print("%d of %d failed" % (failed, len(args.seed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
