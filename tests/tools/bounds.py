#!/usr/bin/env python3
"""
bounds: assembles the snippets of tests/progs/bounds-*.txt and writes them as
C to standard output: tests/unit/cfg/bounds_cases.h, which is checked in so
that the unit test needs no assembler. Run it again when a snippet changes.
"""
import os
import re
import subprocess
import sys
import tempfile

CODE, TABLE, ENTRIES = 0x10200, 0x10600, 16
TOOLS = {"x86_64": ("x86_64-linux-gnu-", [], "EM_X86_64",
                    "T%d:\tmov $%d, %%al\n\tret\n"),
         "aarch64": ("aarch64-linux-gnu-", ["-march=armv8.5-a+sve+memtag"],
                     "EM_AARCH64", "T%d:\tmov w0, #%d\n\tret\n")}


def snippets(path):
    """(name, sign and number, text) of each."""
    now, each = None, None
    for line in open(path):
        line = line.rstrip("\n")
        if line.startswith("|"):
            each += 1
            word = re.sub(r"\W+", "_", line[1:]).strip("_")
            yield "%s_%s" % (now[0], word), now[1], \
                now[2].replace("EACH", line[1:].strip())
        elif re.match(r"[=!~#]|$", line):
            if now and each == 0 and "EACH" not in now[2]:
                yield now
            now, each = None, 0
            m = re.match(r"([=!~]) (?:EACH )?(\w+) ?(\d*)", line)
            if m:
                now = (m.group(2), m.group(1) + (m.group(3) or "16"), "")
        elif now:
            now = (now[0], now[1], now[2] + line + "\n")
    if now and each == 0:
        yield now


def assemble(isa, text, where):
    """Bytes of a snippet with its 16 targets behind it."""
    prefix, flags, _, target = TOOLS[isa]
    text = "T = %#x\n\t.globl _start\n_start:\n%sout:\n\tret\n" % (
        TABLE, re.sub(r"BASE (\w+)", r"movz \1, #%d, lsl #16\n\tmovk \1, "
                      "#%d" % (TABLE >> 16, TABLE & 0xffff), text))
    text += "".join(target % (i, i) for i in range(ENTRIES))
    base = os.path.join(where, "s")
    with open(base + ".s", "w") as f:
        f.write(text)
    subprocess.run([prefix + "as", *flags, "-o", base + ".o", base + ".s"],
                   check=True)
    subprocess.run([prefix + "ld", "-Ttext=%#x" % CODE, "-o", base,
                    base + ".o"], check=True)
    subprocess.run([prefix + "objcopy", "-O", "binary", "-j", ".text", base,
                    base + ".bin"], check=True)
    with open(base + ".bin", "rb") as f:
        return f.read()


def main():
    print("/* Made by tests/tools/bounds.py of tests/progs/bounds-*.txt. */")
    with tempfile.TemporaryDirectory() as where:
        for isa in TOOLS:
            for name, n, text in snippets("tests/progs/bounds-%s.txt" % isa):
                try:
                    code = assemble(isa, text, where)
                except subprocess.CalledProcessError:
                    sys.exit("%s: %s" % (isa, name))
                print("{%s, \"%s\", '%s', %s, %d," % (
                    TOOLS[isa][2], name, n[0], n[1:], len(code)))
                for i in range(0, len(code), 16):
                    print(" \"%s\"" % "".join("\\x%02x" % b for b in
                                              code[i:i + 16]))
                print("},")


main()
