#!/usr/bin/env python3
"""
cfg/refused: files that are no program for tally. Each is answered with status
3 and one line that names the file and says what it is instead.
"""
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests/lib")
from cfg_oracle import *
from patience import PATIENCE

tap = Tap()
TYPE, MACHINE = 16, 18      # offsets in the ELF header


def refused(path, says, what, **more):
    p = subprocess.run([more.pop("tally", TALLY), "cfg", path],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, errors="replace", timeout=PATIENCE, **more)
    line = p.stderr[:-1]
    shown = path.replace("\n", "%0a").replace("\033", "%1b")
    tap.ok(p.returncode == 3 and not p.stdout and "\n" not in line and
           line.startswith("tally: %s: " % shown) and
           re.search(says, line[len(shown) + 7:]),
           "%s: %s" % (what, says),
           ["status %d" % p.returncode] + p.stderr.splitlines())


class Folder:
    """Makes files to be refused."""

    def __init__(self, where):
        self.where = where

    def path(self, name):
        return os.path.join(self.where, name)

    def file(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)


def patched(data, *changes):
    data = bytearray(data)
    for offset, form, value in changes:
        struct.pack_into("<" + form, data, offset, value)
    return bytes(data)


def try_no_elf(d):
    refused(d.path("absent"), "No such file", "nothing there")
    refused(d.where, "is a directory", "a directory")
    refused(d.file("empty", b""), "the file is empty", "an empty file")
    refused(d.file("text", b"hello, world\n"), "not an ELF file$", "text")
    refused(d.file("script", b"#!/bin/sh\n"), "a script; give the "
            "interpreter", "a script")
    os.mkfifo(d.path("fifo"))
    refused(d.path("fifo"), "not a regular file", "a FIFO without a writer")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(d.path("socket"))
        refused(d.path("socket"), ".", "a socket")
    refused("/dev/null", "not a regular file", "a device")
    os.symlink("loop", d.path("loop"))
    refused(d.path("loop"), "symbolic links", "a link to itself")
    refused(d.file("a\nb\033[1m", b"x"), "not an ELF file",
            "a name with a newline")


def try_unreadable(d, data):
    os.chmod(d.file("secret", data), 0)
    more = {}
    if not os.geteuid():
        # root reads everything: somebody else must try
        os.chmod(d.where, 0o755)
        shutil.copy(TALLY, d.path("tally"))
        more = {"user": 65534, "tally": d.path("tally")}
    refused(d.path("secret"), "Permission denied", "an unreadable file",
            **more)


def try_other_elf(d, data):
    """Files that only the ELF header tells from a program."""
    for what, says, *changes in (
            ("32-bit", "a 32-bit ELF file; only 64-bit", (4, "B", 1)),
            ("big-endian", "a big-endian ELF file", (5, "B", 2)),
            ("core", "a core file, not a program", (TYPE, "H", 4)),
            ("no type", "unknown ELF file type 0", (TYPE, "H", 0)),
            ("RISC-V", "made for RISC-V; only x86-64 and AArch64",
             (MACHINE, "H", 243)),
            ("PowerPC", "made for PowerPC", (MACHINE, "H", 21)),
            ("machine 4711", "made for machine 4711", (MACHINE, "H", 4711))):
        refused(d.file("elf", patched(data, *changes)), says, what)
    refused(d.file("cut", data[:40]), "ends inside the ELF header",
            "40 bytes")
    refused(d.file("half", data[:len(data) // 2]), "truncated",
            "half a program")


def try_built(d, path, data):
    """What compilers and their tools leave beside programs."""
    run(*compiler(HOST, "gcc"), "-c", "-o", d.path("a.o"),
        "tests/progs/tail.c")
    refused(d.path("a.o"), "a relocatable object .*link it", "an object file")
    run(tool(HOST, "ar"), "rc", d.path("a.a"), d.path("a.o"))
    refused(d.path("a.a"), "an archive", "an archive")
    debug = d.path("a.debug")
    run(tool(HOST, "objcopy"), "--only-keep-debug", path, debug)
    refused(debug, "a separate debug file, without code", "a debug file")
    # eu-strip leaves the program headers as they were
    phoff, = struct.unpack_from("<Q", data, 32)
    phnum, = struct.unpack_from("<H", data, 56)
    with open(debug, "r+b") as f:
        f.seek(phoff)
        f.write(data[phoff:phoff + 56 * phnum])
    refused(debug, "a separate debug file", "a debug file of elfutils")


with tempfile.TemporaryDirectory() as where:
    folder = Folder(where)
    program = folder.path("program")
    cc = compiler(HOST, "gcc")
    if not cc:
        tap.skip("all", "no compiler")
        tap.done()
    run(*cc, "-g", "-w", "-shared", "-fPIC", "-o", program,
        "tests/progs/switch.c")
    with open(program, "rb") as f:
        whole = f.read()
    try_no_elf(folder)
    try_unreadable(folder, whole)
    try_other_elf(folder, whole)
    try_built(folder, program, whole)
tap.done()
