#!/usr/bin/env python3
"""
rewrite/refused: what `tally instrument` does with files that are none, and
with places where it cannot write: a line that names the file, the right
status, and nothing left behind. And what it keeps of the original: its mode,
and data that was appended.
"""
import json
import os
import resource
import re
import signal
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests/lib")
from rewrite_run import *

tap = Tap()
ISA = "aarch64" if compiler("aarch64", "gcc") else HOST
INPUT, MACHINE, USAGE = 3, 4, 2


def instrument(path, out, *words, tally=TALLY, **more):
    return subprocess.run([tally, "instrument", "--placement", "none", *words,
                           path, "-o", out], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                          errors="replace", **more)


def listing(folder):
    return sorted(os.listdir(folder))


class Case:
    """A folder with an input and an empty place for the output."""

    def __init__(self, where):
        self.where = where
        self.place = os.path.join(where, "place")
        os.mkdir(self.place)
        self.out = os.path.join(self.place, "out")

    def path(self, name):
        return os.path.join(self.where, name)

    def file(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def refused(self, what, path, status, says, out=None, names=None, **more):
        before = listing(self.place)
        p = instrument(path, out or self.out, **more)
        line = p.stderr[:-1]
        tap.ok(p.returncode == status and not p.stdout and
               "\n" not in line and
               line.startswith("tally: %s: " % (names or path)) and
               re.search(says, line) and listing(self.place) == before,
               "%s: %s" % (what, says), [
                   "status %d" % p.returncode, *p.stderr.splitlines(),
                   *listing(self.place)])


def put(data, offset, form, *values):
    b = bytearray(data)
    struct.pack_into("<" + form, b, offset, *values)
    return bytes(b)


def try_inputs(c, data):
    c.refused("nothing there", c.path("absent"), INPUT, "No such file")
    c.refused("a directory", c.where, INPUT, "is a directory")
    c.refused("text", c.file("text", b"hello\n"), INPUT, "not an ELF file")
    c.refused("empty", c.file("empty", b""), INPUT, "empty")
    c.refused("32-bit", c.file("elf", put(data, 4, "B", 1)), INPUT, "32-bit")
    c.refused("RISC-V", c.file("elf", put(data, 18, "H", 243)), INPUT,
              "made for RISC-V")
    c.refused("an object file", c.file("elf", put(data, 16, "H", 1)), INPUT,
              "relocatable")
    for n in (40, 200, len(data) // 2):
        c.refused("%d bytes of it" % n, c.file("cut", data[:n]), INPUT, ".")


def somebody(c):
    """How to run tally as somebody whom permissions bind."""
    if os.geteuid():
        return {}
    os.chmod(c.where, 0o755)
    shutil.copy(TALLY, c.path("tally"))
    return {"user": 65534, "tally": c.path("tally")}


def try_permissions(c, program):
    more = somebody(c)
    secret = shutil.copy(program, c.path("secret"))
    os.chmod(secret, 0)
    c.refused("an unreadable file", secret, INPUT, "Permission denied",
              **more)
    os.chmod(c.place, 0o555)
    c.refused("a read-only folder", program, MACHINE, "Permission denied",
              names=c.out, **more)
    os.chmod(c.place, 0o755)


def try_places(c, program):
    c.refused("a folder that is not there", program, MACHINE, "No such file",
              out=c.path("no/out"), names=c.path("no/out"))
    c.refused("OUT is a folder", program, USAGE, "not a regular file",
              out=c.place, names=c.place)
    c.refused("OUT is a device", program, USAGE, "not a regular file",
              out="/dev/null", names="/dev/null")
    before = open(program, "rb").read()
    c.refused("OUT is FILE", program, USAGE, "is the original itself",
              out=program, names=program)
    os.symlink(program, c.path("link"))
    c.refused("OUT leads to FILE", program, USAGE, "is the original itself",
              out=c.path("link"), names=c.path("link"))
    tap.ok(open(program, "rb").read() == before, "FILE is as it was")


def try_full(c, program):
    """a file system without room"""
    disk = c.path("disk")
    os.mkdir(disk)
    if os.geteuid() or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs", disk],
            stderr=subprocess.DEVNULL).returncode:
        tap.skip("a full disk", "cannot mount a small one")
        return
    try:
        p = instrument(program, disk + "/out")
        tap.ok(p.returncode == MACHINE and "No space left" in p.stderr and
               p.stderr.startswith("tally: %s/out: " % disk) and
               not listing(disk), "a full disk",
               [p.returncode, p.stderr, *listing(disk)])
    finally:
        subprocess.run(["umount", disk])


def try_twice(c, program):
    once = c.path("once")
    instrument(program, once)
    c.refused("already rewritten", once, INPUT, "already rewritten, by tally")
    for way in ("insert", "trap"):
        copy = c.path("by-" + way)
        rewrite(way, program, copy)
        c.refused("already rewritten (%s)" % way, copy, INPUT,
                  "already rewritten")


def try_killed(c, large):
    """OUT is there whole or not at all, however early the end comes"""
    bad, whole = [], None
    for ms in (1, 3, 10, 30, 60, 100, 150, 250):
        p = subprocess.Popen([TALLY, "instrument", "--placement", "none",
                              large, "-o", c.out],
                             stdout=subprocess.DEVNULL)
        time.sleep(ms / 1000)
        p.send_signal(signal.SIGKILL)
        if p.wait() == 0 or os.path.exists(c.out):
            whole = whole or os.path.exists(c.out)
            data = open(c.out, "rb").read() if os.path.exists(c.out) else b""
            q = instrument(large, c.path("whole"))
            if q.returncode or data != open(c.path("whole"), "rb").read():
                bad.append("after %d ms" % ms)
        for name in listing(c.place):
            os.unlink(os.path.join(c.place, name))
    tap.none(bad, "killed at any time: OUT is whole or not there")


def try_killed_writing(c, program):
    """the system ends it in the middle of writing: nothing is left"""
    try:
        os.close(os.open(c.place, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        tap.skip("killed while writing", "no files without names here")
        return
    before = listing(c.place)
    p = subprocess.run(
        [TALLY, "instrument", "--placement", "none", program, "-o", c.out],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))))
    tap.ok(p.returncode == -signal.SIGXFSZ, "killed while writing",
           [p.returncode])
    tap.ok(listing(c.place) == before, "and nothing is left",
           listing(c.place))


