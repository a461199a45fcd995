#!/usr/bin/env python3
"""
count/kept: programs whose data has tables of return addresses (OCaml's do):
calls leave addresses that the tables know, handlers see such, and counts are
exact. Programs of which no code can be moved are rows whose counts are unknown,
and why.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
KINDS = ["-O1", "-O2 -no-pie", "-O2 -static"]


def counts(words, where, isa, *options):
    """(status, output), {address: count} of the program's own image"""
    profile = os.path.join(where, "counts.tally")
    env = dict(os.environ, QEMU_LD_PREFIX="/usr/%s-linux-gnu" % isa
               if isa != HOST else "")
    p = subprocess.run([TALLY, "count", "--quiet", "-o", profile, *options,
                        "--", *words], capture_output=True, text=True, env=env,
                       timeout=600)
    t = subprocess.run([TALLY, "export", "--format", "tsv", profile],
                       capture_output=True, text=True)
    own = os.path.basename(words[0])
    lines = (line.split("\t") for line in t.stdout.splitlines())
    return (p.returncode, p.stdout), {a: int(n) for image, a, n in lines
                                      if image == own}


def of_procedures(exe, isa, counted, names):
    """the counts of these procedures alone: what the C library does may
    depend on where things are"""
    table = Names(isa, main=exe)
    at = {a: str(table.at("main", int(a, 16))) for a in counted}
    # how deep it gets until the stack is full depends on the environment
    return {a: n for a, n in counted.items()
            if at[a].startswith(names) and "endless" not in at[a]}


def try_frames(where, isa, flags):
    """a table of our own: tests/progs/count/frames.c"""
    exe = os.path.join(where, "frames")
    run(*compiler(isa, "gcc"), *flags.split(), "-fno-toplevel-reorder",
        *(["-mstackrealign"] if isa == "x86_64" else []), "-o", exe,
        "tests/progs/count/frames.c")
    for args in ([], ["skip"]):
        name = "%s %s %s: " % (isa, flags, " ".join(args))
        want = World(isa).run(exe, *args)
        got, edges = counts([exe, *args], where, isa)
        _, every = counts([exe, *args], where, isa, "--placement", "redundant")
        tap.ok(want[0] == 0 and "1000 known" in want[1] and got == want,
               name + "the same", [str(want), str(got)])
        names = ("calls", "called", "traps", "in_table", "handler", "quiet",
                 "main")
        edges, every = (of_procedures(exe, isa, x, names)
                        for x in (edges, every))
        tap.ok(len(edges) > 200 and edges == every, name + "counts", sorted(
            set(edges.items()) ^ set(every.items()))[:20])


def try_pinned(where, isa):
    """nothing of the program is measured, all of its libraries is"""
    exe, source = (os.path.join(where, n) for n in ("pinned", "pinned.c"))
    profile = exe + ".tally"
    with open(source, "w") as f:
        f.write("#include <stdio.h>\nint called(void); int main(void)\n"
                "{ puts(\"ran\"); return called() - 7; }\n")
    run(*compiler(isa, "gcc"), "-DINFOS", "-o", exe, source,
        "tests/progs/pinned.S")
    env = dict(os.environ, QEMU_LD_PREFIX="/usr/%s-linux-gnu" % isa
               if isa != HOST else "")
    p = subprocess.run([TALLY, "count", "-o", profile, exe], text=True,
                       capture_output=True, env=env)
    t = subprocess.run([TALLY, "report", "--by", "image", "--json", profile],
                       capture_output=True, text=True)
    rows = {r["image"]: r for r in json.loads(t.stdout)}
    own, libc = rows.get("pinned", {}), rows.get("libc.so.6", {})
    tap.ok((p.returncode, p.stdout) == (0, "ran\n") and
           "nothing of pinned is measured: Haskell" in p.stderr and
           "at least" in p.stderr, "%s: count says what is not measured" % isa,
           p.stderr.splitlines())
    tap.ok(own.get("instructions", 0) is None and
           own["unknown"].startswith("Haskell") and not own["complete"] and
           libc.get("instructions", 0) > 100,
           "%s: what is not measured is a row, and unknown" % isa,
           [str(own), str(libc)])


def try_ocaml(where):
    """a real one"""
    exe = os.path.join(where, "ocaml")
    source = os.path.join(where, "frames.ml")
    with open("tests/progs/count/frames.ml") as f, open(source, "w") as to:
        to.write(f.read())
    run("ocamlopt", "-g", "-inline", "0", "-o", exe, source, cwd=where)
    want = World(HOST).run(exe)
    got, edges = counts([exe], where, HOST)
    _, every = counts([exe], where, HOST, "--placement", "redundant")
    tap.ok(want[0] == 0 and "overflow" in want[1] and got == want,
           "OCaml: the same", [str(want), str(got)])
    # of the program itself: what the collector does depends on addresses
    edges, every = (of_procedures(exe, HOST, x, ("camlFrames",
                                                 "camlStdlib__List",
                                                 "camlStdlib__Hashtbl"))
                    for x in (edges, every))
    tap.ok(len(edges) > 500 and edges == every, "OCaml: counts", sorted(
        set(edges.items()) ^ set(every.items()))[:20])


with tempfile.TemporaryDirectory() as where:
    os.environ["XDG_CACHE_HOME"] = os.path.join(where, "cache")
    for isa in each_machine(tap):
        for flags in KINDS:
            try_frames(where, isa, flags)
        try_pinned(where, isa)
    if not EMULATED:
        try_ocaml(where)
tap.done()
