#!/usr/bin/env python3
"""
count-calls: who called whom how often, as `tally count --calls` says.

The original runs under qemu, which sees every transfer of control
(tests/lib/qemu-flow.c): of the indirect calls and jumps of a program the pairs
of site and target are the same. Everywhere, in the C library too, the pairs of
a site add up to how often its block ran, and what is not told is said to be so.
"""
import concurrent.futures
import json
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from count_run import *

tap = Tap()
CALLS = "../count/calls.c"
INDIRECT = ("indirect-call", "indirect-jump")


class Case:
    def __init__(self, name, sources, *flags, cc="gcc", args=(), plugin=None,
                 own=False, want=None, options=(), shows=False,
                 executes=False):
        self.name, self.sources, self.flags = name, sources, flags
        self.cc, self.args, self.options = cc, list(args), options
        self.plugin = plugin  # source of a library, the last argument
        self.own = own        # of the program, procedures of the sources only
        self.want = want      # pairs of names that qemu cannot tell
        self.shows = shows    # prints return addresses
        self.executes = executes  # qemu cannot


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
    Case("edges", ["edges.cc", "edges-aarch64.S"], "-O2", *TABLES, cc="g++"),
    Case("throw", ["throw.cc"], "-O2", cc="g++", shows=True),
    Case("leave", ["../count/leave.cc"], "-O2", cc="g++"),
]


def oracle(case, here, exe):
    """(status, output, {(image, from): {(image, to): count}})"""
    status, out, lines = observed(here, exe, case.args, "qemu-flow")
    flow = collections.defaultdict(collections.Counter)
    for w in lines if not case.want else ():
        if w[0] == "flow":
            flow[os.path.basename(w[1]), int(w[2], 16)][
                os.path.basename(w[3]), int(w[4], 16)] += int(w[5])
    return status, out, flow


def counted(case, here, exe):
    return tally_count(here, exe, case.args, "profile", "--calls",
                       *case.options)


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
    bad, ends = [], {}
    for b in report(profile, "block"):
        ends[b["image"], int(b["end"], 16) - 4] = b["count"]
    sums = collections.Counter()
    for r in rows:
        if r["kind"] in INDIRECT and r["count"] is not None:
            sums[r["image"], int(r["address"], 16)] += r["count"]
        why = r.get("callee_unknown")
        if why and why != "in code that is not counted":
            bad.append("%s %s: %s" % (r["image"], r["address"], why))
    for site, n in sums.items():
        if ends.get(site) not in (n, None):
            bad.append("%s %#x: pairs %d, block %d" % (*site, n, ends[site]))
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


def prepare(case, here):
    """Its program; a plugin becomes its last argument."""
    exe = build(here, case.name, case.sources, *case.flags, cc=case.cc)
    if case.plugin:
        run(*compiler(ISA, case.cc), "-w", "-O2", "-shared", "-fPIC", "-o", here + "/extra.so",
            os.path.normpath(PROGS + case.plugin))
        case.args.append(here + "/extra.so")
    return exe


def attempt(case):
    if not compiler(ISA, case.cc):
        return "no %s" % case.cc
    here = os.path.join(where, case.name)
    os.makedirs(here)
    exe = prepare(case, here)
    status, out, want = oracle(case, here, exe)
    if status < 0:
        status = 128 - status
    got, said, profile = counted(case, here, exe)
    rows = report(profile, "call-site")
    images = {r["image"] for r in report(profile, "image")}
    if case.shows or case.executes:
        said = out
    if case.executes:
        status = 0
    result = [("runs", [] if (got, said) == (status % 256, out) else
               ["%s %s, want %s %s" % (got, said, status, out)]),
              ("sums", judge_sums(rows, profile))]
    if case.want:
        return result + [("pairs", judge_names(case.want, rows))]
    mine = lambda site: site[0] == case.name
    if case.own:
        own = own_names(here, case.sources, *case.flags, cc=case.cc)
        sites = {int(r["address"], 16) for r in rows
                 if r["procedure"] in own}
        mine = lambda site: site[1] in sites
    return result + [("pairs", judge_pairs(want, pairs(rows), images,
                                           mine))]


def full():
    """Pairs that find no room are said to be missing, as many as are."""
    here = os.path.join(where, "full")
    os.makedirs(here)
    case = Case("full", [CALLS], "-O2", args=["full"])
    exe = prepare(case, here)
    _, _, profile = counted(case, here, exe)
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
    here = os.path.join(where, "unmeasured")
    os.makedirs(here)
    case = Case("unmeasured", [CALLS], "-O2")
    exe = prepare(case, here)
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
    only = sys.argv[1:]
    if missing():
        tap.skip("calls", missing())
        CASES = []
    else:
        where = begin(where, "qemu-flow")
    jobs = [(c.name, pool.submit(attempt, c)) for c in CASES
            if not only or c.name in only]
    if CASES and not only:
        jobs.append(("no room", pool.submit(full)))
        jobs.append(("no option", pool.submit(unmeasured)))
    for name, future in jobs:
        tap.job(name, future)
tap.done()
