#!/usr/bin/env python3
"""
count-calls: who called whom how often, as `tally count --calls` says.

The original runs under qemu, which sees every transfer of control
(tests/lib/qemu-flow.c), or on the machine itself one step at a time
(tests/tools/step-counts.c): of the indirect calls and jumps of a program the pairs
of site and target are the same. Everywhere, in the C library too, the pairs of
a site add up to how often its block ran, and what is not told is said to be so.
"""
import bisect
import collections
import concurrent.futures
import copy
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
TABLES = ["--param", "case-values-threshold=4"]
CALLS = "../count/calls.c"
INDIRECT = ("indirect-call", "indirect-jump")


class Case:
    def __init__(self, name, sources, *flags, cc="gcc", args=(), plugin=None,
                 own=False, want=None, options=(), shows=False,
                 executes=False, long=False):
        self.name, self.sources, self.flags = name, sources, flags
        self.cc, self.args, self.options = cc, list(args), options
        self.plugin = plugin  # source of a library, the last argument
        self.own = own        # of the program, procedures of the sources only
        self.want = want      # pairs of names that qemu cannot tell
        self.shows = shows    # prints return addresses
        self.executes = executes  # qemu cannot
        self.long = long      # too long for single steps


# 10 + 100 + 200 + 300 + 10 calls: squares modulo 4 are 0 and 1. qemu's children
# repeat what their parents did
FORKED = {("through_table", "add"): 310, ("through_table", "twice"): 310,
          ("tail", "add"): 3, ("tail", "twice"): 2, ("tail", "less"): 2}
# nor does it know where a library was that has gone
LOADED = {("plugins", "each"): 3, ("each", "own"): 33, ("each", "add"): 10,
          ("each", "twice"): 11, ("each", "less"): 12}
KILLED = {("through_table", "add"): 500, ("through_table", "twice"): 500}
EXECUTED = {("through_table", "add"): 55, ("through_table", "twice"): 55}

CASES = [
    Case("calls", [CALLS], "-O2", *TABLES),
    Case("calls-plain", [CALLS], "-O0"),
    Case("calls-clang", [CALLS], "-O2", "-Dnoipa=noinline", cc="clang"),
    Case("calls-no-pie", [CALLS], "-O2", "-no-pie"),
    Case("calls-static", [CALLS], "-O2", "-static", own=True),
    Case("calls-vertices", [CALLS], "-O2",
         options=["--placement", "vertices"]),
    Case("threads", [CALLS], "-O2", args=["threads"]),
    Case("threads-static", [CALLS], "-O2", "-static", args=["threads"],
         own=True),
    Case("fork", [CALLS], "-O2", args=["fork"], want=FORKED),
    Case("fork-static", [CALLS], "-O2", "-static", args=["fork"],
         want=FORKED),
    Case("plugin", [CALLS], "-O2", args=["plugin"],
         plugin="../count/calls-plugin.c", want=LOADED),
    Case("many", [CALLS], "-O2", args=["many"]),
    Case("kill", [CALLS], "-O2", args=["kill"], want=KILLED),
    Case("exec", [CALLS], "-O2", args=["exec"], want=EXECUTED,
         options=["--follow"], executes=True),
    Case("labels", ["labels.c"], "-O2"),
    Case("edges", ["edges.cc", "edges-%s.S"], "-O2", *TABLES, cc="g++"),
    Case("throw", ["throw.cc"], "-O2", cc="g++", shows=True, long=True),
    Case("leave", ["../count/leave.cc"], "-O2", cc="g++", long=True),
]


def environment(here):
    return {"PATH": "/usr/bin:/bin", "LANG": "C", "XDG_CACHE_HOME": CACHE,
            "HOME": here}


def oracle(case, here, exe):
    """(status, output, {(image, from): {(image, to): count}})"""
    words = ["qemu-" + ISA, "-L", "/usr/%s-linux-gnu" % ISA, "-plugin",
             "%s/qemu-flow.so,out=%s/ran" % (where, here)]
    if ISA == HOST:
        words = [] if case.want else [STEPS, here + "/ran"]
    p = subprocess.Popen([*words, exe, *case.args], env=environment(here),
                         cwd=here,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, preexec_fn=alone)
    out, _ = p.communicate(timeout=5 * SECONDS) # steps are slow
    flow = collections.defaultdict(collections.Counter)
    if case.want:
        return p.returncode, out, flow
    for line in open(glob.glob(here + "/ran.*")[0]):
        w = line.rstrip("\n").split("\t")
        if w[0] == "flow":
            flow[os.path.basename(w[1]), int(w[2], 16)][
                os.path.basename(w[3]), int(w[4], 16)] += int(w[5])
    return p.returncode, out, flow


def tally_count(case, here, exe):
    """(status, output, profile) of a counted run."""
    profile = here + "/profile"
    p = subprocess.run([TALLY, "count", "--calls", "-o", profile,
                        *case.options, "--", exe, *case.args],
                       env=environment(here), cwd=here,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=SECONDS)
    return p.returncode, p.stdout, profile


def report(profile, by):
    return json.loads(run(TALLY, "report", "--by", by, "--json", profile))


def pairs(rows):
    """{(image, site): {(image, target): count}} of indirect ones"""
    out = collections.defaultdict(collections.Counter)
    for r in rows:
        if r["kind"] in INDIRECT:
            to = r["callee_image"] and (r["callee_image"],
                                        int(r["callee_address"], 16))
            out[r["image"], int(r["address"], 16)][to] += r["count"] or 0
    return out


