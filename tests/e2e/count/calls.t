#!/usr/bin/env python3
"""
count/calls: who called whom how often, as `tally count --calls` says.

The original runs under qemu, which sees every transfer of control
(tests/lib/qemu-flow.c), or on the machine itself one step at a time
(tests/tools/step-counts.c): of the indirect calls and jumps of a program the
pairs of site and target are the same. Everywhere, in the C library too, the
pairs of a site add up to how often its block ran, and what is not told is said
to be so.
"""
import bisect
import collections
import copy
import json
import os
import sys

sys.path.insert(0, "tests/lib")
import count_run
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
        self.asks = plugin or executes  # tally rewrites while it runs


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
    Case("throw", ["throw.cc"], "-O2", cc="g++", shows=True),
    Case("leave", ["../count/leave.cc"], "-O2", cc="g++"),
]


def oracle(case, here, exe):
    """(status, output, {(image, from): {(image, to): count}})"""
    flow = collections.defaultdict(collections.Counter)
    status, out = original(here, exe, case.args,
                           None if case.want else "qemu-flow")
    for image, site, other, to, n in rows(here, "flow"):
        flow[os.path.basename(image), site][os.path.basename(other), to] += n
    return status, out, flow


def count_calls(case, here, exe):
    """(status, output, profile) of a counted run."""
    status, out, _, profile = tally_count(here, exe, case.args, "calls",
                                          "--calls", *case.options)
    return status, out, profile


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


def make(case, here):
    exe = build(here, case.name, case.sources, *case.flags, cc=case.cc)
    if case.plugin:
        lib = build(here, "extra.so", [case.plugin], "-O2", "-shared", "-fPIC",
                    cc=case.cc)
        case = copy.copy(case)
        case.args = [*case.args, lib]
    return case, exe


def attempt(case):
    why = [] if case.asks and EMULATED else absent(case)
    if why is not None:
        return why
    here = room(case.name)
    case, exe = make(case, here)
    status, out, want = oracle(case, here, exe)
    got, said, profile = count_calls(case, here, exe)
    sites = report(profile, "call-site")
    images = {r["image"] for r in report(profile, "image")}
    if case.shows or case.executes:
        said = out
    if case.executes:
        status = 0 # qemu cannot
    result = [("runs", [] if (got, said) == (status, out) else
               ["%s %s, want %s %s" % (got, said, status, out)]),
              ("sums", judge_sums(sites, profile))]
    if case.want:
        return result + [("pairs", judge_names(case.want, sites))]
    mine = lambda site: site[0] == case.name
    if case.own:
        own = own_names(here, case.sources, *case.flags, cc=case.cc)
        at = {int(r["address"], 16) for r in sites if r["procedure"] in own}
        mine = lambda site: site[1] in at
    return result + [("pairs", judge_pairs(want, pairs(sites), images,
                                           mine))]


def full():
    """Pairs that find no room are said to be missing, as many as are."""
    here = room("full")
    exe = build(here, "full", [CALLS], "-O2")
    profile = tally_count(here, exe, ["full"], "full", "--calls")[-1]
    sites = [r for r in report(profile, "call-site")
            if r["procedure"] == "call_many" and r["kind"] in INDIRECT]
    lost = [r for r in sites
            if r.get("callee_unknown") == "pairs are missing"]
    troubles = report(profile, "image")[0]["troubles"]
    return [("full", [] if len(lost) == 1 and len(sites) > 300 and
             sum(r["count"] for r in sites) == 9000 and
             any("pairs" in t for t in troubles) else
             [str(sites[-3:]), str(troubles)])]


def unmeasured():
    """Without --calls the sites are told, and that callees are not known."""
    here = room("unmeasured")
    exe = build(here, "unmeasured", [CALLS], "-O2")
    sites = report(tally_count(here, exe, (), "plain")[-1], "call-site")
    table = [r for r in sites if r["procedure"] == "through_table" and
            r["kind"] == "indirect-call"]
    good = len(table) == 1 and table[0]["count"] == 100 and \
        table[0]["callee_unknown"] == "pairs were not measured"
    direct = [r for r in sites if r["procedure"] == "everything" and
              r["callee"] == "methods" and r["count"] == 1]
    return [("unmeasured", [] if good and direct else [str(table), str(sites)])]


def jobs():
    yield from ((c.name, attempt, c) for c in CASES)
    yield "no room", full
    yield "no option", unmeasured


test_all(tap, jobs, "qemu-flow")
