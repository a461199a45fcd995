"""
moved_x64_pads: what is left in the old place of moved x86-64 code.

A pad is a jump to the new place of the instruction that was there, or a short
jump to such a jump nearby. All other old bytes are what they were, and so is
all data but tables of labels. Who still comes by an old address that is known
must find a pad: by symbols, by words that the loader writes, by tables that
were not copied, by addresses that code makes, from code that stays.
"""
from cfg_oracle import run

DYN_SIZE = 16
JUMP, HOP, JUMP_SIZE, HOP_SIZE = 0xe9, 0xeb, 5, 2


def symbols(path):
    """where other images arrive"""
    for line in run("readelf", "--dyn-syms", "-W", path).splitlines():
        w = line.split()
        if len(w) > 7 and w[3] in ("FUNC", "IFUNC", "NOTYPE"):
            yield int(w[1], 16)


class Pads:
    def __init__(self, pair):
        self.pair = pair
        self.at = {}            # old address: where the jump is
        b = pair.new_bytes
        for a in pair.moved:
            first, at = b.at(a, 1)[0], a
            if first == HOP:
                at = a + HOP_SIZE + b.number(a + 1, 1, True)
            if first in (JUMP, HOP) and \
                    pair.leads(self.leads(at), a):
                self.at[a] = at

    def leads(self, at):
        """where the jump in the old place goes, or 0"""
        b = self.pair.new_bytes.at(at, JUMP_SIZE)
        if b is None or b[0] != JUMP:
            return 0
        return at + JUMP_SIZE + int.from_bytes(b[1:], "little", signed=True)

    def excused(self):
        """addresses of bytes that may be others"""
        out = set()
        for a, jump in self.at.items():
            out.update(range(jump, jump + JUMP_SIZE))
            out.update(range(a, a + HOP_SIZE))
        for w in self.pair.tables.labels:
            out.update(range(w, w + 8))
        out.update(self.unused_entry())
        return out

    def unused_entry(self):
        """what ends the dynamic section: counters put one more before that"""
        b = self.pair.old_bytes
        r = b.sections().get(".dynamic", (range(0), 0))[0]
        for at in range(r.start, r.stop, DYN_SIZE):
            if not any(b.at(at, DYN_SIZE)):
                return range(at, at + DYN_SIZE if self.pair.counts else at)
        return range(0)

    def changed(self):
        """complaints about other bytes of the old file that are not as were"""
        excused, out = self.excused(), []
        for name, (r, _) in self.pair.old_bytes.sections().items():
            old, new = (b.at(r.start, len(r)) for b in
                        (self.pair.old_bytes, self.pair.new_bytes))
            if old is None or old == new:
                continue        # zeroed memory is in no file
            out += ["%s: %x changed" % (name, r.start + i)
                    for i in range(len(r))
                    if old[i] != new[i] and r.start + i not in excused]
        return out

    def missing(self):
        """complaints about old addresses that somebody knows"""
        p = self.pair
        known = {p.old_bytes.entry: "the program begins there"}
        for what, addrs in (
                ("symbol", symbols(p.old_bytes.path)),
                ("word", self.stored()),
                ("table", p.tables.arrivals()), ("code", p.arrivals())):
            known.update((a, what) for a in addrs)
        return ["%x: no pad, but a %s leads there" % (a, known[a])
                for a in sorted(known) if a in p.moved and a not in self.at]

    def stored(self):
        """what the loader writes, but for tables that lead elsewhere, or that
        nobody needs any more"""
        t, known = self.pair.tables, set(self.pair.tables.labels)
        for a in t.copied:
            known.update(t.words(t.dispatch[a]))
        for p in t.pointers.place.values():
            if p not in known:
                yield self.pair.old_bytes.number(p, 8)
