"""
live_profile: reads the profile of a running or ended program, as
src/abi/profile_format.h draws it.
"""
import struct

PROFILE_MAGIC, CHUNK_MAGIC = b"tlyprof1", b"tlychnk1"
UNIT, FIRST = 4096, 65536
NO_SPACE, NO_FILE, THREADS, FORK, UNSEEN = 1, 2, 4, 8, 64
ENDS, END = 32, 48 + 8 * 8


class Chunk:
    pass


class Profile:
    """.process: by number; .counters: a list of chunks; .trouble"""

    def __init__(self, path):
        self.bytes = b = open(path, "rb").read()
        assert b[:8] == PROFILE_MAGIC
        (self.version, self.machine, _, self.end, self.nprocess, self.trouble,
         self.started, olen, clen) = struct.unpack_from("<IHHQQQQII", b, 8)
        self.options = b[56:56 + olen].decode()
        self.command = b[57 + olen:57 + olen + clen].decode()
        self.process, self.counters = {}, []
        at = FIRST
        while at + 32 <= min(len(b), self.end):
            at += self.read_chunk(at) or UNIT

    def read_chunk(self, at):
        """Its size, or 0 if there is none."""
        b = self.bytes
        if b[at:at + 8] != CHUNK_MAGIC:
            return 0
        k = Chunk()
        k.at, k.size, k.kind, number = struct.unpack_from("<QQII", b, at + 8)
        assert k.at == at and k.size % UNIT == 0
        k.process = number
        if k.kind == 1:
            k.pid, k.parent, k.origin, n, k.started = \
                struct.unpack_from("<IIIIQ", b, at + 32)
            k.ended, k.moving, k.lost, k.nend = struct.unpack_from(
                "<IIII", b, at + 56)
            name = at + 80 + ENDS * END
            k.name = b[name:name + n].decode()
            assert number not in self.process
            self.process[number] = k
        elif k.kind == 2:
            k.id = b[at + 32:at + 48]
            k.ncounter, k.first, k.block, n = struct.unpack_from("<QQII", b,
                                                                 at + 48)
            k.path = b[at + 72:at + 72 + n].decode()
            k.name = k.path.rsplit("/", 1)[-1]
            self.counters.append(k)
        return k.size

    def count(self, k, i):
        return struct.unpack_from("<Q", self.bytes, k.at + k.first + 8 * i)[0]

    def of(self, name, process=None, block=None):
        """The chunks of an image."""
        return [k for k in self.counters if k.name == name and
                process in (None, k.process) and block in (None, k.block)]

    def sum(self, name, i, process=None):
        """Counter number i of an image, over threads (and processes)."""
        return sum(self.count(k, i) for k in self.of(name, process))
