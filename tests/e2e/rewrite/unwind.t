#!/usr/bin/env python3
"""
rewrite/unwind: tables for code that moved, as other readers see them, for
programs of every compiler that is there and for libraries of this system.
What is compared is in tests/lib/unwind_oracle.py.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import ISAS, Tap, compiler, tool
from rest import with_rest
from unwind_oracle import *

TOOL = os.path.join(os.environ.get("BUILD", "build"), "tools/move-unwind")
SAMPLES = ["tests/lib/elf-sample.cc", "tests/lib/unwind-sample.cc"]
tap = Tap()


def ways():
    """Each a name and the words that compile SOURCE to OUT."""
    for isa in ISAS:
        flags = ["-O2 -fPIE -pie", "-O0 -fno-pie -no-pie", "-Os -fPIE -pie"]
        flags += ["-O2 -mno-red-zone"] if isa == "x86_64" else \
            ["-O2 -mbranch-protection=pac-ret+leaf+b-key"]
        for name in ("g++", "clang++"):
            for f in flags:
                if name == "clang++" and ("b-key" in f or isa != ISAS[0]):
                    continue
                yield isa, name, f


def sp_of(path):
    """The stack pointer's number: x86-64 or AArch64."""
    return 7 if open(path, "rb").read(19)[18] == 62 else 31


def runner(path):
    """The words before a program of either machine, or None."""
    isa = "x86_64" if sp_of(path) == 7 else "aarch64"
    if isa == os.uname().machine:
        return []
    qemu = shutil.which("qemu-" + isa)
    return [qemu, "-L", "/usr/%s-linux-gnu" % isa] if qemu else None


def runs(title, path):
    """Throws and catches with new tables of code that is where it was."""
    out = os.path.join(where, "same")
    run(TOOL, "same", path, out)
    os.chmod(out, 0o755)
    before = runner(path)
    if before is None:
        tap.skip(title + ": runs", "no qemu")
        return
    want, got = (subprocess.run(before + [p], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL)
                 for p in (path, out))
    tap.ok(want.returncode == got.returncode == 0 and
           want.stdout == got.stdout, title + ": runs with new tables",
           [str(got)])


def attempt(title, path, seed):
    out = os.path.join(where, "moved")
    moves = Moves(run(TOOL, "write", str(seed), path, out))
    old, new = Table(path), Table(out)
    wrong, points = compare_rows(old, new, moves, sp_of(path))
    tap.none(wrong, "%s: rows (%d)" % (title, points))
    wrong, sites = compare_sites(path, out, old, new, moves)
    tap.none(wrong, "%s: call sites (%d)" % (title, sites))
    tap.none([] if moves.moved else ["nothing moved"],
             "%s: code moved (%d)" % (title, len(moves.moved)))


def build(isa, name, flags, source, out):
    words = compiler(isa, name) if name == "clang++" else [tool(isa, name)]
    if not words or not words[0]:
        return False
    p = subprocess.run(words + flags.split() + ["-std=c++14", "-w", "-o", out,
                                                source],
                       stderr=subprocess.DEVNULL)
    return p.returncode == 0


with tempfile.TemporaryDirectory() as where:
    program = os.path.join(where, "program")
    for seed, (isa, name, flags) in enumerate(ways()):
        for source in SAMPLES:
            title = "%s %s %s %s" % (isa, name, flags,
                                     os.path.basename(source))
            if build(isa, name, flags, source, program):
                attempt(title, program, seed)
                runs(title, program)
            else:
                tap.skip(title, "does not build here")
    rustc = shutil.which("rustc")
    if rustc and subprocess.run([rustc, "-O", "--edition", "2021", "-o",
                                 program, "tests/lib/unwind-sample.rs"],
                                stderr=subprocess.DEVNULL).returncode == 0:
        attempt("rustc", program, 1)
        runs("rustc", program)
    else:
        tap.skip("rustc", "does not build here")
    for pattern in with_rest(["/usr/lib/*/libstdc++.so.6",
                              "/usr/*/lib/libstdc++.so.6"],
                             ["/usr/lib/*/libcrypto.so.3"]):
        for path in sorted(glob.glob(pattern)):
            attempt(path, path, 7)
tap.done()
