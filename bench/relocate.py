#!/usr/bin/env python3
"""relocate: what moving code costs, nothing inserted.

    bench/relocate.py TALLY ROOT

Programs of an AArch64 root, and all their libraries, are rewritten and run the
same work as the originals: ratios, interleaved, median of seven (work.py).
"""
import os
import statistics
import sys
import tempfile

from work import *

TALLY, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]


def main():
    with tempfile.TemporaryDirectory() as tmp:
        plugin, given = counter(tmp), inputs(tmp)
        old = Place(ROOT, tmp + "/old")
        new = Place(ROOT, tmp + "/new", [TALLY, "instrument", "--placement",
                                         "none"])
        print("%-12s %16s %16s %8s" % (
            "", *(("seconds", "moved") if NATIVE else
                  ("instructions", "moved")), "ratio"))
        for name, folder, args, kind in WORK:
            src = os.path.join(ROOT, folder, name)
            if not os.path.exists(src):
                print("%-12s not in this root" % name)
                continue
            a, b = old.add(src), new.add(src)
            args = [given[kind] if x == "INPUT" else x for x in args]
            text = given["text"] if kind == "text" else None
            times = ([], [])
            # a first run may leave something for the next (python's caches)
            run(old, a, args, text, plugin, tmp + "/count")
            for _ in range(7 if NATIVE else 1):
                for place, exe, t in ((old, a, times[0]), (new, b, times[1])):
                    said, cost = run(place, exe, args, text, plugin,
                                     tmp + "/count")
                    t.append(cost)
                    if place is old:
                        want = said
                    elif said != want:
                        print("%-12s DIFFERS" % name)
            x, y = (statistics.median(t) for t in times)
            print("%-12s %16s %16s %8.3f" % (name, x, y, y / x))


main()
