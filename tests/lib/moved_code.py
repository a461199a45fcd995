"""
moved_code: is moved code what it was, as objdump reads both files?

Where every instruction went is list-moves' word. What is checked holds of each
instruction alone, and so of all ways through them: it is the same one, refers
to the same thing, goes to the new place of where it went, and what followed it
still does. What that means on a machine is for its own class to say:

    ends        what no instruction follows, a pattern of text
    jumps()     is there a jump to an address? its end, or None
    rewritten() the end of what an instruction became, or None: it is wrong
"""
import bisect
import os

from cfg_oracle import TALLY, run
from objdump_text import Bytes, Code

LIST = os.path.join(os.path.dirname(TALLY), "tools/list-moves")


class MovedCode:
    """A file and what it became."""
    where = ()                  # in the new file, for objdump

    def __init__(self, isa, old, new):
        self.old, self.new = Code(isa, old), Code(isa, new, *self.where)
        self.old_bytes, self.new_bytes = Bytes(old), Bytes(new)
        self.stubs = [r for name, (r, _) in self.old_bytes.sections().items()
                      if name.startswith(".plt")]
        self.moved = {}         # old address of an instruction: new one
        self.anew = {}          # of those in another form: old length
        for line in run(LIST, old, new + ".back").splitlines():
            at, size, to, kind = line.split()
            self.add(int(at, 16), int(size), int(to, 16), kind == "one")
        os.unlink(new + ".back")
        self.order = sorted(self.moved)

    def add(self, at, size, to, one):
        if any(at in r for r in self.stubs):
            return              # short copies of them, and they stay
        if one:
            self.anew[at] = size
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

    def groups(self, is_jump):
        """{jump in another form: what was left out before it, and itself}"""
        out, dropped = {}, []
        for a in sorted(self.anew):
            if self.moved.get(a + self.anew[a]) == self.moved[a]:
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
        return self.moved.get(end) != after and \
            not self.jumps(after, self.went(end))

    def complaints(self):
        out = []
        for a in self.order:
            if self.wrong(a):
                n = self.moved[a]
                out.append("%x: %s -> %x: %s" % (a, self.old.text(a), n,
                                                 self.new.text(n)))
        return out