def judge_sums(rows, profile):
    """The pairs of every site add up to the count of its block."""
    bad, starts = [], collections.defaultdict(list)
    for b in report(profile, "block"):
        starts[b["image"]].append((int(b["start"], 16), int(b["end"], 16),
                                   b["count"]))
    for v in starts.values():
        v.sort()
    sums = collections.Counter()
    for r in rows:
        if r["kind"] in INDIRECT and r["count"] is not None:
            sums[r["image"], int(r["address"], 16)] += r["count"]
        why = r.get("callee_unknown")
        if why and why != "in code that is not counted":
            bad.append("%s %s: %s" % (r["image"], r["address"], why))
    for site, n in sums.items():
        v = starts[site[0]]
        i = bisect.bisect(v, (site[1], 1 << 64)) - 1
        count = v[i][2] if i >= 0 and site[1] < v[i][1] else None
        if count not in (n, None):
            bad.append("%s %#x: pairs %d, block %d" % (*site, n, count))
    return bad


def judge_pairs(want, got, images, mine):
    """Pairs of sites in `mine` are as qemu saw them."""
    bad = []
    for site in got:
        if not mine(site):
            continue
        seen = collections.Counter()
        for to, n in want.get(site, {}).items():
            seen[to if to[0] in images else None] += n
        if seen != got[site]:
            bad.append("%s %#x: %s, want %s" % (*site, dict(got[site]),
                                                dict(seen)))
    if not any(mine(s) for s in got):
        bad.append("no sites at all")
    return bad


def judge_names(want, rows):
    sums = collections.Counter()
    for r in rows:
        if r["kind"] in INDIRECT:
            sums[r["procedure"], r["callee"]] += r["count"]
    return ["%s: %d, want %d" % (k, sums[k], n) for k, n in want.items()
            if sums[k] != n]


def sources(case):
    return [os.path.normpath(PROGS + (s % ISA if "%" in s else s))
            for s in case.sources]


def own_names(case, here):
    run(*compiler(ISA, case.cc), "-w", "-c", *case.flags, "-o", here + "/own.o",
        *sources(case))
    return {n for _, _, n in Names.read(ISA, here + "/own.o")}


def build(case, here):
    cc = compiler(ISA, case.cc)
    exe = here + "/" + case.name
    run(*cc, "-w", *case.flags, "-o", exe,
        *sources(case), "-ldl", "-lpthread")
    if case.plugin:
        run(*cc, "-w", "-O2", "-shared", "-fPIC", "-o", here + "/extra.so",
            os.path.normpath(PROGS + case.plugin))
        case = copy.copy(case)
        case.args = [*case.args, here + "/extra.so"]
    return case, exe


def attempt(case):
    if not compiler(ISA, case.cc):
        return "no %s" % case.cc
    if not all(os.path.exists(s) for s in sources(case)):
        return [] # not for this machine
    here = os.path.join(where, ISA, case.name)
    os.makedirs(here)
    case, exe = build(case, here)
    status, out, want = oracle(case, here, exe)
    if status < 0:
        status = 128 - status
    got, said, profile = tally_count(case, here, exe)
    rows = report(profile, "call-site")
    images = {r["image"] for r in report(profile, "image")}
    if case.shows or case.executes:
        said = out
    if case.executes:
        status = 0 # qemu cannot
    result = [("runs", [] if (got, said) == (status % 256, out) else
               ["%s %s, want %s %s" % (got, said, status, out)]),
              ("sums", judge_sums(rows, profile))]
    if case.want:
        return result + [("pairs", judge_names(case.want, rows))]
    mine = lambda site: site[0] == case.name
    if case.own:
        own = own_names(case, here)
        sites = {int(r["address"], 16) for r in rows
                 if r["procedure"] in own}
        mine = lambda site: site[1] in sites
    return result + [("pairs", judge_pairs(want, pairs(rows), images,
                                           mine))]


def full():
    """Pairs that find no room are said to be missing, as many as are."""
    here = os.path.join(where, ISA, "full")
    os.makedirs(here)
    case, exe = build(Case("full", [CALLS], "-O2", args=["full"]), here)
    _, _, profile = tally_count(case, here, exe)
    rows = [r for r in report(profile, "call-site")
            if r["procedure"] == "call_many" and r["kind"] in INDIRECT]
    missing = [r for r in rows
               if r.get("callee_unknown") == "pairs are missing"]
    troubles = report(profile, "image")[0]["troubles"]
    return [("full", [] if len(missing) == 1 and len(rows) > 300 and
             sum(r["count"] for r in rows) == 9000 and
             any("pairs" in t for t in troubles) else
             [str(rows[-3:]), str(troubles)])]


def unmeasured():
    """Without --calls the sites are told, and that callees are not known."""
    here = os.path.join(where, ISA, "unmeasured")
    os.makedirs(here)
    _, exe = build(Case("unmeasured", [CALLS], "-O2"), here)
    run(TALLY, "count", "-o", here + "/profile", exe,
        env={**os.environ, **environment(here)})
    rows = report(here + "/profile", "call-site")
    told = [r for r in rows if r["procedure"] == "through_table" and
            r["kind"] == "indirect-call"]
    good = len(told) == 1 and told[0]["count"] == 100 and \
        told[0]["callee_unknown"] == "pairs were not measured"
    direct = [r for r in rows if r["procedure"] == "everything" and
              r["callee"] == "methods" and r["count"] == 1]
    return [("unmeasured", [] if good and direct else [str(told), str(rows)])]


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
                where + "/qemu-flow.so", "tests/lib/qemu-flow.c")
        jobs = [(c.name, pool.submit(attempt, c)) for c in CASES
                if (not only or c.name in only) and
                not (c.long and ISA == HOST)]
        if not only:
            jobs.append(("no room", pool.submit(full)))
            jobs.append(("no option", pool.submit(unmeasured)))
        for name, future in jobs:
            tap.job("%s %s" % (ISA, name), future)
tap.done()
