#!/usr/bin/env python3
"""
spoil-qemu: spoil-dead for programs of the other machine, in qemu's gdb stub.

    spoil-qemu.py [-n PLACES] [-b BATCH] [-s SEED] LIST-DEAD QEMU [ARG...]

QEMU [ARG...] is the command that runs the program, such as `qemu-aarch64 -L
root root/bin/ls`. It is run once to compare with, once with its translated
instructions logged, and then, with breakpoints at BATCH of the reached places
at a time, until PLACES of them were spoiled: at its breakpoint, once, what
list-dead calls dead gets random values. Breakpoints cost qemu 7.2 time at
every block, hence the batches.

Prints what was done, and ends with 1 if a run differed from the first in its
output or status; then the places of that batch are listed.
"""
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile

# By e_machine: numbers in the stub's register file (gdb's aarch64-core.xml and
# 64bit-core.xml) of the general registers in the order of isa.h, of the pc and
# of the flags; isa.h's FLAG_ bits and theirs; the size of a breakpoint.
MACHINES = {
    183: (list(range(32)), 32, 33,
          [(1, 31), (2, 30), (4, 29), (8, 28)], 4),
    62: ([0, 2, 3, 1, 7, 6, 4, 5] + list(range(8, 16)), 16, 17,
         [(1, 7), (2, 6), (4, 0), (8, 11), (16, 2), (32, 4)], 1),
}
AT_ENTRY = 9


