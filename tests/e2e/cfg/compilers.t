#!/usr/bin/env python3
"""
cfg/compilers: the programs of tests/progs by every compiler there is, at
every level, for both machines, stripped; the graphs against the truth of
cfg_oracle.py.
"""
import concurrent.futures
import os
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *

C = ["switch.c", "goto.c", "tail.c", "noret.c", "misc.c", "throw.cc"]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
tap = Tap()
# a jump into an instruction: objdump sees only one of its two readings
LOOSE = ["multi_lock"]
# no jump of these has a table that can be known; the second switch of `twice`
# is dead at -O1
OPEN = ["direct", "twice"]


def jobs():
    for isa in ISAS:
        for name in ("gcc", "clang"):
            for i, level in enumerate(LEVELS):
                yield isa, name, level, "-pie" if i % 2 else "-no-pie"


def attempt(job):
    """Everything about one program: [(what, complaints)], or a reason."""
    isa, name, level, link = job
    if not compiler(isa, name) or not tool(isa, "g++"):
        return "no %s for %s" % (name, isa)
    flags = [level, "-fPIE" if link == "-pie" else "-fno-pie",
             "-DWITH_ASM"]
    asm = ["multi-%s.S" % isa]
    sources = ["tests/progs/" + s for s in C + asm]
    stem = os.path.join(where, "-".join(job))
    p = Program(isa, name, sources, flags, ["g++", link], stem)
    g = Graph(p.bare)
    full = Graph(p.path)
    return check_program(p, g, LOOSE, OPEN) + [
        ("names", check_names(p, full)),
        ("the isa", [] if g.json["isa"] == NAMES[isa] else [g.json["isa"]]),
    ]


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    todo = list(jobs())
    for job, future in [(j, pool.submit(attempt, j)) for j in todo]:
        tap.job(" ".join(job), future)
tap.done()
