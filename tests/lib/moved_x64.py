"""
moved_x64: is moved x86-64 code what it was (moved_code)? Written anew are

    short jumps        as near ones, without hints
    jrcxz, loop        over a jump to a jump, if they have to go far
    call of the next   push %rax; lea next(%rip),%rax; xchg %rax,(%rsp)
    lock that is       with its instruction, and a jump to what follows; the
    jumped over        instruction alone comes next
    jumps by tables    moved_x64_tables

What is left in the old place is for moved_x64_pads.
"""
import re

from cfg_oracle import tally_cfg
from moved_code import MovedCode
from moved_x64_pads import Pads
from moved_x64_tables import Tables

BRANCH = re.compile(r"((?:[\w.]+ )*?)((?:j|loop)\w*|call|xbegin)(,p[nt])? +"
                    r"(?:0x)?([0-9a-f]+)(?: <.*)?$")
COUNTING = re.compile(r"j[er]cxz|loop")
RIP = re.compile(r"(.*?)-?0x[0-9a-f]+\(%rip\)(.*?) +# (?:0x)?([0-9a-f]+)")
GET_PC = re.compile(r"push +%rax;lea +([0-9a-f]+)\(%rip\),%rax;"
                    r"xchg +%rax,\(%rsp\)$")


def plain(text):
    """with the address that is meant, and not how far away that is"""
    m = RIP.match(text) if "%rip" in text else None
    if m:
        return "%s%s(%%rip)%s" % (m.group(1), m.group(3), m.group(2))
    return text.rstrip()


def branch(text):
    """(prefixes, name, hint, where to) of a direct branch, or None"""
    m = BRANCH.match(text)
    return m and (*m.group(1, 2, 3), int(m.group(4), 16))


class Pair(MovedCode):
    copies_stubs = False        # those that pointers lead to move
    where = ("-j", ".tally.text")
    ends = re.compile(r"(?:[\w.]+ )*(?:jmp|ret|iret|ud[012]|hlt|int3)")

    def __init__(self, old, new, counts=False):
        MovedCode.__init__(self, "x86_64", old, new, counts)
        self.branch = {a: branch(self.old.text(a)) for a in self.moved}
        self.targets = {b[3] for b in self.branch.values() if b}
        cfg = tally_cfg(old)
        self.find_staying(cfg)
        self.tables = Tables(self, cfg)
        self.pads = Pads(self)

    def find_staying(self, cfg):
        """instructions that run where they were"""
        self.staying = set()
        for p in cfg["procedures"]:
            for b in p["blocks"]:
                a, end = int(b["start"], 16), int(b["end"], 16)
                while a not in self.moved and a < end:
                    self.staying.add(a)
                    a = self.old.at(a)[0]

    def text(self, a):
        return plain(self.old.text(a))

    def new_text(self, n):
        return plain(self.new.text(n))

    def new_texts(self, n, count):
        """the text of some instructions, and where they end"""
        out = []
        for _ in range(count):
            out.append(self.new_text(n))
            n = self.new.at(n)[0]
        return ";".join(out), n

    def jump(self, at):
        end, text = self.new.at(at)
        b = branch(text)
        return (end, b[3]) if b and b[:3] == ("", "jmp", None) else None

    def branches(self, a):
        """where the new code of a branch ends, or None: it is wrong"""
        prefix, name, hint, to = self.branch[a]
        if a in self.anew and name == "call":
            return self.get_pc(a, to)
        after, text = self.new.at(self.moved[a])
        new = branch(text)
        if a in self.anew and COUNTING.match(name):
            if new != (prefix, name, hint, after + 2):
                return None
            over = self.jump(after)
            return self.jumps(over[0], to) if over and \
                over[1] == over[0] + 5 else None
        if a in self.anew:
            prefix, hint = "", None
        return after if new and new[:3] == (prefix, name, hint) and \
            self.leads(new[3], to) else None

    def get_pc(self, a, pushed):
        code, end = self.new_texts(self.moved[a], 3)
        m = GET_PC.match(code)
        return end if m and pushed == self.old.at(a)[0] and \
            int(m.group(1), 16) == pushed else None

    def prefixed(self, a):
        """a lock that is a block of its own"""
        n = self.moved[a]
        return self.jumps(self.new.at(n)[0], self.old.at(a)[0]) \
            if self.text(a) == self.new_text(n) else None

    def rewritten(self, a):
        if self.branch[a]:
            return self.branches(a)
        if a in self.tables.part:
            return self.tables.check(a)
        if a in self.anew:
            return self.prefixed(a)
        n = self.moved[a]
        return self.new.at(n)[0] if self.text(a) == self.new_text(n) else None

    def arrivals(self):
        """old addresses that code refers to, or goes to from where it was"""
        for a in self.staying:
            b = branch(self.old.text(a))
            if b:
                yield b[3]
        for a in (*self.moved, *self.staying):
            text = self.old.text(a)
            m = RIP.match(text) if "%rip" in text else None
            if m and int(m.group(3), 16) not in self.tables.bases:
                yield int(m.group(3), 16)
