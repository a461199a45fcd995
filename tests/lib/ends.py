"""
ends: builds of tests/progs/count/ends.c, and what they leave.
"""
import re
import struct

import count_run
from count_run import *

SOURCE = "../count/ends.c"
WORDS, CREW = 512, 4    # of marks of a thread; threads
KILLED, MOVING, LOST = "was killed", "other threads ran", "cannot be told"


def read_marks(data):
    """{number: count} of a file of marks."""
    all_ = struct.unpack("<%dQ" % (WORDS * CREW), data)
    return [sum(all_[i::WORDS]) for i in range(WORDS)]


class Build:
    """A build of ends.c: its marks, and where nothing is measured."""

    def __init__(self, where, name, *flags):
        self.isa, self.name = count_run.ISA, name
        self.here = os.path.join(where, self.isa)
        os.makedirs(self.here, exist_ok=True)
        self.file = build(self.here, name, [SOURCE], *flags)
        self.plt, _, size = self.section(".plt")
        # of x86-64's stubs the half that binds them is not told of
        self.plt_end = self.plt + (size if "-no-pie" in flags or
                                   self.isa == "x86_64" else 32)
        self.own = "-static" in flags
        self.code = self.functions() if self.own else None

    def section(self, name):
        """(address, offset, size)"""
        text = run(tool(self.isa, "readelf"), "-SW", self.file)
        for line in text.splitlines():
            w = line.replace("[ ", "[").split()
            if len(w) > 5 and w[1] == name:
                return tuple(int(x, 16) for x in w[3:6])
        return (0, 0, 0)

    def marks(self):
        """{number: addresses of instructions that store}"""
        addr, offset, size = self.section(".marks")
        data = open(self.file, "rb").read()
        out = collections.defaultdict(list)
        for i in range(0, size, 8):
            d, n = struct.unpack_from("<ii", data, offset + i)
            out[n].append(addr + i + d)
        return out

    def functions(self):
        """Ranges of the source's own functions."""
        own = own_names(self.here, [SOURCE], "-O2")
        return [(a, a + n) for a, n, name in Names.read(self.isa, self.file)
                if name in own]

    def compared(self, address):
        if self.own:
            return any(s <= address < e for s, e in self.code)
        # stubs of the linker that stay in place: the first one, or all
        return not self.plt <= address < self.plt_end

    def faults(self, address):
        """Whether the instruction may: it uses memory, or traps."""
        text = run(tool(self.isa, "objdump"), "-d", "--no-show-raw-insn",
                   "--start-address=%d" % address,
                   "--stop-address=%d" % (address + 16), self.file)
        word = re.search(r"^ *%x:\t(.*)" % address, text, re.M).group(1)
        if self.isa == "aarch64":
            return word.startswith(("ld", "st", "brk"))
        return "(" in word or word.startswith(("push", "call", "ud2"))

    def counts(self, text):
        """{address: count} of it, from what `tally export` says"""
        return collections.Counter(read_told(text)[self.name])

    def differences(self, want, got):
        """Complaints about marks that ran otherwise than they say."""
        sums = {n: sum(got[a] for a in at) for n, at in self.marks().items()}
        return ["mark %d: %d, want %d" % (n, sums[n], want[n])
                for n in sums if sums[n] != want[n]]
