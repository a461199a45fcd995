#!/usr/bin/env python3
"""
rewrite/counts: code inserted before every block, on every edge and on every
way into a procedure runs as often as it should: at the end of a program the
law of flow holds at every block of it and of its libraries, and its blocks
and jumps ran as often as qemu saw them run in the original. Programs of the
machine itself run in qemu, too: it tells what is in their memory.
"""
import concurrent.futures
import glob
import os
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
JUDGE = os.path.join(os.path.dirname(TALLY), "tools/judge-counts")
PLUGINS = ["qemu-counts", "qemu-flow", "qemu-memory"]
TABLES = ["--param", "case-values-threshold=4"]
EDGES = ["edges.cc", "edges-%s.S"]
KINDS = {"entry", "arrival", "fall", "taken", "jump", "after", "unwind",
         "return", "tail", "noreturn"}


class Case:
    def __init__(self, name, sources, *flags, cc="gcc", seen=True, ran=(),
                 lenient=False, barred=None, beyond=()):
        self.name, self.sources, self.flags = name, sources, flags
        self.cc, self.seen, self.lenient = cc, seen, lenient
        self.ran = set(ran)     # kinds of edges some of which have to run
        self.barred = barred    # edges between load- and store-exclusive
        self.beyond = beyond    # machines that cannot be emulated here


# of one machine: its %s is there
CASES = [
    Case("edges", EDGES, "-O2", *TABLES, cc="g++", barred=4,
         ran=KINDS | {"table", "hub", "hub-in", "unknown"}),
    Case("edges-clang", EDGES, "-O1", cc="clang++",
         ran=KINDS | {"table", "hub", "hub-in", "unknown"}),
    Case("edges-plain", EDGES, "-O0", *TABLES, cc="g++",
         ran=KINDS | {"table", "unknown"}),
    # what is the program here is the unwinder too, which finds other tables
    Case("edges-static", EDGES, "-O2", *TABLES, "-static", cc="g++",
         seen=False, ran=KINDS | {"table", "hub", "unknown"}),
    Case("flow", ["flow.c"], "-O2", ran=["table", "hub"]),
    Case("odd", ["odd.c", "odd-%s.S"], "-O2"),
    Case("calc", ["calc.f90"], "-O2", "-fno-backtrace", cc="gfortran"),
    Case("jump", ["jump.c"], "-O2", lenient=True),
    Case("fault", ["fault.cc"], "-O2", "-fnon-call-exceptions",
         "-fasynchronous-unwind-tables", cc="g++", seen=False, lenient=True,
         ran=["arrival", "unwind"], beyond=["x86_64"]),
    # these print addresses: other digits, other loops
    Case("throw", ["throw.cc"], "-O2", cc="g++", seen=False, ran=["unwind"]),
    Case("cold", ["cold.cc"], "-O2", "-freorder-blocks-and-partition",
         cc="g++", seen=False, ran=["unwind"]),
]


def watched(world, exe, plugins, *args):
    """Runs a program; (status, process)."""
    words = ["qemu-" + world.isa, "-L", world.root or world.original]
    if world.root:
        words += ["-E", "LD_LIBRARY_PATH=%s/lib" % world.root]
    for p, out in plugins:
        words += ["-plugin", "%s/%s.so,out=%s" % (where, p, out)]
    p = subprocess.Popen([*words, exe, *args], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         **ALONE)
    try:
        return p.wait(SECONDS), p.pid
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        return "hangs", p.pid


def judge(case, exe, memory, observed):
    """What judge-counts says: complaints, and {kind: how many ran}."""
    words = [JUDGE, *(["-t"] if case.lenient else []), exe, memory, *observed]
    done = subprocess.run(words, capture_output=True, text=True)
    lines = done.stdout.splitlines() or [done.stderr]
    ran = dict(w.split("=") for w in lines[-1].split()[1:])
    if done.returncode == 0:
        return [], {k: int(v.split("/")[0]) for k, v in ran.items()}
    return lines[-8:], {}


def attempt(case, original, counted):
    isa = original.isa
    cc = compiler(isa, case.cc)
    if not cc:
        return "no %s" % case.cc
    sources = [os.path.normpath(PROGS + s.replace("%s", isa))
               for s in case.sources]
    if not all(map(os.path.exists, sources)):
        return []
    if isa in case.beyond:
        return UNALIGNED
    here = os.path.join(where, isa, case.name)
    os.makedirs(here + "/new")
    exe, copy = here + "/" + case.name, here + "/new/" + case.name
    made(*cc, "-w", *case.flags, "-o", exe,
         *(["-J", here] if case.cc == "gfortran" else []), *sources)
    rewrite("insert", exe, copy)
    want, pid = watched(original, exe, [("qemu-counts", here + "/ran"),
                                        ("qemu-flow", here + "/flow")])
    seen = ["%s/%s.%d" % (here, n, pid) for n in ("ran", "flow")]
    got, pid = watched(counted, copy, [("qemu-memory", here + "/memory")])
    result = [("status", [] if want == got else
               ["%s, want %s" % (got, want)])]
    stem = "%s/memory.%d." % (here, pid)
    if not os.path.exists(stem + case.name):
        result.append((case.name, ["it left no counts"]))
    for memory in sorted(glob.glob(stem + "*")):
        name = memory[len(stem):]
        own = name == case.name
        bad, ran = judge(case, exe if own else original.library(name), memory,
                         seen if own and case.seen else [])
        result.append((name, bad))
        if own and not bad:
            result.append(("every kind ran", sorted(
                k for k in case.ran if not ran[k])))
        if own and not bad and case.barred is not None:
            result.append(("what is between exclusives", [] if
                           ran["barred"] == case.barred else
                           ["%d edges" % ran["barred"]]))
    return result


def worlds_of(isa):
    """Originals and what counts, or None."""
    if not shutil.which("qemu-" + isa) or \
            "-plugin" not in run("qemu-" + isa, "-h") or not tool(isa, "gcc"):
        return None
    return World(isa), World(isa, "insert")


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    where = os.path.realpath(where)
    for p in PLUGINS:
        run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o",
            "%s/%s.so" % (where, p), "tests/lib/%s.c" % p)
    only = [w for w in sys.argv[1:] if w not in ISAS]
    for isa in [w for w in sys.argv[1:] if w in ISAS] or ISAS:
        worlds = worlds_of(isa)
        if not worlds:
            tap.skip(isa, "no qemu-%s with plugins, or no compiler" % isa)
            continue
        jobs = [(c, pool.submit(attempt, c, *worlds)) for c in CASES
                if not only or c.name in only]
        for c, future in jobs:
            tap.job("%s %s" % (isa, c.name), future)
tap.done()
