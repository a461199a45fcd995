#!/usr/bin/env python3
"""
trace/paths: what `tally replay` tells is what the program did, instruction by
instruction: the original is single-stepped (tests/lib/trace_run.py). With each
encoding, for programs that go in all ways that compilers make, and random
ones; and of longer ones it is as often as `tally count` says.

What is not exact yet is in tests/sweep/traces.sh alone: what handlers of
signals interrupt.
"""
import concurrent.futures
import sys

sys.path.insert(0, "tests/lib")
import count_run
import trace_run
from call_compare import Case
from count_run import *

tap = Tap()
TRACE = "../trace/"
PATHS, THROWS = [TRACE + "paths.c"], [TRACE + "throws.cc"]
STACKS = [TRACE + "stacks.c", TRACE + "stacks-x86_64.S"]
LAZY = {"MALLOC_TRIM_THRESHOLD_": "10000000"}
ONE = [["witness"], ["bits"], ["every-branch"]]


def program(name, sources, *flags, cc="gcc", args=(), **how):
    """Of one encoding, or all."""
    if not compiler(HOST, cc):
        return "no %s" % cc
    here = room(name)
    exe = build(here, name, sources, *flags, cc=cc)
    return trace_run.judge(here, exe, args, **how)


def counts(name, sources, *flags, cc="gcc", **how):
    if not compiler(HOST, cc):
        return "no %s" % cc
    here = room(name)
    return trace_run.judge_counts(here, build(here, name, sources, *flags,
                                              cc=cc), **how)


def plugins(word):
    """Libraries that are loaded where others have been."""
    here = room("plugins-" + word)
    libs = [build(here, "way-%d.so" % i, [TRACE + "plugin.c"], "-O2",
                  "-shared", "-fPIC", "-DWAY=%d" % i) for i in range(2)]
    exe = build(here, "plugins", [TRACE + "plugins.c"], "-O2")
    return trace_run.judge_counts(here, exe, [word, *libs], libs=libs,
                                  encodings=["witness", "bits"])


def random_program(seed, kind, features, encodings):
    here = room("seed-%d" % seed)
    case = Case(here, seed, kind, features.split(), 300, 60)
    if not compiler(HOST, case.cc):
        return "no %s" % case.cc
    case.build()
    # what libraries do while they wait is not the same each time
    libs = not case.has & {"thread", "signal", "spawn"}
    return trace_run.judge(here, case.exe, (), encodings, libs,
                           twin=case.twins.get(case.exe))


def jobs():
    yield "paths", program, "paths", PATHS, "-O2", {"libs": True}
    for i, (name, flags, cc) in enumerate((
            ("plain", ["-O0"], "gcc"), ("clang", ["-O3"], "clang"),
            ("no-pie", ["-O2", "-no-pie", "-fcf-protection=full"], "gcc"),
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
        yield "stacks-" + word, program, "stacks-" + word, STACKS, "-O2", {
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


def main():
    if HOST != "x86_64" or EMULATED:
        tap.skip("paths", "traces of x86-64 alone")
        tap.done()
    count_run.use(HOST)
    only = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        begin(folder)
        todo = [(name, pool.submit(f, *args, **how))
                for name, f, *args, how in jobs() if not only or name in only]
        for name, future in todo:
            tap.job(name, future)
    tap.done()


main()
