#!/usr/bin/env python3
"""
count-exact: every instruction of a program ran as often as `tally count` says.

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
import concurrent.futures
import glob
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
TALLY = os.path.abspath(TALLY)
ISAS = ["aarch64"] + ["x86_64"] * (HOST == "x86_64")
STEPS = os.path.abspath(os.path.join(os.path.dirname(TALLY),
                                     "tools/step-counts"))
PLACEMENTS = ["edges", "vertices", "vertex-edges", "redundant"]
TABLES = ["--param", "case-values-threshold=4"]
COUNT = "../count/"


class Case:
    def __init__(self, name, sources, *flags, cc="gcc", args=(), few=False,
                 own=False, throws=False, long=False):
        self.name, self.sources, self.flags = name, sources, flags
        self.cc, self.args = cc, args
        self.few = few        # placements: the default alone
        self.own = own        # compare functions of the sources only
        self.throws = throws  # libraries read tables
        self.long = long      # too long for single steps


CASES = [
    Case("flow", ["flow.c"], "-O2"),
    Case("flow-plain", ["flow.c"], "-O0", few=True),
    Case("flow-static", ["flow.c"], "-O2", "-static", few=True, own=True),
    Case("flow-no-pie", ["flow.c"], "-O2", "-no-pie", few=True),
    Case("flow-clang", ["flow.c"], "-O2", cc="clang", few=True),
    Case("edges", ["edges.cc", "edges-%s.S"], "-O2", *TABLES, cc="g++",
         throws=True),
    Case("labels", ["labels.c"], "-O2", few=True),
    Case("calc", ["calc.f90"], "-O2", "-fno-backtrace", cc="gfortran",
         few=True),
    Case("jump", ["jump.c"], "-O2"),
    Case("odd", ["odd.c", "odd-%s.S"], "-O2"),
    Case("leave", [COUNT + "leave.cc"], "-O2", cc="g++", throws=True),
    Case("leave-plain", [COUNT + "leave.cc"], "-O0", cc="g++", few=True,
         long=True),
]


def environment(here):
    return {"PATH": "/usr/bin:/bin", "LANG": "C", "XDG_CACHE_HOME": CACHE,
            "HOME": here}


def oracle(case, here, exe):
    """(status, {address: count}) of the original, by qemu."""
    words = ["qemu-" + ISA, "-L", "/usr/%s-linux-gnu" % ISA, "-plugin",
             "%s/qemu-counts.so,out=%s/ran" % (where, here)]
    if ISA == HOST:
        words = [STEPS, here + "/ran"]
    p = subprocess.Popen([*words, exe, *case.args], env=environment(here),
                         cwd=here,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, preexec_fn=alone)
    status = p.wait(5 * SECONDS) # steps are slow
    ran = collections.Counter()
    for line in open(glob.glob(here + "/ran.*")[0]):
        w = line.rstrip("\n").split("\t")
        if w[0] == "ran" and w[1] == exe:
            for a in range(int(w[2], 16), int(w[4], 16) + 4, 4):
                ran[a] += int(w[5])
    return status, ran


def tally_count(case, here, exe, name, *options):
    """(status, profile) of a counted run."""
    profile = "%s/%s.tally" % (here, name)
    p = subprocess.run([TALLY, "count", "-o", profile, *options, "--", exe,
                        *case.args], env=environment(here), cwd=here,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, timeout=SECONDS)
    return p.returncode, profile


def by_hand(case, here, exe):
    """The profile of a copy that is run without tally."""
    copy, profile = here + "/by-hand", here + "/hand.tally"
    run(TALLY, "instrument", exe, "-o", copy)
    words = [] if ISA == HOST else ["qemu-" + ISA, "-L",
                                    "/usr/%s-linux-gnu" % ISA]
    subprocess.run([*words, copy, *case.args], cwd=here,
                   env={**environment(here), "TALLY_OUT": "hand.tally"},
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=SECONDS)
    return profile


def told(profile):
    """{image: {address: count}}"""
    out = collections.defaultdict(dict)
    for line in run(TALLY, "export", "--format", "tsv", profile).splitlines():
        image, addr, n = line.split("\t")
        out[image][int(addr, 16)] = int(n)
    return out


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
    run(*compiler(ISA, case.cc), "-w", "-c", *case.flags, "-o", here + "/own.o",
        *(os.path.normpath(PROGS + s) for s in case.sources))
    own = {n for _, _, n in Names.read(ISA, here + "/own.o")}
    ranges = sorted((s, s + size) for s, size, n in Names.read(ISA, exe)
                    if n in own)
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
    return ISA != HOST or not image.startswith("libc.so")


def attempt(case):
    cc = compiler(ISA, case.cc)
    if not cc:
        return "no %s" % case.cc
    sources = [os.path.normpath(PROGS + (s % ISA if "%" in s else s))
               for s in case.sources]
    if not all(os.path.exists(s) for s in sources):
        return [] # not for this machine
    here = os.path.join(where, ISA, case.name)
    os.makedirs(here)
    exe = here + "/" + case.name
    run(*cc, "-w", *case.flags, "-o", exe,
        *(["-J", here] if case.cc == "gfortran" else []), *sources)
    status, want = oracle(case, here, exe)
    result, all_told = [], {}
    for p in PLACEMENTS[:1] if case.few else PLACEMENTS:
        got, profile = tally_count(case, here, exe, p, "--placement", p)
        result.append((p + ": status", [] if got == status % 256 else
                       ["%s, want %s" % (got, status)]))
        all_told[p] = told(profile)
        exempt = others(case, here, exe) if case.own else []
        got = all_told[p][case.name]
        exempt += [(a, a + 1) for s, e in untold(profile, exe)
                   for a in range(s, e, 4 if ISA == "aarch64" else 1)
                   if a not in got]
        result.append((p, judge(want, got, exempt)))
    hand = told(by_hand(case, here, exe))[case.name]
    exempt = others(case, here, exe) if case.own else []
    result.append(("by hand", judge(collections.Counter(hand),
                                    all_told["edges"][case.name], exempt)))
    if not case.few:
        for words in (["--weights", here + "/edges.tally"],
                      ["--after-calls"]):
            _, profile = tally_count(case, here, exe, "other", *words)
            other = told(profile)
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


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    where = os.path.realpath(where)
    CACHE = where + "/cache"
    only = [w for w in sys.argv[1:] if w not in ISAS]
    for ISA in [w for w in sys.argv[1:] if w in ISAS] or ISAS:
        if not tool(ISA, "gcc") or (ISA != HOST and (
                not shutil.which("qemu-" + ISA) or
                "-plugin" not in run("qemu-" + ISA, "-h"))):
            tap.skip(ISA, "no qemu with plugins, or no compiler")
            continue
        if ISA != HOST:
            run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o",
                where + "/qemu-counts.so", "tests/lib/qemu-counts.c")
        jobs = [(c, pool.submit(attempt, c)) for c in CASES
                if (not only or c.name in only) and
                not (c.long and ISA == HOST)]
        for c, future in jobs:
            tap.job("%s %s" % (ISA, c.name), future)
tap.done()
