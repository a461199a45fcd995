#!/usr/bin/env python3
"""
trace/paths: what `tally replay` tells is what the program did, instruction by
instruction: the original is single-stepped (tests/lib/trace_run.py), on either
machine. With each encoding, for programs that go in all ways that compilers
make, and random ones; and of longer ones it is as often as `tally count` says.

    paths.t [MACHINE].. [NAME]..

What is not exact yet is in tests/sweep/traces.sh alone: what handlers of
signals interrupt.
"""
import functools
import sys

sys.path.insert(0, "tests/lib")
import call_compare
import count_run
import trace_run
from call_compare import Case
from count_run import *

tap = Tap()
TRACE = "../trace/"
PATHS, THROWS = [TRACE + "paths.c"], [TRACE + "throws.cc"]
INTERRUPTS = [TRACE + "interrupts.c"]
STACKS = TRACE + "stacks.c"
LAZY = {"MALLOC_TRIM_THRESHOLD_": "10000000"}
ONE = [["witness"], ["bits"], ["every-branch"]]
HARDENED = "%hardened"


def built(here, name, sources, *flags, cc="gcc"):
    flags = [call_compare.HARDENED[count_run.ISA] if f == HARDENED else f
             for f in flags]
    return build(here, name, sources, *flags, cc=cc)


def program(name, sources, *flags, cc="gcc", args=(), **how):
    """Of one encoding, or all."""
    if not compiler(count_run.ISA, cc):
        return "no %s" % cc
    here = room(name)
    exe = built(here, name, sources, *flags, cc=cc)
    return trace_run.judge(here, exe, args, **how)


def stacks(name, *flags, **how):
    switchers = TRACE + "stacks-%s.S" % count_run.ISA
    return program(name, [STACKS, switchers], *flags, **how)


def counts(name, sources, *flags, **how):
    here = room(name)
    return trace_run.judge_counts(here, built(here, name, sources, *flags),
                                  **how)


def interrupted(name, sources, *flags, cc="gcc", every, **how):
    """Signals arrive everywhere: an emulator sends them."""
    if count_run.ISA == HOST or count_run.ISA != "aarch64":
        return []
    here = room(name)
    exe = built(here, name, sources + INTERRUPTS, *flags, cc=cc)
    return trace_run.judge_interrupts(here, exe, every, **how)


def plugins(word):
    """Libraries that are loaded where others have been."""
    here = room("plugins-" + word)
    libs = [build(here, "way-%d.so" % i, [TRACE + "plugin.c"], "-O2",
                  "-Wl,-z,lazy",
                  "-shared", "-fPIC", "-DWAY=%d" % i) for i in range(2)]
    exe = build(here, "plugins", [TRACE + "plugins.c"], "-O2")
    return trace_run.judge_counts(here, exe, [word, *libs], libs=libs,
                                  encodings=["witness", "bits"])


def random_program(seed, kind, features, encodings):
    here = room("seed-%d" % seed)
    case = Case(here, seed, kind, features.split(), 300, 60)
    # an emulator makes vfork() a fork(); and of processes that are forked
    # beside coroutines it tells us no steps
    if count_run.ISA != HOST and ("spawn" in case.has or
                                  {"fork", "context"} <= case.has):
        return []
    if not compiler(count_run.ISA, case.cc):
        return "no %s" % case.cc
    case.build()
    # what libraries do while they wait is not the same each time
    libs = not case.has & {"thread", "signal", "spawn"}
    return trace_run.judge(here, case.exe, (), encodings, libs,
                           twin=case.twins.get(case.exe))


def ways():
    """(name, function, argument.., {named arguments})"""
    yield "paths", program, "paths", PATHS, "-O2", {"libs": True}
    for i, (name, flags, cc) in enumerate((
            ("plain", ["-O0"], "gcc"), ("clang", ["-O3"], "clang"),
            ("no-pie", ["-O2", "-no-pie", HARDENED], "gcc"),
            ("frames", ["-O3", "-fno-omit-frame-pointer"], "gcc"))):
        yield "paths-" + name, program, "paths-" + name, PATHS, *flags, {
            "cc": cc, "libs": True, "encodings": ONE[i % 3]}
    yield "paths-static", program, "paths-static", PATHS, "-O2", "-static", {
        "encodings": ["witness"]}
    yield "paths-lazy", program, "paths-lazy", PATHS, "-O2", "-Wl,-z,lazy", {
        "args": ["dlopen"], "env": LAZY, "encodings": ["bits"]}
    yield "throws", program, "throws", THROWS, "-O2", {
        "cc": "g++", "encodings": ["witness"]}
    yield "labels", program, "labels", ["labels.c"], "-O2", {
        "libs": True, "encodings": ["every-branch"]}
    yield "crew", program, "crew", [TRACE + "crew.c"], "-O2", {
        "encodings": ["witness"]}
    yield "counts", counts, "counts", ["flow.c"], "-O2", {
        "encodings": ["witness"]}
    yield "plugins", plugins, "plain", {}
    yield "plugins-thread", plugins, "thread", {}
    for i, word in enumerate(("push_ret", "by_jump", "by_frame", "context")):
        yield "stacks-" + word, stacks, "stacks-" + word, "-O2", {
            "args": [word], "libs": True, "encodings": ONE[i % 3]}
    yield "landings", program, "landings", [TRACE + "landings.c"], "-O1", {
        "libs": True, "encodings": ["witness"]}
    for i, (seed, kind, features) in enumerate((
            (3, 3, "recursion jump deep"), (5, 1, "recursion throw"),
            (8, 2, "recursion context alloca"), (7, 8, "recursion switch"),
            (2, 1, "recursion thread"), (4, 8, "recursion spawn"),
            (6, 1, "recursion fork context"), (9, 1, "recursion signal leave"),
            (25, 1, "recursion tail library sort alloca"),
            (80, 8, "library jump struct"),
            (36, 5, "pointer tail library sort jump variadic struct noreturn"),
            (46, 10, "library jump ends deep"))):
        yield "seed-%d" % seed, random_program, seed, kind, features, \
            ONE[i % 3], {}
    for i, (name, sources, flags, how) in enumerate((
            ("plain", PATHS, ["-O0", HARDENED], {}),
            ("fast", PATHS, ["-O2"], {}),
            ("static", PATHS, ["-O2", "-static"], {}),
            ("own", PATHS, ["-O2"], {"within": "audit-aarch64.so"}),
            ("throws", THROWS, ["-O2"], {"cc": "g++"}))):
        yield "signals-" + name, interrupted, "signals-" + name, sources, \
            *flags, {"every": 5 + i, "encodings": ONE[i % 3], **how}


def jobs():
    for name, f, *args, how in ways():
        yield name, functools.partial(f, *args, **how)


test_all(tap, jobs, trace_run.PLUGIN, trace_run.INTERRUPTS)
