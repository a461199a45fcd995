#!/usr/bin/env python3
"""
rewrite/programs: programs of many kinds, each run as it is and rewritten in
every way, among libraries rewritten the same way: output, exit status and
backtraces are the same.
"""
import concurrent.futures
import os
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rest import with_rest
from rewrite_run import *

tap = Tap()
# nothing is in the last two that is not in the others
TRIED = with_rest(["trap", "poison", "crowded"], ["moved", "insert"])
# name, sources, flags, arguments of each run
PROGRAMS = [
    ("flow", ["flow.c"], ["-O2"], [[], ["3"]]),
    ("flow-plain", ["flow.c"], ["-O2", "-fno-pie", "-no-pie"], [[]]),
    ("throw", ["throw.cc"], ["-O2"], [[], ["uncaught"], ["noexcept"],
                                      ["terminate"]]),
    ("throw-static", ["throw.cc"], ["-O2", "-static"],
     [[], ["uncaught"], ["terminate"]]),
    ("cold", ["cold.cc"], ["-O2", "-freorder-blocks-and-partition"], [[]]),
    ("jump", ["jump.c"], ["-O2"], [[]]),
    ("threads", ["threads.cc"], ["-O2", "-pthread"], [[]]),
    ("threads-static", ["threads.cc"], ["-O2", "-pthread", "-static"], [[]]),
    ("signals", ["signals.c"], ["-O2", "-fasynchronous-unwind-tables"],
     [[], ["die"]]),
    ("process", ["process.c"], ["-O2", "-pthread"], [[]]),
    ("ifunc", ["ifunc.c"], ["-O2"], [[]]),
    ("ifunc-static", ["ifunc.c"], ["-O2", "-static"], [[]]),
    ("ifunc-static-pie", ["ifunc.c"], ["-O2", "-static-pie", "-fPIE"], [[]]),
    ("atomics", ["atomics.c"], ["-O2", "-pthread"], [[]]),
    ("restart", ["restart.c"], ["-O2", "-pthread"], [[]]),
    ("kept", ["kept.c"], ["-O2", "-fomit-frame-pointer"], [[]]),
    ("names", ["names.c"], ["-O2", "-rdynamic"], [[], ["symbols"]]),
    ("calc", ["calc.f90"], ["-O2", "-fno-backtrace"], [[], ["stop"]]),
    ("labels", ["labels.c"], ["-O2"], [[]]),
    ("labels-plain", ["labels.c"], ["-O1", "-fno-pie", "-no-pie"], [[]]),
    ("labels-static-pie", ["labels.c"], ["-O1", "-static-pie", "-fPIE"],
     [[]]),
    ("calc-checked", ["calc.f90"], ["-O1", "-fcheck=all", "-static",
                                    "-fno-backtrace"], [[]]),
]
# of one machine only
OWN = {
    "aarch64": [
        ("handed", ["handed.c", "handed-aarch64.S"], ["-O2", "-s"], [[]]),
        ("pool", ["pool.c", "pool-aarch64.S"], ["-O2"], [[]]),
        ("atomics-exclusive", ["atomics.c"],
         ["-O2", "-pthread", "-mno-outline-atomics"], [[]]),
    ],
    "x86_64": [
        ("handed", ["handed.c", "handed-x86_64.S"], ["-O2", "-s"], [[]]),
        ("odd", ["odd.c", "odd-x86_64.S"], ["-O2"], [[]]),
        ("odd-plain", ["odd.c", "odd-x86_64.S"],
         ["-O2", "-fno-pie", "-no-pie"], [[]]),
        ("doubt", ["doubt.c", "doubt-x86_64.S"],
         ["-O2", "-fno-pie", "-no-pie"], [[]]),
    ],
}
# who arrives where nobody is expected runs the old code, or traps
UNEXPECTED = ["doubt"]
TRAPPED = "qemu: uncaught target signal 5 (Trace/breakpoint trap) - core " \
    "dumped\n"
# what is known not to work yet: (name, argument): reason
TODO = {
    ("names", "symbols"): "dladdr() names no address of new code: .dynsym "
                          "has only the old ones",
}
# what cannot be emulated: (machine, name): arguments that leave it out. The
# handler of pthread_cancel() is the C library's
BEYOND = {
    ("x86_64", "threads"): ["whole"],
    ("x86_64", "threads-static"): ["whole"],
}
# what can be so: (machine, name): flags
EMULATED_FLAGS = {("x86_64", "signals"): ["-mstackrealign"]}
DRIVER = {".cc": "g++", ".f90": "gfortran"}


def build(isa, out, sources, flags, compiler_name=None):
    kind = os.path.splitext(sources[0])[1]
    cc = compiler(isa, compiler_name or DRIVER.get(kind, "gcc"))
    if not cc:
        return None
    if kind == ".f90":
        flags = flags + ["-J", os.path.dirname(out)]
    made(*cc, "-w", *flags, "-o", out, *(PROGS + s for s in sources))
    return out


def outcome(world, exe, args, cwd, **more):
    status, out = world.run(exe, *args, cwd=cwd)
    return status, Names(world.isa, main=exe, **more).named(out)


def attempt(isa, worlds, program):
    name, sources, flags, runs = program
    exe = os.path.join(where, "%s-%s" % (isa, name))
    if emulator(isa):
        flags = flags + EMULATED_FLAGS.get((isa, name), [])
    if not build(isa, exe, sources, flags):
        return "no compiler for %s" % sources[0]
    cwd = os.path.join(where, name + ".d")
    os.makedirs(cwd, exist_ok=True)
    result = []
    if emulator(isa) and (isa, name) in BEYOND:
        result.append(("runs # SKIP " + UNALIGNED, []))
        runs = [BEYOND[isa, name]]
    want = [outcome(worlds[None], exe, a, cwd) for a in runs]
    result.append(("runs", [str(w) for w in want if w[0] == "hangs"]))
    for way in worlds:
        if not way:
            continue
        copy = "%s-%s" % (exe, way)
        rewrite(way, exe, copy)
        for w, args in zip(want, runs):
            what = " ".join([way] + args)
            if name in UNEXPECTED and way == "trap":
                w = -signal.SIGTRAP, "" if isa == HOST else TRAPPED
            todo = TODO.get((name, *args))
            if todo:
                what += " # TODO " + todo
            result.append((what, differences(
                w, outcome(worlds[way], copy, args, cwd))))
    return result


def worlds_of(isa):
    """The worlds that programs of the machine are tried in, or None."""
    if emulator(isa) is None or not tool(isa, "gcc"):
        return None
    return {way: World(isa, way) for way in [None, *TRIED]}


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    only = sys.argv[1:]
    for isa in ISAS:
        worlds = worlds_of(isa)
        if not worlds:
            tap.skip(isa, "no tools for it")
            continue
        todo = [p for p in PROGRAMS + OWN[isa] if not only or p[0] in only]
        for p, f in [(p, pool.submit(attempt, isa, worlds, p)) for p in todo]:
            tap.job("%s %s" % (isa, p[0]), f)
tap.done()
