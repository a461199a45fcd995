#!/usr/bin/env python3
"""
count/exact: every instruction of a program ran as often as `tally count` says.

The original runs under qemu, which counts (tests/lib/qemu-counts.c), or on the
machine itself one step at a time (tests/tools/step-counts.c); the
counted program says the same of each of its instructions, whatever the
placement, and of its libraries all placements say the same: but the unwinder
of C++ reads tables that are not quite the same, and natively addresses are
not. Of a static program only its
own functions are compared, for the C library's depend on where the heap begins.
What is not told is in code that stays in place, or called unknown. A copy that
is run by hand says the same of itself.
"""
import collections
import json
import os
import stat
import sys

sys.path.insert(0, "tests/lib")
import count_run
from count_run import *

tap = Tap()
PLACEMENTS = ["edges", "vertices", "vertex-edges", "redundant"]
COUNT = "../count/"


class Case:
    def __init__(self, name, sources, *flags, cc="gcc", args=(), few=False,
                 own=False, throws=False):
        self.name, self.sources, self.flags = name, sources, flags
        self.cc, self.args = cc, args
        self.few = few        # placements: the default alone
        self.own = own        # compare functions of the sources only
        self.throws = throws  # libraries read tables


CASES = [
    Case("flow", ["flow.c"], "-O2"),
    Case("flow-plain", ["flow.c"], "-O0", few=True),
    Case("flow-static", ["flow.c"], "-O2", "-static", few=True, own=True),
    Case("flow-no-pie", ["flow.c"], "-O2", "-no-pie", few=True),
    Case("flow-clang", ["flow.c"], "-O2", cc="clang", few=True),
    Case("flow-lld", ["flow.c"], "-O2", "-fuse-ld=lld", cc="clang", few=True),
    Case("edges", ["edges.cc", "edges-%s.S"], "-O2", *TABLES, cc="g++",
         throws=True),
    Case("labels", ["labels.c"], "-O2", few=True),
    Case("calc", ["calc.f90"], "-O2", "-fno-backtrace", cc="gfortran",
         few=True),
    Case("jump", ["jump.c"], "-O2"),
    Case("odd", ["odd.c", "odd-%s.S"], "-O2"),
    Case("leave", [COUNT + "leave.cc"], "-O2", cc="g++", throws=True),
    Case("leave-plain", [COUNT + "leave.cc"], "-O0", cc="g++", few=True),
]


def by_hand(case, here, exe):
    """The profile of a copy that is run without tally."""
    copy = here + "/by-hand"
    run(TALLY, "instrument", exe, "-o", copy)
    quiet([*emulator(count_run.ISA), copy, *case.args], here,
          TALLY_OUT="hand.tally")
    return here + "/hand.tally"


def no_file(case, here):
    """What the copy may not replace by its profile."""
    pipe = here + "/pipe"
    os.mkfifo(pipe)
    quiet([*emulator(count_run.ISA), here + "/by-hand", *case.args], here,
          TALLY_OUT="pipe")
    return [] if stat.S_ISFIFO(os.stat(pipe).st_mode) else ["a pipe is gone"]


def untold(profile, exe):
    """Ranges of which nothing is told: in place, or unknown."""
    out = [(int(r["start"], 16), int(r["end"], 16)) for r in json.loads(
        run(TALLY, "instrument", "--json", exe, "-o", profile + ".copy"))
        ["in_place"]]
    for b in json.loads(run(TALLY, "report", "--by", "block", "--json",
                            profile)):
        if b["count"] is None:
            start = int(b["start"], 16)
            out.append((start, int(b["end"], 16)))
    return out


def others(case, here, exe):
    """Ranges of functions that are not of the sources."""
    own = own_names(here, case.sources, *case.flags, cc=case.cc)
    ranges = sorted((s, s + size) for s, size, n in
                    Names.read(count_run.ISA, exe) if n in own)
    edges = [0] + [x for r in ranges for x in r] + [1 << 64]
    return list(zip(edges[::2], edges[1::2]))


