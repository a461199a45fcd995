#!/usr/bin/env python3
"""
cfg/hostile: broken, damaged and malicious files through `tally cfg`: the
answer is a graph or status 3 with a message that names the file, never a
signal, in little time and memory. Then mutants by the hundred in one process:
CFG_MUTANTS of each of the ten samples (`make asan` sets 2000: 20,000 in all).
"""
import math
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from patience import PATIENCE

tap = Tap()
MUTANTS = os.environ.get("CFG_MUTANTS", "40")
MUTATE = os.path.join(os.environ.get("BUILD", "build"), "tools/mutate-cfg")
SANITIZED = b"__asan_init" in open(TALLY, "rb").read()
SMALL = ["-Wl,-z,max-page-size=4096", "-Wl,-z,noseparate-code", "-nostdlib",
         "-Wl,--unresolved-symbols=ignore-all"]
KILOBYTES = 400000


def seconds():
    """CPU time that a small file may take: much more than the C library, which
    is large, takes on this machine."""
    libc = run("gcc", "-print-file-name=libc.so.6").strip()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(TALLY, "cfg", "--json", libc)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return math.ceil(200 * (after.ru_utime - before.ru_utime))


SECONDS = seconds()


def samples(where):
    """Small files of both machines, with and without symbols."""
    for isa in ISAS:
        for name in ("g++", "clang++"):
            cxx = compiler(isa, name)
            ld = ["-fuse-ld=lld"] if name == "clang++" and isa != HOST else []
            if not cxx:
                continue
            for kind, flags in (("so", ["-O2", "-fPIC", "-shared"]),
                                ("exe", ["-O2", "-fno-pie", "-no-pie"]),
                                ("bare", ["-O1", "-fPIC", "-shared", "-s"])):
                if (name, kind) == ("clang++", "bare"):
                    continue
                out = os.path.join(where, "%s-%s-%s" % (isa, name, kind))
                try:
                    run(*cxx, *flags, *SMALL, *ld, "-w", "-o", out,
                        "tests/progs/hostile.cc")
                    yield out
                except Failed as e:
                    tap.skip(os.path.basename(out),
                             "does not build: %s" % str(e).split("\n")[0])


def limited(*words):
    """Runs under limits; (status, output, messages)."""
    limit = "ulimit -t %d; " % SECONDS
    if not SANITIZED:
        limit += "ulimit -v %d; " % KILOBYTES
    p = subprocess.run(["sh", "-c", limit + 'exec timeout %d "$@"' % PATIENCE,
                        "sh", *words], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, errors="replace")
    return p.returncode, p.stdout, p.stderr


def answer(path, data):
    """What is wrong with the answer to these bytes, or None."""
    with open(path, "wb") as f:
        f.write(data)
    status, out, err = limited(TALLY, "cfg", "--json", path)
    if status == 0:
        try:
            json.loads(out)
        except ValueError as e:
            return "no JSON: %s" % e
        return None
    if status != 3:
        return "status %d: %s" % (status, err[-300:])
    if out or not err.startswith("tally: " + path) or err.count("\n") != 1:
        return "message: %s" % err
    return None


