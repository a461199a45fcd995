"""
call_code: what instructions do to a stack of calls, and whose they are, by the
bytes of ELF files and their symbols; for call_tree.py.

Procedures are what symbols say: a name and its `.cold` and `.part` pieces that
only its own jumps lead to are one. Of a file that has no such symbols (of
libraries mostly) the unwind table says where procedures begin.
"""
import bisect
import os
import re
import struct

from cfg_oracle import run, tool
from objdump_text import Bytes

PLAIN, CALL, RETURN, JUMP, BRANCH, SYSCALL = range(6)
MACHINES = {62: "x86_64", 183: "aarch64"}
STUBS = re.compile(r"\.i?plt(\.(sec|got))?$")


class Insn:
    """An instruction that may lead elsewhere than to the next one."""

    def __init__(self, kind, size, indirect=False):
        self.kind, self.size, self.indirect = kind, size, indirect


NOTHING = Insn(PLAIN, 0)


def decode_a64(raw):
    w = int.from_bytes(raw[:4], "little")
    if w >> 26 == 0x25:
        return Insn(CALL, 4)
    if w >> 26 == 5:
        return Insn(JUMP, 4)
    if w & 0xff000010 == 0x54000000 or w & 0x7c000000 == 0x34000000:
        return Insn(BRANCH, 4)
    if w & 0xfe000000 == 0xd6000000:
        # br, blr, ret and those that authenticate
        kind = {0: JUMP, 1: CALL, 2: RETURN}.get(w >> 21 & 3)
        if kind is not None and not w >> 23 & 1:
            return Insn(kind, 4, True)
    if w & 0xffe0001f == 0xd4000001:
        return Insn(SYSCALL, 4)
    return NOTHING


def modrm_size(raw, at):
    """Bytes of a ModRM byte and of what it brings along."""
    mod, rm = raw[at] >> 6, raw[at] & 7
    size = 1 + {0: 0, 1: 1, 2: 4, 3: 0}[mod]
    if mod != 3 and rm == 4:
        size += 1 + (4 if mod == 0 and raw[at + 1] & 7 == 5 else 0)
    elif mod == 0 and rm == 5:
        size += 4
    return size


def decode_x64(raw):
    raw = raw + bytes(16)
    n = 0
    while raw[n] in (0xf2, 0xf3, 0x3e, 0x2e, 0x66, 0x67, 0x64, 0x65):
        n += 1
    n += raw[n] >> 4 == 4
    op = raw[n]
    if op == 0xe8:
        return Insn(CALL, n + 5)
    if op in (0xe9, 0xeb):
        return Insn(JUMP, n + (5 if op == 0xe9 else 2))
    if op in (0xc2, 0xc3):
        return Insn(RETURN, n + (3 if op == 0xc2 else 1), True)
    if op >> 4 == 7 or 0xe0 <= op <= 0xe3:
        return Insn(BRANCH, n + 2)
    if op == 0x0f and raw[n + 1] >> 4 == 8:
        return Insn(BRANCH, n + 6)
    if op == 0x0f and raw[n + 1] == 5:
        return Insn(SYSCALL, n + 2)
    if op == 0xff and raw[n + 1] >> 3 & 7 in (2, 4):
        return Insn(CALL if raw[n + 1] >> 3 & 7 == 2 else JUMP,
                    n + 1 + modrm_size(raw, n + 1), True)
    return NOTHING


class Procedure:
    def __init__(self, image, start, end, names):
        self.image, self.start, self.end = image, start, end
        self.names = names
        self.whole = self   # what it is a piece of

    def name(self):
        return self.names[0] if self.names else "%#x" % self.start


class Image:
    """An ELF file; `twin` is the same one with symbols, if it has none."""

    def __init__(self, path, twin=None):
        self.path, self.name = path, os.path.basename(path)
        self.bytes = Bytes(path)
        machine, = struct.unpack_from("<H", self.bytes.data, 18)
        self.isa = MACHINES[machine]
        self.decode = decode_a64 if self.isa == "aarch64" else decode_x64
        self.sections = self.bytes.sections()
        self.stubs = [r for n, (r, code) in self.sections.items()
                      if code and STUBS.match(n)]
        self.full = False       # symbols of all procedures
        self.read_symbols(twin or path)
        if not self.full:
            self.read_unwind()
        self.finish()

    def read_symbols(self, path):
        self.at = {}
        table = None
        for line in run(tool(self.isa, "readelf"), "-sW", path).splitlines():
            w = line.split()
            if line.startswith("Symbol table"):
                table = w[2]
            if len(w) < 8 or w[3] not in ("FUNC", "IFUNC") or w[6] == "UND":
                continue
            start, size = int(w[1], 16), int(w[2], 0)
            p = self.at.setdefault(start, Procedure(self, start, start, []))
            p.end = max(p.end, start + size)
            name = re.sub("@.*", "", w[7])
            if name not in p.names:
                p.names.append(name)
            self.full |= table == "'.symtab'"

    def read_unwind(self):
        """starts of .eh_frame_hdr's table: 4 bytes, from the section on"""
        where = self.sections.get(".eh_frame_hdr", (range(0), 0))[0]
        found = [self.sections[n][0].start for n in (".init", ".fini")
                 if n in self.sections]
        if len(where) >= 12 and \
                self.bytes.at(where.start, 4) == b"\x01\x1b\x03\x3b":
            found += [where.start + self.bytes.number(
                where.start + 12 + 8 * i, 4, True)
                for i in range(self.bytes.number(where.start + 8, 4))]
        known = sorted(self.at)
        for start in found:
            i = bisect.bisect(known, start)
            # a symbol knows better what is one piece
            if not i or self.at[known[i - 1]].end <= start:
                self.at.setdefault(start, Procedure(self, start, start, []))

    def finish(self):
        self.starts = sorted(self.at)
        for here, after in zip(self.starts, self.starts[1:] + [1 << 64]):
            p = self.at[here]
            if p.end == p.start:
                p.end = after
        names = {n: p for p in self.at.values() for n in p.names}
        for p in self.at.values():
            for n in p.names:
                m = re.match(r"(.*)\.cold(\.\d+)?$", n)
                if m and m.group(1) in names:
                    p.whole = names[m.group(1)]

    def is_stub(self, addr):
        return any(addr in r for r in self.stubs)

    def procedure(self, addr):
        """The one that begins last before the address and holds it."""
        i = bisect.bisect(self.starts, addr)
        p = self.at[self.starts[i - 1]] if i else None
        return p.whole if p and addr < p.end else None

    def insn(self, addr):
        for n in 15, 4, 2, 1:
            raw = self.bytes.at(addr, n)
            if raw:
                return self.decode(raw)
        return NOTHING
