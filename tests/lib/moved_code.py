"""
moved_code: is moved code what it was, as objdump reads both files?

Where every instruction went is list-moves' word. What is checked holds of each
instruction alone, and so of all ways through them: it is the same one, refers
to the same thing, goes to the new place of where it went, and what followed it
still does. On the way there may be inserted code, which is followed and has to
end there. What all that means on a machine is for its own class to say:

    ends        what no instruction follows, a pattern of text
    jump()      (its end, where to) of a jump, or None
    rewritten() the end of what an instruction became, or None: it is wrong
"""
import bisect
import os

from cfg_oracle import TALLY, run
from objdump_text import Bytes, Code

INSERTED_MOST = 100     # instructions
LIST = os.path.join(os.path.dirname(TALLY), "tools/list-moves")


class MovedCode:
    """A file and what it became."""
    where = ()                  # in the new file, for objdump
    copies_stubs = True         # stubs stay, and have short copies

    def __init__(self, isa, old, new, counts=False):
        self.old, self.new = Code(isa, old), Code(isa, new, *self.where)
        self.old_bytes, self.new_bytes = Bytes(old), Bytes(new)
        self.stubs = [r for name, (r, _) in self.old_bytes.sections().items()
                      if name.startswith(".plt")]
        self.moved = {}         # old address of an instruction: new one
        self.anew = {}          # of those in another form: old length
        self.left_out = set()   # of those: what is nowhere
        self.counts = counts    # something was inserted
        self.read(old, new)
        self.order = sorted(self.moved)

    def read(self, old, new):
        """a file with counters has the way back, another gets a twin"""
        if self.counts:
            lines = run(LIST, old, new).splitlines()
        else:
            lines = run(LIST, "-m", old, new + ".back").splitlines()
            os.unlink(new + ".back")
        self.places = [int(line.split()[2], 16) for line in lines]
        self.for_whom = []      # by place: what inserted code leads to
        for line, next_place in zip(lines, self.places[1:] + [0]):
            at, size, to, kind = line.split()
            at, to = int(at, 16), int(to, 16)
            self.for_whom.append(at if kind == "new" else None)
            if kind != "new":
                self.add(at, int(size), to, kind == "one", next_place == to)

    def add(self, at, size, to, one, left_out):
        if self.copies_stubs and any(at in r for r in self.stubs):
            return
        if one:
            self.anew[at] = size
            if left_out:
                self.left_out.add(at)
        end, d = at + size, to - at
        while at < end:
            self.moved[at] = at + d
            at = end if one else self.old.at(at)[0]

    def went(self, addr):
        """its new place, itself if it stays; None: inside an instruction"""
        if addr in self.moved:
            return self.moved[addr]
        i = bisect.bisect_left(self.order, addr) - 1
        return None if i >= 0 and addr < self.old.at(self.order[i])[0] \
            else addr

    def leads(self, n, to):
        """does the new address lead to what was at the old one?"""
        want = self.went(to)
        for _ in range(INSERTED_MOST):
            if n == want:
                return True
            i = bisect.bisect_right(self.places, n) - 1
            if i < 0 or self.for_whom[i] != to:
                return False
            j = self.jump(n)
            n = j[1] if j else self.new.at(n)[0]
        return False

    def jumps(self, at, to):
        """is there a jump that leads to the old address? its end, or None"""
        j = self.jump(at)
        return j[0] if j and self.leads(j[1], to) else None

    def groups(self, is_jump):
        """{jump in another form: what was left out before it, and itself}"""
        out, dropped = {}, []
        for a in sorted(self.anew):
            if a in self.left_out:
                dropped.append(a)
            elif is_jump(a):
                out[a] = dropped + [a]
                dropped = []
        return out

    def wrong(self, a):
        """does what was at a do something else, or go on elsewhere?"""
        after = self.rewritten(a)
        if after is None:
            return True
        end, text = self.old.at(a)
        if self.ends.match(text):
            return False
        end = a + self.anew.get(a, end - a)
        return not self.leads(after, end)

    def complaints(self):
        out = []
        for a in self.order:
            if self.wrong(a):
                n = self.moved[a]
                out.append("%x: %s -> %x: %s" % (a, self.old.text(a), n,
                                                 self.new.text(n)))
        return out
