#!/usr/bin/env python3
"""
isa/effects: what decode() says of memory and floating point (doc/events.md),
by tools that nobody here wrote.

qemu runs single instructions of many encodings, and says how many bytes each
reads and writes (tests/lib/qemu-accesses.c): all of the group of loads and
stores of AArch64 by chance, and all opcodes of x86-64 without AVX-512, with a
memory operand. The program around them is compared, too.

An AArch64 processor runs every word of the group of floating point and SIMD,
and says which raise exceptions (a64-exceptions.c).
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from encodings_run import *

tap = Tap()
HERE = os.path.dirname(os.path.abspath(__file__))
def agrees(e, seen):
    """seen: the least and the most bytes read, the same of those written."""
    for said, least, most in ((e.read, *seen[:2]), (e.written, *seen[2:])):
        if said >= 0 and (least != said or most != said):
            return False
    return True


def compare(isa, accesses, interrupted):
    """Complaints; how many instructions were compared."""
    seen = {}
    for line in open(accesses):
        words = line.split()
        seen[words[0]] = list(map(int, words[1:]))
    said = effects(isa, seen)
    complaints, n = [], 0
    for h, e in said.items():
        # a store-exclusive alone fails, and in pairs qemu reads first
        if h not in seen or h in interrupted or e.mem_class == EXCL_STORE or \
                e.kind in (UNKNOWN, TRAP, SYSCALL) or is_wrong(isa, h):
            continue
        n += 1
        if not agrees(e, seen[h]):
            complaints.append("%s: %d and %d, in qemu %s" %
                              (h, e.read, e.written, seen[h]))
    return complaints, n


def check_memory(isa, folder):
    emulator, cc = "qemu-" + isa, compiler(isa, "gcc")
    title = NAMES[isa] + ": memory"
    if not cc or not shutil.which(emulator) or \
            "-plugin" not in run(emulator, "-h"):
        tap.skip(title, "no %s with plugins, or no compiler" % emulator)
        return
    program, plugin, out = (os.path.join(folder, isa + x)
                            for x in (".run", ".so", ".out"))
    run(*cc, "-O1", "-static", "-o", program, HERE + "/slots-run.c")
    run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", plugin,
        "tests/lib/qemu-accesses.c")
    lines = encodings(isa)
    interrupted = run(emulator, "-cpu", "max", "-plugin",
                      "%s,out=%s" % (plugin, out), program,
                      input="".join(x + "\n" for x in lines))
    complaints, n = compare(isa, out, set(interrupted.split()))
    tap.none(complaints, title)
    tap.ok(n > 8000, title + ": of many instructions", ["of %d" % n])


# fp that raises nothing: a sign is changed, products of bfloat16, a comparison
# that is left out, conversions that are always exact
SILENT = [
    (0xfffffc00, 0x1e20c000), (0xfffffc00, 0x1e60c000),
    (0xfffffc00, 0x1ee0c000), (0xfffffc00, 0x1e214000),
    (0xfffffc00, 0x1e614000), (0xfffffc00, 0x1ee14000),     # fabs, fneg
    (0x9fbffc00, 0x0ea0f800), (0x9ffffc00, 0x0ef8f800),     # of vectors
    (0xff200c00, 0x1e200400),                               # fccmp
    (0xffe0fc00, 0x2e40fc00), (0xffe0fc00, 0x6e40fc00),     # bfdot
    (0xffe0fc00, 0x6e40ec00), (0xbfc0f400, 0x0f40f000),     # bfmmla
    (0xfffefc00, 0x1e620000), (0xfffe0000, 0x1e420000),     # [su]cvtf d, w
]


def check_float(folder):
    title = "aarch64: floating point"
    if MACHINE != "aarch64":
        tap.skip(title, "no AArch64 processor")
        return
    program = os.path.join(folder, "exceptions")
    run(*compiler(MACHINE, "gcc"), "-O1", "-static", "-o", program,
        HERE + "/a64-exceptions.c")
    raised = dict(x.split() for x in run(program).splitlines())
    loud, silent = [], []
    for h, e in effects(MACHINE, raised).items():
        w = int.from_bytes(bytes.fromhex(h), "little")
        if raised[h] == "1" and not e.fp:
            loud.append(h)
        if raised[h] == "0" and e.fp and \
                not any(w & mask == value for mask, value in SILENT):
            silent.append(h)
    tap.none(loud, title + ": whatever raises an exception computes")
    tap.none(silent, title + ": whatever computes raises one")
    tap.ok(len(raised) > 20000, title + ": of many instructions")


with tempfile.TemporaryDirectory() as folder:
    for isa in ISAS:
        check_memory(isa, folder)
    check_float(folder)
tap.done()
