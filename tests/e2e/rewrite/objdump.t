#!/usr/bin/env python3
"""
rewrite/objdump: moved code as binutils' disassembler reads it. Every old
instruction has to stand in its new place and to refer to the same thing
(tests/lib/moved_a64.py, moved_x64.py), and what is left in the old place leads
there.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *
import moved_a64
import moved_x64

tap = Tap()
PIC, PLAIN = ["-O2", "-fPIE", "-pie"], ["-O2", "-fno-pie", "-no-pie"]
SWITCHES = ["../%s.c" % s for s in ("switch", "goto", "tail", "noret", "misc")]
# name, sources, flags, share of the code that moves at least
PROGRAMS = {
    "aarch64": [("pool", ["pool.c", "pool-aarch64.S"], ["-O2"], 0.4)],
    "x86_64": [
        ("odd", ["odd.c", "odd-x86_64.S"], PIC, 0.9),
        ("odd-plain", ["odd.c", "odd-x86_64.S"], PLAIN, 0.9),
        ("labels", ["labels.c"], PIC, 0.9),
        ("switches", SWITCHES, PIC + ["-fcf-protection", "-DNO_THROW"], 0.9),
        ("switches-plain", SWITCHES, PLAIN + ["-DNO_THROW"], 0.9),
    ],
}
LIBRARIES = {
    "aarch64": ["libgcc_s.so.1", "libatomic.so.1", "libm.so.6", "libc.so.6"],
    "x86_64": ["libgcc_s.so.1", "libm.so.6", "libstdc++.so.6", "libc.so.6"],
}
# of the machine at hand, where they are installed
INSTALLED = {"aarch64": [], "x86_64": ["bzip2", "mawk"]}
# these with counters as well
COUNTED = ["pool", "odd", "switches", "libgcc_s.so.1", "mawk"]


def check_a64(what, path, new, least, counts):
    p = moved_a64.Pair(path, new, counts)
    own = [a for a, (_, text) in p.old.insn.items()
           if text[0] != "." and not any(a in r for r in p.stubs)]
    share = len(p.moved) / len(own)
    tap.ok(share > least, "%s: %d instructions, %.1f%% moved" %
           (what, len(own), 100 * share))
    wrong, t = p.complaints(), p.tables
    tap.none(wrong, "%s: they are what they were, %d of %d tables copied, "
             "the places of %d seen" % (what, len(t.copied), len(t.dispatch),
                                        t.seen))
    tap.none(p.wrong_slots(), "%s: %d slots lead there" %
             (what, len(p.moved)))


def check_x64(what, path, new, least, counts):
    p = moved_x64.Pair(path, new, counts)
    all_code = len(p.moved) + len(p.staying)
    share = len(p.moved) / all_code
    tap.ok(share > least, "%s: %d instructions, %.1f%% moved" %
           (what, all_code, 100 * share))
    wrong, t = p.complaints(), p.tables
    tap.none(wrong + t.wrong_labels(), "%s: they are what they were, %d of "
             "%d tables copied, the places of %d seen, %d labels changed" %
             (what, len(t.copied), len(t.dispatch), t.seen, len(t.labels)))
    tap.none(p.pads.changed() + p.pads.missing(),
             "%s: %d pads, and nothing else changed" % (what, len(p.pads.at)))


def attempt(isa, what, path, least):
    new = os.path.join(where, "moved-" + os.path.basename(path))
    check = {"aarch64": check_a64, "x86_64": check_x64}[isa]
    rewrite("moved", path, new)
    check("%s %s" % (NAMES[isa], what), path, new, least, False)
    if what in COUNTED:
        run(TALLY, "instrument", "--placement", "edges", path, "-o", new)
        check("%s %s, counted" % (NAMES[isa], what), path, new, least, True)
    os.unlink(new)


def attempt_all(isa):
    for name, sources, flags, least in PROGRAMS[isa]:
        exe = os.path.join(where, name)
        run(*compiler(isa, "gcc"), *flags, "-w", "-o", exe,
            *[PROGS + s for s in sources])
        attempt(isa, name, exe, least)
    found = [(lib, World(isa).library(lib)) for lib in LIBRARIES[isa]]
    if isa == MACHINE:
        found += [(name, shutil.which(name)) for name in INSTALLED[isa]]
    for name, path in found:
        if path:
            attempt(isa, name, os.path.realpath(path), 0.9)


with tempfile.TemporaryDirectory() as where:
    for isa in ISAS:
        if tool(isa, "gcc"):
            attempt_all(isa)
        else:
            tap.skip(NAMES[isa], "no tools for it")
tap.done()