class Stub:
    """A program stopped in qemu's gdb stub."""

    def __init__(self, command, where, stdin=subprocess.DEVNULL):
        path = os.path.join(where, "stub")
        if os.path.exists(path):
            os.unlink(path)
        self.out = open(os.path.join(where, "out"), "w+b")
        self.run = subprocess.Popen(
            [command[0], "-g", path] + command[1:], stdin=stdin,
            stdout=self.out, stderr=self.out)
        self.s = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.s.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if self.run.poll() is not None:
                    raise SystemExit("qemu does not start")
        self.buf = b""
        # without it qemu takes us for an old gdb that reads all at once
        self.ask("qXfer:features:read:target.xml:0,1000")

    def send(self, text):
        self.s.sendall(b"$%s#%02x" % (text.encode(),
                                      sum(text.encode()) & 255))

    def reply(self):
        """The next packet."""
        while True:
            m = re.match(rb"[+-]*\$([^#]*)#..", self.buf, re.S)
            if m:
                self.buf = self.buf[m.end():]
                self.s.sendall(b"+")
                return m.group(1)
            more = self.s.recv(65536)
            if not more:
                return b""
            self.buf += more

    def ask(self, text):
        self.send(text)
        return self.reply()

    def entry(self):
        """Runs the program to its entry point; where that is."""
        data = self.ask("qXfer:auxv:read::0,1000")[1:]
        data = re.sub(rb"}(.)", lambda m: bytes([m.group(1)[0] ^ 0x20]),
                      data, flags=re.S)
        at = next(v for k, v in struct.iter_unpack("<QQ",
                  data[:len(data) // 16 * 16]) if k == AT_ENTRY)
        if self.register(PC) != at:
            self.trap(at)
            self.ask("c")
            self.untrap(at)
        return at

    def trap(self, at):
        self.ask("Z0,%x,%d" % (at, TRAP))

    def untrap(self, at):
        self.ask("z0,%x,%d" % (at, TRAP))

    def register(self, n):
        raw = bytes.fromhex(self.ask("p%x" % n).decode())
        return int.from_bytes(raw, "little")

    def spoil(self, dead):
        for r, number in enumerate(GENERAL):
            if dead >> r & 1:
                self.write(number, random.getrandbits(64), 8)
        bits = sum(1 << b for flag, b in BITS if dead >> 32 & flag)
        if bits:
            self.write(FLAGS, self.register(FLAGS) & ~bits |
                       random.getrandbits(32) & bits, 4)

    def write(self, number, value, size):
        self.ask("P%x=%s" % (number, value.to_bytes(size, "little").hex()))

    def end(self):
        """Output and status."""
        self.s.close()
        try:
            status = self.run.wait(60)
        except subprocess.TimeoutExpired:
            self.run.kill()
            status = "never"
        self.out.seek(0)
        return self.out.read(), status


def machine(head):
    """e_machine of a file that begins so, or None."""
    return struct.unpack_from("<H", head, 18)[0] \
        if head[:4] == b"\x7fELF" else None


def mappings(pid):
    """(file, address, end, offset) of what a process has mapped of files."""
    for line in open("/proc/%d/maps" % pid):
        f = line.split(None, 5)
        if len(f) == 6 and f[5].startswith("/"):
            start, end = (int(x, 16) for x in f[0].split("-"))
            yield f[5].strip(), start, end, int(f[2], 16)


def biases(pid):
    """file -> address in memory minus address in the file."""
    found = {}
    for path, start, end, offset in mappings(pid):
        with open(path, "rb") as f:
            head = f.read(64)
            if machine(head) != MACHINE:
                continue
            phoff, = struct.unpack_from("<Q", head, 32)
            phnum, = struct.unpack_from("<H", head, 56)
            f.seek(phoff)
            table = f.read(56 * phnum)
        for p in struct.iter_unpack("<IIQQQQQQ", table):
            if p[0] == 1 and p[1] & 1 and offset <= p[2] + p[5] and \
                    offset + end - start > p[2]:
                found.setdefault(path, start - (p[3] + offset - p[2]))
    return found


def dead_places(tool, seed, bias):
    """address in memory -> what is dead there."""
    places = {}
    for path, delta in bias.items():
        out = subprocess.run([tool, "-s", str(seed), path], text=True,
                             stdout=subprocess.PIPE, check=True).stdout
        for line in out.splitlines():
            _, addr, dead = line.split("\t")
            places[int(addr, 16) + delta] = int(dead, 16)
    return places


def reached(command, where):
    """Addresses of instructions that qemu translates."""
    log = os.path.join(where, "log")
    subprocess.run([command[0], "-d", "in_asm", "-D", log] + command[1:],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(log) as f:
        return {int(m.group(1), 16) for m in
                re.finditer(r"^0x([0-9a-f]+):", f.read(), re.M)}


def attempt(command, where, batch, places):
    """One run with a batch spoiled: output, status, how many were."""
    stub = Stub(command, where)
    stub.entry()
    for at in batch:
        stub.trap(at)
    done = 0
    while True:
        stop = stub.ask("c")
        if stop[:1] not in (b"T", b"S"):
            break
        if stop[1:3] != b"05":
            stub.ask("C" + stop[1:3].decode())
            break
        pc = stub.register(PC)
        if pc in batch:
            stub.spoil(places[pc])
            stub.untrap(pc)
            done += 1
    return stub.end() + (done,)


def options(words):
    o = {"-n": 300, "-b": 300, "-s": 1}
    while words and words[0] in o:
        o[words[0]] = int(words[1])
        words = words[2:]
    if len(words) < 3:
        raise SystemExit(__doc__)
    return o, words[0], words[1:]


def main(o, tool, command):
    random.seed(o["-s"])
    with tempfile.TemporaryDirectory() as where:
        first = Stub(command, where)
        first.entry()
        places = dead_places(tool, o["-s"], biases(first.run.pid))
        first.send("c")
        first.reply()
        want = first.end()
        todo = sorted(reached(command, where) & set(places))
        random.shuffle(todo)
        todo = todo[:o["-n"]]
        total, wrong = 0, 0
        for i in range(0, len(todo), o["-b"]):
            batch = set(todo[i:i + o["-b"]])
            out, status, done = attempt(command, where, batch, places)
            total += done
            if (out, status) != want:
                wrong += 1
                print("status %s, not %s, or another output, with" %
                      (status, want[1]))
                print(" ".join("%x:%x" % (a, places[a]) for a in batch))
        print("%d places spoiled, %d runs differ" % (total, wrong))
    sys.exit(wrong > 0)


o, tool, command = options(sys.argv[1:])
program = next(w for w in command[1:] if not os.path.isdir(w) and
               os.path.exists(w))
MACHINE = machine(open(program, "rb").read(64))
GENERAL, PC, FLAGS, BITS, TRAP = MACHINES[MACHINE]
main(o, tool, command)