def try_modes(c, program):
    for mode, want in ((0o755, 0o755), (0o500, 0o500), (0o640, 0o640),
                       (0o4755, 0o755), (0o2711, 0o711), (0o1777, 0o777)):
        src = shutil.copy(program, c.path("mode"))
        os.chmod(src, mode)
        p = instrument(src, c.out)
        got = stat.S_IMODE(os.stat(c.out).st_mode) if not p.returncode else 0
        tap.ok(got == want, "mode %o becomes %o" % (mode, want),
               ["%o" % got, p.stderr])
    p = instrument(program, c.out)
    again = open(c.out, "rb").read()
    instrument(program, c.out)
    tap.ok(open(c.out, "rb").read() == again, "the same again: the same bytes")
    tap.ok(listing(c.place) == ["out"], "nothing else is there",
           listing(c.place))
    os.unlink(c.out)


def headers_end(data):
    """behind the section headers"""
    shoff, = struct.unpack_from("<Q", data, 40)
    return shoff + 64 * struct.unpack_from("<H", data, 60)[0]


def try_appended(c, program):
    """an archive that a program reads from its own file"""
    plain = c.path("plain")
    run(tool(ISA, "strip"), "-o", plain, program)
    data = open(plain, "rb").read()
    bare = put(put(data[:headers_end(data)], 40, "Q", 0), 60, "HH", 0, 0)
    tail = b"PK an archive" * 1000
    for what, kept, src in (("with", tail, data + tail),
                            ("with, and symbols", tail,
                             open(program, "rb").read() + tail),
                            ("with, and no sections", tail, bare + tail),
                            ("without", b"", data)):
        p = instrument(c.file("appended", src), c.out)
        got = open(c.out, "rb").read()
        at = headers_end(got)
        tap.ok(got[at:].endswith(kept) if "no sections" in what else
               got[at:] == kept, "appended data: " + what,
               [p.stderr, "%d bytes, want %d" % (len(got) - at, len(kept))])
        os.unlink(c.out)


