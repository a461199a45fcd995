#!/usr/bin/env python3
"""
cfg/links: the same truths as cfg/compilers for the other ways to link
(static, static-pie, shared, lld, musl), for programs without unwind tables, for
Fortran and Rust, and for a procedure of more than a megabyte.
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
BARE = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
tap = Tap()
OPEN = ["direct", "twice"]

# name: compiler, sources, flags, linker and its flags
WAYS = {
    "static": ("gcc", C, FIXED + PLAIN, ["gcc", "-static"]),
    "static-pie": ("gcc", C, PIE + PLAIN, ["gcc", "-static-pie"]),
    "shared": ("gcc", C + ["throw.cc"], PIC, ["g++"] + SHARED),
    "shared clang": ("clang", C + ["throw.cc"], PIC, ["g++"] + SHARED),
    "no plt": ("gcc", C + ["throw.cc"], PIE + ["-fno-plt"], ["g++", "-pie"]),
    "branch protection": (
        "gcc", C + ["throw.cc"], PIE + ["PROTECT"], ["g++", "-pie"]),
    "lld": ("clang", C + ["throw.cc"], PIE,
            ["clang++", "-pie", "-fuse-ld=lld"]),
    "musl": ("gcc", C, FIXED + PLAIN + ["-DNO_IFUNC"],
             ["musl-gcc", "-static"]),
    "no unwind tables": ("gcc", C, PIE + PLAIN + BARE, ["gcc", "-pie"]),
    "no unwind tables, clang": (
        "clang", C, FIXED + PLAIN + BARE, ["gcc", "-no-pie"]),
    "fortran": ("gcc", ["select.f90"], PIC, ["gcc"] + SHARED),
    "rust": ("rustc", ["matched.rs"], [], ["gcc"] + SHARED),
    "big": ("gcc", ["big.S"], [], ["gcc"] + SHARED),
}
PROTECT = {"x86_64": "-fcf-protection", "aarch64":
           "-mbranch-protection=standard"}


def missing(isa, way):
    """What keeps this from being built, or None."""
    name, _, _, link = WAYS[way]
    for word in [name, link[0]] + ["gfortran"] * (way == "fortran"):
        if not compiler(isa, word):
            return "no %s for %s" % (word, isa)
    if "-fuse-ld=lld" in link and not shutil.which("ld.lld"):
        return "no ld.lld"
    return None if tool(isa, "as") else "no tools for %s" % isa


def attempt(way, isa):
    name, sources, flags, link = WAYS[way]
    why = missing(isa, way)
    if why:
        return why
    flags = [PROTECT[isa] if f == "PROTECT" else f for f in flags]
    stem = os.path.join(where, (way + isa).replace(" ", "-"))
    p = Program(isa, name, ["tests/progs/" + s for s in sources], flags,
                link, stem)
    # what vouches for the code: unwind tables, or else symbols
    path = p.path if BARE[0] in flags else p.bare
    return check_program(p, Graph(path), unsolved=OPEN)


with tempfile.TemporaryDirectory() as where, \
        concurrent.futures.ThreadPoolExecutor(2) as pool:
    jobs = [(w, i, pool.submit(attempt, w, i)) for w in WAYS for i in ISAS]
    for way, isa, future in jobs:
        title = "%s %s" % (isa, way)
        tap.job(title, future)
tap.done()