def message(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return limited(TALLY, "cfg", path)


def put(data, offset, form, *values):
    """A copy with some fields replaced."""
    b = bytearray(data)
    struct.pack_into("<" + form, b, offset, *values)
    return bytes(b)


def headers(data):
    """(e_phoff, e_phnum, e_shoff, e_shnum)."""
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, _, shnum = struct.unpack_from("<HHH", data, 56)
    return phoff, phnum, shoff, shnum


def hostile(data):
    """(what, bytes) of files that somebody meant harm with."""
    phoff, phnum, shoff, shnum = headers(data)
    big = 2 ** 64 - 1
    yield "32-bit class", put(data, 4, "B", 1)
    yield "big-endian", put(data, 5, "B", 2)
    yield "another machine", put(data, 18, "H", 8)
    yield "a relocatable file", put(data, 16, "H", 1)
    yield "a core file", put(data, 16, "H", 4)
    yield "program headers far away", put(data, 32, "Q", 2 ** 40)
    yield "program headers at the end of the world", put(data, 32, "Q", big)
    yield "65535 program headers", put(data, 56, "H", 65535)
    yield "65535 sections", put(data, 60, "H", 65535)
    yield "no section headers", put(put(data, 40, "Q", 0), 58, "HHH", 0, 0, 0)
    yield "section headers at the end", put(data, 40, "Q", len(data) - 8)
    yield "section names in section 65535", put(data, 62, "H", 65535)
    yield "program headers of 1 byte", put(data, 54, "H", 1)
    for i in range(phnum):
        at = phoff + 56 * i
        yield "segment %d: huge in memory" % i, put(data, at + 40, "Q",
                                                    2 ** 62)
        yield "segment %d: huge in the file" % i, put(data, at + 32, "QQ",
                                                      2 ** 62, 2 ** 62)
        yield "segment %d: wraps" % i, put(data, at + 16, "Q", big - 64)
        yield "segment %d: executable" % i, put(data, at + 4, "I", 7)
        yield "segment %d: offset outside" % i, put(data, at + 8, "Q",
                                                    2 ** 50)
    for i in range(shnum):
        at = shoff + 64 * i
        yield "section %d: huge" % i, put(data, at + 32, "Q", 2 ** 62)
        yield "section %d: executable" % i, put(
            data, at + 8, "Q", struct.unpack_from("<Q", data, at + 8)[0] | 6)
        yield "section %d: link to itself" % i, put(data, at + 40, "I", i)
        yield "section %d: moved" % i, put(data, at + 16, "Q", big - 8)


def try_sample(where, path):
    name = os.path.basename(path)
    data = open(path, "rb").read()
    victim = os.path.join(where, "victim")
    bad = []
    for n in sorted({0, 1, 4, 15, 16, 52, 63, 64, 65, 120} |
                    set(range(0, len(data), len(data) // 24))):
        why = answer(victim, data[:n])
        if why:
            bad.append("%d bytes: %s" % (n, why))
    tap.none(bad, "%s: truncated" % name)
    bad = []
    for what, mutant in hostile(data):
        why = answer(victim, mutant)
        if why:
            bad.append("%s: %s" % (what, why))
    tap.none(bad, "%s: hostile headers" % name)
    phoff, phnum, shoff, shnum = headers(data)
    for what, mutant in (
            ("cut program headers", data[:phoff + 20]),
            ("segment outside the file", put(data, phoff + 8, "Q", 2 ** 50)),
            ("overlapping segments", put(data, phoff + 40, "Q", 2 ** 40))):
        status, out, err = message(victim, mutant)
        tap.ok(status in (0, 3) and (status == 0 or re.search(
            r"victim: .*offset 0x[0-9a-f]+", err)),
            "%s: %s: the message says where" % (name, what),
            ["status %d" % status, err])


def try_stress(where):
    """Code made to cost time: tables of tables, a ladder of branches."""
    for isa in ISAS:
        if not tool(isa, "gcc"):
            tap.skip("stress %s" % isa, "no compiler")
            continue
        for what, text in stress(isa):
            base = os.path.join(where, "stress")
            with open(base + ".s", "w") as f:
                f.write(text)
            run(tool(isa, "gcc"), "-nostdlib", "-shared", "-o", base,
                base + ".s")
            status, out, err = limited(TALLY, "cfg", base)
            tap.ok(status == 0, "%s: %s ends in time" % (isa, what),
                   ["status %d" % status, err])


def stress(isa):
    x = isa == "x86_64"
    start = "\t.text\n\t.globl f\n\t.type f, %function\nf:\n\t.cfi_startproc\n"
    end = "\t.cfi_endproc\n\t.size f, . - f\n"
    ret = "\tret\n"
    jump = "\tjmp *%rax\n" if x else "\tbr x0\n"
    step = ("\ttest %%eax, %%eax\n\tje .L%d\n\txchg %%rax, %%rcx\n" if x else
            "\tcbz w0, .L%d\n\teor x0, x0, x1\n")
    n = 4000
    ladder = "".join(step % ((i * 7919) % n) + ".L%d:\n" % i
                     for i in range(n))
    yield "a knot of %d branches" % n, start + ladder + jump + ret + end
    many = "".join(step % ((i * 31) % n) + ".L%d:\n" % i +
                   (jump if i % 8 == 0 else "") for i in range(n))
    yield "%d indirect jumps" % (n // 8), start + many + ret + end
    slots = "".join("\tmov %%rax, %d(%%rsp)\n\tmov %d(%%rsp), %%rax\n" %
                    (-8 * i, -8 * ((i * 13) % n)) if x else
                    "\tstr x0, [sp, #%d]\n\tldr x0, [sp, #%d]\n" %
                    (8 * i, 8 * ((i * 13) % n)) for i in range(1, n))
    yield "a maze of slots", start + slots + jump + ret + end
    if x:
        yield "only prefixes", start + "\t.fill 100000, 1, 0x66\n" + ret + end
    load = ("\tlea T+4*%d(%%rip), %%rdx\n\tmov %%edi, %%eax\n"
            "\tmov (%%rdx,%%rax,4), %%eax\n\tlea .L0(%%rip), %%rdx\n"
            "\tadd %%rdx, %%rax\n\tjmp .Lj\n" if x else
            "\tadrp x2, T+4*%d\n\tadd x2, x2, :lo12:T+4*%d\n"
            "\tldr w2, [x2, w0, uxtw #2]\n\tadr x3, .L0\n"
            "\tadd x0, x3, x2\n\tb .Lj\n")
    check = ("\tcmp $%d, %%esi\n\tje .L%d\n" if x else
             "\tcmp w1, #%d\n\tb.eq .L%d\n")
    ways = "".join(check % (i, i) for i in range(250)) + ret + "".join(
        ".L%d:\n" % i + load % ((i,) if x else (i, i)) for i in range(250))
    yield "250 ways to a million entries", start + ways + ".Lj:\n" + jump + \
        end + "\t.section .rodata\n\t.balign 4\nT:\t.fill 1000000, 4, 0\n"
    yield "calls without end", start + "".join(
        ("\tcall 1f\n1:\n" if x else "\tbl 1f\n1:\n") for _ in range(n)) + end


with tempfile.TemporaryDirectory() as where:
    files = list(samples(where))
    tap.ok(len(files) > 0, "there are samples")
    for path in files:
        if path.endswith(("g++-so", "g++-bare")) and "clang" not in path:
            try_sample(where, path)
    try_stress(where)
    for path in files:
        p = subprocess.run([MUTATE, "run", MUTANTS, path],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, errors="replace")
        m = re.search(r"(\d+) refused", p.stdout)
        few = m and int(m.group(1)) < 0.6 * int(MUTANTS)
        tap.ok(p.returncode == 0 and few, "%s mutants of %s do no harm" %
               (MUTANTS, os.path.basename(path)),
               ["status %d %s" % (p.returncode, p.stdout)] +
               p.stderr.splitlines()[-8:])
tap.done()
