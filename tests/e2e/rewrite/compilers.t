#!/usr/bin/env python3
"""
rewrite/compilers: code of every compiler at every level, with code inserted
at every block and edge, and with traps where nobody should arrive, does what
it did.
"""
import concurrent.futures
import os
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rest import with_rest
from rewrite_run import *

tap = Tap()
PIE, FIXED = ["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]
LEVELS = with_rest([("-O0", FIXED), ("-O2", FIXED), ("-O3", PIE)],
                   [("-O1", PIE), ("-Os", FIXED)])
# source, compilers, ways
SOURCES = [("flow.c", ("gcc", "clang"), ("trap", "crowded")),
           ("throw.cc", ("g++", "clang++"), ("crowded",))]


def attempt(isa, worlds, name, level, pie, source, ways):
    cc = compiler(isa, name)
    if not cc:
        return "no %s for %s" % (name, isa)
    exe = os.path.join(where, "-".join((isa, source, name, level)))
    made(*cc, "-w", level, *pie, "-o", exe, PROGS + source)
    status, out = worlds[None].run(exe)
    want = status, Names(isa, main=exe).named(out)
    result = [("runs", [] if status in (0, 7) else [str(want)])]
    for way in ways:
        copy = exe + "-" + way
        rewrite(way, exe, copy)
        status, out = worlds[way].run(copy)
        got = status, Names(isa, main=copy).named(out)
        result.append((way, differences(want, got)))
    return result


def jobs(isa, pool):
    """[(title, future)] of all that is tried on the machine."""
    worlds = {way: World(isa, way) for way in [None, "trap", "crowded"]}
    todo = []
    for source, names, ways in SOURCES:
        for name in names:
            for level, pie in LEVELS:
                todo.append(((isa, source, name, level), pool.submit(
                    attempt, isa, worlds, name, level, pie, source, ways)))
    return todo


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    for isa in ISAS:
        if emulator(isa) is None or not tool(isa, "gcc"):
            tap.skip(isa, "no tools for it")
            continue
        for title, future in jobs(isa, pool):
            tap.job(" ".join(title), future)
tap.done()