def judge(want, got, exempt):
    """Complaints about counts of instructions."""
    bad = []
    for a in sorted(set(want) | set(got)):
        if want[a] != got.get(a, 0) and \
                not any(s <= a < e for s, e in exempt):
            bad.append("%#x: %d, want %d" % (a, got.get(a, 0), want[a]))
    return bad


def comparable(image):
    """
    Whether an image does the same in every run. On the machine itself libc
    does not: how it looks at a string depends on where that lies.
    """
    return count_run.ISA != HOST or not image.startswith("libc.so")


def attempt(case):
    why = absent(case)
    if why is not None:
        return why
    here = room(case.name)
    exe = build(here, case.name, case.sources, *case.flags, cc=case.cc)
    status, _ = original(here, exe, case.args, "qemu-counts")
    loops = retried(exe)
    want = steady(ran(here, exe), loops)

    def told_steady(profile):
        by_image = told(profile)
        by_image[case.name] = steady(by_image[case.name], loops)
        return by_image
    result, all_told = [], {}
    for p in PLACEMENTS[:1] if case.few else PLACEMENTS:
        got, _, _, profile = tally_count(here, exe, case.args, p,
                                         "--placement", p)
        result.append((p + ": status", [] if got == status else
                       ["%s, want %s" % (got, status)]))
        all_told[p] = told_steady(profile)
        exempt = others(case, here, exe) if case.own else []
        got = all_told[p][case.name]
        exempt += [(a, a + 1) for s, e in untold(profile, exe)
                   for a in range(s, e, 4 if count_run.ISA == "aarch64" else 1)
                   if a not in got]
        result.append((p, judge(want, got, exempt)))
    hand = told_steady(by_hand(case, here, exe))[case.name]
    result.append(("by hand, to no file", no_file(case, here)))
    exempt = others(case, here, exe) if case.own else []
    result.append(("by hand", judge(hand, all_told["edges"][case.name],
                                    exempt)))
    if not case.few:
        for words in (["--weights", here + "/edges.tally"],
                      ["--after-calls"]):
            other = told_steady(tally_count(here, exe, case.args, "other",
                                            *words)[-1])
            result.append((words[0], [
                "%s: other counts" % i for i in other
                if other[i] != all_told["edges"][i] and
                not (case.throws and i != case.name) and comparable(i)]))
    if not case.few and not case.throws:
        bad = ["%s %s %#x: %d, not %d" % (p, i, a, n, all_told["edges"][i][a])
               for p in PLACEMENTS[1:] for i in all_told[p] if comparable(i)
               for a, n in all_told[p][i].items()
               if all_told["edges"][i].get(a, n) != n]
        result.append(("libraries", bad))
    return result


# callbacks, longjmp(), handlers, a child
STEPPED = [("flow.c",), ("jump.c",), (COUNT + "ends.c", "look", "10"),
           (COUNT + "ends.c", "child", "work", "store")]


def stepped(name, source, *args):
    """Steps through the program alone see what steps through all see of it."""
    here = room(name)
    exe = build(here, "stepped", [source], "-O2")
    seen = []
    for way in ([], ["-a"]):
        got = quiet([STEPS, *way, here + "/ran", exe, *args], here)[:2]
        flow = collections.Counter()
        for *key, n in rows(here, "flow"):
            if key[2] == "-": # no file: the kernel's page, anywhere
                key[3] = 0
            flow[tuple(key)] += n if key[0] == exe else 0
        seen.append((*got, ran(here, exe), +flow))
        for file in glob.glob(here + "/ran.*"):
            os.remove(file)
    few, every = seen
    bad = [] if few[:2] == every[:2] else [few[:2], every[:2]]
    bad += ["%s: %d, want %d" % (k, a[k], b[k]) for a, b in
            zip(few[2:], every[2:]) for k in {*a, *b} if a[k] != b[k]]
    return [("steps", bad + ([] if every[2] else ["nothing ran"]))]


def jobs():
    yield from ((c.name, attempt, c) for c in CASES)
    for i, words in enumerate(STEPPED if count_run.ISA == HOST else ()):
        name = "stepped-%d" % i
        yield name, stepped, name, *words


test_all(tap, jobs, "qemu-counts")
