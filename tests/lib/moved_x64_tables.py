"""
moved_x64_tables: jumps by tables, entry by entry.

    old    movslq (%b,%i,4),%v     new    lea    copy(%rip),%s
           add    %b,%v                   movslq (%s,%i,4),%w
           jmp    *%v                     lea    (%s,%w,1),%s
                                          jmp    *%s

or `mov (%b,%i,8),%v; jmp *%v`, or `jmp *(%b,%i,8)`. Load and sum are left out.
Where a table is and how many entries it has is the word of `tally cfg`; that
the code uses this table objdump says, where it shows what put it into %b. What
both tables hold is in the files. A table of labels may lead to the new code
itself, and its jump is what it was.
"""
import bisect
import re

from objdump_text import Pointers

MEMORY = r"(0x[0-9a-f]+)?\((%\w+)?,(%\w+),([48])\)"
LOAD = re.compile(r"(movslq|mov) +" + MEMORY + r",(%\w+)$")
JUMP = re.compile(r"(?:\w+ )?jmp +\*(?:(%\w+)|" + MEMORY + ")$")
SUM = re.compile(r"(?:add +(%\w+),(%\w+)|lea +\((%\w+),(%\w+),1\),(%\w+))$")
NEW = re.compile(r"lea +([0-9a-f]+)\(%rip\),(%\w+);"
                 r"movslq \(\2,(?!\2)(%\w+),4\),(?!\2)(%\w+);"
                 r"lea +\(\2,\4,1\),\2;(?:rex )?jmp +\*\2$")
LEA = re.compile(r"lea +([0-9a-f]+)\(%rip\)")
LOOK_BACK = 200         # instructions
FIRST_MAX = 4096        # entries before the first that is used


def wide(reg):
    """the register of 64 bits that one of 32 or 64 is of"""
    return "%r" + reg[2:] if reg[1] == "e" else reg.rstrip("d")


class Jump:
    """The parts of an old jump; `good` if it has one of the known forms."""

    def __init__(self, load, add, jump):
        self.good, self.signed = False, True
        m = JUMP.match(jump)
        parts = m.group(2, 3, 4, 5)
        if m.group(1):
            load = LOAD.match(load or "")
            if not load:
                return
            parts, self.signed = load.group(2, 3, 4, 5), load[1] == "movslq"
            self.good = self.follow(wide(load[6]), add) == m.group(1)
        else:
            self.good = not load and not add
        self.disp, self.base, self.index, size = parts
        self.size = int(size)

    @staticmethod
    def follow(reg, add):
        """where the entry is when it is an address"""
        if not add:
            return reg
        m = SUM.match(add)
        regs = [r for r in m.groups() if r] if m else []
        return regs[-1] if reg in regs[:2] else None


class Tables:
    def __init__(self, pair, cfg):
        self.pair = pair
        self.dispatch = {int(d["at"], 16): d for d in cfg["dispatches"]
                         if "table" in d}
        self.bases = {int(d["base"], 16) for d in self.dispatch.values()}
        self.pointers = Pointers(pair.old_bytes)
        self.copied, self.seen = pair.groups(self.is_jump), 0
        # of the old code: all that its jump is of
        self.part = {a: v for v in self.copied.values() for a in v}
        self.labels = {}        # words that changed: (old value, new)
        self.order = sorted(pair.old.insn)
        self.find_labels()

    def is_jump(self, a):
        return a in self.dispatch and JUMP.match(self.pair.text(a))

    def words(self, d):
        """where in the file the words of a table of addresses are"""
        table = int(d["table"], 16)
        return [self.pointers.stored(table + 8 * i)
                for i in range(d["entries"] if d["entry_size"] == 8 else 0)]

    def find_labels(self):
        for a, d in self.dispatch.items():
            for w in self.words(d):
                old, new = (b.number(w, 8) for b in (self.pair.old_bytes,
                                                     self.pair.new_bytes))
                if old != new:
                    self.labels[w] = old, new

    def entry(self, d, i, signed=True):
        """where the old table leads"""
        table, size = int(d["table"], 16), d["entry_size"]
        if size == 8:
            return self.pair.old_bytes.number(
                self.pointers.stored(table + 8 * i), 8)
        return int(d["base"], 16) + \
            self.pair.old_bytes.number(table + size * i, size, signed)

    def loaded(self, j, at):
        """the address that entries are loaded from, or None: not seen"""
        if not j.base:
            return int(j.disp, 16)
        i = bisect.bisect_left(self.order, at)
        for a in reversed(self.order[max(0, i - LOOK_BACK):i]):
            text = self.pair.text(a)
            if text.endswith("," + j.base):
                m = LEA.match(text)
                return int(m.group(1), 16) if m else None
        return None

    def first(self, d, j, at):
        """number of the table's first entry"""
        size, table = d["entry_size"], int(d["table"], 16)
        base = self.loaded(j, at)
        if base is None or (table - base) % size or \
                abs(table - base) // size > FIRST_MAX:
            base = int(d["base"], 16) if size == 4 else table
        else:
            self.seen += 1
        return (table - base) // size

    def undisturbed(self, group, j):
        """does nothing else between load and jump use what they compute?"""
        p, at = self.pair, group[0]
        lost = {r for a in group for r in re.findall(r"%\w+", p.text(a))}
        lost -= {j.base, j.index}
        while at < group[-1]:
            text = p.text(at)
            if at not in group and (
                    p.branch[at] or text.endswith("," + j.index) or
                    lost & set(re.findall(r"%\w+", text))):
                return False
            at = p.old.at(at)[0]
            if at in p.targets:
                return False
        return at == group[-1]

    def check(self, a):
        """the end of the new code, or None if it is wrong"""
        p, group = self.pair, self.part[a]
        if a != group[-1]:
            return p.moved[a]
        d, texts = self.dispatch[a], [p.text(x) for x in group]
        code, end = p.new_texts(p.moved[a], 4)
        m = NEW.match(code)
        if not m or len(texts) > 3:
            return None
        j = Jump(*(texts[:-1] + [None, None])[:2], texts[-1])
        good = j.good and m.group(3) == j.index and \
            d["entry_size"] == j.size and self.undisturbed(group, j) and \
            self.same(d, int(m.group(1), 16), self.first(d, j, group[0]),
                      j.signed)
        return end if good else None

    def same(self, d, copy, first, signed):
        """does the copy lead to the new places?"""
        p = self.pair
        return all(p.leads(copy + p.new_bytes.number(copy + 4 * (first + i),
                                                     4, True),
                           self.entry(d, i, signed))
                   for i in range(d["entries"]))

    def wrong_labels(self):
        return ["label at %x: %x -> %x" % (w, old, new)
                for w, (old, new) in sorted(self.labels.items())
                if not self.pair.leads(new, old)]

    def arrivals(self):
        """old addresses that tables still lead to"""
        for a, d in self.dispatch.items():
            if a not in self.part and not self.labels.keys() & self.words(d):
                yield from (self.entry(d, i) for i in range(d["entries"]))
