"""
moved_a64_tables: jumps by tables that were copied, entry by entry.

    old    ldrh  wv, [xt, wi, uxtw #1]     new    adr   xs, copy
           adr   xb, base                         ldrsw xu, [xs, wi, uxtw #2]
           add   xv, xb, wv, sxth #2              add   xs, xs, xu
           br    xv                               br    xs

with entries of one to four bytes. Where a table is and how many entries it has
is the word of `tally cfg`; that the code uses this table objdump says, where it
shows what put it into xt. What both tables hold is in the files.
"""
import re

OLD = re.compile(r"ldr(s?)([bhw]?) [wx](\d+), \[(x\d+), ([wx]\d+)"
                 r"((?:, \w+)?)(?: #\d)?\];"
                 r"(?:adr (x\d+), (\w+);)?"
                 r"add (x\d+), (x\d+), [wx](\d+)(?:, (\w+) #(\d))?;"
                 r"br (x\d+)$")
NEW = re.compile(r"adr (x\d+), (\w+);"
                 r"ldrsw (x\d+), \[\1, ([wx]\d+)((?:, \w+)?) #2\];"
                 r"add \1, \1, \3;br \1$")
SIZES = {"b": 1, "h": 2, "w": 4, "": 4}


class Tables:
    def __init__(self, pair, cfg):
        self.pair = pair
        self.dispatch = {int(d["at"], 16): d for d in cfg["dispatches"]
                         if "table" in d}
        self.copied, self.seen = pair.groups(self.dispatch.get), 0
        self.part = {a: v for v in self.copied.values() for a in v}

    def check(self, a):
        """the end of the new code, or None if it is wrong"""
        p, group = self.pair, self.part[a]
        n = p.moved[a]
        if a != group[-1]:
            return n
        d = self.dispatch[a]
        old = OLD.match(";".join(" ".join(p.was(x)) for x in group))
        new = NEW.match(";".join(" ".join(p.now(n + 4 * i))
                                 for i in range(4)))
        good = old and new and old.group(5, 6) == new.group(4, 5) and \
            self.follows(old, d) and SIZES[old[2]] == d["entry_size"] and \
            self.same(d, old, int(new[2], 16), self.first(d, old[4], group[0]))
        return n + 16 if good else None

    @staticmethod
    def follows(old, d):
        """is the sum one of entry and base, and jumped to?"""
        if old[7] and (old[7], "0x" + old[8]) != (old[10], d["base"]):
            return False
        return old[9] == old[14] and \
            (old[3] == old[11] or old[10] == "x" + old[3] and not old[12])

    def first(self, d, reg, at):
        """number of the table's first entry"""
        page, low = (self.pair.was(at - i) for i in (8, 4))
        table, size = int(d["table"], 16), d["entry_size"]
        m = re.match(reg + r", (x\d+), #0x([0-9a-f]+)$", low[1])
        if not m or low[0] != "add" or page[0] != "adrp" or \
                not page[1].startswith(m[1] + ","):
            return 0
        self.seen += 1
        return (table - int(page[1].split()[-1], 16) - int(m[2], 16)) // size

    def same(self, d, old, copy, first):
        """does the copy lead to the new places?"""
        p, size = self.pair, d["entry_size"]
        signed = bool(old[1]) or (old[12] or "").startswith("s")
        for i in range(d["entries"]):
            entry = p.old_bytes.number(int(d["table"], 16) + size * i, size,
                                       signed)
            go = p.new_bytes.number(copy + 4 * (first + i), 4, True)
            if not p.leads(copy + go, int(d["base"], 16) +
                           (entry << int(old[13] or 0))):
                return False
        return True