def without_room(data):
    """A file whose dynamic section has no entry to spare."""
    n, = struct.unpack_from("<H", data, 56)
    at, = struct.unpack_from("<Q", data, 32)
    for i in range(n):
        kind, _, start, _, _, size = struct.unpack_from("<IIQQQQ", data,
                                                        at + 56 * i)
        if kind == 2:           # PT_DYNAMIC
            for d in range(start, start + size - 16, 16):
                tag, = struct.unpack_from("<q", data, d)
                if tag in (0, 11, 0x6ffffff9):  # none, SYMENT, RELACOUNT
                    data = put(data, d, "q", 0x60000001)
    return data


def try_many_headers(c, program):
    """The number of program headers is in section header 0."""
    data = open(program, "rb").read()
    number, = struct.unpack_from("<H", data, 56)
    sections, = struct.unpack_from("<Q", data, 40)
    data = put(put(data, sections + 44, "I", number), 56, "H", 0xffff)
    file, out = c.file("elsewhere", data), c.path("elsewhere.out")
    got = instrument(file, out)
    tap.ok(got.returncode == 0, "as many program headers as section header 0 says",
           [str(got)])
    want = struct.unpack_from("<H", open(out, "rb").read(), 56)[0]
    tap.ok(number < want < number + 8, "and a few more in the copy",
           ["%d of %d" % (want, number)])


def try_dynamic(c, program):
    """Nobody would find the counters of a file that does not lead to them."""
    full = c.file("full", without_room(open(program, "rb").read()))
    for placement, status in ("edges", INPUT), ("none", 0):
        p = subprocess.run([TALLY, "instrument", "--placement", placement,
                            full, "-o", c.out], capture_output=True, text=True)
        tap.ok(p.returncode == status and os.path.exists(c.out) != status and
               bool(status) == bool(re.search(
                   "full: at offset 0x.*: no room in the dynamic section",
                   p.stderr)), "a full dynamic section, " + placement,
               [str(p)])


def try_pinned(c):
    """V8's own code, which has no unwind entries, stays where it is"""
    source = c.file("pinned.c", b"""
        const char *const name = "InterpreterEntryTrampoline";
        int other(int n) { return n + 7; }
        int main(int argc, char **argv) { return other(argc) + !name; }
        """)
    program = c.path("pinned")
    for what, no, stays in (("without", "no-", True), ("with", "", False)):
        run(*compiler(ISA, "gcc"), "-O0", "-f%sunwind-tables" % no,
            "-f%sasynchronous-unwind-tables" % no, "-o", program, source)
        p = instrument(program, c.out, "--json")
        at = int(re.search("([0-9a-f]+) T other", run(
            tool(ISA, "nm"), program)).group(1), 16)
        kept = [r for r in json.loads(p.stdout)["in_place"] if
                int(r["start"], 16) <= at < int(r["end"], 16)]
        tap.ok(stays == any("V8: " in r["reason"] for r in kept) and
               stays == bool(kept), "a file of V8, %s unwind entries" % what,
               [kept])
        os.unlink(c.out)


def try_restartable(c):
    """the kernel knows restartable sequences by their addresses"""
    for isa in ISAS:
        cc = compiler(isa, "gcc")
        for way in (["-pie"], ["-static", "-no-pie"]):
            title = "%s %s: a restartable sequence stays" % (isa, way[0])
            if not cc:
                tap.skip(title, "no compiler")
                continue
            program = c.path("restart")
            run(*cc, "-O2", "-pthread", *way, "-s", "-o", program,
                "tests/progs/rewrite/restart.c")
            p = instrument(program, c.out, "--json")
            kept = [r for r in json.loads(p.stdout)["in_place"]
                    if "restartable" in r["reason"]]
            tap.ok(len(kept) == 1, title, [kept])
            os.unlink(c.out)


