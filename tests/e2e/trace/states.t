#!/usr/bin/env python3
"""
trace/states: where an epoch begins a thread writes its registers and the end of
its stack, and a replay that begins there finds where it is, and what has called
it. A walk from the beginning knows that by then: both say the same, at epochs
that are as short as they can be, in programs that go in all ways that compilers
make, on either machine.

    states.t [MACHINE].. [NAME]..
"""
import functools
import os
import sys

sys.path.insert(0, "tests/lib")
import count_run
import trace_run
from call_compare import Case
from count_run import *

tap = Tap()
TRACE = "../trace/"
STATES = os.path.join(os.path.dirname(TALLY), "tools/trace-states")
PIECES = os.path.join(os.path.dirname(TALLY), "tools/trace-pieces")
SMALL = {**trace_run.STEADY, "TALLY_SMALL_EPOCHS": "1"}
# of states, percent: others are where codes are in two steps, in handlers, or
# where it is not known on which of two edges control is
KNOWN = 50


def judge(here, exe, args, encodings, known, wrong=0):
    out = []
    for e in encodings:
        plain = quiet([TALLY, "trace", "--encoding", e, "-o",
                       here + "/plain.trace", "--", exe, *args], here,
                      **trace_run.STEADY)
        *ran, err, file = trace_run.trace(here, e, [exe, *args], SMALL)
        bad = [] if tuple(ran) == plain[:2] else [str(ran), err]
        *notes, said = run(STATES, file).splitlines()
        seen, met, found, same, frames = map(int, said.split())
        if found - same > found * wrong // 100:
            bad += notes[:60]
            bad.append("%d of %d are not so" % (found - same, found))
        if not seen or found * 100 < seen * known or frames < found:
            bad.append("seen met found same frames: " + said)
        os.remove(file)
        out.append(("%s: %s" % (e, said), bad))
    return out


def program(name, sources, *flags, cc="gcc", args=(), only=None,
            encodings=("witness", "bits"), known=KNOWN, wrong=0):
    if only and count_run.ISA != only:
        return []
    if not compiler(count_run.ISA, cc):
        return "no %s" % cc
    here = room(name)
    exe = build(here, name, [TRACE + s for s in sources], *flags, cc=cc)
    return judge(here, exe, args, encodings, known, wrong)


def random_program(seed, kind, features):
    here = room("seed-%d" % seed)
    case = Case(here, seed, kind, features.split(), 300, 60)
    if not compiler(count_run.ISA, case.cc):
        return "no %s" % case.cc
    case.build()
    return judge(here, case.exe, (), ["witness"], KNOWN)


def way_there(how, status):
    """Of what is kept of a long run, the calls that led to its end."""
    here = room("dies-" + how)
    exe = build(here, "dies", [TRACE + "dies.c"], "-O1", "-fno-inline",
                "-fno-optimize-sibling-calls")
    file = here + "/last.trace"
    got = quiet([TALLY, "trace", "--last", "300000", "-o", file, "--", exe, how],
                here, **trace_run.STEADY)
    lines = run(TALLY, "replay", "--as", "calls", file).splitlines()
    calls = [l.strip() for l in lines[:200] if not l.startswith("#")]
    begin = calls.index("-> main") if "-> main" in calls else 0
    want = ["-> main"] + ["-> deep"] * 6 + ["-> work"]
    bad = [] if calls[begin:begin + 8] == want else calls[:12]
    bad += [] if got[0] == status else ["status %d" % got[0], got[2]]
    last = [l for l in lines[-40:] if l.startswith(" " * 12)]
    if not any("<- work" in l for l in last):
        bad.append("it did not return from work()")
    if "a signal ended the process" not in lines[-1]:
        bad.append(lines[-1])
    said = run(TALLY, "replay", "--as", "blocks", "--count", "5",
               file).splitlines()
    if sum(l.startswith("# open: dies 0x") for l in said) < 7:
        bad += said[:12]
    return [("the way to an end by " + how, bad)]


def pieces():
    """A long thread is counted in pieces at the same time: no count depends on
    that."""
    here = room("pieces")
    exe = build(here, "sorts", [TRACE + "sorts.c"], "-O2")
    file = trace_run.trace(here, "witness", [exe, "50"], SMALL)[-1]
    *bad, said = run(PIECES, file).splitlines()
    n, agreed, edges = map(int, said.split())
    if n < 12 or agreed != n or not edges:
        bad.append(said)
    answers = [quiet([TALLY, "report", "--by", "edge", "--json", file], here,
                     TALLY_THREADS=threads) for threads in ("1", "4")]
    if answers[0] != answers[1] or answers[0][0] or len(answers[0][1]) < 1000:
        bad.append("reports: %d and %d bytes" % tuple(
            len(a[1]) for a in answers))
    os.remove(file)
    return [("%d pieces, %d edges" % (n, edges), bad)]


def ways():
    for name, flags, how in (
            ("fast", ["-O2"], {"encodings": trace_run.ENCODINGS, "known": 20}),
            ("plain", ["-O0"], {}),
            ("clang", ["-O3"], {"cc": "clang"}),
            ("frames", ["-O3", "-fno-omit-frame-pointer"], {}),
            ("static", ["-O2", "-static"], {})):
        yield "paths-" + name, program, "paths-" + name, ["paths.c"], *flags, \
            how
    # an unwinder that is about to land has written over its own frame
    yield "throws", program, "throws", ["throws.cc"], "-O2", {
        "cc": "g++", "wrong": 10 if count_run.ISA == "aarch64" else 0}
    yield "calls", program, "calls", ["calls.c"], "-O2", {}
    yield "turns", program, "turns", ["turns.c"], "-O2", {}
    yield "crew", program, "crew", ["crew.c"], "-O2", {}
    yield "labels", program, "labels", ["../rewrite/labels.c"], "-O2", {}
    yield "pieces", pieces, {}
    yield "dies-abort", way_there, "abort", 134, {}
    yield "dies-fault", way_there, "fault", 139, {}
    yield "landings", program, "landings", ["landings.c"], "-O1", {
        "only": "x86_64"}
    for seed, kind, features in (
            (3, 3, "recursion jump deep"), (5, 1, "recursion throw"),
            (7, 8, "recursion switch"), (2, 1, "recursion thread"),
            (25, 1, "recursion tail library sort alloca")):
        yield "seed-%d" % seed, random_program, seed, kind, features, {}


def jobs():
    for name, f, *args, how in ways():
        yield name, functools.partial(f, *args, **how)


test_all(tap, jobs)
