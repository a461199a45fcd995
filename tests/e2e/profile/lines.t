#!/usr/bin/env python3
"""
profile/lines: names, lines and inlined calls of addresses are those that LLVM
and binutils find, for C++ and Rust, DWARF 4 and 5, both machines; names are
found in a debug file and in .gnu_debugdata, too.

The function that is there itself is not compared where others are inlined into
it: LLVM calls it by its symbol, DWARF by its name.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
WHERE = os.path.join(os.path.dirname(TALLY), "tools/where")
SOURCE = os.path.abspath("tests/progs/lines.cc")
EVERY = 1 # every so many-th instruction


def addresses(isa, file):
    text = run(tool(isa, "objdump"), "-d", "-j", ".text", file)
    return re.findall(r"^ +([0-9a-f]+):", text, re.M)[::EVERY]


def answers(text):
    """{address: [(function, place)...]}"""
    out, at = {}, None
    for line in text.splitlines():
        if line.startswith("0x"):
            at = out.setdefault(int(line, 16), [])
        else:
            at.append(re.sub(r" \(discriminator.*|:\?$", "", line))
    return {a: list(zip(x[::2], x[1::2])) for a, x in out.items()}


def ask(file, at, *words):
    return answers(subprocess.run([*words, file], input="\n".join(at),
                                  stdout=subprocess.PIPE, text=True,
                                  check=True).stdout)


def same_frames(got, want):
    if len(got) != len(want) or [p for _, p in got] != [p for _, p in want]:
        return False
    return [f for f, _ in got][:-1] == [f for f, _ in want][:-1]


def frames(name, isa, file):
    at = addresses(isa, file)
    got = ask(file, at, WHERE)
    want = ask(file, at, "llvm-addr2line", "-aif", "-e")
    told = [a for a in want if not want[a][0][1].startswith("??")]
    # fill between functions belongs to none
    told = [a for a in told if got[a][0][0] != "??"]
    inlined = [a for a in told if len(want[a]) > 1]
    bad = ["%#x: %s, want %s" % (a, got[a], want[a]) for a in told
           if not same_frames(got[a], want[a])]
    tap.ok(not bad and len(told) > 30 and inlined, "%s: lines of %d "
           "addresses, %d of them inlined" % (name, len(told), len(inlined)),
           bad[:4] or ["too few"])


def names(name, isa, file, symbols):
    """Every function of the symbol table is called as nm -C does."""
    want, last = {}, 0
    for line in run(tool(isa, "nm"), "-nC", "--defined-only",
                    symbols).splitlines():
        address, kind, word = line.split(" ", 2)
        if kind in "tTwWi" and not word.startswith("$"):
            want.setdefault(int(address, 16), set()).add(
                word.split("@")[0])
            last = int(address, 16) if kind in "tT" else last
    want = {a: n for a, n in want.items() if a <= last}
    at = ["%x" % a for a in want]
    out = subprocess.run([WHERE, "-s", file], input="\n".join(at), text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    lines = out.splitlines()
    got = dict(zip((int(x, 16) for x in lines[::2]), lines[1::2]))
    bad = ["%#x: %s, want one of %s" % (a, got.get(a), want[a]) for a in want
           if got.get(a, "").split("@")[0] not in want[a]]
    tap.ok(not bad and len(want) > 10, "%s: %d names" % (name, len(want)),
           bad[:4] or ["too few"])


def build(isa, which, name, *flags):
    file = os.path.join(where, name)
    run(*compiler(isa, which), "-w", *flags, "-o", file, SOURCE)
    return file


def debug_file(isa, file, name):
    """Without debug information and symbols, which another file has."""
    bare = os.path.join(where, name)
    more = os.path.join(where, ".debug", name + ".debug")
    os.makedirs(os.path.dirname(more), exist_ok=True)
    run(tool(isa, "objcopy"), "--only-keep-debug", file, more)
    run(tool(isa, "objcopy"), "-S", "--add-gnu-debuglink=" + more, file, bare)
    return bare


def mini_debug_file(isa, file, name):
    """With symbols, compressed, in .gnu_debugdata alone."""
    bare, mini = (os.path.join(where, name + x) for x in ("", ".mini"))
    # a debug file keeps no code: what is left of it are its symbols
    run(tool(isa, "objcopy"), "--only-keep-debug", "--strip-debug", file, mini)
    run("xz", "-kf", mini)
    run(tool(isa, "objcopy"), "-S", "--add-section",
        ".gnu_debugdata=%s.xz" % mini, file, bare)
    return bare


with tempfile.TemporaryDirectory() as where:
    for isa in ("x86_64", "aarch64"):
        for which in ("g++", "clang++"):
            for dwarf, level in (("4", "-O2"), ("5", "-O0"), ("5", "-O2")):
                name = "%s-%s-dwarf%s%s" % (isa, which, dwarf, level)
                file = build(isa, which, name, "-g", "-gdwarf-" + dwarf,
                             level)
                frames(name, isa, file)
        names(name, isa, file, file)
        bare = debug_file(isa, file, "bare-" + isa)
        names("a debug file, " + isa, isa, bare, file)
        frames("a debug file, " + isa, isa, bare)
        mini = mini_debug_file(isa, file, "mini-" + isa)
        names(".gnu_debugdata, " + isa, isa, mini, file)
    rust = os.path.join(where, "rust")
    run("rustc", "-g", "-O", "-o", rust, "tests/lib/unwind-sample.rs")
    EVERY = 11
    frames("rust", HOST, rust)
    names("rust", HOST, rust, rust)
tap.done()
