#!/usr/bin/env python3
"""count: what counting costs.

    bench/count.py TALLY ROOT [NAME...]

Programs of an AArch64 root, and all their libraries, do the same work as the
originals with counters in them: ratios to the original, interleaved, median of
seven (work.py says what is measured where). One column per way:

    moved      nothing inserted
    edges      the default
    feedback   the same, with weights from a run that did the same work
    after      a counter after every call
    redundant  a counter in every block

and, of the default: increments per 1000 instructions of the original, beside
those of a counter per block (Table 2 of Ball and Larus '92), and bytes of new
code by bytes of old, of the program's file.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

from work import *

TALLY, ROOT, NAMES = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
INSTRUMENT = [TALLY, "instrument"]
WAYS = {
    "moved": ["--placement", "none"],
    "edges": [],
    "feedback": ["--weights", "%s"],
    "after": ["--after-calls"],
    "redundant": ["--placement", "redundant"],
}


def profile(src, args, text, out, tmp):
    """An earlier run of the same work, and the figures of its images."""
    env = {**os.environ, "QEMU_LD_PREFIX": ROOT, "XDG_CACHE_HOME": tmp}
    subprocess.run([TALLY, "count", "-o", out, "--", src, *args], env=env,
                   stdin=open(text or "/dev/null"), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    images = json.loads(subprocess.run(
        [TALLY, "report", "--by", "image", "--json", out],
        capture_output=True, text=True).stdout)
    return [sum(i[k] or 0 for i in images) for k in
            ("instructions", "increments", "redundant_increments")]


def growth(src, out):
    figures = json.loads(subprocess.run(
        [*INSTRUMENT, "--json", src, "-o", out], capture_output=True,
        text=True).stdout)
    return figures["new_bytes"] / figures["text_bytes"]


def measure(old, src, args, text, plugin, tmp, name):
    """{way: ratio}"""
    exe = {None: (old, old.add(src))}
    for way, words in WAYS.items():
        words = [w.replace("%s", tmp + "/" + name) for w in words]
        folder = tmp + "/" + way
        if way == "feedback":
            folder += name  # weights are the program's own
        place = Place(ROOT, folder, [*INSTRUMENT, *words])
        exe[way] = place, place.add(src)
    cost = {way: [] for way in exe}
    run(*exe[None], args, text, plugin, tmp + "/n")
    for _ in range(7 if NATIVE else 1):
        for way, (place, path) in exe.items():
            said, n = run(place, path, args, text, plugin, tmp + "/n")
            cost[way].append(n)
            if way is None:
                want = said
            elif said != want:
                print("%-12s DIFFERS %s" % (name, way))
    base = statistics.median(cost.pop(None))
    return {way: statistics.median(n) / base for way, n in cost.items()}


def main():
    with tempfile.TemporaryDirectory() as tmp:
        plugin, given = counter(tmp), inputs(tmp)
        old = Place(ROOT, tmp + "/old")
        print("%s by the original's" % ("user time" if NATIVE else
                                        "instructions executed"))
        print("%-11s" % "", *("%9s" % w for w in WAYS), " increments  "
              "redundant  new/old")
        ratios = {way: [] for way in WAYS}
        for name, folder, args, kind in WORK:
            src = os.path.join(ROOT, folder, name)
            if not os.path.exists(src) or (NAMES and name not in NAMES):
                continue
            args = [given[kind] if x == "INPUT" else x for x in args]
            text = given["text"] if kind == "text" else None
            n, inc, red = profile(src, args, text, tmp + "/" + name, tmp)
            got = measure(old, src, args, text, plugin, tmp, name)
            for way, x in got.items():
                ratios[way].append(x)
            print("%-11s" % name, *("%9.3f" % got[w] for w in WAYS),
                  "%11.1f %10.1f %8.2f" % (
                      1000 * inc / n, 1000 * red / n,
                      growth(src, tmp + "/new")))
            sys.stdout.flush()
        print("%-11s" % "geo. mean", *("%9.3f" % math.exp(statistics.mean(
            map(math.log, ratios[w]))) for w in WAYS))


main()
