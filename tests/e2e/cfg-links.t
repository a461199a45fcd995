#!/usr/bin/env python3
"""
cfg-links: the same truths as cfg-compilers for the other ways to link
(static, static-pie, shared, lld, musl), for Fortran and Rust, and for a
procedure of more than a megabyte.
"""
import concurrent.futures
import os
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *

C = ["switch.c", "goto.c", "tail.c", "noret.c", "misc.c"]
PIE, FIXED, PIC = ["-O2", "-fPIE"], ["-O2", "-fno-pie"], ["-O2", "-fPIC"]
SHARED = ["-shared", "-Wl,--allow-shlib-undefined"]
PLAIN = ["-DNO_THROW"]
tap = Tap()
OPEN = ["direct", "twice"]

# name: compiler, sources, flags, linker and its flags, machines
WAYS = {
    "static": ("gcc", C, FIXED + PLAIN, ["gcc", "-static"], ISAS),
    "static-pie": ("gcc", C, PIE + PLAIN, ["gcc", "-static-pie"], ISAS),
    "shared": ("gcc", C + ["throw.cc"], PIC, ["g++"] + SHARED, ISAS),
    "shared clang": ("clang", C + ["throw.cc"], PIC, ["g++"] + SHARED, ISAS),
    "no plt": ("gcc", C + ["throw.cc"], PIE + ["-fno-plt"], ["g++", "-pie"],
               ISAS),
    "branch protection": (
        "gcc", C + ["throw.cc"], PIE + ["PROTECT"], ["g++", "-pie"], ISAS),
    "lld": ("clang", C + ["throw.cc"], PIE, ["clang++", "-pie", "-fuse-ld=lld"],
            ISAS),
    "musl": ("gcc", C, FIXED + PLAIN + ["-DNO_IFUNC"],
             ["musl-gcc", "-static"], (HOST,)),
    "fortran": ("gcc", ["select.f90"], PIC, ["gcc"] + SHARED, ISAS),
    "rust": ("rustc", ["matched.rs"], [], ["gcc"] + SHARED, (HOST,)),
    "big": ("gcc", ["big.S"], [], ["gcc"] + SHARED, ISAS),
}
PROTECT = {"x86_64": "-fcf-protection", "aarch64":
           "-mbranch-protection=standard"}


def missing(isa, way, link):
    """What keeps this from being built, or None."""
    if not tool(isa, "gcc") or not tool(isa, "as"):
        return "no tools for %s" % isa
    if way == "fortran" and not tool(isa, "gfortran"):
        return "no gfortran"
    for word in (["musl-gcc"] if way == "musl" else
                 ["rustc"] if way == "rust" else
                 ["ld.lld"] if way == "lld" else []):
        if not shutil.which(word):
            return "no %s" % word
    name = WAYS[way][0]
    return "no %s" % name if name == "clang" and not compiler(isa, name) \
        else None


def attempt(way, isa):
    name, sources, flags, link, _ = WAYS[way]
    why = missing(isa, way, link)
    if why:
        return why
    flags = [PROTECT[isa] if f == "PROTECT" else f for f in flags]
    stem = os.path.join(where, (way + isa).replace(" ", "-"))
    p = Program(isa, name, ["tests/progs/" + s for s in sources], flags,
                link, stem)
    return check_program(p, Graph(p.bare), unsolved=OPEN)


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    todo = [(w, i) for w in WAYS for i in ISAS]
    jobs = [(w, i, pool.submit(attempt, w, i) if i in WAYS[w][4] else None)
            for w, i in todo]
    for way, isa, future in jobs:
        title = "%s %s" % (isa, way)
        if future:
            tap.job(title, future)
        else:
            tap.skip(title, "only for the machine it runs on")
tap.done()
