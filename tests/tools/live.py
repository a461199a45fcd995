#!/usr/bin/env python3
"""
live: assembles the snippets of tests/progs/live-*.txt and writes them as C to
standard output: tests/unit/cfg/live_cases.h, which is checked in so that the
unit test needs no assembler. Run it again when a snippet changes.
"""
import os
import re
import subprocess
import sys
import tempfile

CODE = 0x10200
TOOLS = {"x86_64": ("x86_64-linux-gnu-", [], "EM_X86_64",
                    "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 "
                    "r14 r15", "nzcvpa"),
         "aarch64": ("aarch64-linux-gnu-", [], "EM_AARCH64",
                     " ".join("x%d" % i for i in range(31)) + " sp", "nzcv")}


def snippets(path):
    """(name, source, [(label, live, dead, is "own reads")]) of each."""
    now = None
    for line in open(path):
        if line.startswith("="):
            if now:
                yield now
            now = (line[1:].strip(), [], [])
        elif line.startswith(("?", "!")):
            label, text = line[1:].strip().split(None, 1)
            plus, _, minus = text.partition("-")
            now[2].append((label, plus.replace("+", "").split(),
                           minus.split(), line[0] == "!"))
        elif now and not line.startswith("#"):
            now[1].append(line)
    yield now


def assemble(isa, text, where):
    """Bytes of a snippet, and its labels' offsets."""
    prefix, flags = TOOLS[isa][:2]
    base = os.path.join(where, "s")
    with open(base + ".s", "w") as f:
        f.write("\t.globl _start\n" + text)
    subprocess.run([prefix + "as", *flags, "-o", base + ".o", base + ".s"],
                   check=True)
    subprocess.run([prefix + "ld", "-Ttext=%#x" % CODE, "-o", base,
                    base + ".o"], check=True)
    subprocess.run([prefix + "objcopy", "-O", "binary", "-j", ".text", base,
                    base + ".bin"], check=True)
    names = subprocess.run([prefix + "nm", base], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    labels = {m.group(2): int(m.group(1), 16) - CODE for m in
              re.finditer(r"^(\w+) \w (\S+)$", names, re.M)}
    with open(base + ".bin", "rb") as f:
        return f.read(), labels


def places(isa, words):
    """Registers and flags as C."""
    regs, flags = TOOLS[isa][3].split(), TOOLS[isa][4]
    r = sum(1 << regs.index(w) for w in words if w in regs)
    f = 0
    for w in words:
        if w == "flags":
            f |= (1 << len(flags)) - 1
        elif w not in regs:
            f |= 1 << flags.index(w)
    return "%#x, %#x" % (r, f)


def main():
    print("/* Made by tests/tools/live.py of tests/progs/live-*.txt. */")
    with tempfile.TemporaryDirectory() as where:
        for isa in TOOLS:
            for name, text, checks in snippets("tests/progs/live-%s.txt" %
                                               isa):
                try:
                    code, labels = assemble(isa, "".join(text), where)
                except subprocess.CalledProcessError:
                    sys.exit("%s: %s" % (isa, name))
                print("{%s, \"%s\", %d," % (TOOLS[isa][2], name, len(code)))
                for i in range(0, len(code), 16):
                    print(" \"%s\"" % "".join("\\x%02x" % b for b in
                                              code[i:i + 16]))
                print(" , {")
                for label, live, dead, own in checks:
                    print("  {\"%s\", %#x, %s, %s, %s}," % (
                        label, labels[label], places(isa, live),
                        places(isa, dead), str(own).lower()))
                print(" }},")


main()
