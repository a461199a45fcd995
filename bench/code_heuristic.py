#!/usr/bin/env python3
"""code_heuristic: how often constants pass for procedures (src/rewrite/survey/code_heuristic.c).

    bench/code_heuristic.py TALLY ISA ROOT [FILES]

The constants (.rodata) of FILES (300) programs and libraries below ROOT become
the code of a library, and a pointer leads to every eighth byte of them. None of
it is code: what is moved all the same is a mistake. Of all pointers in real
files a few hundred lead to constants among code.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from machine import Machine

TALLY = os.path.abspath(sys.argv[1])
MACHINE = Machine(*sys.argv[2:4])
FILES = int(sys.argv[4]) if len(sys.argv) > 4 else 300
PREFIX = "" if MACHINE.native else MACHINE.triplet + "-"
STEP, MOST = 8, 1 << 20  # bytes
LIBRARY = """
        .text
        .balign 64
constants: .incbin "constants", 0, %d
        .balign 64
        .data
        .balign 8
        .set at, 0
        .rept %d
        .quad constants + at
        .set at, at + %d
        .endr
        .section .note.GNU-stack, "", %%progbits
"""


def is_elf(path):
    try:
        return os.path.isfile(path) and not os.path.islink(path) and \
            open(path, "rb").read(4) == b"\x7fELF"
    except OSError:
        return False


def files():
    found = []
    for folder in "usr/bin", "usr/lib/" + MACHINE.triplet:
        for at, _, names in os.walk(os.path.join(MACHINE.root, folder)):
            found += [os.path.join(at, name) for name in sorted(names)]
    found = [path for path in found if is_elf(path)]
    random.Random(1).shuffle(found)
    return found[:FILES]


def constants(path):
    """bytes of the file's that are now in `constants`"""
    made = subprocess.run([PREFIX + "objcopy", "-O", "binary", "-j", ".rodata",
                           path, "constants"], capture_output=True)
    if made.returncode or not os.path.exists("constants"):
        return 0
    return min(os.path.getsize("constants"), MOST) // STEP * STEP


def mistakes(size):
    """bytes that are taken for code"""
    with open("all.S", "w") as f:
        f.write(LIBRARY % (size, size // STEP, STEP))
    subprocess.run([PREFIX + "gcc", "-shared", "-nostdlib", "-o", "all.so",
                    "all.S"], check=True)
    return json.loads(subprocess.run(
        [TALLY, "instrument", "--json", "--placement", "none", "all.so", "-o",
         "out"], capture_output=True, text=True, check=True).stdout)[
             "moved_bytes"]


def main():
    total = wrong = number = 0
    for path in files():
        size = constants(path)
        if not size:
            continue
        number += 1
        total += size
        moved = mistakes(size)
        wrong += moved
        if moved:
            print("%s: %d bytes of %d" % (path, moved, size), flush=True)
    print("%s: constants of %d files, %d pointers to %d bytes: %d bytes are "
          "taken for code" % (MACHINE.isa, number, total // STEP, total,
                              wrong))


with tempfile.TemporaryDirectory() as where:
    os.chdir(where)
    main()
