"""
objdump_text: files as binutils' disassembler reads them, and their bytes by
address.
"""
import struct

from cfg_oracle import *

RELA_SIZE, ADDEND = 24, 16      # of an entry, and where in it


class Code:
    """
    Instructions of a file by address: (its end, text); that of data begins with
    a dot. Where objdump took data
    for code it may have missed the beginning of what follows; who asks for an
    address that it did not list has it listed from there.
    """

    def __init__(self, isa, path, *words):
        self.objdump = [tool(isa, "objdump"), "-dwz"]
        self.path = path
        self.insn = dict(self.listed(*words))

    def listed(self, *words):
        for line in run(*self.objdump, *words, self.path).splitlines():
            f = line.split("\t", 2)
            if len(f) > 2:
                addr = int(f[0][:-1], 16)
                size = len(f[1].replace(" ", "")) // 2
                yield addr, (addr + size, f[2])

    def at(self, addr):
        if addr not in self.insn:
            found = dict(self.listed("--start-address=%#x" % addr,
                                     "--stop-address=%#x" % (addr + 16)))
            self.insn[addr] = found.get(addr, (addr + 1, "(nothing)"))
        return self.insn[addr]

    def text(self, addr):
        return self.at(addr)[1]


class Bytes:
    """A file by address."""

    def __init__(self, path):
        self.path = path
        self.data = open(path, "rb").read()
        self.entry, off = struct.unpack_from("<QQ", self.data, 24)
        n, = struct.unpack_from("<H", self.data, 56)
        self.load = []
        for i in range(n):
            kind, _, o, v, _, size = struct.unpack_from(
                "<IIQQQQ", self.data, off + 56 * i)
            if kind == 1:
                self.load.append((v, o, size))

    def at(self, addr, n):
        for v, o, size in self.load:
            if v <= addr and addr + n <= v + size:
                return self.data[o + addr - v:o + addr - v + n]
        return None

    def number(self, addr, n, signed=False):
        return int.from_bytes(self.at(addr, n), "little", signed=signed)

    def sections(self):
        """{name: (addresses, is it code?)} of those that are loaded"""
        out = {}
        for line in run("readelf", "-SW", self.path).splitlines():
            w = line.split("]", 1)[-1].split()
            if len(w) > 6 and "A" in w[6]:
                start = int(w[2], 16)
                out[w[0]] = range(start, start + int(w[4], 16)), "X" in w[6]
        return out


class Pointers:
    """
    Words that hold addresses when the file is loaded: `place` of each, which
    may be where a relocation has it in the file, or the word itself.
    """

    def __init__(self, b):
        self.bytes, self.place = b, {}
        where = b.sections()
        for name in (".rela.dyn", ".rela.plt"):
            self.read_rela(where.get(name, (range(0), 0))[0])
        self.read_relr(where.get(".relr.dyn", (range(0), 0))[0])

    def read_rela(self, r):
        for at in range(r.start, r.stop, RELA_SIZE):
            offset, info = struct.unpack("<QQ", self.bytes.at(at, ADDEND))
            if info >> 32 == 0:     # no symbol
                self.place[offset] = at + ADDEND

    def read_relr(self, r):
        """an address, or a map of 63 words behind the last"""
        word = 0
        for at in range(r.start, r.stop, 8):
            entry = self.bytes.number(at, 8)
            if not entry & 1:
                self.place[entry] = entry
                word = entry + 8
                continue
            for i in range(63):
                if entry >> i + 1 & 1:
                    self.place[word + 8 * i] = word + 8 * i
            word += 63 * 8

    def stored(self, word):
        """where in the file what the word will hold is"""
        return self.place.get(word, word)