def try_handed(c):
    """A procedure that only a pointer leads to moves, and what it calls; a
    table that looks like one stays."""
    for isa in ISAS:
        cc = compiler(isa, "gcc")
        if not cc:
            tap.skip("%s: known by a pointer" % isa, "no compiler")
            continue
        program, bare = c.path("handed"), c.path("handed.bare")
        run(*cc, "-O2", "-o", program, "tests/progs/rewrite/handed.c",
            "tests/progs/rewrite/handed-%s.S" % isa)
        run(tool(isa, "strip"), "-o", bare, program)
        p = instrument(bare, c.out, "--json")
        kept = [(int(r["start"], 16), int(r["end"], 16))
                for r in json.loads(p.stdout)["in_place"]]
        stays = {name: any(start <= int(at, 16) < end for start, end in kept)
                 for at, name in re.findall("([0-9a-f]+) [Tt] handed_(\\w+)",
                                            run(tool(isa, "nm"), program))}
        tap.ok(stays == {"sum": False, "helper": False, "table": True,
                         "table_end": stays.get("table_end")},
               "%s: known by a pointer" % isa, [stays])
        os.unlink(c.out)


def try_numbers(c):
    """A number in data may be the address of an instruction, close behind an
    entry, but not of the middle of one."""
    source = c.file("numbers.S", b"""
        .text
        .globl main, inside, behind
        .type inside, @function; .type behind, @function
inside: .cfi_startproc; xor %eax, %eax; ret; .cfi_endproc
        .size inside, . - inside
behind: .cfi_startproc; push %rax; pop %rax; ret; .cfi_endproc
        .size behind, . - behind
main:   .cfi_startproc; mov $inside, %ecx; mov $behind, %edx
        xor %eax, %eax; ret; .cfi_endproc
        .data
        .quad inside + 1, 0, behind + 1
        .section .note.GNU-stack, "", @progbits
        """)
    cc = compiler("x86_64", "gcc")
    if not cc:
        tap.skip("numbers that may be addresses", "no compiler")
        return
    program = c.path("numbers")
    run(*cc, "-no-pie", "-o", program, source)
    p = instrument(program, c.out, "--json")
    kept = [int(r["start"], 16) for r in json.loads(p.stdout)["in_place"]
            if "no room for a jump" in r["reason"]]
    at = {name: int(where, 16) for where, name in re.findall(
        "([0-9a-f]+) T (inside|behind)", run(tool("x86_64", "nm"), program))}
    tap.ok(kept == [at["behind"]], "numbers that may be addresses",
           [kept, at])
    os.unlink(c.out)


def try_misuse(c, program):
    for what, words in (("no FILE", ["-o", c.out]),
                        ("no OUT", [program]),
                        ("no such placement", ["--placement", "best",
                                               program, "-o", c.out]),
                        ("two files", ["--placement", "none", program,
                                       program, "-o", c.out]),
                        ("no such option", ["--placement", "none", "--what",
                                            program, "-o", c.out])):
        if what in ("no FILE", "no OUT"):
            words = ["--placement", "none", *words]
        p = subprocess.run([TALLY, "instrument", *words],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
        tap.ok(p.returncode == USAGE and "tally instrument" in p.stderr and
               not os.path.exists(c.out), "misuse: " + what,
               [p.returncode, p.stderr])


with tempfile.TemporaryDirectory() as where:
    cc = compiler(ISA, "gcc")
    if not cc:
        tap.skip("all", "no compiler")
        tap.done()
    case = Case(where)
    program = case.path("program")
    run(*cc, "-w", "-O2", "-shared", "-fPIC", "-o", program,
        PROGS + "flow.c")
    try_inputs(case, open(program, "rb").read())
    try_permissions(case, program)
    try_places(case, program)
    try_full(case, program)
    try_twice(case, program)
    try_killed(case, World(ISA).library("libc.so.6"))
    try_killed_writing(case, program)
    try_modes(case, program)
    try_appended(case, program)
    try_dynamic(case, program)
    try_many_headers(case, program)
    try_pinned(case)
    try_restartable(case)
    try_handed(case)
    try_numbers(case)
    try_misuse(case, program)
tap.done()
